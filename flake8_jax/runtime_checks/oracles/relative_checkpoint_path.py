"""How a run shows that a finding of ``relative-checkpoint-path`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises

ORACLE = Oracle(raises("ValueError", message="path should be absolute", anywhere="."))
