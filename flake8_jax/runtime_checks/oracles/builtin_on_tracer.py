"""How a run shows that a finding of ``builtin-on-tracer`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises

ORACLE = Oracle(raises("TracerBoolConversionError", "ConcretizationTypeError", "TypeError", staged=True))
