"""How a run shows that a finding of ``jit-on-method`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises

ORACLE = Oracle(
    raises(
        "TypeError", "ValueError", message="valid JAX type|non-array argument|interpret value|hashable", anywhere="."
    )
)
