"""How a run shows that a finding of ``print-in-staged`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, runs_staged

ORACLE = Oracle(runs_staged("it prints a tracer, at trace time only", mapped="it prints a tracer"))
