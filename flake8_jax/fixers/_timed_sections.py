"""What the timers of one function measure: the sections of code between two readings of the clock.

Vocabulary
----------
stop        a reading that a difference counts as its end: ``t1`` of ``t1 - t0``, or ``time.time() - t0`` itself.
section     the statements between a reading and the next one in the same block, if that is a stop.
dispatches  a statement calls JAX, or a function of the project that does, and keeps the results.
results     the targets that hold them behind the statement.

Limitations: clocks in other blocks than their stop, results that go into containers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import binder_before, uses
from flake8_jax.fixers._quiet import is_compiled
from flake8_jax.fixers._source import FixSource, Refused

_CLOCKS = frozenset(
    f"{module}.{name}{unit}"
    for module, names in (
        ("time", ("time", "perf_counter", "monotonic", "process_time")),
        ("timeit", ("default_timer",)),
    )
    for name in names
    for unit in ("", "_ns")
)
_READS = re.compile(r"block_until_ready|device_get|\.item\(|\.tolist\(|\b(?:float|int|print)\(|\bnp\.(?:as)?array\(")
"""What waits for results, or shows them."""
_OTHER_TIMES = re.compile(r"compil|dispatch|async|enqueue|launch|submit", re.IGNORECASE)
"""Names of times that end before the device is ready."""
_QUICK = re.compile(
    r"random\.(?:split|key|PRNGKey|fold_in)$|numpy\.(?:as)?array$|numpy\.(?:zeros|ones|full|empty|arange|linspace)"
)
"""Calls that take no time worth measuring."""
_USES_JAX = re.compile(r"\b(?:jnp|jax|lax|random|jit|vmap|grad)\b")
_NO_ARRAY = re.compile(
    r"_|(?:n|num)_\w+|(?:num|count|steps?|epoch|name|path)|(?:\w+_)?(?:time|seconds|elapsed|duration)(?:_\w+)?"
)
"""A variable of such a name holds a number or a text of Python."""


@dataclass(frozen=True, slots=True)
class Section:
    start: ir.Stmt
    body: Sequence[ir.Stmt]
    stop: ir.Stmt


def unwaited_sections(source: FixSource, work: ir.Node, stop: ir.Stmt) -> list[tuple[Section, list[ir.Expr]]]:
    """The other sections in the function of a stop that dispatch work and do not wait for it, with the results of each. work:
    in the section of ``stop``; other calls of the same function dispatch work, too.

    Raises:
        Refused: the results of one of them are not known.
    """
    found = []
    sections = _sections(source, stop)
    known = _callees(source, next((one for one in sections if one.stop is stop), None), work)
    for section in sections:
        if (
            section.stop is stop
            or _OTHER_TIMES.search(source.slice(section.stop))
            or any(_READS.search(source.slice(one)) for one in section.body)
        ):
            continue
        is_alike = any(_calls_alike(source, one, known) for one in section.body)
        if is_alike and not computing(source, section.body):
            found.append((section, _results_alike(source, section.body, known)))
        elif computing(source, section.body):
            found.append((section, open_results(source, section.body)))
        else:
            unknown = [one for one in section.body if _calls_unknown(source, one)]
            if unknown and (targets := _results(source, unknown[-1])):
                found.append((section, targets))
    return found


def _callees(source: FixSource, own: Section | None, work: ir.Node) -> set[str]:
    """The function that the work calls, and the objects whose methods its section calls."""
    found = {source.slice(work.func)} if isinstance(work, ir.Call) else set[str]()
    for call in (
        node for one in (own.body if own is not None else ()) for node in walk(one) if isinstance(node, ir.Call)
    ):
        owner = call.func.value if isinstance(call.func, ir.Attribute) else None
        if isinstance(owner, ir.Name) and Imports(source, owner).resolve(owner) is None:
            found.add(owner.id + ".")
    return found


def _calls_alike(source: FixSource, statement: ir.Stmt, known: set[str]) -> bool:
    texts = [source.slice(node.func) for node in walk(statement) if isinstance(node, ir.Call)]
    return not isinstance(statement, ir.ExprStmt) and any(
        text in known or text.rpartition(".")[0] + "." in known for text in texts
    )


def _results_alike(source: FixSource, body: Sequence[ir.Stmt], known: set[str]) -> list[ir.Expr]:
    """What the last statement of a body keeps that calls one of the known functions.

    Raises:
        Refused: it is not known.
    """
    last = next(statement for statement in reversed(body) if _calls_alike(source, statement, known))
    targets = _results(source, last)
    if not targets:
        raise Refused
    return targets


def before(source: FixSource, statement: ir.Stmt, stop: ir.Stmt) -> Sequence[ir.Stmt]:
    """The statements of the section that ``stop`` ends, as far as the one with the work that is waited for."""
    own = next((section for section in _sections(source, stop) if section.stop is stop), None)
    return [one for one in own.body if one.end <= statement.start] if own is not None else []


def left_over(source: FixSource, stop: ir.Stmt) -> tuple[ir.Stmt, list[ir.Expr]] | None:
    """The start of the section that ``stop`` ends, and the results of the section before it if that is of another kind, such
    as a compilation: the device still computes them when the clock starts. None where nothing is left over."""
    sections = _sections(source, stop)
    own = next((section for section in sections if section.stop is stop), None)
    if own is None:
        return None
    place = source.place(own.start)
    for section in sections:
        if not _OTHER_TIMES.search(source.slice(section.stop)) or section.stop.start >= own.start.start:
            continue
        if source.place(section.stop).block is not place.block:
            continue
        since = place.block[source.place(section.stop).index + 1 : place.index]
        if any(_READS.search(source.slice(one)) and not _shows_time(source, one) for one in (*section.body, *since)):
            continue
        last = next((one for one in reversed(section.body) if isinstance(one, ir.Assign)), None)
        results = _results(source, last) if last is not None else []
        if results and not any(uses(one).binds for one in since):
            return own.start, results
    return None


def _shows_time(source: FixSource, statement: ir.Stmt) -> bool:
    """``print(f"compiled in {compile_time}")``"""
    return isinstance(statement, ir.ExprStmt) and _OTHER_TIMES.search(source.slice(statement)) is not None


def open_results(source: FixSource, body: Sequence[ir.Stmt], kept: Sequence[ir.Expr] = ()) -> list[ir.Expr]:
    """What a body computes and does not read again. kept: results of statements before.

    Raises:
        Refused: what its last statement that computes keeps is not known.
    """
    statements = computing(source, body, {source.slice(one) for one in kept})
    found = {source.slice(one): (0, one) for one in kept}
    behind = [one for one in body if statements and one.start >= statements[-1].end and _calls_unknown(source, one)]
    for statement in (*statements, *behind):
        targets = _results(source, statement)
        if not targets and statement is statements[-1]:
            raise Refused
        found.update({source.slice(one): (statement.end, one) for one in targets})
    return [
        one
        for text, (end, one) in found.items()
        if not any(text in uses(later).reads for later in body if later.start >= end)
    ]


def _results(source: FixSource, statement: ir.Stmt) -> list[ir.Expr]:
    """What a statement binds in every branch that goes on; empty where that is not known."""
    if isinstance(statement, ir.Assign) and len(statement.targets) == 1:
        parts = _parts(statement.targets[0])
        plain = all(isinstance(part, ir.Name) for part in parts)
        return [p for p in parts if isinstance(p, ir.Name) and not _NO_ARRAY.fullmatch(p.id)] if plain else []
    if isinstance(statement, (ir.For, ir.While, ir.With)):
        last = statement.body[-1]
        return _results(source, last) if isinstance(last, ir.Assign) else []
    if not isinstance(statement, ir.If):
        return []
    ends = [block[-1] if block else None for block in (statement.body, statement.orelse)]
    kept = [_results(source, end) for end in ends if end is not None and not isinstance(end, ir.Raise)]
    texts = {tuple(source.slice(one) for one in targets) for targets in kept}
    return kept[0] if len(texts) == 1 and None not in ends else []


def _parts(target: ir.Expr) -> list[ir.Expr]:
    if isinstance(target, (ir.Tuple, ir.List)):
        return [part for element in target.elts for part in _parts(element)]
    return [target]


def _calls_unknown(source: FixSource, statement: ir.Stmt) -> bool:
    """``params = network.init(key)``: it keeps what a function gives that is not known, and may compute with JAX."""
    value = statement.value if isinstance(statement, ir.Assign) else None
    if not isinstance(value, ir.Call) or Imports(source, value).resolve(value.func) is not None:
        return False
    owner = value.func.value if isinstance(value.func, ir.Attribute) else None
    return isinstance(owner, ir.Name) and not _is_of_host(source, statement, owner.id)


def _is_of_host(source: FixSource, statement: ir.Stmt, name: str) -> bool:
    """The variable holds what NumPy, SciPy or a function of the project without JAX made."""
    binder = binder_before(source, statement, name)
    value = binder.value if isinstance(binder, ir.Assign) else None
    if not isinstance(value, ir.Call):
        return False
    if (Imports(source, value).resolve(value.func) or "").startswith(("numpy.", "scipy.")):
        return True
    found = source.program.called(source, value) if source.program is not None else None
    return found is not None and _USES_JAX.search(found[0].slice(found[1])) is None


def computing(source: FixSource, body: Sequence[ir.Stmt], results: Collection[str] = ()) -> list[ir.Stmt]:
    """The statements of a body that dispatch, or compute something else from results. results: of statements before."""
    live, found = set(results), []
    for statement in body:
        value = statement.value if isinstance(statement, ir.Assign) else None
        is_arithmetic = isinstance(value, (ir.BinOp, ir.UnaryOp)) and uses(statement).reads & live
        if is_arithmetic or _dispatches(source, statement):
            live |= uses(statement).binds
            found.append(statement)
    return found


def _dispatches(source: FixSource, statement: ir.Stmt) -> bool:
    """Statements that keep nothing count as well where they hold others: a loop, or an ``if``."""
    if isinstance(statement, ir.ExprStmt):
        return False
    return any(isinstance(node, ir.Call) and _runs_jax(source, node) for node in walk(statement))


def _runs_jax(source: FixSource, call: ir.Call) -> bool:
    name = Imports(source, call).resolve(call.func) or ""
    if name.startswith("jax."):
        return _QUICK.search(name) is None
    if isinstance(call.func, ir.Name) and is_compiled(source, call.func):
        return True
    found = source.program.called(source, call) if source.program is not None else None
    return found is not None and _USES_JAX.search(found[0].slice(found[1])) is not None


def _sections(source: FixSource, stop: ir.Stmt) -> list[Section]:
    around = source.functions(stop)
    inside: ir.Function | ir.Module = around[0] if around else source.module
    clocks = [node for node in walk(inside) if isinstance(node, ir.Call) and _is_clock(source, node)]
    ends, places = _ends(source, inside), {}
    for clock in clocks:
        if source.functions(clock) == around:
            place = source.place(source.statement(clock))
            places[id(place.statement)] = place
    found = []
    for place in places.values():
        earlier = [p.index for p in places.values() if p.block is place.block and p.index < place.index]
        if earlier and _is_stop(source, place.statement, ends):
            start = max(earlier)
            found.append(Section(place.block[start], place.block[start + 1 : place.index], place.statement))
    return sorted(found, key=lambda section: section.stop.start)


def _is_clock(source: FixSource, call: ir.Call) -> bool:
    return Imports(source, call).resolve(call.func) in _CLOCKS


def _is_stop(source: FixSource, statement: ir.Stmt, ends: set[str]) -> bool:
    if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Call) and _is_clock(source, statement.value):
        return any(isinstance(target, ir.Name) and target.id in ends for target in statement.targets)
    return any(isinstance(n, ir.BinOp) and n.op == "-" and _has_clock(source, n.left) for n in walk(statement))


def _has_clock(source: FixSource, node: ir.Expr) -> bool:
    return any(isinstance(part, ir.Call) and _is_clock(source, part) for part in walk(node))


def _ends(source: FixSource, inside: ir.Function | ir.Module) -> set[str]:
    """The names from which a difference takes something away: ``t1`` and ``t3`` of ``t3 - t2 + t1 - t0``."""
    found: set[str] = set()
    for node in walk(inside):
        if isinstance(node, ir.BinOp) and node.op in "+-" and not isinstance(source.parent(node), ir.BinOp):
            found |= _added(node)
    return found


def _added(node: ir.Expr) -> set[str]:
    if isinstance(node, ir.Name):
        return {node.id}
    if not isinstance(node, ir.BinOp) or node.op not in "+-":
        return set()
    return _added(node.left) | (_added(node.right) if node.op == "+" else set())
