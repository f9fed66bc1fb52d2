"""How a run shows that a finding of ``nnx-state-update`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises

ORACLE = Oracle(raises("NotImplementedError", message="In-place operations"))
