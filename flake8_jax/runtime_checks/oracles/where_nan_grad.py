"""How a run shows that a finding of ``where-nan-grad`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, nan_in_gradient

ORACLE = Oracle(nan_in_gradient, "nans")
