"""How a run shows that a finding of ``devices-as-condition`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises

ORACLE = Oracle(raises("RuntimeError", message="Unknown backend"))
