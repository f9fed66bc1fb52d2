"""How a run shows that a finding of ``jit-per-call`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, compiles_again

ORACLE = Oracle(compiles_again(what="compiled in several calls", across_runs=True, alike=True))
