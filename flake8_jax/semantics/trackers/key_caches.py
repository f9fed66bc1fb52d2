"""Places that run once because they fill what is empty: ``if self.noise is None: self.noise = normal(self.key)``.

Vocabulary
----------
slot        what is filled, as the code spells it: an attribute, an item, a global name. It outlives the call.
filled      a place is behind a test that the slot is empty, and the block that it stands in assigns the slot.

Limitations: slots that are emptied again, ``try`` with ``KeyError``, ``setdefault``.
"""

from __future__ import annotations

from collections.abc import Iterator

from flake8_jax.core import ir
from flake8_jax.semantics.domain.code import spelled
from flake8_jax.semantics.domain.stack import Place
from flake8_jax.semantics.domain.values import Value, canonical_key


def is_filled_once(path: tuple[Place, ...], earlier: tuple[Place, ...]) -> bool:
    """Both paths go through one place that fills a slot of one object."""
    for at, place in enumerate(path):
        for at_earlier, other in enumerate(earlier):
            if other.node is place.node and _fills(place):
                return _is_same_object(_receiver(path, at), _receiver(earlier, at_earlier))
    return False


def _receiver(path: tuple[Place, ...], at: int) -> Value | None:
    """The object whose method the place stands in."""
    link = path[at - 1].link if at else None
    return link.receiver if link is not None else None


def _is_same_object(a: Value | None, b: Value | None) -> bool:
    return a is None or b is None or canonical_key(a) is canonical_key(b)


def _fills(place: Place) -> bool:
    if place.function is None:
        return False
    text, block = place.scope.text, place.function.body
    local = frozenset(place.function.local_names)
    while block:
        at = next((i for i, s in enumerate(block) if s.start <= place.node.start and place.node.end <= s.end), None)
        if at is None:
            return False
        assigned = {spelled(target, text) for s in block[at:] for target in _targets(s)}
        left = {slot for test in _tests_to_leave(block[:at]) for slot in _slots(test, text, local, empty=False)}
        if assigned & left:
            return True
        statement, block = block[at], []
        for name in ("body", "orelse", "finalbody"):
            inner: list[ir.Stmt] = getattr(statement, name, [])
            if not inner or not (inner[0].start <= place.node.start and place.node.end <= inner[-1].end):
                continue
            block = inner
            if isinstance(statement, ir.If) and name != "finalbody":
                empty = set(_slots(statement.test, text, local, empty=name == "body"))
                if empty & {spelled(target, text) for s in inner for target in _targets(s)}:
                    return True
    return False


def _tests_to_leave(block: list[ir.Stmt]) -> Iterator[ir.Expr]:
    """``if test: return …``"""
    for statement in block:
        if isinstance(statement, ir.If) and not statement.orelse and isinstance(statement.body[-1], ir.Return):
            yield statement.test


def _targets(statement: ir.Stmt) -> list[ir.Expr]:
    if isinstance(statement, ir.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, ir.AnnAssign) and statement.value is not None else []


def _slots(test: ir.Expr, text: str, local: frozenset[str], *, empty: bool) -> Iterator[str]:
    """The slots that a test finds empty, or full."""
    if isinstance(test, ir.UnaryOp) and test.op == "not":
        yield from _slots(test.operand, text, local, empty=not empty)
    elif isinstance(test, ir.Compare) and len(test.ops) == 1:
        (other,) = test.comparators
        if test.ops[0] == ("is" if empty else "is not") and isinstance(other, ir.Constant) and other.kind == "none":
            yield from _outliving(test.left, text, local)
        elif test.ops[0] == ("not in" if empty else "in"):
            yield f"{spelled(other, text)}[{spelled(test.left, text)}]"
    elif isinstance(test, ir.Call):
        if not empty and _is_attribute_test(test) and isinstance(test.args[1].value, ir.Constant):
            yield f"{spelled(test.args[0].value, text)}.{test.args[1].value.value}"
    elif not empty:
        yield from _outliving(test, text, local)


def _is_attribute_test(call: ir.Call) -> bool:
    return isinstance(call.func, ir.Name) and call.func.id == "hasattr" and len(call.args) == 2


def _outliving(slot: ir.Expr, text: str, local: frozenset[str]) -> Iterator[str]:
    if isinstance(slot, (ir.Attribute, ir.Subscript)) or (isinstance(slot, ir.Name) and slot.id not in local):
        yield spelled(slot, text)
