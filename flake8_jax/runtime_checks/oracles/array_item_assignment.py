"""How a run shows that a finding of ``array-item-assignment`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises

ORACLE = Oracle(raises("TypeError", "AttributeError"))
