"""How a run shows that a finding of ``traced-slice`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises

ORACLE = Oracle(raises("IndexError", "TracerIntegerConversionError", "TypeError", staged=True))
