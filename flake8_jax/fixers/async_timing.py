"""JAX901: ``jax.block_until_ready`` before the clock is stopped, or around the call whose result is not kept.

Vocabulary
----------
work        the expression that dispatches what no code has waited for.
kept        the targets of the assignment that keeps the result of the work.
shared      the innermost block in which both the work and the stopping of the clock stand.

Limitations: results kept in a list or dict, work in another function than the clock, work whose result is rebound.
"""

from __future__ import annotations

import builtins
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import WAITS, unsafe
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import binder_before, target_names, uses
from flake8_jax.fixers._source import FixSource, Refused, fixer
from flake8_jax.fixers._timed_sections import before, computing, left_over, open_results, unwaited_sections
from flake8_jax.semantics.events.events import FileRead, Timed

_WAIT = "jax.block_until_ready"
_GONE_BEFORE = "jax.api"
"""A module that JAX 0.2.21 removed: what imports it runs on no JAX that has the wait, which came with 0.2.27 (change log)."""
_DISPATCH = re.compile(r"dispatch|async|enqueue|launch|submit", re.IGNORECASE)
"""Names of times that are meant to end before the device is ready."""
_ON_PURPOSE = re.compile(r"\b(?:no|not|without|never)\b[^\n]{0,40}block_until_ready|\basync", re.IGNORECASE)
"""The code says that it does not wait."""
_WAITING = re.compile(r"\bblock_until_ready\b|\bdevice_get\b")
_COMPILING = re.compile(r"compil", re.IGNORECASE)
"""A time that is meant to be that of a compilation, which ends before the call returns."""
_CLOCKS = re.compile(r"\b(?:time|perf_counter|monotonic|process_time|timer|default_timer)(?:_ns)?\(\)")
_NO_ARRAY = re.compile(
    r"_|(?:n|num)_\w+|(?:num|count|steps?|epoch|name|path)|(?:\w+_)?(?:time|seconds|elapsed|duration)(?:_\w+)?"
)
"""A variable of such a name holds a number or a text of Python."""
_SEVERAL = 4
"""So many results may stand in one wait, beside those of the statement itself."""
_AROUND = 3
"""So many lines below the clock may say so."""
_HOLDING = (ir.BinOp, ir.UnaryOp, ir.Tuple, ir.List, ir.Subscript, ir.Attribute, ir.Call, ir.Comprehension)
_LOOPS = (ir.For, ir.While, ir.Comprehension, ir.Function)


@fixer("async-timing")
def fix(event: Timed | FileRead, source: FixSource) -> Fix | None:
    work = event.pending if isinstance(event, Timed) else None
    if (
        not isinstance(event, Timed)
        or work is None
        or event.magic
        or source.functions(work)[:1] != source.functions(event.at)[:1]
    ):
        return None
    statement, stop = source.statement(work), source.statement(event.at)
    if _is_meant(source, event, work) or not _has_wait(source):
        return None
    imports = Imports(source, event.at)
    kept = _kept(source, work, statement)
    if kept and statement is not stop and not (isinstance(stop, ir.With) and stop.end >= work.end):
        _check_shared(source, statement, stop)
        names = {name for target in kept for name in target_names(target)}
        again = [one for one in _later(source, statement, stop) if uses(one).binds & names]
        computed = all(isinstance(one, ir.Assign) and computing(source, [one], names) for one in again)
        if not _rebinds(source, statement, stop, names) or (again and computed):
            vain = _waits_in_vain(source, statement, stop, names)
            if vain is not None and len(kept) == 1:
                edit = Edit(vain.start, vain.end, _waiting(source, kept, imports))
            else:
                kept = _with_others(source, kept, statement, stop)
                edit = source.insert_before(stop, [_waiting(source, kept, imports)])
            return _for_all_timers(source, work, stop, edit, imports)
    if _is_in_other_branch(source, statement, stop):
        return None
    if kept and statement is not stop and "\n" in source.text[statement.start : statement.end]:
        return unsafe("Wait for the result", WAITS, (_behind(source, statement, kept, imports), *imports.edits))
    if _returns_nothing(source, work) or _has_companions(source, statement):
        return None
    if isinstance(work, (ir.Name, ir.Attribute)) or source.comments(work.start, work.end):
        return None
    before = Edit(work.start, work.start, f"{imports.spell(_WAIT)}(")
    return unsafe("Wait for the result", WAITS, (*imports.edits, before, Edit(work.end, work.end, ")")))


def _is_meant(source: FixSource, event: Timed, work: ir.Node) -> bool:
    """The time is one of its own kind, such as that of a compilation or a dispatch, or something else waits."""
    statement, stop = source.statement(work), source.statement(event.at)
    if _waits_itself(source, statement, stop) or _is_optional(source, event.at, stop):
        return True
    if _is_of_compilation(source, stop) or _has_own_clock(source, work):
        return True
    return bool(_DISPATCH.search(source.slice(stop)) or _ON_PURPOSE.search(_text_of_both(source, statement, stop)))


def _has_wait(source: FixSource) -> bool:
    """The file imports a JAX that has the wait: one that imports none gets plain values from the code that does."""
    modules = set(_imported_modules(source))
    return _GONE_BEFORE not in modules and any(module.partition(".")[0] == "jax" for module in modules)


def _for_all_timers(source: FixSource, work: ir.Node, stop: ir.Stmt, edit: Edit, imports: Imports) -> Fix:
    """The wait, with those of the other timers of the function that stop too early as well: their times are compared.

    Raises:
        Refused: one of them cannot get a wait.
    """
    others = unwaited_sections(source, work, stop)
    edits = [source.insert_before(other.stop, [_waiting(source, kept, imports)]) for other, kept in others]
    remainder = left_over(source, stop)
    if remainder is not None:
        start, kept = remainder
        edits.append(source.insert_before(start, [_waiting(source, kept, imports)]))
    where = f" in {len(edits) + 1} places" if edits else ""
    what = f"Wait for the result before the timer stops{where}"
    return unsafe(what, WAITS, (*imports.edits, *sorted([edit, *edits])))


def _with_others(source: FixSource, kept: list[ir.Expr], statement: ir.Stmt, stop: ir.Stmt) -> list[ir.Expr]:
    """The targets with those of other statements in front of the stop that compute, as far as no code there reads them.

    Raises:
        Refused: what the last one keeps is not known.
    """
    later = _later(source, statement, stop)
    found = open_results(source, later, kept)
    try:
        first = open_results(source, before(source, statement, stop))
    except Refused:
        return found
    known = {source.slice(one) for one in found}
    reads = uses(statement, *later).reads
    more = [one for one in first if source.slice(one) not in known | reads]
    return [*more, *found] if len(more) + len(found) <= _SEVERAL else found


def _later(source: FixSource, statement: ir.Stmt, stop: ir.Stmt) -> list[ir.Stmt]:
    place = source.place(stop)
    return [one for one in place.block[: place.index] if one.start >= statement.end]


def _returns_nothing(source: FixSource, work: ir.Node) -> bool:
    """The called function of the project, or the one that a transform wraps, has no result to wait for."""
    func = work.func if isinstance(work, ir.Call) else None
    if isinstance(func, ir.Call) and func.args and (Imports(source, func).resolve(func.func) or "").startswith("jax."):
        func = func.args[0].value
    found = source.program.definition(source, func) if func is not None and source.program is not None else None
    if found is None or found[1].function.is_generator:
        return False
    return not any(isinstance(node, ir.Return) and node.value is not None for node in walk(found[1]))


def _has_companions(source: FixSource, statement: ir.Stmt) -> bool:
    """Other statements beside it throw the result of a function away, too: all of them need a wait."""
    if not isinstance(statement, ir.ExprStmt):
        return False
    calls = [
        one.value for one in source.place(statement).block if isinstance(one, ir.ExprStmt) and one is not statement
    ]
    called = [call.func for call in calls if isinstance(call, ir.Call)]
    return any(isinstance(func, ir.Name) and func.id not in dir(builtins) for func in called)


def _imported_modules(source: FixSource) -> Iterator[str]:
    for node in walk(source.module):
        if isinstance(node, ir.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ir.ImportFrom) and not node.level:
            yield node.module


def _waits_itself(source: FixSource, statement: ir.Stmt, stop: ir.Stmt) -> bool:
    """A function of the project that is called between the work and the clock waits for what it computes, or has an option for
    it."""
    if source.program is None:
        return False
    for node in walk(source.functions(stop)[0] if source.functions(stop) else source.module):
        if isinstance(node, ir.Call) and statement.start <= node.start < stop.end:
            found = source.program.called(source, node)
            if found is not None and _WAITING.search(found[0].slice(found[1])):
                return True
    return False


def _is_of_compilation(source: FixSource, stop: ir.Stmt) -> bool:
    """``compile_time = time.time() - start``, or a text that shows the time and mentions compilation."""
    shown = [stop]
    if isinstance(stop, (ir.Assign, ir.AnnAssign)):
        target = stop.targets[0] if isinstance(stop, ir.Assign) else stop.target
        if _COMPILING.search(source.slice(target)):
            return True
        names, around = set(target_names(target)), source.functions(stop)
        reads = (n for n in walk(around[0] if around else source.module) if isinstance(n, ir.Name) and n.id in names)
        later = [n for n in reads if n.start >= stop.end and binder_before(source, source.statement(n), n.id) is stop]
        shown = [source.statement(n) for n in later]
    texts = (n for s in shown for n in walk(s) if isinstance(n, ir.Constant) and n.kind == "str")
    calls = [s for s in shown if isinstance(s, ir.ExprStmt)]
    return any(_COMPILING.search(source.slice(s)) for s in calls) or any(_COMPILING.search(str(t.value)) for t in texts)


def _has_own_clock(source: FixSource, work: ir.Node) -> bool:
    """``timed(f)(x)``, whose ``timed`` reads a clock around the call: the wait belongs there."""
    func = work.func if isinstance(work, ir.Call) else None
    if not isinstance(func, ir.Call) or source.program is None:
        return False
    found = source.program.definition(source, func.func)
    return found is not None and _CLOCKS.search(found[0].slice(found[1])) is not None


def _is_optional(source: FixSource, clock: ir.Node, stop: ir.Stmt) -> bool:
    """The clock is read, or its reading is used, only under a condition: other runs have no reason to wait."""
    if any(isinstance(above, (ir.IfExp, ir.BoolOp)) for above in source.between(clock, stop)):
        return True
    names = set(target_names(stop.targets[0])) if isinstance(stop, ir.Assign) and len(stop.targets) == 1 else set[str]()
    around = source.functions(stop)
    reads = [
        node
        for node in walk(around[0] if around else source.module)
        if isinstance(node, ir.Name) and node.id in names and node.start >= stop.end
    ]
    return bool(reads) and all(_is_in_other_branch(source, stop, source.statement(node), node) for node in reads)


def _is_in_other_branch(source: FixSource, outer: ir.Stmt, inner: ir.Stmt, node: ir.Node | None = None) -> bool:
    """An ``if`` around the inner statement is not around the outer one. node: of the inner one, which may be an ``if``."""
    known = {id(above) for above in source.ancestors(outer)}
    for above in source.ancestors(inner if node is None else node):
        if isinstance(above, ir.If) and id(above) not in known and above is not outer:
            if node is None or not above.test.start <= node.start < above.test.end:
                return True
    return False


def _text_of_both(source: FixSource, work: ir.Stmt, stop: ir.Stmt) -> str:
    """The lines from the work to the clock and a few more."""
    end = max(work.end, stop.end)
    for _ in range(_AROUND):
        end = source.next_line(end)
    return source.text[source.line_start(min(work.start, stop.start)) : end]


def _waiting(source: FixSource, kept: list[ir.Expr], imports: Imports) -> str:
    """The statement that waits for the values of some targets."""
    text = ", ".join(source.slice(target) for target in kept)
    return f"{imports.spell(_WAIT)}({f'({text})' if len(kept) > 1 else text})"


def _waits_in_vain(source: FixSource, statement: ir.Stmt, stop: ir.Stmt, names: set[str]) -> ir.Stmt | None:
    """``y.block_until_ready()`` before the stop, where ``y`` is no array (a tuple, say), so that the call raises."""
    around = [id(above) for above in source.ancestors(stop)]
    for node in walk(source.module):
        match node:
            case ir.ExprStmt(
                value=ir.Call(func=ir.Attribute(attr="block_until_ready", value=ir.Name(id=name)), args=[])
            ):
                is_between = statement.end <= node.start and node.end <= stop.start
                if is_between and name in names and [id(above) for above in source.ancestors(node)] == around:
                    return node
    return None


def _behind(source: FixSource, statement: ir.Stmt, kept: list[ir.Expr], imports: Imports) -> Edit:
    """Wait directly behind a statement.

    Raises:
        Refused: another one is on its line.
    """
    if not source.starts_line(statement) or not source.ends_line(statement):
        raise Refused
    end = source.line_end(statement.end)
    return Edit(end, end, source.newline + source.indentation(statement) + _waiting(source, kept, imports))


def _kept(source: FixSource, work: ir.Node, statement: ir.Stmt) -> list[ir.Expr]:
    """The targets that hold the result of the work, as far as they may be arrays; none where it goes elsewhere."""
    if isinstance(statement, ir.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, (ir.AnnAssign, ir.AugAssign)):
        target = statement.target
    else:
        return []
    for above in source.between(work, statement):
        if not isinstance(above, _HOLDING) or (isinstance(above, ir.Call) and not _is_receiver(source, work, above)):
            return []
    parts = _elements(target)
    if not all(isinstance(p, ir.Name) or _is_plain_attribute(p) for p in parts):
        return []
    return [p for p in parts if not (isinstance(p, ir.Name) and _NO_ARRAY.fullmatch(p.id))]


def _elements(target: ir.Expr) -> list[ir.Expr]:
    """The targets in nested tuples and lists."""
    if isinstance(target, (ir.Tuple, ir.List)):
        return [part for element in target.elts for part in _elements(element)]
    return [target]


def _is_receiver(source: FixSource, work: ir.Node, call: ir.Call) -> bool:
    """The call is of a method of the result."""
    return call.func.start <= work.start and work.end <= call.func.end


def _is_plain_attribute(node: ir.Expr) -> bool:
    while isinstance(node, ir.Attribute):
        node = node.value
    return isinstance(node, ir.Name)


def _check_shared(source: FixSource, statement: ir.Stmt, stop: ir.Stmt) -> None:
    """The names are bound where the clock is stopped: the work is no alternative.

    Raises:
        Refused: it is, or nothing can be put before the stop.
    """
    if isinstance(stop, (ir.While, ir.For, ir.With, ir.Try, ir.FunctionDef, ir.ClassDef)):
        raise Refused
    around = {id(above) for above in source.ancestors(stop)}
    for above in source.ancestors(statement):
        if id(above) in around:
            return
        if not isinstance(above, (ir.For, ir.While, ir.With)):
            raise Refused


def _rebinds(source: FixSource, statement: ir.Stmt, stop: ir.Stmt, names: set[str]) -> bool:
    """A statement between the two binds one of the names to something else."""
    around: msgspec.Struct = source.module
    inside = {id(above) for above in source.ancestors(statement)}
    around = next((above for above in source.ancestors(stop) if id(above) in inside), around)
    for field in around.__struct_fields__:
        block = getattr(around, field)
        if type(block) is list and block and isinstance(block[0], ir.Node):
            first = bisect_left(block, statement.end, key=lambda s: s.start)
            between = block[first : bisect_right(block, stop.start, key=lambda s: s.end)]
            if between and uses(*between).binds & names:
                return True
    return False
