"""How a run shows that a finding of ``plain-transform-of-module`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises, unless_it_works

ORACLE = Oracle(
    unless_it_works(raises("ValueError", message="already jit"), "a vmap that shares a key raises no error")
)
