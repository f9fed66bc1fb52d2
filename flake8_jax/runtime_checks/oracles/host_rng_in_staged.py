"""How a run shows that a finding of ``host-rng-in-staged`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, runs_staged

ORACLE = Oracle(runs_staged("the number is drawn once and frozen"))
