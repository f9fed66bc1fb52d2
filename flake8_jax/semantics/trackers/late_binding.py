"""Functions that a loop makes and that read a variable of the loop when the loop has moved on.

Python looks a variable of an enclosing function up when the closure runs, not when it is made. A table of functions made in
a loop thus reads the last value, whichever of them JAX traces or a caller calls.

Vocabulary
----------
iteration   one pass of a loop, by its number among those that were run.
varying     a variable that every iteration of a loop rebinds: its target, and what is computed from that.
late        a function runs after the iteration that made it.
kept        it was put into a container in its iteration, so the container holds functions of several iterations. Of an
            unrolled loop each function is known by itself, and its old values and those of today are compared.

Limitations: generators, functions that nothing in the project calls, names that ``exec`` binds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import free_names, names_read
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.stack import LoopState
from flake8_jax.semantics.domain.values import (
    Const,
    DictValue,
    FunctionValue,
    GeneratorValue,
    ListValue,
    PartialValue,
    TransformedValue,
    TupleValue,
    UnionValue,
    Value,
)
from flake8_jax.semantics.events.events import LateBinding
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.tracker import Tracker

MAX_KEPT = 64
"""So many parts of a value that is put into a container are looked at."""


class MadeIn(NamedTuple):
    """A function was made in the iteration ``number`` of a loop whose varying variables it reads, with the values of then."""

    loop: LoopState
    number: int
    values: dict[str, Value | None]


class Made(NamedTuple):
    """A function that a loop has made."""

    function: FunctionValue
    iterations: tuple[MadeIn, ...]


class LateBindings(Tracker):
    """made: functions of loops, by identity; lasting: those of the top level of modules. iterations: how many of a loop
    were run. kept: functions in containers. timely: functions that a transform has traced in their iteration. varying: by
    loop."""

    def __init__(self, m: Machine) -> None:
        self.made: dict[int, Made] = {}
        self.lasting: dict[int, Made] = {}
        self.iterations: dict[LoopState, int] = {}
        self.kept: set[int] = set()
        self.timely: set[int] = set()
        self.varying: dict[int, frozenset[str]] = {}

    def enter(self) -> Any:
        saved, self.made = self.made, {}
        return saved

    def leave(self, saved: Any, *, finished: bool) -> None:
        self.made = saved

    def iteration(self, loop: LoopState) -> None:
        self.iterations[loop] = self.iterations.get(loop, 0) + 1


def track_function(m: Machine, frame: Frame, made: FunctionValue) -> None:
    """A function is made inside of a loop of the function that runs."""
    if not m.bus.wants(LateBinding) or (made.closure is None and not _is_in_comprehension(frame)):
        return
    tracker, wanted = m.trackers[LateBindings], free_names(made.fn)
    iterations = []
    for loop in m.path.loops[m.path.loop_base :]:
        names = wanted & _varying(tracker, loop.node)
        if names and not _is_lazy(frame, loop.node):
            iterations.append(
                MadeIn(loop, tracker.iterations.get(loop, 0), {name: _value(made, name) for name in names})
            )
    if iterations:
        known = tracker.made if m.path.stack else tracker.lasting
        known[id(made)] = Made(made, tuple(iterations))
        if any(isinstance(made_in.loop.node, ir.Comprehension) for made_in in iterations):
            tracker.kept.add(id(made))


def track_stored(m: Machine, value: Value) -> None:
    """A value is put into a container."""
    tracker = m.trackers[LateBindings]
    if tracker.made or tracker.lasting:
        tracker.kept.update(id(function) for function in _functions_in(value))


def track_run(m: Machine, function: FunctionValue) -> None:
    """A known call, or a transform, runs a function."""
    tracker = m.trackers[LateBindings]
    made = tracker.made.get(id(function))
    if made is None:
        made = tracker.lasting.get(id(function))
        if made is None or (m.path.stack and m.path.stack[0].kind == "root"):
            return
    late = [
        made_in
        for made_in in made.iterations
        if made_in.loop not in m.path.loops or tracker.iterations[made_in.loop] != made_in.number
    ]
    if not late:
        if m.path.stack and m.path.stack[-1].kind == "root":
            tracker.timely.add(id(function))
        return
    if id(function) in tracker.timely:
        return
    for made_in in late:
        for name in sorted(made_in.values):
            if _has_moved_on(m, tracker, made, made_in, name):
                _emit(m, made, made_in, name)


def _has_moved_on(m: Machine, tracker: LateBindings, made: Made, made_in: MadeIn, name: str) -> bool:
    """The variable surely holds another value by now than in the iteration that made the function."""
    if _is_bound_again(m, made, made_in, name):
        return False
    now, then = _value(made.function, name), made_in.values[name]
    if isinstance(now, Const) and isinstance(then, Const):
        return (type(now.value), now.value) != (type(then.value), then.value)
    if made_in.loop.unrolled:
        return now is not then and made_in.loop.times > 1
    return id(made.function) in tracker.kept


def _is_bound_again(m: Machine, made: Made, made_in: MadeIn, name: str) -> bool:
    """Another loop that runs now gives the variable a value for this call."""
    return any(
        loop is not made_in.loop and isinstance(loop.node, ir.For) and name in _targets(loop.node.target)
        for loop in m.path.loops
    )


def _emit(m: Machine, made: Made, made_in: MadeIn, name: str) -> None:
    function = made.function
    read = min(
        (n for part in function.fn.body for n in walk(part) if isinstance(n, ir.Name) and n.id == name),
        key=lambda n: n.start,
    )
    m.bus.emit(LateBinding(m.path.context(function.scope), read, name, function.fn, made_in.loop.node))


# --- what a loop binds -------------------------------------------------------------------------------------


def _varying(tracker: LateBindings, node: Any) -> frozenset[str]:
    """The varying variables of a loop."""
    found = tracker.varying.get(id(node))
    if found is None:
        found = tracker.varying[id(node)] = frozenset(_find_varying(node))
    return found


def _find_varying(node: Any) -> set[str]:
    if isinstance(node, ir.Comprehension):
        return {name for generator in node.generators for name in _targets(generator.target)}
    found = _targets(node.target) if isinstance(node, ir.For) else set()
    bindings = list(_bindings(node.body))
    grown = True
    while grown:
        new = {name for names, read in bindings for name in names if not found.isdisjoint(read) or name in read}
        grown = not new <= found
        found |= new
    return found


def _bindings(body: list[ir.Stmt]) -> Iterator[tuple[set[str], set[str]]]:
    """What the assignments of a block bind, and the names that they read."""
    todo: list[Any] = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, ir.Assign):
            yield {name for target in node.targets for name in _targets(target)}, names_read(node.value)
        elif isinstance(node, ir.AugAssign):
            yield _targets(node.target), names_read(node.value) | _targets(node.target)
        for field in ("body", "orelse", "finalbody"):
            todo += getattr(node, field, None) or ()


def _targets(target: Any) -> set[str]:
    """The names that a target binds."""
    if isinstance(target, ir.Name):
        return {target.id}
    if isinstance(target, (ir.Tuple, ir.List)):
        return {name for element in target.elts for name in _targets(element)}
    return _targets(target.value) if isinstance(target, ir.Starred) else set()


def _value(function: FunctionValue, name: str) -> Value | None:
    """What the function finds under a name."""
    around = function.closure
    while around is not None:
        if name in around.slots:
            return around.slots[name]  # type: ignore[no-any-return]
        around = around.parent
    return function.scope.slots.get(name)


def _is_in_comprehension(frame: Frame) -> bool:
    return frame.fn is None and frame.parent is not None


def _is_lazy(frame: Frame, node: Any) -> bool:
    """A generator makes its functions one by one, unless ``tuple`` or ``list`` takes all of them."""
    if not isinstance(node, ir.Comprehension) or node.kind != "generator":
        return False
    return not frame.scope.text[: node.start].rstrip("(").endswith(("tuple", "list"))


def _functions_in(value: Value) -> Iterator[FunctionValue]:
    """The functions that a value holds, also wrapped ones."""
    todo: list[Value] = [value]
    visits = 0
    while todo and visits < MAX_KEPT:
        visits += 1
        part = todo.pop()
        if isinstance(part, FunctionValue):
            yield part
        elif isinstance(part, TransformedValue):
            todo.append(part.operand)
        elif isinstance(part, PartialValue):
            todo += [part.func, *part.args]
        elif isinstance(part, GeneratorValue):
            todo.append(part.element)
        elif isinstance(part, (TupleValue, UnionValue)):
            todo += part.elts if isinstance(part, TupleValue) else part.members
        elif isinstance(part, (ListValue, DictValue)):
            todo += [v for v in part.slots.values() if isinstance(v, Value)]
