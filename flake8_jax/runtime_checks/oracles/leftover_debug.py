"""How a run shows that a finding of ``leftover-debug`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, runs

ORACLE = Oracle(runs("the aid for debugging is on"))
