"""How a run shows that a finding of ``self-write`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, runs_staged

ORACLE = Oracle(runs_staged("the attribute is set at trace time only", mapped="the attribute is set under a transform"))
