"""How a run shows that a finding of ``lossy-flatten`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, runs

ORACLE = Oracle(runs("JAX takes an object of the class apart, or rebuilds one"))
