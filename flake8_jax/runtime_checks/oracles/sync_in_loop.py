"""How a run shows that a finding of ``sync-in-loop`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, waits_in_loop

ORACLE = Oracle(waits_in_loop, measures=True)
