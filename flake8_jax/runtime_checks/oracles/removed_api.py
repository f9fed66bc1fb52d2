"""How a run shows that a finding of ``removed-api`` is true. A JAX that still has the name shows nothing."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises, unless_it_works

ORACLE = Oracle(
    unless_it_works(
        raises("AttributeError", "ImportError", "TypeError", "NotImplementedError", named=True),
        "this release still has the name",
    )
)
