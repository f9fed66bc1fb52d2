"""What the rules about side effects ask of a change that staged code makes.

Limitations: which later code reads what was changed; a leak is a leak, read or not.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Level
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import COMPILED_BY, TRACED_BY
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import contains_tracer
from flake8_jax.semantics.domain.code import statement_at
from flake8_jax.semantics.domain.values import GRAD, Array, UnionValue, Value
from flake8_jax.semantics.events.events import Context, Mutation


def leaks(event: Mutation) -> bool:
    """A tracer is put where it outlives the trace that it belongs to."""
    return event.value is not None and _leaks(event, event.value)


def may_leak(event: Mutation) -> bool:
    """The same on one of the paths that lead here: ``if height <= 0: height = 0`` leaves a tracer, or zero."""
    return isinstance(event.value, UnionValue) and any(_leaks(event, member) for member in event.value.members)


def _leaks(event: Mutation, value: Value) -> bool:
    if event.enclosed and isinstance(value, Array) and value.dtype == "key":
        return False  # no code differentiates a key: it is the compiled trace's, as the object is
    return contains_tracer(value, GRAD)


def counts(event: Mutation) -> bool:
    """A host value is computed from the one that was there: done once for each compilation, not for each call. Tests
    count compilations that way. See also ``level_of_count``."""
    return event.once and event.itself and not is_test(event.context)


def level_of_count(event: Mutation) -> Level | None:
    """The level of a report on ``counts``: a note for a constant step, because that is how programs count their traces. None
    for the level of the rule."""
    body = event.context.inner.body if event.context.inner is not None else []
    statement = statement_at(body, event.at)
    if isinstance(statement, ir.AugAssign):
        return "info" if statement.op in ("+", "-") and _is_number(statement.value) else None
    if not isinstance(statement, (ir.Assign, ir.AnnAssign)) or not isinstance(statement.value, ir.BinOp):
        return None
    is_step = _is_number(statement.value.left) or _is_number(statement.value.right)
    return "info" if statement.value.op in ("+", "-") and is_step else None


def _is_number(node: ir.Expr) -> bool:
    return isinstance(node, ir.Constant) and node.kind in ("int", "float")


def leak(context: Context, kept: str, *, surely: bool = True) -> str:
    """What is wrong with a stored tracer, and what to do. kept: in what the code keeps it.

    A constructor and a setter return nothing: what they store is passed to its readers instead.
    """
    body = context.inner.body if context.inner is not None else []
    returns = any(isinstance(n, ir.Return) and n.value is not None for statement in body for n in walk(statement))
    otherwise = f"return the value, or pass it to the functions that read {kept}"
    advice = "return the value instead" if returns or "(" in kept else otherwise  # ``setattr(self, name, value)``
    stores = "stores" if surely else "stores, on some paths,"
    return f"{stores} a tracer{TRACED_BY}, which is invalid after tracing; {advice}"


ONCE = f"runs at trace time only{COMPILED_BY}, not on every call; pass the value in and return it"
