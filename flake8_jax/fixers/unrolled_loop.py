"""JAX408: ``for i in range(100)`` becomes ``jax.lax.fori_loop``.

The counter is an array then, so it may only be computed with, passed to functions of JAX and used to index arrays.

Limitations: ``while`` loops, comprehensions, loops over anything but ``range``, a step other than 1.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import COUNTS
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._loops import convert_for_range, start_of
from flake8_jax.fixers._names import target_names, uses
from flake8_jax.fixers._source import Declined, FixSource, Refused, fixer
from flake8_jax.knowledge import load
from flake8_jax.semantics.domain.values import Array, Const, Static, Tree, UnionValue, Value
from flake8_jax.semantics.events.events import RootMet, UnrolledLoop

_TAKES_COUNTER = (ir.BinOp, ir.UnaryOp, ir.Tuple, ir.Call, ir.Subscript)


@fixer("unrolled-loop")
def fix(event: UnrolledLoop | RootMet, source: FixSource) -> Fix | None:
    if isinstance(event, RootMet):
        return None  # how much to unroll, if at all, only a measurement tells
    loop = source.parent(event.at)
    if not isinstance(loop, ir.For) or loop.iter is not event.at or not isinstance(event.at, ir.Call):
        return None
    if not isinstance(event.at.func, ir.Name) or event.at.func.id != "range":
        return None
    if _shows_program(source):
        raise Declined("no automatic fix, because this file looks at the program that JAX makes, with the copies in it")
    for name in uses(*loop.body).binds:
        start = start_of(source, loop, name)
        if isinstance(start, (ir.Constant, ir.UnaryOp)) and not _is_scalar(event.after.get(name)):
            return None
    imports = Imports(source, loop)
    counters = _counters(loop, event.after)
    for statement in loop.body:
        for node in walk(statement):
            if isinstance(node, ir.Name) and node.id in counters:
                _check_use(source, imports, node, event.after)
    return convert_for_range(source, loop, COUNTS)


def _shows_program(source: FixSource) -> bool:
    """The file calls ``jax.jit(f).lower(x)`` or ``jax.make_jaxpr(f)``, say to measure how long the compilation takes."""
    imports = Imports(source, source.module)
    return any(
        (isinstance(node.func, ir.Attribute) and node.func.attr == "lower")
        or imports.resolve(node.func) == "jax.make_jaxpr"
        for node in walk(source.module)
        if isinstance(node, ir.Call) and node.args
    )


def _is_scalar(value: Value | None) -> bool:
    """What starts as a number surely is one, or an array without axes, after the loop too."""
    if isinstance(value, UnionValue):
        return all(_is_scalar(member) for member in value.members)
    if isinstance(value, Array):
        return value.ndim == 0
    return isinstance(value, (Const, Static))


def _counters(loop: ir.For, after: dict[str, Value]) -> set[str]:
    """The loop's counter, and the names of numbers that are computed from it."""
    found = set(target_names(loop.target))
    for _ in loop.body:
        for statement in loop.body:
            reads = uses(statement)
            if reads.reads & found:
                found |= {name for name in reads.binds if not isinstance(after.get(name), (Array, Tree))}
    return found


def _check_use(source: FixSource, imports: Imports, name: ir.Name, after: dict[str, Value]) -> None:
    """An array will do in place of the number.

    Raises:
        Refused: Python needs the number there, or integers without end.
    """
    below: object = name
    for above in source.ancestors(name):
        if isinstance(above, (ir.Assign, ir.AugAssign, ir.AnnAssign, ir.For)):
            return
        if isinstance(above, ir.Argument):
            continue
        if not isinstance(above, _TAKES_COUNTER):
            raise Refused
        if isinstance(above, ir.BinOp) and above.op in ("**", "<<"):
            raise Refused
        if isinstance(above, ir.Call):
            _check_call(imports.resolve(above.func) or "")
            return
        if isinstance(above, ir.Subscript):
            base = above.value
            if below is base or not isinstance(base, ir.Name) or not isinstance(after.get(base.id), (Array, Tree)):
                raise Refused
            return
        below = above
    raise Refused


def _check_call(name: str) -> None:
    """A function of JAX that takes numbers, not sizes or axes."""
    fact = load().entry(name).function if name.startswith("jax.") else None
    if fact is None or fact.shape_params or fact.axis_params or fact.size_param:
        raise Refused
