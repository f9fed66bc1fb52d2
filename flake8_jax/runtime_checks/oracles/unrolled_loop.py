"""How a run shows that a finding of ``unrolled-loop`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, unrolls

ORACLE = Oracle(unrolls(32))
