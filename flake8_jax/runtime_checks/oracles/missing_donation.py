"""How a run shows that a finding of ``missing-donation`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, keeps_both

ORACLE = Oracle(keeps_both, keeps_old=True)
