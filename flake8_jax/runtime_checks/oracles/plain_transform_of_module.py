"""How a run shows that a finding of ``plain-transform-of-module`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, either, raises, runs

ORACLE = Oracle(
    either(raises("ValueError", message="already jit"), runs("the batch elements of vmap draw with one key"))
)
