"""How a run shows that a finding of ``late-configuration`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, set_too_late

ORACLE = Oracle(set_too_late)
