"""How a run shows that a finding of ``key-reuse-in-loop`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, key_repeats

ORACLE = Oracle(key_repeats(least=2), "keys")
