"""How a run shows that a finding of ``nnx-state-update`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, either, raises

ORACLE = Oracle(
    either(
        raises("NotImplementedError", message="In-place operations"),
        raises("ValueError", message="static attribute", anywhere="static attribute"),
    )
)
