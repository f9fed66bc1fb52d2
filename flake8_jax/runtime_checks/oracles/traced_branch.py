"""How a run shows that a finding of ``traced-branch`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import ASKS_FOR_BOOL, Oracle

ORACLE = Oracle(ASKS_FOR_BOOL)
