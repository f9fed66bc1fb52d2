"""How a run shows that a finding of ``integer-grad`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises

ORACLE = Oracle(raises("TypeError", anywhere="grad|real|complex|float|inexact|jacfwd|jacrev"))
