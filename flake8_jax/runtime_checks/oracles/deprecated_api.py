"""How a run shows that a finding of ``deprecated-api`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, warned

ORACLE = Oracle(warned("DeprecationWarning"))
