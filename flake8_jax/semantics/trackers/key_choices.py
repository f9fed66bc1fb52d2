"""Two draws of which at most one counts, though both are made: by what staged code has in place of branches, or because only
the other branch of an ``if`` reads what the first one gave.

Vocabulary
----------
chosen      ``jnp.where(mask, first, second)``: each element of the result comes of one of them.
factors     ``draw * (kind == 0)`` beside ``draw * (kind == 1)``: one of the two is zero.
carried     ``first = draw``: a name that is bound once and read once stands for the draw where it is read.
branch      ``if`` or ``else`` of a statement; two branches of one statement never run both.

Limitations: factors with ranges (``kind < 2``), masks and their negation, the lists of ``jnp.select``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import children
from flake8_jax.semantics.domain.code import blocks, spelled, statement_at
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.stack import Place
from flake8_jax.semantics.trackers.key_names import Names, NamesOfBodies, called_as, parts_of_target

MAX_DEPTH = 60
"""Expressions that are nested deeper choose nothing."""
_CHOOSING = {"where": 1, "select": 1, "select_n": 1}
"""Functions that choose between their arguments, and the first of those."""


class Step(NamedTuple):
    """One step outwards of an expression: the node around, and what it holds directly, maybe an argument."""

    around: Any
    held: Any


def exclude(first: Place, second: Place, names: NamesOfBodies) -> bool:
    """Of two draws in one run of a function, no element of a result sees both."""
    if first.node is second.node or first.serial != second.serial or first.function is None:
        return False
    scope, known, body = first.scope, names.around(first), first.function.body
    if _is_for_other_branch(body, known, first, second) or _is_for_other_branch(body, known, second, first):
        return True
    ours, theirs = (tuple(_outwards(body, known, place.node)) for place in (first, second))
    choices = {id(step.around): step.held for step in ours if _choice_of(step, scope)}
    if any(_choice_of(step, scope) and choices.get(id(step.around), step.held) is not step.held for step in theirs):
        return True
    values = dict(found for step in ours for found in _tested(step, scope))
    return any(values.get(what, value) != value for step in theirs for what, value in _tested(step, scope))


def _is_for_other_branch(body: list[ir.Stmt], names: Names, split: Place, other: Place) -> bool:
    """What an assignment binds is read in branches alone that do not run where the other draw is made."""
    statement = statement_at(body, split.node)
    branches = _branches_around(body, other.node)
    if not branches or not isinstance(statement, ir.Assign) or statement.value is not split.node:
        return False
    parts = [part for target in statement.targets for part in parts_of_target(target)]
    bound = [part.id for part in parts if isinstance(part, ir.Name)]
    reads = [read for name in bound for read in names.read_after(name, statement)]
    return (
        len(bound) == len(parts)
        and bool(reads)
        and all(_never_both(branches, _branches_around(body, r)) for r in reads)
    )


def _never_both(one: dict[int, bool], other: dict[int, bool]) -> bool:
    return any(other.get(statement, branch) is not branch for statement, branch in one.items())


def _branches_around(body: list[ir.Stmt], node: Any) -> dict[int, bool]:
    """By each ``if`` statement around a node, whether it stands in the ``else``."""
    found: dict[int, bool] = {}
    block = body
    while True:
        statement = next((one for one in block if one.start <= node.start < one.end), None)
        if statement is None or isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
            return found
        if isinstance(statement, ir.If) and not _is_inside(node, statement.test):
            found[id(statement)] = any(one.start <= node.start < one.end for one in statement.orelse)
        block = blocks(statement)


def _outwards(body: list[ir.Stmt], names: Names, node: Any) -> Iterator[Step]:
    """From a node to the statement around it, and on from where a name carries it to."""
    for _ in range(4):
        statement = statement_at(body, node)
        if statement is None or isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
            return
        inwards = list(islice(_inwards(statement, node), MAX_DEPTH))
        if len(inwards) == MAX_DEPTH:
            return
        yield from reversed(inwards)
        if not isinstance(statement, ir.Assign) or len(statement.targets) != 1:
            return
        (target,) = statement.targets
        if not isinstance(target, ir.Name):
            return
        reads = names.reads.get(target.id, [])
        if len(reads) != 1 or names.binds.get(target.id) != 1:
            return
        (node,) = reads


def _inwards(around: Any, node: Any) -> Iterator[Step]:
    """From a statement to a node in it."""
    while around is not node:
        held: Any = next((c for c in children(around) if _is_inside(node, c)), None)
        if held is None:
            return
        yield Step(around, held)
        around = held


def _is_inside(node: Any, around: msgspec.Struct) -> bool:
    start = getattr(around, "start", None)
    return start is not None and start <= node.start and node.end <= around.end  # type: ignore[attr-defined]


def _choice_of(step: Step, scope: ModuleScope) -> bool:
    """The step leads out of one of the arguments that a call chooses from."""
    call, held = step
    if not isinstance(call, ir.Call) or not isinstance(held, ir.Argument):
        return False
    first = _CHOOSING.get(called_as(scope, call.func))
    return first is not None and len(call.args) > first and held in call.args[first:]


def _tested(step: Step, scope: ModuleScope) -> Iterator[tuple[str, str]]:
    """``kind == 0`` as a factor, or as the condition of ``where``: what is compared, and with which constant."""
    around, held = step
    if isinstance(around, ir.BinOp) and around.op == "*":
        yield from _comparisons(around.right if held is around.left else around.left, scope.text)
    elif _choice_of(step, scope) and len(around.args) == 3 and held is around.args[1]:
        yield from _comparisons(around.args[0].value, scope.text)


def _comparisons(node: ir.Expr, text: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, ir.BinOp) and node.op in ("*", "&"):
        yield from _comparisons(node.left, text)
        yield from _comparisons(node.right, text)
    elif isinstance(node, ir.Compare) and node.ops == ["=="]:
        (other,) = node.comparators
        if isinstance(other, (ir.Constant, ir.Attribute)):
            yield spelled(node.left, text), spelled(other, text)
