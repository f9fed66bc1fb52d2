"""How a run shows that a finding of ``captured-constant`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, is_constant

ORACLE = Oracle(is_constant)
