"""How a run shows that a finding of ``unstable-expression`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, either, loses_digits, returns_nonfinite

ORACLE = Oracle(either(loses_digits, returns_nonfinite), "keys")
