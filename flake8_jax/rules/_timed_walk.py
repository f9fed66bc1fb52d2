"""Timers around work of the device, read in the code of one function: who calls it, and what it calls, is not in view.

Vocabulary
----------
section     the statements between two readings of a clock whose difference the code computes, or between ``start()`` and
            ``stop()`` of a timer, or in a ``with`` block of one.
dispatch    a call that most likely returns before the device is done: a function of JAX, a step by its name, a function of
            the file that computes with JAX, or a parameter of the function (``fn(*args)``).
wait        a call that needs a value of the device, or may do so.

Limitations: sections that begin in one function and end in another; conditions on which work is done.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from flake8_jax.core import ir
from flake8_jax.core.cells import TIMING
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Candidate, Report
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._merging import apart_from, reported_row
from flake8_jax.rules._units import Unit, calls_in, imports_jax, library_name, own_expressions, text_of, units_of
from flake8_jax.semantics.domain.code import (
    all_statements,
    bound_paths,
    is_named_step,
    last_name,
    nodes_around,
    path_of,
)
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.events.files import FileRead

_CLOCKS = frozenset(
    {f"time.{name}{unit}" for name in ("time", "perf_counter", "monotonic") for unit in ("", "_ns")}
    | {"timeit.default_timer"}
)
_TIMER = re.compile(r"(?i)timer|timing|stop_?watch|\btime_?(?:it|block|context)\b")
_STARTS, _STOPS = frozenset({"start", "tic", "begin"}), frozenset({"stop", "toc", "end"})
_WAITS = re.compile(
    r"block|ready|device_get|^item$|^tolist$|^(?:as)?array$|^float$|^int$|^bool$|barrier|sync|wait|save|write|dump|plot|eval|valid"
)
_WAITING = re.compile(r"block_until_ready|device_get")
_SILENT = frozenset({"append", "extend", "range", "len", "zip", "enumerate", "tqdm", "trange", "next", "iter", "list", "tuple",
                     "split", "items", "keys", "values", "partial", "astype", "format", "isinstance"})  # fmt: skip
_NO_DISPATCH = re.compile(
    r"jax\.(?:jit|pmap|vmap|grad|value_and_grad|devices|local_devices|device_count|config|tree\b|tree_util|debug|profiler|"
    r"eval_shape|make_jaxpr|block_until_ready|device_get|device_put|named_scope|checkpoint|numpy\.(?:float|int|bfloat|uint)\d)"
)
_COMPILING = re.compile(r"compil|first|dispatch|warm(?:ed|ing|s)?[ _-]?up|trac(?:e|ing)", re.IGNORECASE)
_JITTING = frozenset({"jit", "filter_jit", "pmap"})
_MAPPED = _JITTING | {"vmap", "grad", "value_and_grad"}
_DEPTH = 2


@dataclass(frozen=True)
class Section:
    """start, stop: the calls or the block that begin and end it. shown: what to report."""

    start: ir.Node
    stop: ir.Node
    shown: ir.Node


@dataclass
class File:
    """What the file says of its functions: which are jitted, and the bodies of those that a name calls. kinds, compiled,
    parameters: what was found out about functions before, by name and depth, or by function."""

    scope: ModuleScope
    jitted: set[str] = field(default_factory=set)
    functions: dict[str, ir.Function] = field(default_factory=dict)
    kinds: dict[tuple[str, int], str] = field(default_factory=dict)
    compiled: dict[tuple[str, int], set[str]] = field(default_factory=dict)
    parameters: dict[int, set[str]] = field(default_factory=dict)

    @cached_property
    def mentioned(self) -> dict[str, int]:
        """Where the top level of the file first reads each jitted function, in a lambda or as an argument, too."""
        top = [s for s in self.scope.tree.body if not isinstance(s, (ir.FunctionDef, ir.ClassDef))]
        targets = {id(t) for s in all_statements(top) if isinstance(s, ir.Assign) for t in s.targets}
        read = [n for s in top for n in walk(s) if isinstance(n, ir.Name) and id(n) not in targets]
        found: dict[str, int] = {}
        for node in sorted(read, key=lambda one: one.start, reverse=True):
            if node.id in self.jitted:
                found[node.id] = node.start
        return found


def unfinished(event: FileRead) -> list[Report]:
    """Reports on sections that end before their last dispatch is done."""
    scope = event.context.scope
    if is_test(event.context) or scope.is_test or not imports_jax(scope):
        return []
    file = file_of(scope)
    found: list[Report] = []
    for unit in units_of(scope):
        if unit.function is not None and unit.function.name in file.jitted:
            continue
        for section in (*_sections(unit), *_timers(unit)):
            if not _says_compiling(scope, section.stop) and (call := _pending(file, unit, section)) is not None:
                found.append(_report(file, unit, section, call))
        found += [_report_function(file, unit, call, body) for call, body in _timed_lambdas(file, unit)]
        found += _magics(file, unit)
    return found


def compiling(event: FileRead) -> list[Report]:
    """Reports on sections with the first call of a jitted function."""
    scope = event.context.scope
    if is_test(event.context) or scope.is_test or not imports_jax(scope):
        return []
    file = file_of(scope)
    found: list[Report] = []
    for unit in units_of(scope) if file.jitted else ():
        sections = list(_sections(unit)) if unit.function is None else []
        for section in sections:
            first = _first_compiled(file, unit, section)
            if first is None or unit.loops_around(section.start) or _is_long(unit, section):
                continue
            if any(
                _compiles(file, unit, other, first[1]) for other in sections if other.start.start > section.start.end
            ):
                continue  # the first call is compared with the next
            if _says_compiling(scope, section.stop) or _says_compiling(scope, section.start):
                continue
            call, name = first
            row = bisect_right(scope.tree.line_starts, call.start)
            message = (
                f"`{text_of(section.start, scope)}` starts a timer that includes the first call of `{name}` (line {row}), "
                "which compiles it; call it once before"
            )
            found.append(Report(section.start, message, "info", preview=True))
    return found


def _is_long(unit: Unit, section: Section) -> bool:
    """The compilation is a small part of it: a whole program, or a loop of a thousand iterations."""
    if unit.scope.text.count("\n", section.start.start, section.stop.start) > _LINES:
        return True
    loops = [s for s in _between(unit, section) if isinstance(s, ir.For)]
    counts = [node.value for loop in loops for node in walk(loop.iter) if isinstance(node, ir.Constant)]
    return any(isinstance(count, int) and count >= _MANY for count in counts)


_LINES, _MANY = 40, 1000


@lru_cache(maxsize=2)
def file_of(scope: ModuleScope) -> File:
    """Made once for the rules that read the file."""
    file = File(scope)
    for unit in units_of(scope):
        if unit.function is not None:
            file.functions[unit.function.name] = unit.function
            if any(_jits(part) for decorator in unit.decorators for part in walk(decorator)):
                file.jitted.add(unit.function.name)
        for statement in unit.statements:
            if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Call):
                if _jits(statement.value.func):
                    file.jitted.update(last_name(target) for target in statement.targets)
    return file


def _jits(node: object) -> bool:
    return isinstance(node, (ir.Name, ir.Attribute)) and last_name(node) in _JITTING


# --- sections -----------------------------------------------------------------------------------------------------


def _sections(unit: Unit) -> Iterator[Section]:
    """The differences of two readings of a clock."""
    readings: dict[str, ir.Call] = {}
    for statement in unit.statements:
        for node in own_expressions(statement):
            if not isinstance(node, ir.BinOp) or node.op != "-" or path_of(node.right) not in readings:
                continue
            end = node.left if _is_clock(unit, node.left) else readings.get(path_of(node.left))
            begin = readings[path_of(node.right)]
            if isinstance(end, ir.Call) and end.start > begin.end and not _is_dropped(unit, statement):
                yield Section(begin, end, end)
        if isinstance(statement, ir.Assign) and _is_clock(unit, statement.value):
            readings.update({path_of(t): statement.value for t in statement.targets if path_of(t)})  # type: ignore[misc]


def _is_dropped(unit: Unit, statement: ir.Stmt) -> bool:
    """The function keeps the difference in a variable that nothing reads."""
    target = statement.targets[0] if isinstance(statement, ir.Assign) else None
    if not isinstance(target, ir.Name) or unit.function is None:
        return False
    return sum(isinstance(n, ir.Name) and n.id == target.id for s in unit.body for n in walk(s)) == 1


def _is_clock(unit: Unit, node: ir.Expr) -> bool:
    return isinstance(node, ir.Call) and not node.args and library_name(node.func, unit.scope) in _CLOCKS


def _timers(unit: Unit) -> Iterator[Section]:
    """``timer.start()`` and ``timer.stop()``, ``with Timer():``."""
    started: dict[str, ir.Call] = {}
    for statement in unit.statements:
        if isinstance(statement, ir.With):
            for item in statement.items:
                if isinstance(item.context, ir.Call) and _TIMER.search(last_name(item.context.func)):
                    yield Section(item.context, ir.Pass(statement.end, statement.end), item.context)
        for call in (n for n in own_expressions(statement) if isinstance(n, ir.Call)):
            if not isinstance(call.func, ir.Attribute) or call.args:
                continue
            timer = path_of(call.func.value)
            owner = _class_around(unit, call) if timer == "self" else timer
            if call.func.attr in _STARTS and timer and _TIMER.search(owner):
                started[timer] = call
            elif call.func.attr in _STOPS and timer in started:
                yield Section(started.pop(timer), call, call)


def _class_around(unit: Unit, node: ir.Node) -> str:
    around = nodes_around(unit.scope.tree.body, node.start, node.end)
    return next((one.name for one in around if isinstance(one, ir.ClassDef)), "")


# --- what a section does ------------------------------------------------------------------------------------------


def _between(unit: Unit, section: Section) -> list[ir.Stmt]:
    return [s for s in unit.statements if section.start.end <= s.start < section.stop.start]


def _pending(file: File, unit: Unit, section: Section) -> ir.Call | None:
    """The last call of a section, if it is a dispatch and nothing in the section waits."""
    last: ir.Call | None = None
    unknown = False
    read_later = _read_after(unit, section)
    for statement in _between(unit, section):
        nodes = list(own_expressions(statement))
        if not hasattr(statement, "body") and _WAITING.search(text_of(statement, unit.scope)):
            return None  # in a lambda, too
        if isinstance(statement, (ir.If, ir.While)) and any(isinstance(n, (ir.Compare, ir.Call)) for n in nodes):
            return None
        if isinstance(statement, (ir.Assign, ir.AugAssign)) and _stores_element(statement):
            return None  # an array of NumPy needs the value
        shows = statement.end <= section.stop.start and any(isinstance(n, ir.FormattedValue) for n in nodes)
        if isinstance(statement, (ir.Return, ir.Raise, ir.Try)) or shows:
            return None
        calls = [n for n in nodes if isinstance(n, ir.Call) and n.end <= section.stop.start]
        for call in sorted(calls, key=lambda one: one.end):
            kind = kind_of_call(file, unit, call)
            if kind == "wait":
                return None
            if kind == "unknown" and _gives(statement, call, read_later) and not library_name(call.func, unit.scope):
                kind = "dispatch"
            unknown = kind == "unknown" or (unknown and kind != "dispatch")
            last = call if kind == "dispatch" else last
    return None if unknown else last


def _read_after(unit: Unit, section: Section) -> set[str]:
    """Variables that the function reads like arrays of a device after the section: ``loss.item()``."""
    found: set[str] = set()
    for statement in unit.statements:
        for call in (n for n in own_expressions(statement) if isinstance(n, ir.Call)):
            if call.start < section.stop.end:
                continue
            if isinstance(call.func, ir.Attribute) and call.func.attr in _READS:
                found.add(path_of(call.func.value))
            elif last_name(call.func) in _WAITERS:
                found.update(path_of(argument.value) for argument in call.args)
    return found - {""}


_READS, _WAITERS = frozenset({"item", "block_until_ready"}), frozenset({"block_until_ready", "device_get"})


def _gives(statement: ir.Stmt, call: ir.Call, names: set[str]) -> bool:
    """The statement binds one of the variables to what the call returns."""
    return isinstance(statement, ir.Assign) and statement.value is call and not names.isdisjoint(bound_paths(statement))


def _stores_element(statement: ir.Assign | ir.AugAssign) -> bool:
    targets = statement.targets if isinstance(statement, ir.Assign) else [statement.target]
    return any(isinstance(target, ir.Subscript) for target in targets)


def kind_of_call(file: File, unit: Unit, call: ir.Call, depth: int = _DEPTH) -> str:
    """``dispatch``, ``wait``, ``silent``, ``unknown``."""
    name, library = last_name(call.func), library_name(call.func, unit.scope)
    if isinstance(call.func, ir.Call) and _NO_DISPATCH.match(library_name(call.func.func, unit.scope)):
        return "dispatch" if last_name(call.func.func) in _MAPPED else "silent"  # ``jax.make_jaxpr(f)(x)``
    if isinstance(call.func, ir.Call):
        return "dispatch" if last_name(call.func.func) in _MAPPED else "unknown"
    if _WAITS.search(name.lower()) and not library.startswith(("jax.numpy.", "jax.tree")):
        return "wait"
    if library.startswith("jax.numpy.save"):
        return "wait"
    if name == "print":
        return "silent" if all(isinstance(a.value, ir.Constant) for a in call.args) else "wait"
    if library in _CLOCKS or name in _SILENT or _TIMER.search(path_of(call.func)):
        return "silent"
    if library.startswith(("jax.", "optax.")):
        return "silent" if _NO_DISPATCH.match(library) or library.startswith("optax.") else "dispatch"
    if library:
        return "dispatch" if is_named_step(name) and library.partition(".")[0] not in _HOST else "unknown"
    if isinstance(call.func, ir.Name) and name in _parameters(file, unit, call):
        is_timed = any(a.star for a in call.args) or name in _FUNCTIONS or is_named_step(name)
        return "dispatch" if is_timed else "unknown"
    return _kind_of_own(file, unit, name, depth)


_HOST = frozenset({"numpy", "torch", "tensorflow", "os", "math", "random", "scipy", "pandas", "sklearn"})
_FUNCTIONS = frozenset({"f", "fn", "func", "function", "callable", "step_fn", "run"})


def _parameters(file: File, unit: Unit, node: ir.Node) -> set[str]:
    """Those of the function that a node stands in, and of the functions around it."""
    if id(unit.function) in file.parameters:
        return file.parameters[id(unit.function)]
    around = nodes_around(unit.scope.tree.body, node.start, node.end)
    outer = {p.name for one in around if isinstance(one, ir.FunctionDef) for p in one.function.params}
    file.parameters[id(unit.function)] = unit.parameters | outer
    return unit.parameters | outer


def _kind_of_own(file: File, unit: Unit, name: str, depth: int) -> str:
    """A function of the file, or one that only its name tells of."""
    function = file.functions.get(name)
    if name in file.jitted:
        return "dispatch"
    if function is None:
        return "dispatch" if is_named_step(name) else "unknown"
    if not depth:
        return "unknown"
    if (name, depth) not in file.kinds:
        file.kinds[name, depth] = _kind_of_body(file, Unit(unit.scope, function.body, function), depth)
    return file.kinds[name, depth]


def _kind_of_body(file: File, inner: Unit, depth: int) -> str:
    kinds = [
        kind_of_call(file, inner, node, depth - 1)
        for statement in inner.statements
        for node in own_expressions(statement)
        if isinstance(node, ir.Call)
    ]
    tests = any(isinstance(s, (ir.If, ir.While)) for s in inner.statements)
    if "wait" in kinds or tests:
        return "wait"
    return "dispatch" if "dispatch" in kinds and any(isinstance(s, ir.Return) for s in inner.statements) else "unknown"


def _first_compiled(file: File, unit: Unit, section: Section) -> tuple[ir.Call, str] | None:
    """The first call of a jitted function in the section, if none stands before; with the name of the function."""
    inside: list[tuple[ir.Call, str]] = []
    before: set[str] = set()
    for statement in unit.statements:
        for node in own_expressions(statement):
            if not isinstance(node, ir.Call):
                continue
            names = _compiled_by(file, last_name(node.func), _DEPTH)
            if section.start.end <= node.start and node.end <= section.stop.start:
                inside += [(node, name) for name in sorted(names)]
            elif node.end <= section.start.start:
                before |= names
    before |= {name for name, at in file.mentioned.items() if at < section.start.start}  # perhaps by what calls it
    return min(((c, n) for c, n in inside if n not in before), key=lambda one: one[0].start, default=None)


def _compiles(file: File, unit: Unit, section: Section, name: str) -> bool:
    """The section calls the jitted function."""
    calls = (n for s in _between(unit, section) for n in own_expressions(s) if isinstance(n, ir.Call))
    return any(name in _compiled_by(file, last_name(call.func), _DEPTH) for call in calls)


def _compiled_by(file: File, name: str, depth: int) -> set[str]:
    """The jitted functions of the file that a function of this name calls, itself included."""
    if name in file.jitted:
        return {name}
    function = file.functions.get(name)
    if function is None or not depth:
        return set()
    if (name, depth) not in file.compiled:
        called = {last_name(call.func) for statement in function.body for call in calls_in(statement)}
        file.compiled[name, depth] = {one for c in called - {name} for one in _compiled_by(file, c, depth - 1)}
    return file.compiled[name, depth]


def _timed_lambdas(file: File, unit: Unit) -> Iterator[tuple[ir.Call, ir.Call]]:
    """``timeit.timeit(lambda: f(x), number=10)``, with the call in it."""
    for statement in unit.statements:
        for call in (n for n in own_expressions(statement) if isinstance(n, ir.Call)):
            if library_name(call.func, unit.scope) not in ("timeit.timeit", "timeit.repeat"):
                continue
            for argument in call.args:
                body = argument.value.function.body if isinstance(argument.value, ir.Lambda) else []
                result = body[0].value if len(body) == 1 and isinstance(body[0], ir.Return) else None
                if isinstance(result, ir.Call) and kind_of_call(file, unit, result) == "dispatch":
                    yield call, result


def _magics(file: File, unit: Unit) -> Iterator[Report]:
    """``%timeit f(x)``."""
    for statement in unit.statements:
        target = statement.targets[0] if isinstance(statement, ir.Assign) else None
        value = statement.value if isinstance(statement, ir.Assign) else None
        if isinstance(target, ir.Name) and target.id in TIMING and isinstance(value, ir.Call):
            if kind_of_call(file, unit, value) == "dispatch" and not _says_compiling(unit.scope, value):
                magic = "%" + target.id.strip("_")
                message = f"`{magic}` may stop before the result is ready, because JAX is asynchronous"
                yield Report(value, f"{message}; call jax.block_until_ready on the result", "info", preview=True)


def without_known(candidates: list[Candidate]) -> list[Candidate]:
    """Of what the code of a file shows, what no other report near it tells."""
    kept = [candidate for candidate in candidates if not isinstance(candidate.event, FileRead)]
    walked = [candidate for candidate in candidates if isinstance(candidate.event, FileRead)]
    rows: dict[Hashable, int] = {}
    for candidate in sorted(apart_from(walked, kept, _NEAR, _code_and_file), key=lambda one: one.start):
        row, place = reported_row(candidate), _code_and_file(candidate)
        if place not in rows or row - rows[place] > _NEAR:
            rows[place] = row
            kept.append(candidate)
    return kept


def _code_and_file(candidate: Candidate) -> Hashable:
    return candidate.code, candidate.path


_NEAR = 2


# --- what is reported ---------------------------------------------------------------------------------------------


def _says_compiling(scope: ModuleScope, at: ir.Node) -> bool:
    """The line, or one of the next, says that the compilation or a warm-up is timed."""
    lines = scope.text[scope.text.rfind("\n", 0, at.start) + 1 :].split("\n", 4)[:4]
    return any(_COMPILING.search(line) for line in lines)


def _report(file: File, unit: Unit, section: Section, call: ir.Call) -> Report:
    scope = unit.scope
    row, name = bisect_right(scope.tree.line_starts, call.start), last_name(call.func) or "the function"
    shown = text_of(section.shown, scope)
    subject = f"`{shown}`" if "\n" not in shown and len(shown) <= _LONGEST else "The timer"
    verb, when = ("may end", "at the end of its block") if isinstance(section.stop, ir.Pass) else ("may run", "first")
    known = library_name(call.func, scope).startswith("jax.") or name in file.jitted or name in file.functions
    what = f"the result of `{name}` (line {row}) is ready"
    if known:
        return Report(
            section.shown,
            f"{subject} {verb} before {what}, because JAX is asynchronous; call jax.block_until_ready {when}",
            "info",
            preview=True,
        )
    message = f"If `{name}` (line {row}) returns JAX arrays, {subject} {verb} before they are ready"
    return Report(section.shown, f"{message}; call jax.block_until_ready on them {when}", "info", preview=True)


def _report_function(file: File, unit: Unit, call: ir.Call, body: ir.Call) -> Report:
    timed, function = text_of(body.func, unit.scope), text_of(call.func, unit.scope)
    what = (
        f"`{function}` measures only the dispatch of `{timed}`"
        if len(timed) <= _LONGEST
        else "This measures the dispatch"
    )
    message = f"{what}, because JAX is asynchronous; call jax.block_until_ready on the result in the lambda"
    return Report(call, message, "info", preview=True)


_LONGEST = 30
