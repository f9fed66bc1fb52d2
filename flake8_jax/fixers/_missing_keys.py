"""Keys that may be None, or an integer: a split of these raises, where the code that gets the key may do without one.

Vocabulary
----------
seed        a variable of such a name, from which the function around draws nothing itself: some functions make a key of it.
optional    a parameter whose default is None, whose annotation names None, or for which a caller passes None.
asked       on every way to a use, the code has found that the key is not None, or has given the name another value.

Limitations: attributes, items, and names that functions around bind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import binder_before, leaves, surely_binds
from flake8_jax.fixers._quiet import arguments_of
from flake8_jax.fixers._source import Declined, FixSource

_SEED = re.compile(r"(?:.*_)?seeds?\d*", re.IGNORECASE)
_KEY_TYPE = re.compile(r"Key|Array|ndarray")
_NONE_TYPE = re.compile(r"\b(?:None|Optional)\b")
_DEPTH = 3
_LAZY = (ir.IfExp, ir.BoolOp, ir.Function, ir.Comprehension)
"""What may leave an expression in it unevaluated."""


def check_key(source: FixSource, use: ir.Expr) -> None:
    """Decline where the key that a use takes may be None or an integer.

    Raises:
        Declined: it may be.
    """
    if isinstance(use, ir.Name) and _SEED.fullmatch(use.id) and not _is_surely_key(source, use):
        raise Declined(
            f"no automatic fix, because `{use.id}` may be an integer here; make a key of it before you split it"
        )
    if isinstance(use, ir.Name) and _may_be_none(source, use, _DEPTH):
        raise Declined(f"no automatic fix, because `{use.id}` may be None here; test it before you split it")


def _is_surely_key(source: FixSource, seed: ir.Name) -> bool:
    """``jax.random`` made what a seed stands for, or draws from it in the function around, or its annotation says so."""
    around = source.functions(seed)
    parameter = next((p for p in around[0].params if p.name == seed.id), None) if around else None
    if parameter is not None and parameter.annotation is not None:
        return _KEY_TYPE.search(source.slice(parameter.annotation)) is not None
    binder = binder_before(source, source.statement(seed), seed.id)
    made = binder.value if isinstance(binder, (ir.Assign, ir.AnnAssign)) else None
    while isinstance(made, (ir.Subscript, ir.Attribute)):
        made = made.value
    if isinstance(made, ir.Call) and (Imports(source, made).resolve(made.func) or "").startswith("jax.random."):
        return True
    named = (node for node in walk(around[0] if around else source.module) if isinstance(node, ir.Name))
    return any(node.id == seed.id and _is_drawn_from(source, node, source.statement(node)) for node in named)


def _may_be_none(source: FixSource, use: ir.Name, depth: int) -> bool:
    statement = source.statement(use)
    if _is_drawn_from(source, use, statement):
        return False
    binder = binder_before(source, statement, use.id)
    if binder is not None:
        return _binds_none(binder, use.id)
    around = source.functions(use)
    parameter = next((p for p in around[0].params if p.name == use.id), None) if around else None
    if parameter is None or not _is_optional(source, around[0], parameter, depth):
        return False
    return not _is_asked(source, statement, use.id)


def _binds_none(binder: ir.Stmt, name: str) -> bool:
    """``key = None``, or ``key = x if c else None``."""
    value = binder.value if isinstance(binder, (ir.Assign, ir.AnnAssign)) else None
    branches = [value.body, value.orelse] if isinstance(value, ir.IfExp) else [value]
    return any(_is_none(branch) for branch in branches)


def _is_none(node: ir.Expr | None) -> bool:
    return isinstance(node, ir.Constant) and node.kind == "none"


def _is_optional(source: FixSource, function: ir.Function, parameter: ir.Parameter, depth: int) -> bool:
    if _is_none(parameter.default):
        return True
    if parameter.annotation is not None and _NONE_TYPE.search(source.slice(parameter.annotation)):
        return True
    if depth == 0:
        return False
    passed = arguments_of(source, function, parameter.name) or []
    return any(
        _is_none(value) or (isinstance(value, ir.Name) and _may_be_none(there, value, depth - 1))
        for there, value in passed
    )


def _is_drawn_from(source: FixSource, use: ir.Name, statement: ir.Stmt) -> bool:
    """``jax.random`` draws with the key whenever the statement runs: None raises there as well."""
    argument = source.parent(use)
    call = source.parent(argument)
    if not isinstance(argument, ir.Argument) or not isinstance(call, ir.Call):
        return False
    if argument is not call.args[0] and argument.keyword != "key":
        return False
    name = Imports(source, call).resolve(call.func) or ""
    if not name.startswith("jax.random.") or name in ("jax.random.key", "jax.random.PRNGKey"):
        return False
    return not any(isinstance(above, _LAZY) for above in source.between(use, statement))


def _is_asked(source: FixSource, statement: ir.Stmt, name: str) -> bool:
    below: ir.Stmt = statement
    for owner, before in _blocks_above(source, statement):
        if any(_settles(source, earlier, name) for earlier in before):
            return True
        if isinstance(owner, ir.If):
            in_body = any(one is below for one in owner.body)
            if in_body and _says_present(owner.test, name):
                return True
            if not in_body and _says_missing(owner.test, name):
                return True
        if isinstance(owner, ir.Node):
            below = owner  # type: ignore[assignment]
    return False


def _blocks_above(source: FixSource, statement: ir.Stmt) -> Iterator[tuple[msgspec.Struct, list[ir.Stmt]]]:
    """The blocks around a statement as far as its function, innermost first: their owners, and what runs before in them."""
    place = source.place(statement)
    while True:
        yield place.owner, place.block[: place.index]
        owner: msgspec.Struct = place.owner
        if isinstance(owner, (ir.ExceptHandler, ir.MatchCase)):
            owner = source.parent(owner)
        if not isinstance(owner, (ir.If, ir.For, ir.While, ir.With, ir.Try, ir.Match)):
            return
        place = source.place(owner)


def _settles(source: FixSource, statement: ir.Stmt, name: str) -> bool:
    """Behind this statement, the key is not None."""
    if isinstance(statement, ir.Assert):
        return _says_present(statement.test, name)
    if isinstance(statement, ir.If) and _says_missing(statement.test, name):
        return leaves(statement.body) or any(surely_binds(s, name) for s in statement.body)
    if isinstance(statement, (ir.Assign, ir.AnnAssign, ir.ExprStmt)):
        names = (n for n in walk(statement) if isinstance(n, ir.Name) and n.id == name)
        return any(_is_drawn_from(source, node, statement) for node in names)
    return False


def _says_present(test: ir.Expr, name: str) -> bool:
    """``key is not None``, ``key``, or a conjunction with one of these."""
    if isinstance(test, ir.BoolOp):
        return test.op == "and" and any(_says_present(value, name) for value in test.values)
    if isinstance(test, ir.Compare):
        return test.ops in (["is not"], ["!="]) and _compares_with_none(test, name)
    if isinstance(test, ir.UnaryOp):
        return test.op == "not" and _says_missing(test.operand, name)
    return isinstance(test, ir.Name) and test.id == name


def _says_missing(test: ir.Expr, name: str) -> bool:
    """``key is None``, ``not key``, or a disjunction with one of these: where it is false, the key is not None."""
    if isinstance(test, ir.BoolOp):
        return test.op == "or" and any(_says_missing(value, name) for value in test.values)
    if isinstance(test, ir.Compare):
        return test.ops in (["is"], ["=="]) and _compares_with_none(test, name)
    return isinstance(test, ir.UnaryOp) and test.op == "not" and _says_present(test.operand, name)


def _compares_with_none(test: ir.Compare, name: str) -> bool:
    sides = [test.left, *test.comparators]
    return any(_is_none(side) for side in sides) and any(
        isinstance(side, ir.Name) and side.id == name for side in sides
    )
