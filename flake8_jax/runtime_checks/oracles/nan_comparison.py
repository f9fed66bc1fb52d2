"""How a run shows that a finding of ``nan-comparison`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, compares_nan

ORACLE = Oracle(compares_nan)
