"""How a run shows that a finding of ``plain-container-in-module`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises

ORACLE = Oracle(raises("ValueError", message="static attribute", anywhere="static attribute"))
