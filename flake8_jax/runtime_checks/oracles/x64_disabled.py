"""How a run shows that a finding of ``x64-disabled`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, cut_to_32_bits

ORACLE = Oracle(cut_to_32_bits)
