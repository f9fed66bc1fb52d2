"""How a run shows that a finding of ``frozen-attribute`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises

_OF_FLAX = ("SetAttributeFrozenModuleError", "SetAttributeInModuleSetupError")
ORACLE = Oracle(raises("FrozenInstanceError", "AttributeError", *_OF_FLAX))
