"""The messages of rules about function objects that are made again and again."""

from __future__ import annotations

from bisect import bisect_right

from flake8_jax.core import ir
from flake8_jax.rules._keys import place
from flake8_jax.semantics.domain.code import all_statements, bound_paths, names_read
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
    return f"a loop that calls {this_function(event)}{_where(event)}"


_NEAR = 3
"""A reader of a finding sees this many lines above it."""


def of_loop(event: Repetition) -> str:
    """`` of the loop on line 12``, of a loop of the same function that does not begin near the finding."""
    starts = event.context.scope.tree.line_starts
    row, at = bisect_right(starts, event.loop.start), bisect_right(starts, event.at.start)
    return f" of the loop on line {row}" if event.own and not 0 <= at - row <= _NEAR else ""


def this_function(event: Repetition) -> str:
    """The function that a loop calls, in backquotes."""
    inner = event.context.inner
    return f"`{inner.name}`" if inner is not None and inner.name.isidentifier() else "this function"


def per_call(event: Repetition) -> str:
    """``Each call of f (line 12, in a loop)``, of the function that the loop calls."""
    where = f" ({place(event.called, event.context)}, in a loop)" if event.called is not None else " in a loop"
    return f"Each call of {this_function(event)}{where}"


def _where(event: Repetition) -> str:
    return f" ({place(event.called, event.context)})" if event.called is not None else ""


def short(name: str) -> str:
    """The last part of a canonical name."""
    return name.rpartition(".")[2]


def stores(function: ir.Function) -> bool:
    """The function assigns to attributes, so a jitted one would store tracers."""
    return any("." in path for s in all_statements(function.body) for path in bound_paths(s))


def is_method_of_element(event: Repetition) -> bool:
    """``for agent in agents: jax.jit(agent.step)``: each iteration has a function of its own, so nothing can stand before the
    loop. Limitations: an outer loop may run over the same objects again."""
    loop, call = event.loop, event.at
    if not event.own or event.context.loop > 1 or not isinstance(loop, (ir.For, ir.Comprehension)):
        return False
    targets = [loop.target] if isinstance(loop, ir.For) else [generator.target for generator in loop.generators]
    elements = set().union(*[names_read(target) for target in targets])
    operand = call.args[0].value if isinstance(call, ir.Call) and call.args else None
    return isinstance(operand, ir.Attribute) and not elements.isdisjoint(names_read(operand))


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
