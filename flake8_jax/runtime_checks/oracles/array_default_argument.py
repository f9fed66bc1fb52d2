"""How a run shows that a finding of ``array-default-argument`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, runs

ORACLE = Oracle(runs("JAX computes the default"))
