"""How a run shows that a finding of ``traced-iteration`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, either, iterates_tracer, unrolls

ORACLE = Oracle(either(iterates_tracer, unrolls(2)))
