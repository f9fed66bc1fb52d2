"""How a run shows that a finding of ``captured-mutation`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, runs_staged

ORACLE = Oracle(
    runs_staged("the container changes at trace time only", mapped="the container changes under a transform")
)
