"""How a run shows that a finding of ``shared-key-in-vmap`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, shared_by_elements

ORACLE = Oracle(shared_by_elements, "keys")
