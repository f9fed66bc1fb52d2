"""How a run shows that a finding of ``timing-compile`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, compiled_in_region

ORACLE = Oracle(compiled_in_region, measures=True)
