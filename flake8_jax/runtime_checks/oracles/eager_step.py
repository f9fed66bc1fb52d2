"""How a run shows that a finding of ``eager-step`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, compiles_operations

ORACLE = Oracle(compiles_operations(3))
