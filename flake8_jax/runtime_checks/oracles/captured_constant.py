"""How a run shows that a finding of ``captured-constant`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, runs_staged

ORACLE = Oracle(runs_staged("the array becomes a constant of the program"))
