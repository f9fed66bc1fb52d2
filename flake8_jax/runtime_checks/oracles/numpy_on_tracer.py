"""How a run shows that a finding of ``numpy-on-tracer`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises

ORACLE = Oracle(
    raises(
        "TracerArrayConversionError", "ConcretizationTypeError", "TracerBoolConversionError", "TypeError", staged=True
    )
)
