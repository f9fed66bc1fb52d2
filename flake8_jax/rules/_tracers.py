"""Questions that several rules ask about abstract values.

Vocabulary
----------
tracer          an array that stands for a value while JAX traces. *abstract*: it has no value (``jit``, ``scan``,
                ``vmap``'s mapped arguments). *concrete*: it has one, yet host conversions raise (``grad`` alone).
holds           the value, or an element of the tuple or list that it is, is a tracer for sure.

"For sure" means on every member of a union: what is unknown never answers yes. Limitations: shapes, so an array
of one element looks like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flake8_jax.core import ir
from flake8_jax.semantics.domain.dispatching import dispatched_in
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    GRAD,
    Array,
    Const,
    DictValue,
    HostArray,
    Instance,
    ListValue,
    Opaque,
    Room,
    Static,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    holds_tracer,
)

if TYPE_CHECKING:
    from flake8_jax.semantics.events.events import Context

_HOST_TYPES = frozenset({"bool", "complex", "float", "int", "str"})
LONGEST_QUOTE = 40
"""Characters of source text that a message may quote."""
_ENOUGH = 1000
"""So many characters of an expression nearly always hold as many as are quoted."""


def is_array_or_number(value: Value) -> bool:
    """The value is surely an array of JAX, or one on some paths and a number on the others."""
    members = value.members if isinstance(value, UnionValue) else (value,)
    arrays = [m for m in members if isinstance(m, Array) and not m.declared and m.dtype != "key"]
    return bool(arrays) and all(isinstance(m, (Const, Static)) for m in members if m not in arrays)


def is_reportable(context: Context) -> bool:
    """Return whether a rule may report an error here: JAX certainly traces this code, and an exception would reach the
    user. If a value looks like a tracer in code that JAX does not trace, the analysis is probably wrong, so rules report
    nothing."""
    return context.staged and not context.presumed and not context.caught


def is_reportable_in_library(context: Context) -> bool:
    """The same, or a loss or an activation that nothing in the project calls: a library's users surely compile it."""
    return is_reportable(context) or (
        context.presumed and context.differentiated and context.once and not context.caught
    )


def is_reportable_in_method(context: Context) -> bool:
    """The same, or a method of an object that carries arrays into the code of a library's users, unless its annotation
    promises a number of Python (``-> int``): then it is made for code that JAX does not trace."""
    if is_reportable(context):
        return True
    returns = context.inner.returns if context.inner is not None else None
    is_promised = isinstance(returns, ir.Name) and returns.id in _HOST_TYPES
    return context.presumed and context.once and not context.caught and not is_promised


def contains_tracer(value: Value, minimum: int = ABSTRACT, room: Room | None = None) -> bool:
    """Return whether a value certainly is a tracer, or a container or pytree that contains one. By default, only tracers
    without a value count, as under ``jit``. With ``minimum=2``, tracers with a value count, too, as under ``grad`` alone.
    Leave out ``room``, which limits how many values the function visits."""
    if isinstance(value, (Array, Tree)):
        return value.level >= minimum
    if type(value) not in _HOLDERS:
        return False
    room = room if room is not None else Room()
    if not room.enter(value):
        return False
    if isinstance(value, UnionValue):
        return all(contains_tracer(member, minimum, room) for member in value.members)
    if isinstance(value, DictValue):
        return any(contains_tracer(item, minimum, room) for slot, item in value.slots.items() if slot != "open")
    if isinstance(value, Instance) and "pytree" in value.cls.traits:
        return any(
            contains_tracer(field, minimum, room)
            for name, field in value.slots.items()
            if isinstance(field, Value) and name not in value.cls.static_names
        )
    return any(contains_tracer(element, minimum, room) for element in _elements(value))


_HOLDERS = frozenset({TupleValue, ListValue, DictValue, Instance, UnionValue})


def _elements(value: Value) -> tuple[Value, ...]:
    """What a tuple or a list holds."""
    if isinstance(value, TupleValue):
        return value.elts
    if not isinstance(value, ListValue):
        return ()
    known = value.known()
    if known is not None:
        return known
    rest = value.slots.get("*")
    return (rest,) if rest is not None else ()


def raises_on_host(value: Value) -> bool:
    """Return whether JAX raises an error if the code converts the value to a Python number or a NumPy array. This is so for
    tracers under ``jit`` and for tracers under ``grad``. But under ``grad`` alone, integers and booleans are not tracers,
    because they have no derivative, so the answer is False for them."""
    if isinstance(value, UnionValue):
        return all(raises_on_host(member) for member in value.members)
    if isinstance(value, Array) and value.level == GRAD:
        return value.dtype not in ("int", "bool")
    return holds_tracer(value, GRAD)


def contains_unconvertible(value: Value, room: Room | None = None) -> bool:
    """``raises_on_host`` of the value, or of an element of the tuple or list that it is."""
    if not isinstance(value, (TupleValue, ListValue, UnionValue)):
        return raises_on_host(value)
    room = room if room is not None else Room()
    if not room.enter(value):
        return False
    if isinstance(value, UnionValue):
        return all(contains_unconvertible(member, room) for member in value.members)
    return any(contains_unconvertible(element, room) for element in _elements(value))


def is_dispatched(value: Value, context: Context) -> bool:
    """A concrete array that a compiled call of a running loop has produced: the device may still be computing it."""
    if isinstance(value, UnionValue):
        return all(is_dispatched(member, context) for member in value.members)
    if isinstance(value, (Array, Tree)) and value.level >= GRAD:
        return False
    return isinstance(value, (Array, Opaque)) and context.fresh_from_loop(dispatched_in(value))


def is_host_container(value: Value) -> bool:
    """A list, tuple, string, shape or NumPy array for sure: indexing it needs a Python integer."""
    if isinstance(value, UnionValue):
        return all(is_host_container(member) for member in value.members)
    if isinstance(value, Const):
        return isinstance(value.value, (str, bytes))
    if isinstance(value, Static):
        return value.kind in ("str", "shape")
    return isinstance(value, (ListValue, TupleValue)) or (isinstance(value, HostArray) and not value.declared)


def is_sliceable(value: Value) -> bool:
    """A JAX array, a pytree that is sliced as one, or a host sequence; or an unknown field, which hardly is anything
    that takes a tracer for a bound."""
    if isinstance(value, UnionValue):
        return all(is_sliceable(member) for member in value.members)
    if isinstance(value, Unknown):
        return value.step.startswith(".") and not value.host_test
    return isinstance(value, (Array, Tree)) or is_host_container(value)


def is_none(value: Value | None) -> bool:
    """Absent, or the constant None."""
    return value is None or (isinstance(value, Const) and value.value is None)


def quote(context: Context, node: ir.Node | ir.Expr | None, otherwise: str = "the value") -> str:
    """Return the source text of a node in backquotes, for a message. Line breaks become spaces. A call or subscript of more
    than 40 characters loses what its brackets hold (``jnp.log(…)``), another long text its end. If there is no node or text,
    return ``otherwise``."""
    if node is None:
        return otherwise
    start, end = node.start, node.end
    text = " ".join(context.scope.text[start : min(end, start + _ENOUGH)].split())
    if end > start + _ENOUGH and len(text) <= LONGEST_QUOTE:  # blanks and line breaks, for the most part
        text = " ".join(context.scope.text[start:end].split())
    if not text:
        return otherwise
    return (
        f"`{text}`"
        if len(text) <= LONGEST_QUOTE
        else f"`{_without_inside(context, node) or text[: LONGEST_QUOTE - 1] + '…'}`"
    )


def _without_inside(context: Context, node: ir.Node | ir.Expr) -> str:
    """``jnp.log(…)`` for a long call, ``table[…]`` for a long subscript; empty for other expressions, and if the same text
    begins twice on the lines of the node."""
    outer, brackets = (
        (node.func, "(…)")
        if isinstance(node, ir.Call)
        else (node.value, "[…]")
        if isinstance(node, ir.Subscript)
        else (None, "")
    )
    if outer is None:
        return ""
    text = context.scope.text
    head, first = text[outer.start : outer.end], text.rfind("\n", 0, node.start) + 1
    last = text.find("\n", node.start)
    lines = text[first : min(last if last >= 0 else len(text), first + _ENOUGH)]
    is_short = len(head) + len(brackets) <= LONGEST_QUOTE and "\n" not in head
    return f"{head}{brackets}" if is_short and lines.count(f"{head}{brackets[0]}") == 1 else ""
