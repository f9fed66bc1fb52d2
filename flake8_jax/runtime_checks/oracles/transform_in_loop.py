"""How a run shows that a finding of ``transform-in-loop`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, compiles_again, either, traces_again

ORACLE = Oracle(
    either(
        compiles_again(what="traced or compiled again in the loop", traces=True, each=True),
        compiles_again(what="compiled in several calls", across_runs=True, each=True),
        traces_again,
    )
)
