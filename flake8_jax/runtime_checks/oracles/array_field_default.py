"""How a run shows that a finding of ``array-field-default`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises

ORACLE = Oracle(raises("ValueError", message="mutable default", anywhere="."))
