"""Models and optimizers that eager loops run operation by operation.

Vocabulary
----------
work        a call of a model (``net.apply``), of one of its layers, or of an optimizer, outside of tracing or below a
            ``vmap`` or ``grad`` that nothing compiles; or a single operation on arrays (``u + dt * v``,
            ``jnp.roll(u, 1)``) outside of tracing.
element     ``x[i]``: what a loop takes out of an array of the device by its own count; ``float(x[i])`` reads it.
place       the expression in the body of a loop that leads to the work.
model code  a method of a module: its loops go over layers.

Nothing is recorded unless a rule asks for it. Limitations: models and optimizers that only their caller knows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import all_statements, function_around, last_name, names_read, path_of
from flake8_jax.semantics.domain.row_loops import (
    StepLoop,
    array_names,
    computes_with_jax,
    leaf_update,
    multiplies,
    replaces_each,
    rows_of,
    step_loop,
)
from flake8_jax.semantics.domain.values import (
    MAYBE,
    Array,
    AtValue,
    BuiltinValue,
    Const,
    External,
    ExternalInstance,
    ExternalMethod,
    HostArray,
    Site,
    SliceValue,
    Static,
    TransformedValue,
    Tree,
    Unknown,
    Value,
)
from flake8_jax.semantics.events.events import EagerStep
from flake8_jax.semantics.machine.dispatch import lookup
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker
from flake8_jax.semantics.trackers.captures import COMPILING
from flake8_jax.semantics.trackers.eagerness import (
    has_known_caller,
    is_model_code,
    is_short,
    is_surely_eager,
    may_be_library,
    may_be_staged,
)
from flake8_jax.semantics.trackers.freshness import (
    Freshness,
    bound_in,
    compiled_call_fact,
    hands_on,
    loop_fact,
    staged_loop_fact,
)
from flake8_jax.semantics.trackers.host_results import sent_result
from flake8_jax.semantics.trackers.unjitted import Unjitted
from flake8_jax.semantics.trackers.unrolling import STEP, gathers
from flake8_jax.semantics.trackers.variation import shape_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flake8_jax.semantics.domain.arguments import Call
    from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
    from flake8_jax.semantics.domain.stack import LoopState, Writes
    from flake8_jax.semantics.machine.core import Machine

WorkKind = Literal[
    "model",
    "layer",
    "layers",
    "optimizer",
    "applied",
    "updated",
    "operation",
    "compiled",
    "element",
    "read",
    "draw",
    "access",
]
"""applied, updated: a model and an optimizer by their names alone, ``state.apply_fn(params, x)``; an optimizer of
``jax.example_libraries`` is ``updated``, too.
``compiled``: a call of a function that the program has jitted; beside it, operations and draws are glue. draw: a function
of ``jax.random``. access: an index of an array, or one of its methods, which counts only in a loop that does other work."""
FEW = 100
"""So few iterations, of a loop that says so itself, are over before a user notices."""
SEVERAL = 20
"""So many runs of a whole model take a while."""
MANY = 6
"""So many operations in one iteration are a computation of their own; fewer are bookkeeping beside one."""
LEAVES = 4
"""A loop that replaces each leaf of the parameters runs about so often; see ``replaces_each``."""
SOME = 5
"""So many in all, of operations, draws and accesses, are worth a function of their own."""
_MAX_WORKS = 32
_MAX_FUNCTIONS = 2
OPTIMIZERS = frozenset({
    "optax.GradientTransformation.update", "optax.GradientTransformationExtraArgs.update", "optax.MultiSteps.update",
    "flax.training.train_state.TrainState.apply_gradients", "flax.nnx.Optimizer.update", "flax.nnx.ModelAndOptimizer.update",
})  # fmt: skip
_UPDATES = frozenset({
    "optax.apply_updates", "equinox.apply_updates", "optax.incremental_update", "optax.periodic_update",
})  # fmt: skip
_OF_EXAMPLES = frozenset({
    "jax.example_libraries.optimizers.AdamUpdate", "jax.example_libraries.optimizers.OptimizerUpdate",
})  # fmt: skip
"""What ``optimizers.adam`` and its like return for a step."""
_APPLYING = ("flax.linen.", "haiku.")
_APPLIED = re.compile(r"haiku\.\w+\.apply")
_LAYERS = ("equinox.nn.", "flax.nnx.")
_ANY_MODEL = frozenset({"flax.nnx.Module", "equinox.Module"})
_SEVERAL = frozenset({"MLP", "Sequential", "MultiheadAttention", "MultiHeadAttention", "GRUCell", "LSTMCell"})


class Work(msgspec.Struct, frozen=True, eq=False):
    """A call of a model or an optimizer. node: the call, in the file of ``scope``."""

    kind: WorkKind
    node: Any
    scope: ModuleScope


class Doings(msgspec.Struct, eq=False):
    """What one iteration of a loop has done. places: the expressions in its body, by start, with the works. often: loops
    inside of this one repeat them, so that there are many in all. outer: a loop inside of this one does work of its own.
    brief: it has a few iterations, which run a whole model each. feeding: a model gets an array of another size each time."""

    places: dict[int, tuple[ir.Node, list[Work]]]
    often: bool = False
    outer: bool = False
    brief: bool = False
    feeding: bool = False


class Surroundings(msgspec.Struct, frozen=True):
    """The function around a loop, or the top level. arrays: the lists of which it makes arrays. computes: it calls functions of
    JAX. on_host: its file imports another library for arrays."""

    arrays: frozenset[str]
    computes: bool
    on_host: bool


class EagerSteps(Tracker):
    """log: all works since the entry began. previews: whether anyone sees what is only a preview."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.wanted = m.bus.wants(EagerStep)
        self.log: list[Work] = []
        self._over_leaves: dict[int, bool] = {}
        self._stepping: dict[int, StepLoop | None] = {}
        self._surroundings: dict[int, Surroundings] = {}
        self._computing: dict[int, tuple[bool, bool]] = {}
        self.previews = False

    def enter(self) -> list[Work]:
        saved, self.log = self.log, []
        return saved

    def leave(self, saved: list[Work], *, finished: bool) -> None:
        self.log = saved

    def call(self, function: Any, bound: dict[str, Value]) -> int:
        return len(self.log)

    def since(self, mark: int, run: FinishedRun) -> tuple[Work, ...] | None:
        if len(self.log) <= mark:
            return None
        works = {(work.kind, id(work.node)): work for work in self.log[mark:]}.values()
        return tuple(sorted(works, key=_rank)[:_MAX_WORKS])

    def replay(self, record: tuple[Work, ...], replay: Replay) -> None:
        if not self.m.path.mode.compiled:
            for work in record:
                if work.kind in _WHOLE or not self.m.path.mode.staged:
                    self.track(work, replay.node)

    def track(self, work: Work, at: Any) -> None:
        """The running iterations do a work, by the call ``at``."""
        self.log.append(work)
        path, count, brief = self.m.path, 1, None
        for loop in reversed(path.loops):
            if loop.guards > loop.frequent:
                return  # it may be one iteration of many
            if loop.unrolled or _is_in_model(self.m, loop):
                continue
            often = LEAVES if loop is not path.loops[0] and self._goes_over_leaves(loop) else FEW
            inner, count = count, count * (loop.trip_count or often)
            if count >= FEW:
                self._track_in(loop, work, at, often=1 < inner < count)
                return
            if brief is None and count >= SEVERAL:
                brief = loop
        if brief is not None:
            self._track_in(brief, work, at, often=False)
            brief.records[EagerSteps].brief = True

    def _goes_over_leaves(self, loop: LoopState) -> bool:
        key = id(loop.node)
        if key not in self._over_leaves:
            self._over_leaves[key] = isinstance(loop.node, ir.For) and replaces_each(loop.node)
        return self._over_leaves[key]

    def _track_in(self, loop: LoopState, work: Work, at: Any, *, often: bool) -> None:
        """An iteration of ``loop`` does a work."""
        path = self.m.path
        link = path.stack[loop.links] if len(path.stack) > loop.links else None
        if link is not None and link.fn is not None and link.fn.name == "__init__" and work.kind not in _WHOLE:
            return  # a constructor makes its object once
        place = at if link is None else link.node
        doings = loop.records.get(EagerSteps)
        if place is not None and isinstance(doings, Doings):
            doings.places.setdefault(place.start, (place, []))[1].append(work)
            doings.often = doings.often or often
        _track_outer(path.loops, loop)

    def iteration(self, loop: LoopState) -> None:
        if self.wanted:
            loop.records[EagerSteps] = Doings({})

    def widen(self, frame: Frame, loop: LoopState, branches: list[Writes], written: list[Any]) -> bool:
        doings = loop.records.get(EagerSteps)
        # Beside the work of a loop of its own, or of a compiled loop, the operations take no time.
        if not isinstance(doings, Doings) or not doings.places or self.m.path.mode.staged:
            return False
        told = len(self.m.bus.emissions)
        if not loop.steady:
            self._emit_sent(frame, loop)
        if doings.often or not is_short(self.m, frame, loop, SEVERAL if doings.brief else FEW):
            if not loop.steady:
                self._emit(frame.scope, loop, doings)
            if len(self.m.bus.emissions) == told:
                self._emit_each(frame, loop, doings)
        return False

    def _emit_each(self, frame: Frame, loop: LoopState, doings: Doings) -> None:
        """Tell of a function that is called for each element of an array or a list, where ``vmap`` could do all at once."""
        if doings.outer or not gathers(loop.node, frame.fn) or not _is_plainly_eager(self.m, loop):
            return
        calls = [pair for pair in doings.places.values() if _is_function(*pair)]
        if len(calls) == 1:
            self._emit_plain(frame.scope, loop, calls[0][0], "each", 1)

    def _emit_sent(self, frame: Frame, loop: LoopState) -> None:
        """Tell of operations on what an environment of the host returned."""
        node = sent_result(self.m, frame, loop.node)
        if node is not None and not may_be_staged(self.m, loop):
            self._emit_plain(frame.scope, loop, node, "sent", 1)

    def loop_leave(self, frame: Frame, loop: LoopState, at: ir.Expr, trips: int | None) -> None:
        """A comprehension has no state that goes from one iteration to the next, so only its elements matter."""
        doings = loop.records.get(EagerSteps)
        is_loop = isinstance(loop.node, (ir.For, ir.While))
        if self.previews and is_loop and isinstance(doings, Doings) and not loop.unrolled:
            self._emit_stepping(frame, loop, doings, at)
        if not isinstance(loop.node, ir.Comprehension) or not isinstance(doings, Doings):
            return
        told = (trips is None or trips >= FEW) and self._emit_element(frame.scope, loop, doings)
        if not told and (trips is None or trips >= FEW or doings.often) and not self.m.path.mode.staged:
            self._emit_each_row(frame, loop, doings)

    def _emit_stepping(self, frame: Frame, loop: LoopState, doings: Doings, at: ir.Expr) -> None:
        """Tell of a loop that computes each step from the one before, of which no path is known that stages it."""
        m = self.m
        if m.path.mode.staged or m.path.mode.presumed or is_short(m, frame, loop, SEVERAL):
            return
        key = id(loop.node)
        if key not in self._stepping:
            self._stepping[key] = step_loop(loop.node)
        steps = self._stepping[key]
        if steps is None or steps.weight < (1 if steps.lists else STEP) or may_be_staged(m, loop):
            return
        works = {work.kind for _, found in doings.places.values() for work in found}
        if works & (_WHOLE | {"compiled"}) or not self._is_of_device(frame, loop, steps):
            return
        context = m.path.context(frame.scope)
        kind = "filling" if steps.fills else "stepwise" if steps.is_plain else "stepping"
        m.bus.emit(EagerStep(context, at, loop.node, frame.scope, False, kind, None, 0, staged_loop_fact(loop.node)))

    def _is_of_device(self, frame: Frame, loop: LoopState, steps: StepLoop) -> bool:
        """What the loop steps is an array of JAX, or unknown and most likely one by the functions that compute with it."""
        values = [lookup(self.m, frame, name) for name in steps.carried - steps.lists if "." not in name]
        key = id(loop.node)
        if key not in self._computing:
            self._computing[key] = multiplies(loop.node.body), computes_with_jax(loop.node.body)
        (has_products, computes), around = self._computing[key], self._around(frame)
        becomes_array = not around.arrays.isdisjoint(steps.lists)
        if any(isinstance(value, HostArray) for value in values) or not (has_products or computes):
            return becomes_array
        if any(isinstance(value, (Array, Tree)) and value.level <= MAYBE for value in values):
            return True
        if values and all(isinstance(value, (Const, Static)) for value in values):
            return False
        return computes or becomes_array or (steps.weight >= SOME and around.computes and not around.on_host)

    def _around(self, frame: Frame) -> Surroundings:
        """What holds for all loops of a function, or of the top level."""
        key = id(frame.scope if frame.fn is None else frame.fn)
        if key not in self._surroundings:
            body = frame.scope.tree.body if frame.fn is None else frame.fn.body
            on_host = _ON_HOST.search(frame.scope.text) is not None
            self._surroundings[key] = Surroundings(array_names(body), computes_with_jax(body), on_host)
        return self._surroundings[key]

    def _emit_each_row(self, frame: Frame, loop: LoopState, doings: Doings) -> None:
        """Tell of a function that a comprehension calls for each row of an array of the device."""
        rows = [lookup(self.m, frame, row.source.id) for row in rows_of(loop.node) if isinstance(row.source, ir.Name)]
        arrays = [value for value in rows if isinstance(value, Array) and _is_on_device(value)]
        if not rows or len(arrays) < len(rows):
            return
        if not doings.often and any(array.length is not None and array.length < FEW for array in arrays):
            return
        if may_be_staged(self.m, loop) or not has_known_caller(self.m):
            return
        calls = [pair for pair in doings.places.values() if _is_function(*pair)]
        if len(calls) == 1:
            self._emit_plain(frame.scope, loop, calls[0][0], "each", 1)

    def _emit(self, scope: ModuleScope, loop: LoopState, everything: Doings) -> None:
        doings = _without(everything, "access")
        places = {start: found for start, found in doings.places.items() if any(w.kind in _WHOLE for w in found[1])}
        reads = any(work.kind == "read" for _, found in doings.places.values() for work in found)
        if loop.coarse:  # in some iterations
            places = {}
        if places and _is_eager(self.m, loop, [place for place, _ in places.values()], reads=reads):
            self._emit_whole(scope, loop, doings, places)
            self._emit_functions(scope, loop, everything)
        elif not loop.coarse and (computing := _computing(self.m, loop, _without(doings, "draw"))) is not None:
            place, kind = computing
            context = self.m.path.context(scope)
            self.m.bus.emit(EagerStep(context, place, loop.node, scope, optimizes=False, kind=kind))
        elif (glue := _glue(self.m, loop, doings)) is not None:
            place, count = glue
            context = self.m.path.context(scope)
            self.m.bus.emit(EagerStep(context, place, loop.node, scope, optimizes=False, kind="glue", count=count))
        elif not self._emit_element(scope, loop, doings) and not self._emit_functions(scope, loop, everything):
            self._emit_some(scope, loop, everything)

    def _emit_element(self, scope: ModuleScope, loop: LoopState, doings: Doings) -> bool:
        element = _element_of(self.m, loop, _without(doings, "draw", "access"))
        if element is not None:
            context = self.m.path.context(scope)
            self.m.bus.emit(EagerStep(context, element, loop.node, scope, optimizes=False, kind="element"))
        return element is not None

    def _emit_functions(self, scope: ModuleScope, loop: LoopState, doings: Doings) -> bool:
        """Tell of calls of functions that make many operations each, beside whatever the iteration does."""
        counts = [pair for pair in map(_operations_of_call, doings.places.values()) if pair[1] >= SOME]
        if not counts or doings.outer or not _is_plainly_eager(self.m, loop):
            return False
        found = {_statement_of(loop, pair[0]): pair for pair in sorted(counts, key=lambda pair: pair[1])}
        for place, count in list(found.values())[-_MAX_FUNCTIONS:]:
            self._emit_plain(scope, loop, place, "function", count)
        return True

    def _emit_some(self, scope: ModuleScope, loop: LoopState, doings: Doings) -> None:
        """Tell of operations beside whatever else the iteration does."""
        works = [(place, work) for _, (place, found) in sorted(doings.places.items()) for work in found]
        compiled = {id(place) for place, work in works if work.kind == "compiled"}
        own = [(place, work) for place, work in works if id(place) not in compiled and not _is_making(place)]
        some = {id(work.node): place for place, work in own if _is_glue(work) or _is_own_access(place, work)}
        if len(some) >= SOME and not doings.outer and _is_plainly_eager(self.m, loop):
            self._emit_plain(scope, loop, _densest(loop, list(some.values())), "some", len(some))

    def _emit_plain(self, scope: ModuleScope, loop: LoopState, place: ir.Node, kind: str, count: int) -> None:
        """Tell of operations in a loop that no path stages."""
        node, context = loop.node, self.m.path.context(scope)
        self.m.bus.emit(EagerStep(context, place, node, scope, False, kind, None, count, loop_fact(node)))

    def _emit_whole(self, scope: ModuleScope, loop: LoopState, doings: Doings, places: Places) -> None:
        """Tell of models and optimizers, at these places: of the first, and of those of other functions of the program."""
        known = _certain(places)
        if known is not None:
            self._emit_work(scope, loop, *known, preview=doings.brief)
        told = {_function_of(scope, loop, known[1])} if known is not None else set()
        for place, works in places.values():
            work = next((work for work in works if work.kind in _ALONE), None)
            function = _function_of(scope, loop, work) if work is not None else None
            if work is not None and function is not None and len(told) < _MAX_FUNCTIONS and function not in told:
                told.add(function)
                self._emit_work(scope, loop, place, work, preview=True)

    def _emit_work(self, scope: ModuleScope, loop: LoopState, place: ir.Node, work: Work, *, preview: bool) -> None:
        """Tell of one call of a model or an optimizer: where it stands, if that is in a function that the loop calls."""
        kind = _NAMED.get(work.kind, work.kind)
        site = Site(work.scope, work.node.start, work.node.end)
        optimizes, unless = kind == "optimizer", loop_fact(loop.node) if preview else compiled_call_fact(place)
        inside = work.scope is scope and place.start <= work.node.start < place.end
        if inside or work.kind.startswith("layer"):
            context = self.m.path.context(scope)
            event = EagerStep(context, place, loop.node, scope, optimizes, kind, site, 0, unless, None, preview)
        else:
            context, called = self.m.path.context(work.scope), Site(scope, place.start, place.end)
            event = EagerStep(context, work.node, loop.node, scope, optimizes, kind, site, 0, unless, called, preview)
        self.m.bus.emit(event)


Places = dict[int, tuple[ir.Node, list[Work]]]


def _certain(places: Places) -> tuple[ir.Node, Work] | None:
    """The first place with a work that surely is one, and that work, if there are enough of them."""
    found = [(place, work) for place, works in places.values() for work in works if work.kind in _WHOLE - _PRESUMED]
    layers = {id(work.node): 2 if work.kind == "layers" else 1 for _, work in found if work.kind.startswith("layer")}
    enough = sum(layers.values()) > 1 or any(work.kind in ("model", "optimizer") for _, work in found)
    return min(found, key=lambda pair: pair[0].start) if enough else None


def _function_of(scope: ModuleScope, loop: LoopState, work: Work) -> tuple[str, int]:
    """In which function that the loop calls a work stands; the same of all that stands in the loop itself."""
    apart = loop.node if work.scope is scope else _NOWHERE
    function = function_around(work.scope.tree.body, work.node, apart)
    return (work.scope.path, function.start) if function is not None else ("", 0)


_NOWHERE = ir.Node(-1, -1)


def _track_outer(loops: list[LoopState], inner: LoopState) -> None:
    """The loops around ``inner`` in its function have its work in each of their iterations."""
    for loop in loops:
        if loop is inner:
            return
        doings = loop.records.get(EagerSteps)
        if isinstance(doings, Doings) and loop.links == inner.links:
            doings.outer = True


_ON_HOST = re.compile(r"^\s*(?:import|from) (?:numpy|torch|tensorflow)\b", re.MULTILINE)


def _is_in_model(m: Machine, loop: LoopState) -> bool:
    """The loop stands in a method of a module."""
    return bool(loop.links) and is_model_code(m.path.stack[loop.links - 1])


def _computing(m: Machine, loop: LoopState, doings: Doings) -> tuple[ir.Node, str] | None:
    """Where an iteration makes many operations, one by one, of which some give what goes into the next iteration: its first
    ``operation``, or beside a call of a compiled function the ``function`` that makes them all (an optimizer written by
    hand). Only where a known caller runs the loop: users of a library may stage it."""
    if not isinstance(loop.node, (ir.For, ir.While)) or not _is_run(m, loop) or may_be_staged(m, loop):
        return None
    handing = [found for found in doings.places.values() if hands_on(loop.node, found[0])]
    if any(work.kind == "compiled" for _, works in doings.places.values() for work in works):
        place = next((place for place, works in handing if isinstance(place, ir.Call) and _is_many(works)), None)
        return None if place is None else (place, "function")
    if not handing or not _is_many([work for _, works in doings.places.values() for work in works]):
        return None
    return doings.places[min(doings.places)][0], "operation"


def _is_plainly_eager(m: Machine, loop: LoopState) -> bool:
    """A loop of statements that surely runs outside of tracing, and whose iterations draw no figures and read no files."""
    if not isinstance(loop.node, (ir.For, ir.While)) or not is_surely_eager(m, loop):
        return False
    called = (
        last_name(node.func) for statement in loop.node.body for node in walk(statement) if isinstance(node, ir.Call)
    )
    return not any(map(_SHOWING.search, called))


_SHOWING = re.compile(
    r"plot|hist$|imshow|scatter|contour|fill_between|figure|savefig|set_title|legend|animat|visuali|^loadtxt$|^load$|^save$|^savez"
)
"""Calls that take far longer than operations on arrays."""


def _operations_of_call(found: tuple[ir.Node, list[Work]]) -> tuple[ir.Node, int]:
    """The place, and how many operations the function of the program makes that it calls."""
    place, works = found
    if not isinstance(place, ir.Call) or _is_making(place) or any(work.kind in _WHOLE for work in works):
        return place, 0
    inner = {id(work.node): work.kind for work in works if not place.start <= work.node.start < place.end}
    computing = sum(kind in ("operation", "draw") for kind in inner.values())
    accesses = sum(kind == "access" for kind in inner.values())
    return place, computing + accesses if computing and computing + accesses > SOME else 0


_MAKING = re.compile(
    r"^_*(init|create|build|setup|load|main|run_|run$|train$|fit$|[A-Z])|data|analy|experiment|metrics"
)
"""Classes, functions that make what a program starts with, such as the parameters of each layer, and whole programs."""


def _is_function(place: ir.Node, works: list[Work]) -> bool:
    """A call of a compiled function, or of one of the program that makes several operations."""
    if not isinstance(place, ir.Call) or _is_making(place) or any(work.kind in _WHOLE for work in works):
        return False
    inner = {id(work.node) for work in works if work.kind == "operation" and not _is_within(work, place)}
    return len(inner) > 1 or any(work.kind == "compiled" for work in works)


def _is_within(work: Work, place: ir.Node) -> bool:
    start: int = work.node.start
    return place.start <= start < place.end


def _is_own_access(place: ir.Node, work: Work) -> bool:
    """An index or a method that the loop itself uses, not a function that it calls."""
    return work.kind == "access" and place.start <= work.node.start < place.end


def _is_making(place: ir.Node) -> bool:
    return isinstance(place, ir.Call) and _MAKING.search(last_name(place.func)) is not None


def _rank(work: Work) -> int:
    """What a summary keeps first."""
    return ("operation", "access").index(work.kind) + 1 if work.kind in ("operation", "access") else 0


def _without(doings: Doings, *kinds: WorkKind) -> Doings:
    places = {
        start: (place, works)
        for start, (place, found) in doings.places.items()
        if (works := [work for work in found if work.kind not in kinds])
    }
    return Doings(places, doings.often, doings.outer, doings.brief, doings.feeding)


def _glue(m: Machine, loop: LoopState, doings: Doings) -> tuple[ir.Node, int] | None:
    """The operations and draws that an iteration makes one by one beside a call of a compiled function, if they are many: they
    could be part of that function. The place that makes the most, and how many they are; 0 if a loop inside of this one repeats
    them for each leaf. The loop trains or simulates, and a known caller runs it."""
    if not isinstance(loop.node, (ir.For, ir.While)) or not loop.carries or not _is_run(m, loop):
        return None
    places = [(place, work) for _, (place, found) in sorted(doings.places.items()) for work in found]
    kinds = {work.kind for _, work in places}
    if "compiled" not in kinds or not kinds <= _BESIDE_COMPILED or may_be_staged(m, loop):
        return None
    # What a place does that calls a compiled function may belong to that function.
    compiled = {id(place) for place, work in places if work.kind == "compiled"}
    glue = {id(work.node): place for place, work in places if id(place) not in compiled and _is_glue(work)}
    of_leaves = _in_leaves(loop, list(glue.values()))
    if len(of_leaves) > 1:
        return of_leaves[0], 0
    update = leaf_update(loop.node.body)
    if update is not None and not any(
        place.start <= update.start < place.end for place, work in places if work.kind == "compiled"
    ):
        return update, 0
    return (_densest(loop, list(glue.values())), len(glue)) if len(glue) >= MANY else None


def _is_run(m: Machine, loop: LoopState) -> bool:
    """A known caller runs the loop outside of tracing, or no user would stage it."""
    return has_known_caller(m) or is_surely_eager(m, loop)


def _in_leaves(loop: LoopState, places: list[ir.Node]) -> list[ir.Node]:
    """Those of the places that stand in a loop over leaves inside of this one: an optimizer written by hand."""
    inner = [s for s in all_statements(loop.node.body) if isinstance(s, ir.For) and replaces_each(s)]
    return [place for place in places if any(s.start <= place.start < s.end for s in inner)]


def _densest(loop: LoopState, places: list[ir.Node]) -> ir.Node:
    """The first of the places in the statement that has most of them."""
    statements = [_statement_of(loop, place) for place in places]
    return places[statements.index(max(statements, key=statements.count))]


def _statement_of(loop: LoopState, place: ir.Node) -> int:
    """Where the statement of the loop starts that contains a place."""
    starts = (statement.start for statement in all_statements(loop.node.body))
    return max((start for start in starts if start <= place.start), default=loop.node.start)


def _is_glue(work: Work) -> bool:
    """An operation or a draw. The host has to make ``jnp.asarray(batch)``."""
    if work.kind not in ("operation", "draw"):
        return False
    return not isinstance(work.node, ir.Call) or path_of(work.node.func).rpartition(".")[2] not in ("array", "asarray")


_BESIDE_COMPILED = frozenset({"compiled", "operation", "draw", "read"})


def _is_many(works: list[Work]) -> bool:
    """These are operations, and reads of their results, and enough to be a computation of their own."""
    if any(work.kind not in ("operation", "read", "element") for work in works):
        return False
    return len({id(work.node) for work in works if work.kind == "operation"}) >= MANY


_BESIDE = frozenset(
    {"append", "insert", "len", "range", "zip", "enumerate", "reversed", "float", "int", "bool", "item"}
)
"""Calls that cost nothing beside an operation on the device."""


def _element_of(m: Machine, loop: LoopState, doings: Doings) -> Any:
    """Where an iteration takes an element from the device, if all that it does is to compute with such elements or to read
    them, one by one. Only where a known caller runs the loop."""
    works = [work for _, found in doings.places.values() for work in found]
    element = next((work.node for work in works if work.kind == "element"), None)
    if element is None or not {"operation", "read"} & {work.kind for work in works}:
        return None
    if any(work.kind not in _OF_ELEMENTS for work in works) or not has_known_caller(m) or may_be_staged(m, loop):
        return None
    own = [node for node in walk(loop.node) if isinstance(node, ir.Call)]
    if any(node.start not in doings.places and path_of(node.func).rpartition(".")[2] not in _BESIDE for node in own):
        return None
    return element if any(node is element for node in walk(loop.node)) else None


_OF_ELEMENTS = frozenset({"element", "operation", "read"})


def _is_eager(m: Machine, loop: LoopState, places: Iterable[ir.Node], *, reads: bool) -> bool:
    """No code stages the loop: if its callers are not known, it goes over data or hands a state on. reads: an iteration
    reads a result on the host, so no caller stages the function."""
    if is_surely_eager(m, loop):
        return True
    if may_be_staged(m, loop) or has_known_caller(m) or (may_be_library(m, loop) and not reads):
        return False
    return isinstance(loop.node, (ir.For, ir.While)) and any(hands_on(loop.node, place) for place in places)


def feeds_model(loop: LoopState) -> bool:
    """Each iteration runs a model on an array of another size."""
    doings = loop.records.get(EagerSteps)
    return isinstance(doings, Doings) and doings.feeding


def decodes(m: Machine, loop: LoopState) -> bool:
    """The same in a function of which no caller is known: hardly any user stages such a loop."""
    return feeds_model(loop) and not (may_be_staged(m, loop) or has_known_caller(m) or may_be_library(m, loop))


def track_operation(m: Machine, frame: Frame, node: Any, result: Value) -> None:
    """An operator on arrays gave ``result``."""
    if type(result) is Tree and result.level <= MAYBE and node is not None and not m.path.mode.staged:
        m.trackers[Unjitted].track("operation", node)
    if type(result) is Array and result.level <= MAYBE and node is not None and not m.path.mode.staged:
        m.trackers[EagerSteps].track(Work("operation", node, frame.scope), node)
        m.trackers[Unjitted].track("operation", node)


def track_element(m: Machine, frame: Frame, node: ir.Subscript, base: Value, index: Value) -> None:
    """Eager code indexes an array."""
    if not m.path.loops or m.path.mode.staged or type(base) is not Array or not _is_on_device(base):
        return
    m.trackers[EagerSteps].track(Work("access", node, frame.scope), node)
    loop = m.path.loops[-1]
    if isinstance(index, SliceValue) or (base.length is not None and base.length < FEW) or base.declared:
        return
    counting = [lookup(m, frame, name) for name in names_read(node.index)]
    if not any(id(value) in loop.counters for value in counting):
        return
    root = path_of(node.value).partition(".")[0]
    if root and not any(path.partition(".")[0] == root for path in bound_in(loop)):
        m.trackers[EagerSteps].track(Work("element", node, frame.scope), node)


def track_rows(m: Machine, frame: Frame, node: Any, value: Value) -> None:
    """Eager code puts the elements of ``value`` into a list, one by one: ``rows.extend(x)``."""
    loop = m.path.loops[-1] if m.path.loops else None
    if loop is None or loop.guards or loop.unrolled or node is None or not m.trackers[EagerSteps].wanted:
        return
    if not isinstance(value, Array) or not _is_on_device(value) or value.declared or value.ndim == 0:
        return
    if (value.length is not None and value.length < FEW) or may_be_staged(m, loop):
        return
    if has_known_caller(m) or not may_be_library(m, loop):
        context = m.path.context(frame.scope)
        m.bus.emit(EagerStep(context, node, loop.node, loop.scope, optimizes=False, kind="rows"))


def _is_on_device(value: Value) -> bool:
    return type(value) is Array and value.level <= MAYBE and value.dtype != "key"


def track_call(m: Machine, func: Value, at: Call) -> None:
    """Eager code calls something, or code that an eager ``vmap`` or ``grad`` runs."""
    kind = "read" if _reads(func, at) else _kind_of(m, func) or _kind_by_name(func, at)
    if kind is None or at.node is None or m.trackers[Freshness].choosing:
        return
    if m.path.mode.staged and kind not in _WHOLE:
        return
    m.trackers[Unjitted].track(kind, at.node)
    shapes = [shape_of(m, value) for value in (*at.args.values, *at.args.kwargs.values())]
    if any(shape is not None for shape in shapes):  # jit would compile it in every iteration
        for shape in shapes if kind in _FED else ():
            doings = shape.loop.records.get(EagerSteps) if shape is not None else None
            if isinstance(doings, Doings):
                doings.feeding = True
        return
    m.trackers[EagerSteps].track(Work(kind, at.node, at.frame.scope), at.node)


def _reads(func: Value, at: Call) -> bool:
    """``float(x)``, ``x.item()``."""
    if not isinstance(func, BuiltinValue):
        return False
    if func.bound is not None:
        return func.name == ".item" and _is_on_device(func.bound)
    return func.name in _CASTS and any(map(_is_on_device, at.args.values))


_CASTS = frozenset({"float", "int", "bool"})
_PRESUMED = frozenset({"applied", "updated"})
_MODELS = frozenset({"model", "layer", "layers", "applied"})
_WHOLE = _MODELS | {"optimizer", "updated"}
_ALONE = _WHOLE - {"layer", "layers"}
_FED = _MODELS | {"compiled"}
_NAMED = {"applied": "model", "updated": "optimizer"}
"""What the names say."""
_LOOPS = frozenset({"jax.lax.scan", "jax.lax.fori_loop", "jax.lax.while_loop", "jax.lax.map"})
_MAKING_KEYS = frozenset({"jax.random.key", "jax.random.PRNGKey", "jax.random.key_data", "jax.random.wrap_key_data"})
_OPERATIONS = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.")


_COMPUTING = frozenset({
    ".all", ".any", ".argmax", ".argmin", ".argsort", ".astype", ".clip", ".cumprod", ".cumsum", ".dot", ".flatten", ".max",
    ".mean", ".min", ".prod", ".ravel", ".repeat", ".reshape", ".round", ".sort", ".squeeze", ".std", ".sum", ".swapaxes",
    ".take", ".transpose", ".var",
})  # fmt: skip
_UPDATING = frozenset({".set", ".add", ".subtract", ".multiply", ".divide", ".min", ".max", ".power", ".apply", ".get"})


def _is_access(func: BuiltinValue) -> bool:
    """A method of an array that computes: ``x.mean``, ``x.at[i].set``."""
    if isinstance(func.bound, AtValue):
        return func.name in _UPDATING
    return func.name in _COMPUTING and func.bound is not None and _is_on_device(func.bound)


_TREES = re.compile(r"(?:.*_)?(?:params|parameters|variables|vars|weights|theta)(?:_.*)?|params|variables")


_NAMED_MODELS = re.compile(
    r"(?:^|_)(?:model|net|network|policy|actor|critic|qnet|estimator|encoder|decoder|classifier|generator|transformer|mlp|cnn)"
    r"(?:_net|_network|_model|_ema|_target)?$",
    re.IGNORECASE,
)
_OF_OBJECTS = re.compile(r"\bnnx\b|\bequinox\b")
"""In a file whose models are called as functions."""


def _is_named_model(at: Call) -> bool:
    """``self.q_network(state)`` in a file of Flax NNX or Equinox, ``net.forward(x)``."""
    node = at.node
    if not isinstance(node, ir.Call) or not node.args or node.args[0].keyword is not None:
        return False
    text = at.frame.scope.text
    if isinstance(node.func, ir.Attribute) and node.func.attr == "forward":
        return _NAMED_MODELS.search(last_name(node.func.value)) is not None and "torch" not in text
    return _NAMED_MODELS.search(last_name(node.func)) is not None and _OF_OBJECTS.search(text) is not None


def _kind_by_name(func: Value, at: Call) -> WorkKind | None:
    """``model.apply(params, x)``, ``state.apply_fn({"params": params}, x)``, ``state.apply_gradients(grads=grads)`` of objects
    that nothing is known of."""
    if type(func) is Unknown and _is_named_model(at):
        return "applied"
    if type(func) is not Unknown or not isinstance(at.node, ir.Call) or not isinstance(at.node.func, ir.Attribute):
        return None
    given, method = at.node.args, at.node.func.attr
    if method == "apply_gradients":
        return "updated" if any(argument.keyword == "grads" for argument in given) else None
    if method not in ("apply", "apply_fn", "forward") or len(given) < _OF_MODEL or given[0].keyword is not None:
        return None
    return "applied" if _is_tree_of_parameters(given[0].value) else None


_OF_MODEL = 2
"""A model gets its parameters, and its input."""


def _is_tree_of_parameters(node: ir.Expr) -> bool:
    if isinstance(node, ir.Dict):
        return any(isinstance(key, ir.Constant) and key.value == "params" for key in node.keys)
    return _TREES.fullmatch(last_name(node)) is not None


def _kind_of(m: Machine, func: Value) -> WorkKind | None:
    if isinstance(func, BuiltinValue):
        return "access" if _is_access(func) else None
    if isinstance(func, TransformedValue):
        return "compiled" if func.name.rpartition(".")[2] in COMPILING else None
    if isinstance(func, External):
        if func.name.startswith(_OPERATIONS):
            return "compiled" if func.name in _LOOPS else "operation"
        if func.name.startswith("jax.random."):
            return None if func.name in _MAKING_KEYS else "draw"
        if func.name.startswith("haiku.") and func.name.endswith("().apply"):
            return "model"
        return "optimizer" if func.name in _UPDATES else None
    if isinstance(func, Unknown):
        if func.label.partition(" ")[0] in OPTIMIZERS:
            return "optimizer"
        return "model" if _APPLIED.fullmatch(func.label) else None
    if isinstance(func, ExternalMethod):
        if func.name == "apply" and func.cls.startswith(_APPLYING):
            return "model"
        return "optimizer" if f"{func.cls}.{func.name}" in OPTIMIZERS else None
    if isinstance(func, ExternalInstance) and func.cls in _OF_EXAMPLES:
        return "updated"
    if isinstance(func, ExternalInstance) and func.cls in _ANY_MODEL:
        return "applied"
    if isinstance(func, ExternalInstance) and func.cls.startswith(_LAYERS):
        if func.cls.rpartition(".")[2] in _SEVERAL or any(_is_in_model(m, loop) for loop in m.path.loops):
            return "layers"
        return "layer"
    return None
