"""How a run shows that a finding of ``flax-collections`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, runs

ORACLE = Oracle(runs("the statistics are dropped, or the window slides by 1"))
