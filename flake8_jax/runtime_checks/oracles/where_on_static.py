"""How a run shows that a finding of ``where-on-static`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, either, raises, runs

ORACLE = Oracle(either(raises("TypeError", "ValueError"), runs("both values are computed")))
