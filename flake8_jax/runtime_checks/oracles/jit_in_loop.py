"""How a run shows that a finding of ``jit-in-loop`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, compiles_again

ORACLE = Oracle(compiles_again(what="recompiled in the loop", alike=True))
