"""What a repair has to bring along: where a call gave a host value, and now gives a tracer, its tests must go too.

``norm = np.linalg.norm(g)`` becomes ``jnp.linalg.norm(g)``; the ``if norm > 1`` below it could not be reached before,
because the call raises, and would now be a mistake of its own. Repair and consequences are one atomic fix.

Vocabulary
----------
dependent   an ``if``, conditional expression, ``while`` or ``for … in range`` that tests the call's value itself, or
            the one name that it is assigned to, later in the same function.

Not modelled: values that flow on through other names, calls or containers. Where a dependent cannot be converted, the
repair is left as it was: whoever applies it sees that it brings a new finding.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._branches import convert_if, convert_ternary
from flake8_jax.fixers._expressions import guards
from flake8_jax.fixers._loops import convert_for_range, convert_while
from flake8_jax.fixers._source import FixSource, Refused, walk
from flake8_jax.syntax.edits import apply_edits

Dependent = ir.If | ir.IfExp | ir.While | ir.For
_STATIC = frozenset(["shape", "ndim", "dtype", "size", "aval", "sharding"])


def with_consequences(source: FixSource, call: ir.Expr, fix: Fix) -> Fix:
    """The fix of an expression, and with it what its value forces."""
    inside = [e for e in fix.edits if call.start <= e.start and e.end <= call.end]
    outside = [e for e in fix.edits if e not in inside]
    direct = _tested_by(source, call)
    if direct is not None:
        more = _converted(source, direct)
        if more is None:
            return fix
        old = source.slice(call)
        new = apply_edits(old, [Edit(e.start - call.start, e.end - call.start, e.content) for e in inside])
        edits = [Edit(e.start, e.end, e.content.replace(old, new)) for e in more.edits]
        return _joined(fix, [*edits, *outside])
    edits = list(fix.edits)
    for dependent in _later(source, call):
        more = _converted(source, dependent)
        if more is not None and not any(_overlap(a, b) for a in more.edits for b in edits):
            edits += [e for e in more.edits if e not in edits]
    return fix if len(edits) == len(fix.edits) else _joined(fix, edits)


def _joined(fix: Fix, edits: list[Edit]) -> Fix:
    return Fix(f"{fix.message}, and select instead of testing the result", "unsafe", tuple(dict.fromkeys(edits)))


def _overlap(one: Edit, other: Edit) -> bool:
    if one == other:
        return False
    return one.start < other.end and other.start < one.end


def _converted(source: FixSource, node: Dependent) -> Fix | None:
    try:
        if isinstance(node, ir.If):
            return convert_if(source, node)
        if isinstance(node, ir.IfExp):
            return convert_ternary(source, node)
        return convert_while(source, node) if isinstance(node, ir.While) else convert_for_range(source, node)
    except Refused:
        return None


def _tested(node: msgspec.Struct) -> ir.Expr | None:
    """What a construct needs the concrete value of."""
    if isinstance(node, (ir.If, ir.IfExp, ir.While)):
        return None if guards(node.test) else node.test
    if isinstance(node, ir.For) and isinstance(node.iter, ir.Call) and isinstance(node.iter.func, ir.Name):
        return node.iter if node.iter.func.id == "range" else None
    return None


def _tested_by(source: FixSource, call: ir.Expr) -> Dependent | None:
    """The construct whose test the call is a part of."""
    for above in source.ancestors(call):
        if isinstance(above, (ir.Function, ir.Comprehension)):
            return None
        tested = _tested(above)
        if tested is None or not (tested.start <= call.start and call.end <= tested.end):
            continue
        if _only_static(source, call, tested):
            return None
        assert isinstance(above, (ir.If, ir.IfExp, ir.While, ir.For))
        return above
    return None


def _only_static(source: FixSource, node: ir.Expr, test: ir.Expr) -> bool:
    """Whether the test looks at the node's shape or dtype, not at its value."""
    for above in source.ancestors(node):
        if isinstance(above, ir.Attribute) and above.attr in _STATIC:
            return True
        if isinstance(above, ir.Call) and isinstance(above.func, ir.Name) and above.func.id in ("len", "isinstance"):
            return True
        if above is test:
            return False
    return False


def _later(source: FixSource, call: ir.Expr) -> Iterator[Dependent]:
    """The constructs behind the call's statement that test the name that it is assigned to."""
    statement = source.statement(call)
    around = source.functions(call)
    if not isinstance(statement, ir.Assign) or len(statement.targets) != 1 or not around or around[0].is_lambda:
        return
    target = statement.targets[0]
    if not isinstance(target, ir.Name):
        return
    found = [n for s in around[0].body for n in walk(s) if isinstance(n, (ir.If, ir.IfExp, ir.While, ir.For))]
    for node in sorted(found, key=lambda n: (n.start, -n.end)):
        tested = _tested(node) if node.start >= statement.end else None
        if tested is None or source.functions(node) != around:
            continue
        names = [n for n in walk(tested) if isinstance(n, ir.Name) and n.id == target.id]
        if any(not _only_static(source, n, tested) for n in names):
            yield node
