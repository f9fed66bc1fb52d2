"""How a run shows that a finding of ``discarded-split`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, runs

ORACLE = Oracle(runs("new keys are made and dropped"))
