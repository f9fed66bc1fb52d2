"""How a run shows that a finding of ``stale-static-self`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, runs_staged

ORACLE = Oracle(runs_staged("the variable is read once a compilation"))
