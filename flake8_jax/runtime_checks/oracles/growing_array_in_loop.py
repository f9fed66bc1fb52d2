"""How a run shows that a finding of ``growing-array-in-loop`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, compiles_again, either, repeats_eagerly

ORACLE = Oracle(
    either(
        compiles_again(what="compiled for every length", operations=True), repeats_eagerly(16, "copied the whole array")
    )
)
