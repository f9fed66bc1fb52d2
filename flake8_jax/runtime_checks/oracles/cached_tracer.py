"""How a run shows that a finding of ``cached-tracer`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, either, raises, runs_staged

ORACLE = Oracle(
    either(
        raises("TypeError", "UnexpectedTracerError", anywhere="tracer|hash"), runs_staged("the cache keeps a tracer")
    )
)
