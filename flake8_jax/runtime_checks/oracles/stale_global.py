"""How a run shows that a finding of ``stale-global`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, runs_staged

ORACLE = Oracle(runs_staged("the global is read once a compilation"))
