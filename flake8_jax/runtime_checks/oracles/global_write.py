"""How a run shows that a finding of ``global-write`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, runs_staged

ORACLE = Oracle(runs_staged("the variable is rebound at trace time only"))
