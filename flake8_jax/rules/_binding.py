"""Arguments by parameter name, for calls of methods whose signature the knowledge tables give.

Limitations: defaults; arguments that a call passes through ``*`` stand where they were written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flake8_jax.semantics.domain.values import TupleValue, Value


def bind(params: Sequence[str], args: Sequence[Value], kwargs: Mapping[str, Value]) -> dict[str, Value]:
    """Values by parameter. ``params`` is written as in ``FunctionFact``: ``"*"`` ends the positional ones and
    ``"*name"`` takes those that remain, as a tuple. Arguments too many for the signature are left out."""
    bound = dict(kwargs)
    for position, name in enumerate(params):
        if name == "*" or name.startswith("**"):
            break
        if name.startswith("*"):
            bound[name[1:]] = TupleValue(tuple(args[position:]))
            break
        if position < len(args):
            bound[name] = args[position]
    return bound
