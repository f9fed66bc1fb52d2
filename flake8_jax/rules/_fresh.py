"""The messages of rules about function objects that are made again and again."""

from __future__ import annotations

from flake8_jax.rules._keys import place
from flake8_jax.semantics.domain.values import (
    BoundMethod,
    ExternalMethod,
    FunctionValue,
    PartialValue,
    TransformedValue,
    UnionValue,
    Value,
)
from flake8_jax.semantics.events.events import Repetition


def loop_of(event: Repetition) -> str:
    """The loop of a caller, and where its call stands."""
    inner = event.context.inner
    called = f"`{inner.name}`" if inner is not None and inner.name.isidentifier() else "this function"
    where = f" ({place(event.called, event.context)})" if event.called is not None else ""
    return f"a loop that calls {called}{where}"


def short(name: str) -> str:
    """The last part of a canonical name."""
    return name.rpartition(".")[2]


def made_of(value: Value) -> str:
    """What kind of function object it is that is new each time."""
    if isinstance(value, UnionValue):
        return made_of(value.members[0])
    if isinstance(value, FunctionValue):
        return "a new lambda" if value.fn.is_lambda else f"a new function `{value.fn.name}`"
    if isinstance(value, (BoundMethod, ExternalMethod)):
        return "a new bound method"
    if isinstance(value, PartialValue):
        return "a new partial object"
    if isinstance(value, TransformedValue):
        return f"a new `{short(value.name)}` function"
    return "a new function"
