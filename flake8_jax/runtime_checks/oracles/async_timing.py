"""How a run shows that a finding of ``async-timing`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, work_is_pending

ORACLE = Oracle(work_is_pending, measures=True)
