"""How a run shows that a finding of ``unhashable-static`` is true."""

from __future__ import annotations

from flake8_jax.core.findings import Verdict
from flake8_jax.runtime_checks.judges import Oracle, raises
from flake8_jax.runtime_checks.observations import Observations

_called = raises("ValueError", "TypeError")
_declared = raises("ValueError", "TypeError", anywhere="hashable")
_STATIC = frozenset({"static_argnames", "static_argnums"})


def _judge(o: Observations) -> Verdict:
    """Where a finding names a static parameter by its annotation, a call elsewhere raises the error."""
    return (_declared if o.words & _STATIC else _called)(o)


ORACLE = Oracle(_judge)
