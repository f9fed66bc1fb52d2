"""How a run shows that a finding of ``generator-in-jit`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises

ORACLE = Oracle(raises("TypeError", anywhere="generator|valid JAX type|interpret value"))
