"""Blocks that a ``with`` times: the clock is read where they begin and where they end.

Vocabulary
----------
stopwatch   a generator function of the project behind ``contextlib.contextmanager`` that reads a clock before its ``yield``
            and takes the difference after it, with no other call in between that may wait.

timed magic ``%timeit f(x)`` on a line of a notebook, or ``%%timeit`` on the first line of a cell.

A class with ``__enter__`` and ``__exit__`` needs nothing of the kind: its methods run. Limitations: stopwatches that are
methods, or are made of other stopwatches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.cells import MAGIC, TIMING
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.values import External, ExternalInstance, FunctionValue, GeneratorValue, Value
from flake8_jax.semantics.interpreter.operations import resolve_name
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import evaluate
from flake8_jax.semantics.trackers.clocks import CLOCKS, DeviceWork, begin_section, end_section

_TIMED_CELL = re.compile(rf"[ \t]*{re.escape(MAGIC)}(%%time(?:it)?)\b")
_PROFILING = "jax.profiler.trace"
_REPORTING = frozenset({"print", "info", "debug", "log", "append", "format", "round"})
"""Calls that only pass on what was measured."""


def start_watch(
    m: Machine, frame: Frame, node: ir.With, item: ir.WithItem, manager: Value
) -> Callable[[], None] | None:
    """The block of a ``with`` begins: what to do where it ends, if it is timed."""
    if not m.trackers[DeviceWork].times or m.path.mode.staged or not isinstance(item.context, ir.Call):
        return None
    traced = isinstance(manager, ExternalInstance) and manager.cls == _PROFILING
    if not traced and not (isinstance(manager, GeneratorValue) and _is_stopwatch(m, frame, item.context)):
        return None
    begin = begin_section(m, frame, node)
    return lambda: end_section(m, frame, item.context, begin, traced=traced)


def run_timed_magic(m: Machine, frame: Frame, node: ir.Assign) -> bool:
    """``%timeit f(x)`` of a notebook: run what it times, for the time alone: the names that it binds, the keys that it uses
    and the findings on its line do not count. False where the statement is none."""
    target = node.targets[0]
    if not frame.scope.cells or not isinstance(target, ir.Name) or target.id not in TIMING:
        return False
    text = frame.scope.text
    if MAGIC not in text[node.end : text.find("\n", node.end)]:
        return False
    if not m.trackers[DeviceWork].times or m.path.mode.staged:
        return True
    mark, reports = len(m.journal.entries), len(m.bus.emissions)
    begin = begin_section(m, frame, target)
    evaluate(m, frame, node.value)
    m.journal.rollback(mark)
    m.bus.emissions[reports:] = [
        found for found in m.bus.emissions[reports:]
        if found.scope is not frame.scope or not node.start <= found.report.at.start < node.end
    ]  # fmt: skip
    end_section(m, frame, target, begin, magic=f"%{target.id[1:]}")
    return True


def start_timed_cell(m: Machine, frame: Frame, statements: list[ir.Stmt]) -> Callable[[], None] | None:
    """The statements of a cell begin: what to do where they end, if ``%%timeit`` or ``%%time`` times them."""
    if not m.trackers[DeviceWork].times or not statements:
        return None
    text, first = frame.scope.text, statements[0]
    magic = _TIMED_CELL.match(text, first.end, max(text.find("\n", first.end), first.end))
    if magic is None:
        return None
    begin = begin_section(m, frame, first)
    return lambda: end_section(m, frame, first, begin, magic=magic[1])


def _is_stopwatch(m: Machine, frame: Frame, call: ir.Call) -> bool:
    function = resolve_name(m, frame.scope, frame, call.func)
    if not isinstance(function, FunctionValue) or not function.fn.is_generator:
        return False
    statements = list(_straight(function.fn.body))
    at = next((i for i, s in enumerate(statements) if isinstance(s, ir.ExprStmt) and isinstance(s.value, ir.Yield)), -1)
    if at < 0:
        return False
    started = {name for s in statements[:at] for name in _read_into(m, function.scope, s)}
    return _takes_difference(m, function.scope, statements[at + 1 :], started)


def _takes_difference(m: Machine, scope: ModuleScope, behind: list[ir.Stmt], started: set[str]) -> bool:
    """What stands behind the ``yield`` stops the clock, and waits for nothing before."""
    stopped = {name for statement in behind for name in _read_into(m, scope, statement)}
    for statement in behind:
        parts = list(walk(statement))
        found = [p for p in parts if isinstance(p, ir.BinOp) and p.op == "-" and _is_name(p.right, started)]
        if found:
            return _is_name(found[0].left, stopped) or _is_clock(m, scope, found[0].left)
        if not all(_is_harmless(m, scope, part) for part in parts if isinstance(part, ir.Call)):
            return False
    return False


def _straight(body: list[ir.Stmt]) -> Iterator[ir.Stmt]:
    """The statements that run one after the other, those of ``try … finally`` among them."""
    for statement in body:
        if isinstance(statement, ir.Try) and not statement.handlers:
            yield from _straight(statement.body)
            yield from _straight(statement.finalbody)
        else:
            yield statement


def _read_into(m: Machine, scope: ModuleScope, statement: ir.Stmt) -> Iterator[str]:
    """The variable that a statement puts the time in."""
    if isinstance(statement, ir.Assign) and _is_clock(m, scope, statement.value):
        yield from (target.id for target in statement.targets if isinstance(target, ir.Name))


def _is_clock(m: Machine, scope: ModuleScope, node: Any) -> bool:
    if not isinstance(node, ir.Call):
        return False
    value = resolve_name(m, scope, None, node.func)
    return isinstance(value, External) and value.name in CLOCKS


def _is_harmless(m: Machine, scope: ModuleScope, call: ir.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ir.Attribute) else getattr(call.func, "id", "")
    return name in _REPORTING or _is_clock(m, scope, call)


def _is_name(node: ir.Expr, names: set[str]) -> bool:
    return isinstance(node, ir.Name) and node.id in names
