"""A Python loop as ``jax.lax.while_loop`` or ``jax.lax.fori_loop``.

Vocabulary
----------
carry       the names that the body binds and that are bound before the loop: they go round.
temporary   a name that the body binds, always before reading it, and that nothing behind the loop reads.

A carry that starts as a Python int must stay an integer in the body: the structured loops keep the dtype that they
are given, Python does not.

Limitations: ``continue``, ``return``, ``else``, a ``break`` anywhere but in the last statement of a ``while`` (or the
first one of a ``while True``), container stores (all refused).
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import LOOPS, Announced, unsafe
from flake8_jax.fixers._comments import Remarks, block_span, is_own_line, statement_end
from flake8_jax.fixers._expressions import Effect
from flake8_jax.fixers._flow import is_inspected
from flake8_jax.fixers._names import binder_before, bound_before, fresh, read_outside, surely_binds, target_names, uses
from flake8_jax.fixers._selection import Setting, assignment, setting
from flake8_jax.fixers._source import Comment, FixSource, Refused
from flake8_jax.fixers._steps import LocalFunction, bound_names, check_fit, check_steps, moved

_EXACT = ("+", "-", "*", "//", "%")
"""Operators that make an integer of integers."""


@dataclass(frozen=True, slots=True)
class Carry:
    """The names that go round, and how to write them."""

    names: list[str]

    @property
    def unpacked(self) -> str:
        return ", ".join(self.names)

    @property
    def packed(self) -> str:
        return self.names[0] if len(self.names) == 1 else f"({self.unpacked})"

    def unpacking(self, parameter: str) -> list[str]:
        return [] if len(self.names) == 1 else [f"{self.unpacked} = {parameter}"]


def _carry(use: Setting, node: ir.While | ir.For, body: list[ir.Stmt], also: frozenset[str]) -> Carry:
    """The carry of a loop; ``also``: names that are read outside the body but as part of the loop (its test).

    Raises:
        Refused: a name is neither carried nor temporary, or what it starts as does not fit.
    """
    source, function = use.source, use.function
    if function is None:
        raise Refused
    names = bound_names([body])
    carried = [n for n in names if bound_before(source, node, n)]
    known = set(carried)
    for statement in body:
        inner = set(target_names(statement.target)) if isinstance(statement, ir.For) else set()
        if isinstance(statement, ir.For) and uses(statement.iter).reads & inner:
            raise Refused
        if (uses(statement).reads & set(names)) - known - inner:
            raise Refused
        known |= {n for n in names if surely_binds(statement, n)}
    for name in names:
        if name not in carried and (name in also or read_outside(source, function, node, name)):
            raise Refused
    if not carried:
        raise Refused
    for name in carried:
        check_fit(use, [body], name)
        _check_start(source, node, body, name, carried)
    return Carry(carried)


def start_of(source: FixSource, node: ir.Stmt, name: str) -> ir.Expr | None:
    """The expression that the name starts as, where one assignment shows it."""
    binder = binder_before(source, node, name)
    if not isinstance(binder, (ir.Assign, ir.AnnAssign)) or binder.value is None:
        return None
    targets = binder.targets if isinstance(binder, ir.Assign) else [binder.target]
    for target in targets:
        if isinstance(target, ir.Name) and target.id == name:
            return binder.value
        if isinstance(target, ir.Tuple) and isinstance(binder.value, ir.Tuple):
            for left, right in zip(target.elts, binder.value.elts, strict=False):
                if isinstance(left, ir.Name) and left.id == name:
                    return right
    return None


def _check_start(source: FixSource, node: ir.Stmt, body: list[ir.Stmt], name: str, carried: list[str]) -> None:
    """A carry may start as this value, and goes on with its dtype.

    Raises:
        Refused: it starts as no array or number, or as an int and may become a float.
    """
    start = start_of(source, node, name)
    if isinstance(start, (ir.List, ir.Dict, ir.Set, ir.Comprehension, ir.JoinedStr, ir.Lambda)):
        raise Refused
    if not isinstance(start, ir.Constant):
        return
    if start.kind not in ("int", "float", "bool"):
        raise Refused
    if start.kind != "int":
        return
    integers = {n for n in carried if isinstance(s := start_of(source, node, n), ir.Constant) and s.kind == "int"}
    if not all(_stays_integral(item, name, integers) for statement in body for item in walk(statement)):
        raise Refused


def _stays_integral(item: msgspec.Struct, name: str, integers: set[str]) -> bool:
    """Whether a statement leaves an integer variable an integer."""
    if isinstance(item, ir.AugAssign) and name in target_names(item.target):
        return item.op in _EXACT and _is_integral(item.value, integers)
    if isinstance(item, ir.Assign) and any(name in target_names(t) for t in item.targets):
        return _is_integral(item.value, integers)
    return True


def _is_integral(node: ir.Expr, integers: set[str]) -> bool:
    if isinstance(node, ir.Constant):
        return node.kind == "int"
    if isinstance(node, ir.Name):
        return node.id in integers
    if isinstance(node, ir.BinOp):
        return node.op in _EXACT and _is_integral(node.left, integers) and _is_integral(node.right, integers)
    return False


def is_endless(node: ir.While) -> bool:
    """``while True``."""
    return isinstance(node.test, ir.Constant) and bool(node.test.value)


def _is_break(statement: ir.Stmt) -> bool:
    """``if …: break`` and nothing else."""
    if not isinstance(statement, ir.If) or statement.orelse:
        return False
    return len(statement.body) == 1 and isinstance(statement.body[0], ir.Break)


@dataclass(frozen=True, slots=True)
class _Parts:
    """A ``while``: what is tested before each iteration, the body, and the test of a last ``if stop: break``.

    endless: ``while True``. leaves: the loop ends where ``tested`` is true, not where it is false.
    """

    tested: ir.Expr
    body: list[ir.Stmt]
    stop: ir.Expr | None
    endless: bool
    leaves: bool


def _parts(node: ir.While) -> _Parts:
    """Raises Refused for an ``else``, and for a loop that never ends."""
    endless = is_endless(node)
    first, last = node.body[0], node.body[-1]
    if node.orelse:
        raise Refused
    if isinstance(last, ir.If) and _is_break(last):
        parts = _Parts(node.test, node.body[:-1], last.test, endless, leaves=False)
    elif endless and isinstance(first, ir.If) and _is_break(first):
        parts = _Parts(first.test, node.body[1:], None, endless, leaves=True)
    else:
        parts = _Parts(node.test, node.body, None, endless, leaves=False)
    if not parts.body or (endless and parts.stop is None and not parts.leaves):
        raise Refused
    return parts


_ATOMS = (ir.Name, ir.Attribute, ir.Subscript)
_MAY_BE_NUMBERS = (*_ATOMS, ir.BinOp)
"""Tests that Python takes as true where they are not 0; ``while_loop`` wants a boolean."""


def convert_while(source: FixSource, node: ir.While) -> Fix:
    """``while test: …`` over assignments; a last ``if stop: break`` becomes part of the carry.

    The first statement of a ``while True`` may be ``if leave: break``.

    Raises:
        Refused: see the module's vocabulary.
    """
    source.enclosing_function(node)
    if is_inspected(source, node):
        raise Refused
    parts = _parts(node)
    use = setting(source, node)
    check_steps(use, parts.body)
    if use.effect(parts.tested) is not Effect.PURE:
        raise Refused
    read = uses(parts.tested).reads | (uses(parts.stop).reads if parts.stop is not None else frozenset())
    carry = _carry(use, node, parts.body, read)
    if not uses(parts.tested).reads & set(carry.names) and parts.stop is None:
        raise Refused
    test = use.condition(parts.tested)
    if isinstance(parts.tested, _MAY_BE_NUMBERS) and parts.stop is None and not parts.leaves:
        test = f"{source.argument(parts.tested)} != 0" if isinstance(parts.tested, _ATOMS) else f"({test}) != 0"
    if parts.leaves:
        test = f"{use.imports.spell('jax.numpy.logical_not')}({test})"
    end = statement_end(source, node)
    body = block_span(source, parts.body, end)
    of_test = _remark(source, source.lost_comments(node.start, body[0], [(parts.tested.start, parts.tested.end)]))
    start = carry.packed
    result = carry.unpacked
    tail: list[str] = []
    if parts.stop is not None:
        done = fresh(source, node, "done")[0]
        carry = Carry([*carry.names, done])
        start, result = f"({result}, False)", f"{result}, _"
        of_stop = _remark(source, source.lost_comments(body[1], end, [(parts.stop.start, parts.stop.end)]))
        tail += of_stop.lines(assignment(done, use.condition(parts.stop)))
        going = f"{use.imports.spell('jax.numpy.logical_not')}({done})"
        test = going if parts.endless else f"{use.imports.spell('jax.numpy.logical_and')}({going}, {test})"
    cond_fun, body_fun, packed = fresh(source, node, "cond_fun", "body_fun", "carry")
    parameter = carry.names[0] if len(carry.names) == 1 else packed
    tail.append(f"return {carry.unpacked}")
    lines = _test_function(source, cond_fun, carry, parameter, (test, of_test))
    function = LocalFunction(body_fun, parameter, parts.body, tuple(tail))
    lines += _body_function(source, node, function, carry, parameter)
    loop = use.imports.spell("jax.lax.while_loop")
    lines.append(f"{result} = {loop}({cond_fun}, {body_fun}, {start})")
    edit = source.replace_statement(node, lines, [(node.start, end)], end)
    return unsafe("Replace the loop with `jax.lax.while_loop`", LOOPS, (edit, *use.imports.edits))


def _remark(source: FixSource, comments: list[Comment]) -> Remarks:
    """Comments as those of one line."""
    if len(comments) == 1 and not is_own_line(source, comments[0]):
        return Remarks((), comments[0].text)
    return Remarks(tuple(comment.text for comment in comments))


def _test_function(
    source: FixSource, name: str, carry: Carry, parameter: str, tested: tuple[str, Remarks]
) -> list[str]:
    """The lines of the function that tests whether the loop goes on. tested: by what, with the comments of that."""
    test, remarks = tested
    returned = f"return ({test})" if "\n" in test or "\r" in test else f"return {test}"
    body = [source.indent_unit + line for line in (*carry.unpacking(parameter), *remarks.lines(returned))]
    return [f"def {name}({parameter}):", *body, ""]


def _body_function(
    source: FixSource, node: ir.While | ir.For, function: LocalFunction, carry: Carry, parameter: str
) -> list[str]:
    """The lines of the function that makes one iteration; it takes the carry apart first."""
    lines = function.lines(source, node, statement_end(source, node))
    return [lines[0], *(source.indent_unit + line for line in carry.unpacking(parameter)), *lines[1:]]


def convert_for_range(source: FixSource, node: ir.For, announced: Announced = LOOPS) -> Fix:
    """``for i in range(…)`` with step 1 over assignments. announced: what that may change; with traced bounds, more than with
    others.

    Raises:
        Refused: see the module's vocabulary.
    """
    function = source.enclosing_function(node)
    if node.orelse or node.is_async or not isinstance(node.target, ir.Name) or is_inspected(source, node):
        raise Refused
    bounds = _bounds(node.iter)
    use = setting(source, node)
    check_steps(use, node.body)
    index = node.target.id
    if index in uses(*node.body).binds or read_outside(source, function, node, index):
        raise Refused
    carry = _carry(use, node, node.body, frozenset())
    low = source.argument(bounds[0]) if len(bounds) == 2 else "0"
    high = source.argument(bounds[-1])
    body_fun, packed = fresh(source, node, "body_fun", "carry")
    parameter = carry.names[0] if len(carry.names) == 1 else packed
    made = LocalFunction(body_fun, f"{index}, {parameter}", node.body, (f"return {carry.unpacked}",))
    lines = _body_function(source, node, made, carry, parameter)
    loop = use.imports.spell("jax.lax.fori_loop")
    end = statement_end(source, node)
    kept = [(k.start, k.end) for k in (*bounds, *moved(source, node.body, end))]
    of_loop = _remark(source, source.lost_comments(node.start, end, kept))
    lines += of_loop.lines(f"{carry.unpacked} = {loop}({low}, {high}, {body_fun}, {carry.packed})")
    edit = source.replace_statement(node, lines, [(node.start, end)], end)
    return unsafe("Replace the loop with `jax.lax.fori_loop`", announced, (edit, *use.imports.edits))


def _bounds(iterable: ir.Expr) -> list[ir.Expr]:
    """The one or two arguments of ``range``. Raises Refused where there are others."""
    if not isinstance(iterable, ir.Call):
        raise Refused
    arguments = iterable.args
    if not 1 <= len(arguments) <= 2 or any(a.star or a.keyword for a in arguments):
        raise Refused
    return [a.value for a in arguments]
