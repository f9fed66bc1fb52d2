"""How a run shows that a finding of ``same-constant-key`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, runs

ORACLE = Oracle(runs("the seed is the same as that of the earlier key"))
