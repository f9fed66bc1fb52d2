"""One conversion of a list that several calls take.

Vocabulary
----------
uses        the arguments of one function that are spelled alike and that calls of ``jax.numpy`` take as arrays.
above       the statement in front of which the list can be converted for all of them.

Limitations: uses that nested functions or loops separate from the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import fresh
from flake8_jax.fixers._source import Declined, FixSource, Refused
from flake8_jax.knowledge.equivalents import equivalent_signature

_MANY = 3
"""So many conversions of one list do not stand beside each other."""


@dataclass(frozen=True, slots=True)
class Shared:
    """above: the statement in front of which the conversion goes. name: of the array. uses: what becomes that name."""

    above: ir.Stmt
    name: str
    uses: tuple[ir.Expr, ...]


def conversion(source: FixSource, node: ir.Expr, convert: str, shared: Shared | None) -> list[Edit]:
    """Call ``convert`` with the expression: in place, or once above all of its uses."""
    if shared is None:
        return [Edit(node.start, node.start, f"{convert}("), Edit(node.end, node.end, ")")]
    line = f"{shared.name} = {convert}({source.slice(node)})"
    uses = [Edit(use.start, use.end, shared.name) for use in shared.uses]
    return [source.insert_before(shared.above, [line]), *uses]


def shared_conversion(source: FixSource, node: ir.Expr, *, indexed: bool = False) -> Shared | None:
    """Where the list of an argument can be converted for all its uses; None for one that is used once. indexed: what is
    converted is indexed, and no argument.

    Raises:
        Declined: it is used often, and cannot be converted once.
    """
    if not isinstance(node, (ir.Name, ir.Attribute, ir.Subscript)):
        return None
    uses = _indexed(source, node) if indexed else _uses(source, node)
    if len(uses) < 2:
        return None
    above = _above(source, uses)
    if above is not None and _is_only_read(source, node, above, uses):
        return Shared(above, fresh(source, node, f"{_word(node)}_array")[0], tuple(uses))
    if len(uses) >= _MANY:
        raise Declined(f"no automatic fix, because `{source.slice(node)}` is used {len(uses)} times; convert it once")
    return None


def _word(node: ir.Expr) -> str:
    """The name in an expression that says most: ``losses`` of ``self.losses[i]``."""
    if isinstance(node, ir.Subscript):
        return _word(node.value)
    return (
        node.attr.lower() if isinstance(node, ir.Attribute) else node.id.lower() if isinstance(node, ir.Name) else "x"
    )


def _indexed(source: FixSource, node: ir.Expr) -> list[ir.Expr]:
    """Items of the same statement that are no constant ones: what else takes items may need numbers."""
    text, statement = source.slice(node), source.statement(node)
    items = (part for part in walk(statement) if isinstance(part, ir.Subscript))
    found = [i.value for i in items if source.slice(i.value) == text and not isinstance(i.index, ir.Constant)]
    return sorted((use for use in found if source.statement(use) is statement), key=lambda use: use.start)


def _uses(source: FixSource, node: ir.Expr) -> list[ir.Expr]:
    text, around = source.slice(node), source.functions(node)
    inside = around[0].body if around else source.module.body
    found: list[ir.Expr] = []
    for call in (part for statement in inside for part in walk(statement) if isinstance(part, ir.Call)):
        first = call.args[0] if call.args else None
        if first is None or first.star or source.slice(first.value) != text or source.functions(call) != around:
            continue
        name = Imports(source, call).resolve(call.func) or ""
        known = equivalent_signature(f"numpy.{name.removeprefix('jax.numpy.')}") if "jax.numpy." in name else None
        if known is not None and known.parameters and known.parameters[0].kind == "array":
            found.append(first.value)
    return sorted(found, key=lambda use: use.start)


def _above(source: FixSource, uses: list[ir.Expr]) -> ir.Stmt | None:
    """The statement of the innermost block with all uses that has the first one; None where no use runs whenever that block
    does."""
    paths = [_path(source, use) for use in uses]
    common = next((owner for owner, _ in paths[0] if all(any(owner is o for o, _ in path) for path in paths)), None)
    if common is None or isinstance(common, (ir.Try, ir.Match)):
        return None
    tops = [next(statement for owner, statement in path if owner is common) for path in paths]
    try:
        blocks = [source.place(top).block for top in tops]
    except Refused:
        return None
    is_one = all(block is blocks[0] for block in blocks)
    is_sure = any(source.statement(use) is top for use, top in zip(uses, tops))
    return tops[0] if is_one and is_sure else None


def _path(source: FixSource, use: ir.Expr) -> list[tuple[msgspec.Struct, ir.Stmt]]:
    """The owners of the blocks around a use, innermost first, and the statements in these blocks."""
    statement = source.statement(use)
    found: list[tuple[msgspec.Struct, ir.Stmt]] = []
    while True:
        try:
            owner = source.place(statement).owner
        except Refused:
            return found
        found.append((owner, statement))
        if not isinstance(owner, (ir.If, ir.For, ir.While, ir.With)):
            return found
        statement = owner


def _is_only_read(source: FixSource, node: ir.Expr, above: ir.Stmt, uses: list[ir.Expr]) -> bool:
    """From the conversion on to the last use, nothing else names the list, nor binds what its expression reads."""
    if any(isinstance(part, ir.Call) for part in walk(node)):
        return False
    read = {part.id for part in walk(node) if isinstance(part, ir.Name)}
    base: ir.Expr = node
    while isinstance(base, (ir.Attribute, ir.Subscript)):
        base = base.value
    around = source.functions(node)
    inside = around[0].body if around else source.module.body
    for part in (part for statement in inside for part in walk(statement)):
        if not isinstance(part, ir.Name) or part.id not in read or not above.start <= part.start < uses[-1].end:
            continue
        if any(use.start <= part.start < use.end for use in uses):
            continue
        if (isinstance(base, ir.Name) and part.id == base.id) or _is_bound(source, part):
            return False
    return True


def _is_bound(source: FixSource, name: ir.Name) -> bool:
    above = source.parent(name)
    while isinstance(above, (ir.Tuple, ir.List, ir.Starred)):
        above = source.parent(above)
    targets = above.targets if isinstance(above, ir.Assign) else [getattr(above, "target", None)]
    return any(isinstance(t, ir.Node) and t.start <= name.start < t.end for t in targets)
