"""Functions of the program that no path jits, although each call of them does enough work for it.

Vocabulary
----------
work        what ``eager_steps`` takes for one: a model, an optimizer, an operation; or a call of what ``grad`` or ``vmap``
            returned.
heavy       a work that is many operations: a model, an optimizer, a gradient, a mapped function.
direct      a loop outside of tracing calls the function itself, not a function in between.
uncalled    nothing that jaxlint sees calls the function.
recurring   the name of the function says that programs call it again and again: ``accuracy``, ``train_step``, ``act``.

Nothing is recorded unless a rule asks for it. Limitations: functions that unknown code calls or jits.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import children, walk
from flake8_jax.semantics.domain.code import all_statements, functions_of, last_name, path_of
from flake8_jax.semantics.domain.row_loops import leaf_update
from flake8_jax.semantics.domain.values import FunctionValue, Site, TransformedValue
from flake8_jax.semantics.events.unjitted import UnjittedFunction
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker
from flake8_jax.semantics.trackers.eagerness import is_model_code, is_surely_eager, may_be_staged
from flake8_jax.semantics.trackers.freshness import Freshness, is_short_lambda, needs_python, runs_python
from flake8_jax.semantics.trackers.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
    from flake8_jax.semantics.domain.stack import Link, LoopState
    from flake8_jax.semantics.domain.values import Value
    from flake8_jax.semantics.machine.core import Machine

Work = tuple[str, Any]
"""The kind of a work, and the node of its call."""
Weight = Literal["heavy", "many", ""]
FEW = 5
"""A loop that says that it has fewer iterations calls nothing again and again."""
MANY = 6
"""So many operations are worth a compiled function."""
FEW_OF_ACTION = 2
"""An agent acts in each step of its environment, so that two operations on the device cost more than the step."""
_MAX_WORKS = 48
_HEAVY = frozenset({"model", "applied", "layers", "optimizer", "updated", "gradient", "mapped", "body"})
_COUNTED = frozenset({"operation", "draw", "access"})
RECURRING = re.compile(
    r"accuracy|(^|_)(acc|eval|evaluate|evaluation|validate|update|step|act|action|actions|predict|policy|sample|generate|forward"
    r"|infer|inference|learn|adam|sgd|momentum|rmsprop|metrics?)($|_(?!fn|func|function))"
    r"|(^|_)(train|fit)_(on_|one_)?(batch|minibatch|iteration|iter)($|_)"
)
_SOLVING = re.compile(r"(^|_)(simulate|solve|integrate|rollout)($|_)")
"""The same of functions that compile a loop in each call."""
_SHORT_LIVED = re.compile(
    r"^_*(init|create|build|make|setup|load|main|plot|show|draw|test|demo|example|run|save|print|get_model|reset|check)"
    r"|bench|profil|debug|timed"
)
"""Functions that a program calls once."""
_HAND_MADE = re.compile(r"accuracy|(^|_)acc($|_)|eval|validat|adam|sgd|momentum|rmsprop|(^|_)(act|action|update)($|_)")
"""Of functions of operations alone, only these are surely whole steps of a program."""


def staged_fact(function: ir.Function) -> str:
    """The fact that some path traces a function for compiled code; recorded everywhere."""
    return f"traced {id(function)}"


class Doing(msgspec.Struct, eq=False):
    """A function that runs. works: by the identity of their nodes and by kind, with the place in the function that leads there.
    eager: it runs outside of tracing."""

    link: Link
    scope: ModuleScope
    works: dict[tuple[int, str], tuple[ir.Node, str, Any]]
    eager: bool


class Unjitted(Tracker):
    """running: the functions that run, the innermost last. passed_on: names that the files of the project read but do not
    call."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.wanted = m.bus.wants(UnjittedFunction)
        self.running: list[Doing] = []
        self.passed_on: frozenset[str] | None = None

    def enter(self) -> list[Doing]:
        saved, self.running = self.running, []
        return saved

    def leave(self, saved: list[Doing], *, finished: bool) -> None:
        self.running = saved

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> Doing | None:
        if not self.wanted:
            return None
        mode, link = self.m.path.mode, self.m.path.stack[-1]
        if (mode.ambient or mode.compiled) and not mode.presumed:
            self.m.bus.record_everywhere(staged_fact(function.fn))
        doing = Doing(link, function.scope, {}, not mode.staged and not mode.presumed)
        self.running.append(doing)
        return doing

    def returned(self, mark: Doing | None, *, suspended: bool) -> None:
        if mark is None or mark not in self.running:
            return
        del self.running[self.running.index(mark) :]
        if mark.eager and mark.works and not suspended:
            self._emit(mark)
        self._pass_on(mark.link.node, _works_of(mark))

    def since(self, mark: Doing | None, run: FinishedRun) -> tuple[Work, ...] | None:
        return tuple(_works_of(mark)) or None if mark is not None else None

    def replay(self, record: tuple[Work, ...], replay: Replay) -> None:
        if not self.m.path.mode.compiled:
            self._pass_on(replay.node, record)

    def _pass_on(self, place: ir.Node | None, works: list[Work] | tuple[Work, ...]) -> None:
        """The running function does works, by a call at ``place``."""
        if not self.running or place is None:
            return
        known = self.running[-1].works
        for kind, node in works:
            if len(known) < _MAX_WORKS or kind in _HEAVY:
                known.setdefault((id(node), kind), (place, kind, node))

    def track(self, kind: str, node: ir.Node) -> None:
        """The running function does a work itself."""
        self._pass_on(node, [(kind, node)])

    def _emit(self, doing: Doing) -> None:
        """Tell of a function that has run outside of tracing, if it is called again and again and is worth a ``jit``."""
        link, path = doing.link, self.m.path
        function = link.fn
        if function is None or function.is_lambda or id(function) in self.m.trackers[Freshness].disguised:
            return
        update = leaf_update(function.body) if not _is_whole(doing) else None
        if update is not None:
            doing.works[id(update), "leaves"] = (update, "leaves", update)
        weight = _weight(doing)
        if not weight or _SHORT_LIVED.search(function.name) or not _is_step(link):
            return
        loop = path.loops[-1] if path.loops and path.loops[-1].links == len(path.stack) else None
        if loop is not None:
            if _repeats(self.m, loop) and not _has_loop(function):
                self._tell(doing, loop)
        elif link.kind == "entry" and not path.stack and id(function) not in self.m.trackers[Runs].callees:
            has_body = any(kind == "body" for _, kind, _ in doing.works.values())
            if _is_recurring(function, weight, has_body=has_body) or _is_working_method(doing, weight):
                self._tell(doing, None)

    def _tell(self, doing: Doing, loop: LoopState | None) -> None:
        link, m = doing.link, self.m
        function = link.fn
        assert function is not None
        place, kind = _heaviest(doing)
        inside = msgspec.structs.replace(m.path.context(doing.scope), inner=function, function=link.function)
        staged, count = staged_fact(function), _count(doing)
        if loop is None:
            if not _is_passed_on(m, function.name):
                event = UnjittedFunction(inside, place, function, doing.scope, kind, count, None, None, staged, "")
                m.bus.emit(event, below=(link,))
            return
        called = Site(link.scope, link.node.start, link.node.end)
        event = UnjittedFunction(inside, place, function, doing.scope, kind, count, loop.node, called, staged, "")
        m.bus.emit(event, below=(link,))
        # Traced code calls the function as well: only this call is to blame.
        outside = m.path.context(link.scope)
        m.bus.emit(
            UnjittedFunction(outside, link.node, function, doing.scope, kind, count, loop.node, None, "", staged)
        )


def _is_whole(doing: Doing) -> bool:
    return any(kind in _HEAVY for _, kind, _ in doing.works.values())


def _works_of(doing: Doing) -> list[Work]:
    """The works of a function for those that call it. The body of a loop is new in its own calls."""
    return [(kind, node) for _, kind, node in doing.works.values() if kind not in ("body", "leaves")]


def _weight(doing: Doing) -> Weight:
    kinds = [kind for _, kind, _ in doing.works.values()]
    if not _HEAVY.isdisjoint(kinds) or kinds.count("layer") > 1 or "leaves" in kinds:
        return "heavy"
    if "compiled" in kinds or _has_loop(doing.link.fn):
        return ""  # its operations stand beside other work
    acts = doing.link.fn is not None and _CHOOSING.search(doing.link.fn.name) is not None
    return (
        "many"
        if _count(doing) >= (FEW_OF_ACTION if acts else MANY) and any(kind in ("operation", "draw") for kind in kinds)
        else ""
    )


def _has_loop(function: ir.Function | None) -> bool:
    return function is not None and any(isinstance(s, (ir.For, ir.While)) for s in all_statements(function.body))


def _count(doing: Doing) -> int:
    return sum(kind in _COUNTED for _, kind, _ in doing.works.values())


def _heaviest(doing: Doing) -> tuple[ir.Node, str]:
    """The place in the function that does most, and what."""
    places: dict[int, list[tuple[ir.Node, str]]] = {}
    for place, kind, _ in doing.works.values():
        places.setdefault(place.start, []).append((place, kind))
    order = ("body", "gradient", "model", "applied", "layers", "mapped", "optimizer", "updated", "leaves", "layer")

    def rank(found: list[tuple[ir.Node, str]]) -> tuple[int, int, int]:
        best = min((order.index(kind) if kind in order else len(order)) for _, kind in found)
        return best, -len(found), found[0][0].start

    best = min(places.values(), key=rank)
    return min(best, key=lambda pair: order.index(pair[1]) if pair[1] in order else len(order))


def _is_step(link: Link) -> bool:
    """The function is no part of a model, which the code around it applies."""
    assert link.fn is not None
    return not is_model_code(link) or bool(_ACTING.search(link.fn.name))


def _calls_in(body: list[ir.Stmt]) -> Iterator[ir.Call]:
    yield from (node for statement in body for node in walk(statement) if isinstance(node, ir.Call))


def _is_collective(call: ir.Call) -> bool:
    return last_name(call.func) in _COLLECTIVES


_COLLECTIVES = frozenset({"pmean", "psum", "pmax", "pmin", "all_gather", "axis_index"})
_CHOOSING = re.compile(r"^(select|choose|get|sample)?_?(act|action|actions)$")
_PREDICTING = re.compile(r"(^|_)(predict|policy|infer|inference)($|_)")
_ACTING = re.compile(r"(^|_)(act|action|actions|generate)($|_)")


def _repeats(m: Machine, loop: LoopState) -> bool:
    """A loop outside of tracing that calls the function again and again."""
    if loop.unrolled or not isinstance(loop.node, (ir.For, ir.While)) or 0 < loop.trip_count < FEW:
        return False
    return not may_be_staged(m, loop) and (is_surely_eager(m, loop) or _is_episode(loop.node))


def _is_episode(loop: ir.For | ir.While) -> bool:
    """The loop steps an environment of the host: ``env.step(action)``."""
    calls = (path_of(node.func).lower() for s in loop.body for node in walk(s) if isinstance(node, ir.Call))
    return any(path.endswith(".step") and "env" in path for path in calls)


def _is_recurring(function: ir.Function, weight: Weight, *, has_body: bool) -> bool:
    """The name says so, and the function is for other code, which does not trace it for several devices."""
    name = function.name
    if name.startswith("_") or any(map(_is_collective, _calls_in(function.body))):
        return False
    if has_body and _SOLVING.search(name):
        return True
    return bool(RECURRING.search(name) if weight == "heavy" else _HAND_MADE.search(name))


def _is_working_method(doing: Doing, weight: Weight) -> bool:
    """A public method that calls what ``grad`` or ``vmap`` returned, or that predicts by many operations: its object is made
    once and used often, and users hardly jit its methods."""
    function = doing.link.fn
    if function is None or not function.params or function.params[0].name != "self" or function.name.startswith("_"):
        return False
    if any(map(_is_collective, _calls_in(function.body))):
        return False
    kinds = {kind for _, kind, _ in doing.works.values()}
    if len(function.params) > 1 and not kinds.isdisjoint(("gradient", "mapped")):
        return True
    return weight != "" and bool(_PREDICTING.search(function.name))


def _is_passed_on(m: Machine, name: str) -> bool:
    """Some file of the project uses a function or a method of that name without calling it, so that other code may jit it."""
    tracker = m.trackers[Unjitted]
    if tracker.passed_on is None:
        tracker.passed_on = frozenset(name for scope in m.program.by_name.values() for name in _passed_in(scope.tree))
    return name in tracker.passed_on


def _passed_in(tree: ir.Module) -> Iterator[str]:
    """The names of functions and attributes that a file reads but does not call. Local variables are no functions."""
    yield from _used(tree.body)
    for function, *_ in functions_of(tree):
        yield from set(_used(function.body)) - set(function.local_names)


def _used(body: list[ir.Stmt]) -> Iterator[str]:
    """The names of variables and attributes that code reads but does not call, outside of the functions in it."""
    called: set[int] = set()
    stack: list[Any] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Call):
            called.add(id(node.func))
        elif isinstance(node, (ir.Name, ir.Attribute)) and id(node) not in called:
            yield node.id if isinstance(node, ir.Name) else node.attr
        if isinstance(node, ir.FunctionDef):
            stack += node.decorators
        elif not isinstance(node, ir.Lambda):
            stack += children(node)


def track_body(m: Machine, frame: Frame, node: Any, name: str, operands: list[Value | None]) -> None:
    """Eager code calls ``scan``, ``while_loop`` … with a function that the running function has made, so that each call of it
    compiles the loop."""
    if m.path.mode.staged or not m.trackers[Unjitted].wanted or node is None or frame.fn is None:
        return
    if name.startswith("jax.lax.") and any(
        isinstance(value, FunctionValue) and value.closure is frame for value in operands
    ):
        m.trackers[Unjitted].track("body", node)


def _is_derivative(operand: Value) -> bool:
    """What ``grad`` or ``hessian`` returned, perhaps for a function that is not known."""
    return isinstance(operand, TransformedValue) and operand.fact.model == "wrap" and not operand.fact.omnistaging


def track_uncompiled(m: Machine, made: TransformedValue, node: Any) -> None:
    """Eager code has called what ``grad`` or ``vmap`` returned."""
    fact = made.fact
    if fact.model != "wrap" or fact.omnistaging or fact.tracing == "none" or not m.trackers[Unjitted].wanted:
        return
    if fact.maps_axes is None and not needs_python(m, made.operand):
        m.trackers[Unjitted].track("gradient", node)
    elif (
        fact.maps_axes is not None
        and (runs_python(m, made.operand) or _is_derivative(made.operand))
        and not is_short_lambda(m, made.operand)
    ):
        m.trackers[Unjitted].track("mapped", node)
