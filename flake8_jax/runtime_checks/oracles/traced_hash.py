"""How a run shows that a finding of ``traced-hash`` is true. JAX 0.4.30 only warns."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises, unless_it_works

ORACLE = Oracle(
    unless_it_works(
        raises("TypeError", "ConcretizationTypeError", staged=True), "this release hashes tracers", "abstract"
    )
)
