"""How a run shows that a finding of ``static-arg-mismatch`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, either, raises, warned

ORACLE = Oracle(
    either(
        raises("ValueError", "TypeError", anywhere="static|argnum|argname|hash|argument"),
        warned("UserWarning", "static|donate|argnum|argname"),
        warned("DeprecationWarning", "static|donate|argnum|argname"),
    )
)
