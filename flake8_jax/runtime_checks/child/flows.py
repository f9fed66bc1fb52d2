"""What becomes of the value of a formula in the function around it: as far as that can be computed once more.

Vocabulary
----------
head      an expression around the formula, in its statement. step: a statement behind that, of the same block.
outcome   what the program goes on with: what the function returns; or, where a statement comes that cannot be computed once
          more, what the rest of the function reads. So a value that a condition deselects is none. A value that goes into
          such a call counts as used.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flake8_jax.runtime_checks.child.formulas import Formula, formula_of

_MOST_STEPS = 30
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)
RETURNED = ""
"""The target of a return statement."""

Evaluate = Callable[[Formula, Mapping[str, Any]], Any]
"""The value of a formula. Raises Unknown."""


class Unknown(Exception):
    """Something cannot be computed once more."""


@dataclass(frozen=True)
class Head:
    """An expression as it is, and with the other formula in it. is_whole: it is the value of its statement."""

    pair: tuple[Formula, Formula]
    is_whole: bool


@dataclass(frozen=True)
class Step:
    """``target = formula``. read: the names that code outside of the steps until this one reads."""

    target: str
    formula: Formula
    read: frozenset[str]


@dataclass(frozen=True)
class Flow:
    """heads: the outermost first. target: of their statement; None where it assigns to no name. read: as of a step."""

    heads: tuple[Head, ...]
    target: str | None
    read: frozenset[str]
    steps: tuple[Step, ...]

    def outcome(self, number: int, names: Mapping[str, Any], evaluate: Evaluate) -> tuple[Any, bool]:
        """What the program goes on with, and whether that is what the function returns. number: 0 as it is, 1 with the other
        formula. Raises Unknown."""
        head, value = self._head(number, names, evaluate)
        if not head.is_whole or self.target is None:
            return value, False
        if self.target == RETURNED:
            return value, True
        known, made, read = {**names, self.target: value}, {self.target: value}, self.read
        for step in self.steps:
            try:
                value = evaluate(step.formula, known)
            except Unknown:
                break
            if step.target == RETURNED:
                return value, True
            known[step.target] = made[step.target] = value
            read = step.read
        return {name: value for name, value in made.items() if name in read}, False

    def _head(self, number: int, names: Mapping[str, Any], evaluate: Evaluate) -> tuple[Head, Any]:
        for head in self.heads:
            try:
                return head, evaluate(head.pair[number], names)
            except Unknown:
                continue
        raise Unknown


def flow_of(tree: ast.AST, span: tuple[int, int, int, int], other: str) -> Flow | None:
    """The flow from the expression that stands at a place (rows from 1, columns in bytes from 0); None where there is none.
    other: the text of what may stand there instead."""
    path = _path_to(tree, span)
    numbers = [number for number, node in enumerate(path) if isinstance(node, ast.stmt)]
    if not numbers or any(isinstance(node, (ast.Lambda, *_COMPREHENSIONS)) for node in path[numbers[-1] :]):
        return None
    statement = path[numbers[-1]]
    target, whole = _assigned(statement)
    heads = tuple(_heads(path[numbers[-1] + 1 :], whole, ast.parse(f"({other}\n)", mode="eval").body))
    scopes = [number for number, node in enumerate(path) if isinstance(node, _SCOPES)]
    outer = path[scopes[-1]]
    loops = any(isinstance(node, _LOOPS) for node in path[scopes[-1] :])
    counts = _loads(outer)
    own = Counter[str]() if loops else _loads(statement)
    steps: list[Step] = []
    for following in _behind(path[numbers[-1] - 1], statement)[:_MOST_STEPS]:
        name, value = _assigned(following)
        formula = formula_of(value) if name is not None and value is not None else None
        if name is None or formula is None:
            break
        own += Counter[str]() if loops else _loads(following)
        steps.append(Step(name, formula, _read(counts, own, outer)))
    first = Counter[str]() if loops else _loads(statement)
    return Flow(heads, target, _read(counts, first, outer), tuple(steps)) if heads else None


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _path_to(tree: ast.AST, span: tuple[int, int, int, int]) -> list[ast.AST]:
    """From the module down to the expression; empty where none stands exactly there."""
    path: list[ast.AST] = [tree]
    while True:
        node = path[-1]
        place = _place_of(node)
        if place == span and isinstance(node, ast.expr):
            return path
        inner = next((child for child in ast.iter_child_nodes(node) if _holds(_place_of(child), span)), None)
        if inner is None:
            return []
        path.append(inner)


def _place_of(node: ast.AST) -> tuple[int, int, int, int] | None:
    if isinstance(node, (ast.expr, ast.stmt, ast.keyword)):
        return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0
    return None


def _holds(place: tuple[int, int, int, int] | None, span: tuple[int, int, int, int]) -> bool:
    return place is not None and place[:2] <= span[:2] and span[2:] <= place[2:]


def _assigned(statement: ast.AST) -> tuple[str | None, ast.expr | None]:
    """The name that a statement assigns to, and the value."""
    if isinstance(statement, ast.Return):
        return RETURNED, statement.value
    targets: Sequence[ast.expr] = ()
    value: ast.expr | None = None
    if isinstance(statement, ast.Assign):
        targets, value = statement.targets, statement.value
    elif isinstance(statement, ast.AnnAssign):
        targets, value = [statement.target], statement.value
    elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        targets = [statement.target]
        value = ast.BinOp(ast.Name(statement.target.id, ast.Load()), statement.op, statement.value)
    if len(targets) == 1 and isinstance(targets[0], ast.Name):
        return targets[0].id, value
    return None, value


def _heads(path: Sequence[ast.AST], whole: ast.expr | None, other: ast.expr) -> Iterator[Head]:
    """The expressions around the last one of a path."""
    around = [whole] if isinstance(whole, ast.BinOp) and whole not in path else []
    for node in (*around, *path):
        if isinstance(node, ast.expr):
            before, after = formula_of(node), formula_of(_replaced(node, path[-1], other))
            if before is not None and after is not None:
                yield Head((before, after), node is whole)


def _replaced(node: ast.expr, old: ast.AST, new: ast.expr) -> ast.expr:
    """A copy of an expression with another part in it."""
    return copy.deepcopy(node, {id(old): new})


def _loads(node: ast.AST) -> Counter[str]:
    return Counter(
        inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Store)
    ) + Counter(
        inner.target.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name)
    )


def _read(counts: Counter[str], own: Counter[str], outer: ast.AST) -> frozenset[str]:
    """Names that are read elsewhere; of a module also those that nothing reads, because it keeps them."""
    elsewhere = counts - own
    kept = {
        node.id for node in ast.walk(outer) if isinstance(node, ast.Name) and isinstance(outer, ast.Module)
    } - counts.keys()
    return frozenset(elsewhere.keys() | kept)


def _behind(block: ast.AST, statement: ast.AST) -> list[ast.stmt]:
    """The statements behind one in its block."""
    for name in ("body", "orelse", "finalbody"):
        statements: Any = getattr(block, name, None)
        if isinstance(statements, list) and statement in statements:
            return list(statements[statements.index(statement) + 1 :])
    return []
