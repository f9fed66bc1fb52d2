"""How a run shows that a finding of ``inf-mask-softmax`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, gives_nan

ORACLE = Oracle(gives_nan, "nans")
