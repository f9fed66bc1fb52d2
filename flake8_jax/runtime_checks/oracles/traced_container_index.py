"""How a run shows that a finding of ``traced-container-index`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises

ORACLE = Oracle(
    raises(
        "TracerIntegerConversionError",
        "TracerArrayConversionError",
        "ConcretizationTypeError",
        "IndexError",
        staged=True,
    )
)
