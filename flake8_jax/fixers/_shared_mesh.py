"""One mesh for the maps that stand beside each other.

Vocabulary
----------
group       maps of one block of statements that use the same devices and name their axis alike, or do not name it. Their
            fixes put the same line above the first of them, and edits that are equal are made once.

Two or more maps of a group whose arguments are all mapped also share the call of ``shard_map``, as a ``functools.partial``.

Limitations: decorators, maps in different blocks, and maps whose mesh needs an expression that code between them may change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._callers import binders, scope_of
from flake8_jax.fixers._names import fresh
from flake8_jax.fixers._pmaps import Pmap, is_pmap, pmap_at
from flake8_jax.fixers._source import Declined, FixSource, Place, Refused

_MANY_SPECS = 3
"""So many uses of one spec get a name."""


@dataclass(frozen=True, slots=True)
class Shared:
    """above: the statement that the lines stand above. axis: the text of the axis name that the group uses; None where no map
    names it. mesh, spec, call: names for them; None where they are written in place. call: a partial call of ``shard_map``."""

    above: ir.Stmt
    axis: str | None
    mesh: str | None
    spec: str | None
    call: str | None


def shared_by(source: FixSource, site: Pmap) -> Shared | None:
    """What a map shares with those beside it; None where all is written in place."""
    try:
        place = source.place(source.statement(site.replaced))
    except Refused:
        return None
    if _devices(source, site) is None or not _is_plain(source, site, place.statement):
        return None
    beside = source.remember("maps of a block", place.block[0], lambda: list(_maps_of(source, place)))
    axis, group = _group(source, site, beside)
    if not all(_is_literal(source, other) for _, other in group):
        axis, group = _group(source, site, _next_to(place.index, beside))
    many = sum(_specs(other) for _, other in group) >= _MANY_SPECS
    if len(group) < 2 and not many:
        return None
    mesh, spec, call = fresh(source, site.replaced, "mesh", "spec", "over_devices")
    alike = sum(other.axes is None for _, other in group)
    shares_call = alike > 1 and site.axes is None
    return Shared(
        place.block[group[0][0]],
        axis,
        mesh if len(group) > 1 else None,
        spec if many else None,
        call if shares_call else None,
    )


_Maps = list[tuple[int, Pmap]]
"""With the numbers of their statements in the block."""


def _group(source: FixSource, site: Pmap, beside: _Maps) -> tuple[str | None, _Maps]:
    """The name of the axis, and the maps that can have one mesh with a map. One that names no axis takes the first name."""
    first = next((text for _, other in beside if (text := _axis(source, other)) is not None), None)
    axis, devices = _axis(source, site) or first, _devices(source, site)
    same = [
        (at, one) for at, one in beside if (_axis(source, one) or first) == axis and _devices(source, one) == devices
    ]
    return axis, same


def _next_to(index: int, beside: _Maps) -> _Maps:
    """The maps of the statement and of those around it, up to the first that makes no map."""
    indices = {at for at, _ in beside}
    first = last = index
    while first - 1 in indices:
        first -= 1
    while last + 1 in indices:
        last += 1
    return [(at, one) for at, one in beside if first <= at <= last]


def _maps_of(source: FixSource, place: Place) -> Iterator[tuple[int, Pmap]]:
    """The maps of a block that are rewritten."""
    for at, statement in enumerate(place.block):
        if not isinstance(statement, (ir.Assign, ir.AnnAssign, ir.Return, ir.ExprStmt)):
            continue
        for node in walk(statement):
            if not is_pmap(source, node):
                continue
            try:
                found = pmap_at(source, node)  # type: ignore[arg-type]
            except (Declined, Refused):
                continue
            if _is_plain(source, found, statement):
                yield at, found


def _is_plain(source: FixSource, site: Pmap, statement: ir.Stmt) -> bool:
    """The map is made whenever the statement runs, which has lines and comments of its own."""
    if (
        site.static
        or site.operand is None
        or not source.starts_line(statement)
        or source.comments(statement.start, statement.end)
    ):
        return False
    inside = (ir.Function, ir.Comprehension, ir.Generator, ir.IfExp)
    return not any(isinstance(above, inside) for above in source.between(site.replaced, statement))


def _axis(source: FixSource, site: Pmap) -> str | None:
    return source.argument(site.options["axis_name"]) if "axis_name" in site.options else None


def _devices(source: FixSource, site: Pmap) -> tuple[str, ...] | None:
    """What tells the devices of a mesh; None where an expression computes them."""
    given = [site.options.get(name) for name in ("devices", "backend", "axis_size")]
    if not all(node is None or _is_name_or_number(node) for node in given):
        return None
    return (*("" if node is None else source.argument(node) for node in given), str(site.length))


def _is_literal(source: FixSource, site: Pmap) -> bool:
    """Nothing that another statement may change says what the mesh is."""
    named = [site.options.get(name) for name in ("axis_name", "devices", "backend", "axis_size")]
    return all(node is None or isinstance(node, ir.Constant) or is_bound_once(source, node) for node in named)


def is_bound_once(source: FixSource, node: ir.Expr) -> bool:
    """A name that one statement above binds, outside of loops, or a parameter that nothing binds again."""
    if not isinstance(node, ir.Name):
        return False
    owner = scope_of(source, node)
    bound = binders(source, owner if owner is not None else source.module, node.id)
    if owner is not None and any(p.name == node.id for p in owner.params):
        return not bound
    if len(bound) != 1 or bound[0].start > node.start or node.id in source.module.rebound_names:
        return False
    return not any(isinstance(above, (ir.For, ir.While)) for above in source.ancestors(bound[0]))


def _is_name_or_number(node: ir.Expr) -> bool:
    return isinstance(node, (ir.Constant, ir.Name)) or (
        isinstance(node, ir.Attribute) and isinstance(node.value, ir.Name)
    )


def _specs(site: Pmap) -> int:
    """How often the rewritten map mentions the spec of what is mapped."""
    return 1 + (1 if site.axes is None else sum(axis is not None for axis in site.axes))
