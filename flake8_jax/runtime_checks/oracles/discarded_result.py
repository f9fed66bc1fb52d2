"""How a run shows that a finding of ``discarded-result`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, runs

ORACLE = Oracle(runs("the result is dropped"))
