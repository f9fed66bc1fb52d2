"""How a run shows that a finding of ``library-call-mismatch`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises

ORACLE = Oracle(raises("AttributeError", "TypeError", "ValueError"))
