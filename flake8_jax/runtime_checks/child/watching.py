"""The trace function: what happens at the places of findings while the user's code runs.

Vocabulary
----------
watch     rows of a file that belong to a finding. visit: the line begins to run. state: see ``tracing``.
statement the rows of a simple statement, or of the head of one that holds others. Python comes by its rows several times while
          it runs once: a call over several lines ends on its first one.
raised    an exception reached the user's code, with the stack from the innermost of the user's frames outwards.

Python's own trace function (``sys.settrace``) is used, because it sees exceptions that code catches. Frames outside the
user's roots are left alone after one look. Not seen: code in other processes, and code that sets a trace function of its
own (a debugger, coverage measured in the same process).
"""

from __future__ import annotations

import ast
import dis
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType, FrameType, TracebackType
from typing import Any

from flake8_jax.runtime_checks.child.comparing import LOST, difference
from flake8_jax.runtime_checks.child.comparing import MOST as MOST_FORMULAS
from flake8_jax.runtime_checks.child.constants import array_bytes
from flake8_jax.runtime_checks.child.defaults import Calls, parameter_at
from flake8_jax.runtime_checks.child.flows import Flow, flow_of
from flake8_jax.runtime_checks.child.formulas import Formula
from flake8_jax.runtime_checks.child.nans import is_differentiating
from flake8_jax.runtime_checks.child.places import Places
from flake8_jax.runtime_checks.child.switching import Switch
from flake8_jax.runtime_checks.child.tracing import ABSTRACT, EAGER, is_ambient, trace_state

MOST = 500  # of the exceptions kept
_MOST_MOMENTS = 1000  # of the visits of a watch
_MOST_LOOKS = 100  # visits at which all live arrays are asked; a list that grows in a loop keeps more of them each time
_DEPTH = 12  # of their stacks
_RETURNING = ("RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE", "RETURN_GENERATOR")
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_Count = tuple[str, int]
"""One of the counts of a watch, and the number of the watch."""
_PASSING = (StopIteration, StopAsyncIteration, GeneratorExit, KeyboardInterrupt)
"""Exceptions that tell of no error: a loop ends, or a signal from outside (Ctrl-C) ends the program."""


@dataclass
class _Begun:
    """A statement that runs. start: the offset in the bytecode where it began; last: the offset of the last event; turns: how
    often it came back to an event since, which only a comprehension does, in every iteration but the first; counted: what
    has counted it."""

    start: int
    last: int
    turns: int = 0
    counted: set[_Count] = field(default_factory=set)


@dataclass
class Watch:
    """Rows ``first`` to ``last`` of a file. moments: when it was visited outside of tracing at first, by the clock of the
    process. visits: by state; runs: visits by state and run of the function. If the rows
    begin a loop, body is its last row, and inside counts how often each statement in it ran in each run while JAX traced;
    deep: the rows of the loops in that loop, without the first row of each loop that is in no other.
    entered: calls of the user's functions that the rows led to while JAX traced, by run. functions: names of those that
    have the rows and ran. pending: arrays were still being computed; looked: so many visits asked that. keeps_old: look
    whether variables are replaced by others of their size, and the old ones kept: kept counts their bytes, in the visit at
    which it is most; replaced: the variables, with dots (see ``replaced_at``); before: their values at the last visit, by
    run. formula: of the rows, and a better one; apart: how far they lay from each other at most, in as many visits as were
    compared, of those at which that was tried.
    unjit: what it shows is to be seen without jit (see ``switching``). name: a name in the rows; constant: bytes of the
    largest array that it stood for while a program was traced; was_tracer: it was a tracer then. column: where the finding
    begins in its first row, from 1, or 0; owner: the function, class or module whose code stands there, by the name that
    its code has: a lambda in the row may never run, and may run more often than the row does. Empty for any. span: where the
    finding stands (first row and column, last row and column); is_optional: its statement may run without it, so that it is
    visited where its own instructions begin, and passed as often as the statement runs. calls: of the function, where it
    stands in the default of a parameter. derives: look whether JAX differentiates it: derived counts such visits."""

    number: int
    path: str
    first: int
    last: int
    moments: list[float] = field(default_factory=list)
    visits: dict[str, int] = field(default_factory=dict)
    runs: dict[tuple[str, int], int] = field(default_factory=dict)
    nonfinite: int = 0
    pending: int = 0
    looked: int = 0
    imported: bool | None = None
    started: bool | None = None
    body: int | None = None
    inside: dict[tuple[int, int], int] = field(default_factory=dict)
    deep: frozenset[int] = frozenset()
    entered: dict[int, int] = field(default_factory=dict)
    functions: set[str] = field(default_factory=set)
    keeps_old: bool = False
    unjit: bool = False
    before: dict[int, dict[str, Any]] = field(default_factory=dict)
    kept: int = 0
    replaced: tuple[str, ...] = ()
    formula: tuple[Formula, Formula] | None = None
    stable: str = ""
    flow: Flow | None = None
    tried: int = 0
    compared: int = 0
    alone: float = 0.0
    apart: float = 0.0
    slope: float = 0.0
    name: str = ""
    constant: int = 0
    was_tracer: bool = False
    column: int = 0
    span: tuple[int, int, int, int] | None = None
    is_optional: bool = False
    passed: int = 0
    owner: str = ""
    calls: Calls | None = None
    derives: bool = False
    derived: int = 0

    def is_of(self, code: CodeType) -> bool:
        """Whether this code is what the finding is about, where several share its row. The steps of a comprehension are only
        where the finding stands in its element or conditions, if Python says where the instructions stand."""
        if code.co_name in _COMPREHENSIONS:
            return self.is_optional or self.span is None or not hasattr(code, "co_positions")
        return not self.owner or code.co_name == self.owner

    def report(self) -> dict[str, Any]:
        """As JSON data; of the runs, how often the busiest one came by, and how many there were."""
        most: dict[str, int] = {}
        runs: dict[str, int] = {}
        for (state, _), count in self.runs.items():
            most[state] = max(most.get(state, 0), count)
            runs[state] = runs.get(state, 0) + 1
        return {
            "watch": self.number, "moments": self.moments, "visits": self.visits, "most": most, "runs": runs,
            "numbers": sorted({run for _, run in self.runs}), "nonfinite": self.nonfinite, "pending": self.pending,
            "imported": self.imported, "started": self.started, "inside": max(self.inside.values(), default=0),
            "turns": max((count for (_, row), count in self.inside.items() if row not in self.deep), default=0),
            "entered": max(self.entered.values(), default=0), "entered_runs": len(self.entered),
            "functions": sorted(self.functions),
            "kept": self.kept, "compared": self.compared,
            "has_formula": self.formula is not None, "apart": min(self.apart, sys.float_info.max),
            "alone": min(self.alone, sys.float_info.max), "slope": min(self.slope, sys.float_info.max),
            "constant": self.constant, "was_tracer": self.was_tracer, "passed": self.passed,
            "parameter": "" if self.calls is None else self.calls.parameter.name,
            "left_out": 0 if self.calls is None else self.calls.left_out,
            "derived": self.derived,
            "given": 0 if self.calls is None else self.calls.given,
        }  # fmt: skip


class Watcher:
    """Sees the user's frames begin, pass watched rows, raise and return.

    on_call, on_return: called with every call of the user's functions. install: called once JAX has been imported. texts: of
    notebooks, as they are run. files: the user's files of which something ran. urge: called when a watch is visited for the
    first time, and when something is raised.
    """

    def __init__(
        self,
        places: Places,
        watches: list[Watch],
        install: Callable[[], None],
        on_call: Callable[[FrameType], None] | None = None,
        on_return: Callable[[FrameType, Any], None] | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> None:
        self.places = places
        self.watches = watches
        self._install = install
        self._installed = False
        self._on_call = on_call
        self._on_return = on_return
        self._by_path: dict[str, list[Watch]] = {}
        for watch in watches:
            self._by_path.setdefault(watch.path, []).append(watch)
        sources = {path: _source_of(path, (texts or {}).get(path)) for path in self._by_path}
        trees = {path: _tree_of(source) for path, source in sources.items()}
        self._loops = {path: loops_in(tree) for path, tree in trees.items()}
        self._statements = {path: statements_in(tree) for path, tree in trees.items()}
        self._begun: dict[FrameType, dict[int, _Begun]] = {}
        self._heads: dict[FrameType, dict[int, int]] = {}
        self._entering = bool(watches)
        self._called: dict[tuple[str, str, int], list[Calls]] = {}
        for watch in watches:
            watch.body = self._loops[watch.path].get(watch.first)
            watch.deep = deep_rows(self._loops[watch.path], watch.first)
            if watch.keeps_old:
                watch.replaced = replaced_at(trees[watch.path], watch.first)
            if watch.span is not None and hasattr(CodeType, "co_positions"):
                watch.is_optional = is_optional(trees[watch.path], watch.span)
            if watch.formula is not None and watch.span is not None:
                watch.flow = flow_of(trees[watch.path], watch.span, watch.stable)
            if watch.column:
                place = place_in(sources[watch.path], watch.first, watch.column)
                watch.owner = owner_at(trees[watch.path], place)
                found = parameter_at(trees[watch.path], place)
                if found is not None:
                    watch.calls = Calls(found)
                    self._called.setdefault((watch.path, found.function, found.row), []).append(watch.calls)
        self._watched: dict[int, tuple[CodeType, bool]] = {}
        self._begins: dict[int, dict[int, list[Watch]]] = {}
        self.raised: list[dict[str, Any]] = []
        self.files: set[str] = set()
        self._last_seen: BaseException | None = None
        self._raising: dict[FrameType, dict[str, Any]] = {}
        self.switch: Switch | None = None
        self.urge: Callable[[], None] = lambda: None

    def start(self) -> None:
        threading.settrace(self._global)
        sys.settrace(self._global)

    def stop(self) -> None:
        sys.settrace(None)
        threading.settrace(None)

    def is_running(self) -> bool:
        return sys.gettrace() == self._global

    def raised_at(self, watch: Watch) -> bool:
        """An exception was first seen in the rows of a watch."""
        return any(
            path == watch.path and watch.first <= row <= watch.last
            for path, row, *_ in (r["stack"][0] for r in self.raised)
        )

    # --- trace functions ------------------------------------------------------------------------------------

    def _global(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        path = self.places.path_of(code)
        if path is None:
            return None
        self.files.add(path)
        if not self._installed:
            self._try_to_install()
        self.places.enter(frame)
        if self._entering:
            self._enter(frame)
        for calls in self._called.get((path, code.co_name, code.co_firstlineno), ()) if self._called else ():
            calls.count(frame)
        if self._on_call is not None:
            self._on_call(frame)
        is_module = code.co_name == "<module>"
        frame.f_trace_lines = (
            self._is_watched(code)
            or (is_module and not self._installed)
            or (self.switch is not None and self.switch.is_in(path, code))
        )
        if id(code) in self._begins:
            frame.f_trace_opcodes = True
        return self._local

    def _local(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            if not self._installed:
                self._try_to_install()
            if self.switch is not None and self._installed:
                self.switch.pass_line(frame, (self.places.path_of(frame.f_code) or "", self.first_row(frame)))
            self._visit(frame)
        elif event == "opcode":
            for watch in self._begins.get(id(frame.f_code), {}).get(frame.f_lasti, ()):
                self._visit_of(watch, frame, trace_state())
        elif event == "exception":
            self._exception(frame, arg[1] if arg[1] is not None else arg[0], arg[2])
        elif event == "return":
            if self._raising and frame in self._raising:
                self._leave(frame)
            if self._on_return is not None:
                self._on_return(frame, arg)
            if self.switch is not None:
                self.switch.leave(frame)
            self.places.leave(frame)
            self._begun.pop(frame, None)
            self._heads.pop(frame, None)
        return self._local

    def _try_to_install(self) -> None:
        # A module is in ``sys.modules`` while it is still being imported; its last line makes ``jax.version`` complete.
        jax = sys.modules.get("jax")
        if jax is not None and not getattr(getattr(jax, "__spec__", None), "_initializing", False):
            self._installed = True
            self._install()

    def _is_watched(self, code: CodeType) -> bool:
        known = self._watched.get(id(code))
        if known is None:
            path = self.places.path_of(code)
            rows = {row for _, _, row in code.co_lines() if row is not None}
            mine = [w for w in self._by_path.get(path or "", ()) if any(w.first <= row <= w.last for row in rows)]
            for watch in mine:
                watch.functions.add(getattr(code, "co_qualname", code.co_name))  # co_qualname: Python 3.11
            watched = bool(mine) or any(
                w.body is not None and any(w.first <= row <= w.body for row in rows)
                for w in self._by_path.get(path or "", ())
            )
            known = self._watched[id(code)] = (code, watched)
            begins = [
                (begin, w) for w in mine if w.is_optional and w.span is not None for begin in begins_in(code, w.span)
            ]
            for begin, watch in begins:
                self._begins.setdefault(id(code), {}).setdefault(begin, []).append(watch)
        return known[1]

    def _enter(self, frame: FrameType) -> None:
        """A call of a function of the user's while JAX traces: which watched row led to it?"""
        if trace_state() == EAGER:
            return
        caller = frame.f_back
        while caller is not None:
            if self.places.path_of(caller.f_code) is not None:
                for watch in self._at(caller):
                    run = self.places.run_of(caller)
                    watch.entered[run] = watch.entered.get(run, 0) + 1
                return  # the innermost of the user's frames: what stands further out led to that one
            caller = caller.f_back

    def _at(self, frame: FrameType) -> list[Watch]:
        path = self.places.path_of(frame.f_code)
        row = frame.f_lineno
        return [watch for watch in self._by_path.get(path or "", ()) if watch.first <= row <= watch.last]

    def _visit(self, frame: FrameType) -> None:
        counted = self._counted(frame)
        self._count_inside(frame, counted)
        for watch in self._at(frame):
            if not watch.is_of(frame.f_code):
                continue
            self._count_turns(frame, watch)
            if not _is_first(counted, ("row", watch.number)):
                continue
            if watch.is_optional:
                watch.passed += 1
            else:
                self._visit_of(watch, frame, trace_state())

    def _visit_of(self, watch: Watch, frame: FrameType, state: str) -> None:
        is_new = state not in watch.visits
        if state == ABSTRACT and self.switch is not None and watch.unjit:
            self.switch.staged(frame, self.places, self.first_row)
        watch.visits[state] = watch.visits.get(state, 0) + 1
        key = (state, self.places.run_of(frame))
        watch.runs[key] = watch.runs.get(key, 0) + 1
        if watch.imported is None:
            watch.imported = "jax" in sys.modules
            bridge = sys.modules.get("jax._src.xla_bridge")
            watch.started = bool(bridge is not None and getattr(bridge, "_backends", None))
        if watch.derives and state != EAGER:
            watch.derived += is_differentiating()
        if state == ABSTRACT and watch.name and is_ambient():
            _look_at_name(watch, frame)
        if state == EAGER and len(watch.moments) < _MOST_MOMENTS:
            watch.moments.append(round(time.perf_counter(), 6))
        if state == EAGER and self._installed:
            if watch.pending == 0 and watch.looked < _MOST_LOOKS:
                watch.looked += 1
                watch.pending += _has_pending_work()
            if watch.keeps_old:
                _look_for_old(watch, self.places.run_of(frame), frame)
        if state != ABSTRACT and self._installed and watch.formula is not None and watch.tried < MOST_FORMULAS:
            watch.tried += 1
            found = difference(watch.formula, watch.flow, frame)
            if found is not None:
                watch.compared += 1
                is_new = is_new or max(found.value, found.slope) >= LOST > max(watch.apart, watch.slope)
                watch.alone = max(watch.alone, found.alone)
                watch.apart = max(watch.apart, found.value)
                watch.slope = max(watch.slope, found.slope)
        if is_new:
            self.urge()

    def first_row(self, frame: FrameType) -> int:
        """The first row of the statement that runs."""
        return self.statement_at(self.places.path_of(frame.f_code) or "", frame.f_lineno)

    def statement_at(self, path: str, row: int) -> int:
        """The first row of the statement at a row, where the file is watched."""
        return self._statements.get(path, {}).get(row, row)

    def _counted(self, frame: FrameType) -> set[_Count] | None:
        """What has counted the running statement already; None where no statement is known at the row, as at heads of loops.

        A statement runs as long as the bytecode goes forward from where it began; a loop goes back.
        """
        first = self._statements.get(self.places.path_of(frame.f_code) or "", {}).get(frame.f_lineno)
        if first is None:
            return None
        begun = self._begun.setdefault(frame, {})
        known = begun.get(first)
        if known is None or frame.f_lasti <= known.start:
            begun[first] = _Begun(frame.f_lasti, frame.f_lasti)
            return begun[first].counted
        known.turns += int(frame.f_lasti <= known.last)
        known.last = frame.f_lasti
        return known.counted

    def _count_turns(self, frame: FrameType, watch: Watch) -> None:
        """Count the iterations of a comprehension in the running statement, while JAX traces."""
        first = self.first_row(frame)
        known = self._begun.get(frame, {}).get(first)
        if known is not None and known.turns and watch.body is None and trace_state() != EAGER:
            key = (self.places.run_of(frame), first)
            watch.inside[key] = max(watch.inside.get(key, 0), known.turns + 1)

    def _count_inside(self, frame: FrameType, counted: set[_Count] | None) -> None:
        path, row = self.places.path_of(frame.f_code), frame.f_lineno
        within = [w for w in self._by_path.get(path or "", ()) if w.body is not None and w.first < row <= w.body]
        if not within or (counted is None and not self._comes_to_head(frame)):
            return
        for watch in within:
            if trace_state() != EAGER and _is_first(counted, ("inside", watch.number)):
                key = (self.places.run_of(frame), self.first_row(frame))
                watch.inside[key] = watch.inside.get(key, 0) + 1

    def _comes_to_head(self, frame: FrameType) -> bool:
        """Whether an inner loop begins here. Its head also runs at each of its iterations, further on in the bytecode."""
        starts = self._heads.setdefault(frame, {})
        return frame.f_lasti == starts.setdefault(frame.f_lineno, frame.f_lasti)

    def _exception(self, frame: FrameType, error: Any, traceback: TracebackType | None) -> None:
        # The event comes once a frame, and without an instance where Python's own code raised lazily.
        if not isinstance(error, BaseException) or isinstance(error, _PASSING):
            return
        if isinstance(error.__context__, KeyboardInterrupt):  # such as the exit that answers Ctrl-C
            return
        if error is self._last_seen:
            if self.raised:
                self._raising[frame] = self.raised[-1]
            return
        self._last_seen = error
        if len(self.raised) < MOST:
            lines = str(error).strip().splitlines()
            stack = [[p.path, p.row, p.function, p.run] for p in self.places.stack(frame)[:_DEPTH]]
            self.raised.append(
                {
                    "type": type(error).__name__,
                    "bases": [base.__name__ for base in type(error).__mro__],
                    "message": " ".join(lines)[:400],
                    "state": trace_state(),
                    "stack": stack,
                    "left": [],
                    "span": span_of(frame),
                    "origin": origin_of(error, frame, traceback),
                }
            )
            self._raising[frame] = self.raised[-1]
            self.urge()

    def _leave(self, frame: FrameType) -> None:
        """A frame in which an exception was seen ends: by it, or after it was caught."""
        raised = self._raising.pop(frame)
        code = frame.f_code
        if frame.f_lasti < 0 or dis.opname[code.co_code[frame.f_lasti]] in _RETURNING:
            return
        if len(raised["left"]) < _DEPTH:
            raised["left"].append([self.places.path_of(code), *_rows_of(code), frame.f_lineno])


def _is_first(counted: set[_Count] | None, count: _Count) -> bool:
    """Whether this has not counted the statement yet; from now on, it has."""
    if counted is None:
        return True
    is_first = count not in counted
    counted.add(count)
    return is_first


def _rows_of(code: CodeType) -> tuple[int, int]:
    """First and last; a module has no last."""
    if code.co_name == "<module>":
        return 0, sys.maxsize
    return code.co_firstlineno, max((row for _, _, row in code.co_lines() if row is not None), default=0)


def origin_of(error: BaseException, frame: FrameType, traceback: TracebackType | None) -> str:
    """The package whose code raised an exception that reached a frame of the user's; empty where Python itself or the user's
    code did. JAX removes its own frames, and says so in a note or by the cause."""
    notes = " ".join(map(str, getattr(error, "__notes__", ())))
    if "JAX has removed" in notes or type(error.__cause__).__module__.startswith("jax."):
        return "jax"
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None or traceback.tb_frame is frame:
        return ""
    return str(traceback.tb_frame.f_globals.get("__name__", "")).partition(".")[0]


def span_of(frame: FrameType) -> list[int] | None:
    """Where the instruction stands that runs: first row and column, last row and column. Python says that from 3.11 on."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None or frame.f_lasti < 0:
        return None
    first, last, start, end = list(positions())[frame.f_lasti // 2]
    return None if None in (first, last, start, end) else [first, start, last, end]


def begins_in(code: CodeType, span: tuple[int, int, int, int]) -> list[int]:
    """The offsets at which the instructions of an expression begin: several, where Python has copied a block."""
    found, before = [], False
    positions: Any = getattr(code, "co_positions", tuple)  # Python 3.11
    for number, (first, last, start, end) in enumerate(positions()):
        if first is None or last is None or start is None or end is None:
            continue
        inside = span[:2] <= (first, start) and (last, end) <= span[2:]
        if inside and not before:
            found.append(2 * number)
        before = inside
    return found


def is_optional(tree: ast.AST, span: tuple[int, int, int, int]) -> bool:
    """Whether a place is in a part of an expression that Python may leave out, ``a if b else c``, ``a and b``, or runs at each
    step of a comprehension, ``[a for b in c]``."""
    parts: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp):
            parts += [node.body, node.orelse]
        elif isinstance(node, ast.BoolOp):
            parts += node.values[1:]
        elif isinstance(node, ast.Assert) and node.msg is not None:
            parts.append(node.msg)
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            parts += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            parts += [test for part in node.generators for test in part.ifs]
            parts += [part.iter for part in node.generators[1:]]  # the first one runs once, before the first step
    return any(
        (part.lineno, part.col_offset) <= span[:2] and span[2:] <= (part.end_lineno or 0, part.end_col_offset or 0)
        for part in parts
    )


def _look_at_name(watch: Watch, frame: FrameType) -> None:
    """What does the name stand for while a program is traced?"""
    size = array_bytes(watch.name, frame)
    if size is not None:
        watch.constant = max(watch.constant, size)
        watch.was_tracer = watch.was_tracer or size == 0


def _look_for_old(watch: Watch, run: int, frame: FrameType) -> None:
    """Hold the variables against those of the visit before: what was replaced, and not donated?"""
    import jax

    here = frame.f_locals
    names = watch.replaced or [name for name in here if not name.startswith("__")]
    now = {name: _value_of(name, here) for name in names}
    kept = 0
    for name, old in watch.before.get(run, {}).items():
        new = now.get(name)
        if new is old or new is None:
            continue
        pairs = zip(jax.tree_util.tree_leaves(old), jax.tree_util.tree_leaves(new))
        kept += sum(a.nbytes for a, b in pairs if a is not b and _alike(a, b) and not a.is_deleted())
    watch.kept = max(watch.kept, kept)
    watch.before[run] = now


def _value_of(name: str, variables: Mapping[str, Any]) -> Any:
    """What a name with dots stands for; None where that would run code of the user's."""
    first, *attributes = name.split(".")
    found = variables.get(first)
    for attribute in attributes:
        found = getattr(found, "__dict__", {}).get(attribute)
    return found


def replaced_at(tree: ast.AST, row: int) -> tuple[str, ...]:
    """The variables that the assignment at a row replaces by what it computes of them, or else those that it computes with.
    None where no assignment stands there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and node.lineno <= row <= (node.end_lineno or node.lineno):
            calls = [call for call in ast.walk(node.value) if isinstance(call, ast.Call)]
            parts = [part for call in calls for part in (*call.args, *(keyword.value for keyword in call.keywords))]
            parts += [call.func.value for call in calls if isinstance(call.func, ast.Attribute)]
            given = {name for part in parts for name in _dotted_in(part)}
            targets = {name for target in node.targets for name in _dotted_in(target)}
            return tuple(sorted(given & targets or given))
    return ()


def _dotted_in(node: ast.AST) -> Iterator[str]:
    """The longest names with dots in an expression."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        text = ast.unparse(node)
        if text.replace(".", "").replace("_", "").isalnum():
            yield text
            return
    for child in ast.iter_child_nodes(node):
        yield from _dotted_in(child)


def _alike(old: Any, new: Any) -> bool:
    import jax

    arrays = isinstance(old, jax.Array) and isinstance(new, jax.Array)
    return arrays and old.shape == new.shape and old.dtype == new.dtype and old.ndim > 0


def _source_of(path: str, text: str | None) -> bytes:
    """The text of a file, in UTF-8 as a rule; empty where it cannot be read. text: what is run of a notebook."""
    if text is not None:
        return text.encode()
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _tree_of(source: bytes) -> ast.AST:
    """The syntax of a file; that of an empty one where this Python cannot read it."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def place_in(source: bytes, row: int, column: int) -> tuple[int, int]:
    """A row, and a column from 1 as one in bytes from 0."""
    line = source.decode(errors="replace").split("\n")[row - 1 : row]
    return row, len(line[0][: column - 1].encode()) if line else column - 1


def owner_at(tree: ast.AST, place: tuple[int, int]) -> str:
    """The name that the code has which stands at a place; empty in the head of a function or class."""
    found = "<module>"
    nodes = [node for node in ast.walk(tree) if isinstance(node, _OWNERS) and _holds(node, place)]
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node, ast.Lambda):
            found = "<lambda>" if _holds(node.body, place) else found
        else:
            found = node.name if any(_holds(statement, place) for statement in node.body) else ""
    return found


_OWNERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def _holds(node: ast.expr | ast.stmt, place: tuple[int, int]) -> bool:
    first = _first_row(node)
    start = (node.lineno, node.col_offset) if first == node.lineno else (first, 0)
    return start <= place < (node.end_lineno or node.lineno, node.end_col_offset or 0)


def _first_row(node: ast.expr | ast.stmt) -> int:
    """Its own, or that of its first decorator: Python makes the decorators, the function, and comes back to call them."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def statements_in(tree: ast.AST) -> dict[int, int]:
    """The first row of the statement at each row, heads of loops aside, which run once for each turn."""
    found: dict[int, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            body = getattr(node, "body", None)
            first = _first_row(node)
            last = _first_row(body[0]) - 1 if body else node.end_lineno or node.lineno
            found.update((row, first) for row in range(first, max(last, node.lineno) + 1))
    return found


def loops_in(tree: ast.AST) -> dict[int, int]:
    """First and last rows of the loops of a file."""
    loops = [node for node in ast.walk(tree) if isinstance(node, (ast.For, ast.While, ast.AsyncFor))]
    return {node.lineno: node.end_lineno or node.lineno for node in loops}


def deep_rows(loops: Mapping[int, int], row: int) -> frozenset[int]:
    """The rows of the loops in the loop at a row, but not the first row of a loop that is in no other of them."""
    inner = [range(first + 1, last + 1) for first, last in loops.items() if row < first <= loops.get(row, row)]
    return frozenset(number for rows in inner for number in rows)


def _has_pending_work() -> bool:
    """Some array is still being computed."""
    import jax

    return any(not array.is_ready() for array in jax.live_arrays() if not array.is_deleted())
