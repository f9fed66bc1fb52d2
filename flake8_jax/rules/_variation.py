"""What varies over the loops around a jitted call. Limitations: other arguments that make the call compile anyway."""

from __future__ import annotations

from collections.abc import Iterator

from flake8_jax.core import ir
from flake8_jax.core.registry import Candidate
from flake8_jax.semantics.domain.values import (
    BoundMethod,
    DictValue,
    Instance,
    ListValue,
    PartialValue,
    TransformedValue,
    TupleValue,
    UnionValue,
    Value,
)
from flake8_jax.semantics.domain.varying import Variation
from flake8_jax.semantics.events.events import LoopCopy, TransformCall

_COMPILING = (".jit", ".pmap", ".filter_jit", ".filter_pmap", ".pjit")
_MAX_LAYERS = 8


def compiles(event: TransformCall) -> bool:
    """The call runs compiled code in a loop where something varies, and compiles it where nothing fits."""
    return bool(event.varying) and runs_compiled(event)


def runs_compiled(event: TransformCall) -> bool:
    """The call runs compiled code."""
    return event.name.endswith(_COMPILING) or _is_compiled(event.operand)


def _is_compiled(operand: Value) -> bool:
    """The function that is differentiated, or mapped, is a compiled one: ``grad(jit(f))``."""
    for _ in range(_MAX_LAYERS):
        if isinstance(operand, TransformedValue):
            if operand.name.endswith(_COMPILING):
                return True
            operand = operand.operand
        elif isinstance(operand, (BoundMethod, PartialValue)):
            operand = operand.func
        else:
            break
    return False


def arguments(event: TransformCall) -> Iterator[tuple[int | str, Value, ir.Expr | None]]:
    """Every argument: its position or keyword, its value, its IR."""
    for i, value in enumerate(event.args):
        yield i, value, event.nodes[i] if i < len(event.nodes) else None
    for name, value in event.kwargs.items():
        yield name, value, event.keyword_nodes.get(name)


def varying_part(event: TransformCall, value: Value, *, of_shape: bool, depth: int = 4) -> Variation | None:
    """How the value, or something in the container or object that it is, varies."""
    found = event.varying.get(value)
    if found is not None and found.of_shape == of_shape and not found.few:
        return found
    parts: list[object] = []
    if isinstance(value, TupleValue):
        parts = list(value.elts)
    elif isinstance(value, (ListValue, DictValue)):
        parts = list(value.slots.values())
    elif isinstance(value, Instance) and ("pytree" if of_shape else "dataclass") in value.cls.traits:
        parts = list(value.slots.values())  # a static object that is not compared by its fields stays the same one
    elif isinstance(value, UnionValue):  # varies only if it does whichever it is
        members = (
            [varying_part(event, v, of_shape=of_shape, depth=depth - 1) for v in value.members] if depth else [None]
        )
        return members[0] if all(m is not None for m in members) else None
    for part in parts if depth else ():
        inner = varying_part(event, part, of_shape=of_shape, depth=depth - 1) if isinstance(part, Value) else None
        if inner is not None:
            return inner
    return None


def report_compilations(candidates: list[Candidate]) -> list[Candidate]:
    """Keep one report for one defect: arrays that get longer in a loop are reported where a jitted call of it gets them."""
    compiled = [(c.path, c.start) for c in candidates if isinstance(c.event, TransformCall)]
    return [c for c in candidates if not any(_grows_around(c, path, start) for path, start in compiled)]


def _grows_around(candidate: Candidate, path: str, start: int) -> bool:
    """An array gets longer in the loop around that place."""
    event = candidate.event
    if not isinstance(event, LoopCopy) or event.how == "updated" or path != event.loop_scope.path:
        return False
    return event.loop.start <= start < event.loop.end
