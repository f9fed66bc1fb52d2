"""How a run shows that a finding of ``constant-key`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, either, runs, runs_staged, unless_passed, unrolls

ORACLE = Oracle(
    unless_passed(either(runs_staged("the key is the same in every call"), unrolls(2), runs("the seed is constant")))
)
