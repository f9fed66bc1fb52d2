"""How a run shows that a finding of ``key-used-after-split`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, key_repeats

ORACLE = Oracle(key_repeats(), "keys")
