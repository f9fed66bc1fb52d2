"""How a run shows that a finding of ``growing-array-in-loop`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, either, lengthens, repeats_eagerly

ORACLE = Oracle(either(repeats_eagerly(16, "copied the whole array"), lengthens))
