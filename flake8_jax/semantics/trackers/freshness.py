"""Which function objects are new in every iteration of an eager loop: what JAX keeps for a function, it keeps by identity.

Vocabulary
----------
clock       counts the iterations of all loops. Functions, partials, bound methods and what transforms return carry the
            time at which they were made.
fresh       made after the running iteration of a loop began: the next iteration has another one, of which JAX knows
            nothing, however equal it is.
caching     inside of something that runs once and keeps what it makes: a cached function, a constructor.
maker       the run of a function in which a transform was applied. A result that is called when that is over was given
            away: how often it is made and how often it is called have nothing to do with one another.

Facts checked on JAX 0.10: ``jit`` and the bodies of ``scan``, ``cond`` and similar functions are looked up by the
identity of the function (a callable instance: by its hash); ``lax.map`` and ``nnx.jit`` wrap theirs in every call; equinox
compares bound methods and its own transforms by what is in them.

Limitations: how many iterations there are, caches behind library calls, closures that outlive their maker.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.knowledge.model import TransformFact
from flake8_jax.semantics.domain.code import blocks, bound_paths, names_read, nodes_around, path_of, paths_read
from flake8_jax.semantics.domain.joining import members_of
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.stack import Link, LoopState
from flake8_jax.semantics.domain.values import (
    BoundMethod,
    ClassValue,
    Const,
    DictValue,
    External,
    ExternalMethod,
    FunctionValue,
    Instance,
    ListValue,
    PartialValue,
    Site,
    Static,
    TransformedValue,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    site_of,
)
from flake8_jax.semantics.events.events import EagerStep, Repetition, RepetitionKind
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.tracker import Tracker

KEPT = "what jit returned is kept"
CALLED_AT_ONCE = "called in the iteration that made it"
COMPILING = frozenset({"jax.jit", "jax.pmap", "equinox.filter_jit", "flax.nnx.jit", "haiku.jit"})
_REWRAPPING = frozenset({"flax.nnx.jit", "jax.lax.map"})
"""They stage a closure of their own around the operand, which is new each time."""
_STRUCTURAL = frozenset({"equinox.filter_jit"})
"""They compare what is no plain function by its structure."""
_CONTROL_FLOW = frozenset({"scan", "map", "fori_loop", "while_loop", "cond", "switch"})
_ONCE = frozenset({"__init__", "__post_init__", "__new__", "setup", "__init_subclass__"})
_FEW = 4
"""So few iterations of Python are over before a user notices."""
_SHORT = 100
"""The same of a loop that says so itself, and so is no example of a longer one. It compiles nothing in an iteration."""
_FEW_STEPS = 20
"""The same of a loop that searches for something: its user chose the number, and raises it."""
_APPLYING = frozenset({"apply", "apply_fn"})
"""Methods and fields that run a model."""
_COLLECTIVES = frozenset({"pmean", "psum", "pmax", "pmin", "all_gather"})
_MADE = (FunctionValue, BoundMethod, PartialValue, TransformedValue, ExternalMethod)


class Freshness(Tracker):
    """clock: goes on with every iteration. caching_calls: so many calls around keep what they make. choosing: so many calls
    around lead to one of several functions. disguised: functions that a decorator has replaced. started: functions that a
    decorator makes a command of the program. needs_python: functions that Python has to run for what they do besides;
    storing: those that assign to attributes. drawing: those that draw numbers of the host's generators.
    steady: what a call in a loop has made of nothing that the loop binds."""

    def __init__(self, m: Machine) -> None:
        self.path = m.path
        self.clock = 0
        self.caching_calls = 0
        self.choosing = 0
        self.disguised: set[int] = set()
        self.started: set[int] = set()
        self.needs_python: set[int] = set()
        self.storing: set[int] = set()
        self.drawing: set[int] = set()
        self.steady: set[TransformedValue] = set()

    def enter(self) -> tuple[int, int]:
        saved = self.caching_calls, self.choosing
        self.caching_calls = self.choosing = 0
        return saved

    def leave(self, saved: Any, *, finished: bool) -> None:
        self.caching_calls, self.choosing = saved
        if self.path.loops:  # what was made meanwhile is for good
            self.clock += 1
            for loop in self.path.loops:
                loop.since = self.clock

    def iteration(self, loop: LoopState) -> None:
        """What is made from now on is made in a new iteration of ``loop``."""
        self.clock += 1
        loop.since = self.clock
        loop.links = len(self.path.stack)


def bound_in(loop: LoopState) -> set[str]:
    """The paths that the loop's body binds, looked up once for all that stands in it."""
    if loop.bound is None:
        loop.bound = bound_paths(loop.node)
    return loop.bound


def now(m: Machine) -> int:
    """The allocation trace of a function object that is made now."""
    return 0 if m.trackers[Freshness].caching_calls else m.trackers[Freshness].clock


def caches_result(function: FunctionValue) -> bool:
    """Some code keeps what a run of the function makes."""
    return function.cached or function.fn.name in _ONCE


def is_fresh(value: Value, since: int) -> bool:
    """The value surely is a function object that was made since then."""
    if isinstance(value, UnionValue):
        return all(is_fresh(member, since) for member in value.members)
    return isinstance(value, _MADE) and value.made >= since


def makes_its_own(compiled: TransformedValue, loop: LoopState) -> bool:
    """Each iteration compiles another function, as far as one sees: `jit` of a function that is there before the loop finds
    the compiled code of the iteration before."""
    if not is_fresh(compiled, loop.since):
        return False
    operand, site = compiled.operand, compiled.site
    if compiled.name in _REWRAPPING or isinstance(operand, _MADE):
        return compiled.name in _REWRAPPING or is_fresh(operand, loop.since)
    around = nodes_around(site.scope.tree.body, site.start, site.end)
    given = [
        n.args[0].value
        for n in around
        if isinstance(n, ir.Call) and (n.start, n.end) == (site.start, site.end) and n.args
    ]
    return not given or not paths_read(given[0]).isdisjoint(bound_in(loop))


def _loop_around(m: Machine, value: Value) -> tuple[LoopState, bool] | None:
    """The innermost loop whose iterations each have another ``value``, and whether it is the running function's own."""
    for depth in range(len(m.path.loops) - 1, -1, -1):
        loop = m.path.loops[depth]
        own = depth >= m.path.loop_base
        if is_fresh(value, loop.since) and _counts(loop, value, own=own):
            return loop, own
    return None


def _counts(loop: LoopState, value: Value, *, own: bool) -> bool:
    """A few elements that differ in kind need as many compilations, unless the function has nothing to do with them."""
    if not loop.unrolled:
        return True
    return own and loop.times > 1 and isinstance(value, FunctionValue) and not _depends(loop, value)


def _is_one_of_a_kind(m: Machine, frame: Frame, loop: LoopState, value: Value) -> bool:
    """The function is for what the loop takes out of a collection of names, functions or objects: nothing of it can be
    made before the loop."""
    if not isinstance(value, FunctionValue) or not isinstance(loop.node, ir.For) or not _depends(loop, value):
        return False
    targets = [frame.slots.get(name) for name in names_read(loop.node.target)]
    return any(
        isinstance(v, (FunctionValue, ClassValue, Instance, BoundMethod, PartialValue, TransformedValue))
        or (isinstance(v, Const) and isinstance(v.value, str))
        or (isinstance(v, Static) and v.kind == "str")
        for target in targets
        if target is not None
        for v in members_of(target)
    )


def is_start(m: Machine, link: Link) -> bool:
    """The program starts with the function: it is ``main`` or a command."""
    return link.function == "main" or id(link.fn) in m.trackers[Freshness].started


def _may_be_staged(m: Machine, loop: LoopState) -> bool:
    """An unknown caller leads here, over several functions: it may have staged all of it."""
    stack = m.path.stack
    return bool(stack) and stack[0].kind == "entry" and not is_start(m, stack[0]) and len(stack) - loop.links > 1


def _depends(loop: LoopState, function: FunctionValue) -> bool:
    """The function reads a variable that the loop binds."""
    local = set(function.fn.local_names)
    read = {path for path in paths_read(function.fn) if path.partition(".")[0] not in local}
    return not read.isdisjoint(bound_in(loop))


def loop_fact(loop: Any) -> str:
    """The fact that a loop, by its IR, is no evidence."""
    return f"loop {id(loop)} proves nothing"


def traced_again_fact(loop: Any) -> str:
    """The fact that a call in a loop, by its IR, need not trace its function again: the loop is no evidence, or the call may
    get the compiled form of the function."""
    return f"loop {id(loop)} does not show that the call traces"


def compiled_call_fact(call: Any) -> str:
    """The fact that a call in a loop, by its IR, gets a compiled function on some path."""
    return f"call {id(call)} gets a compiled function"


def staged_loop_fact(loop: Any) -> str:
    """The fact that some transform runs a loop, by its IR."""
    return f"loop {id(loop)} runs in a transform"


def track_staged_loop(m: Machine, node: Any) -> None:
    """A loop runs while JAX traces it. So unknown eager callers of its function may not exist."""
    if not (m.bus.wants(Repetition) or m.bus.wants(EagerStep)):
        return
    if m.path.mode.ambient:
        m.bus.record_everywhere(loop_fact(node))
        m.bus.record_everywhere(traced_again_fact(node))
    if m.path.mode.ambient or (m.path.mode.differentiated and not m.path.mode.presumed):
        m.bus.record_everywhere(staged_loop_fact(node))


def is_rare(m: Machine) -> bool:
    """A test of the number of an iteration stands before what runs, and does not hold every few iterations."""
    return any(loop.guards > loop.frequent for loop in m.path.loops)


def _may_emit(m: Machine, *, rarely: bool = False, nested: bool = False) -> bool:
    """There is a loop around, it comes here in every iteration, and every function between it and here surely runs as it is
    written. What a test runs in a loop is done for the test's sake. rarely: so many iterations may come here as a remainder
    of their number chooses. nested: the caller looks for tests in each of the loops itself."""
    if (
        not m.path.loops
        or m.path.mode.staged
        or m.path.mode.presumed
        or m.trackers[Freshness].caching_calls
        or (is_rare(m) and not nested and not (rarely and not any(loop.picked for loop in m.path.loops)))
        or m.trackers[Freshness].choosing
        or not m.bus.wants(Repetition)
    ):
        return False
    return not any(id(link.fn) in m.trackers[Freshness].disguised or link.scope.is_test for link in m.path.stack)


def emit_compiling(m: Machine, frame: Frame, node: Any, made: TransformedValue) -> None:
    """Tell the rules of a ``jit`` whose function is new in every iteration; it counts once its result is called."""
    made.made = now(m)
    if made.name not in COMPILING or not _may_emit(m, rarely=True):
        return
    operand = made.operand
    if made.name in _STRUCTURAL and not isinstance(operand, FunctionValue):
        return
    found = _loop_around(m, made if made.name in _REWRAPPING else operand)
    if found is None:
        emit_looked_up(m, frame, node, made)
        return
    loop, own = found
    if own and _is_one_of_a_kind(m, frame, loop, operand):
        return
    if _is_cheap(m, loop, made) or _was_given_fresh(m, loop):
        return
    if not _goes_on(m, node, loop) or _is_a_setting(m, node, operand, loop if own else None):
        return
    _track_making(m, loop, made, own=own)
    m.bus.emit(
        Repetition(
            m.path.context(frame.scope), node, "compiled", made.name, operand, loop.node, own, CALLED_AT_ONCE,
            made.fact_against, _called_in(m, loop), is_rare(m) or _is_trivial(operand),
        )
    )  # fmt: skip


def emit_looked_up(m: Machine, frame: Frame, node: Any, made: TransformedValue) -> None:
    """Tell the rules of ``jit(f)(x)`` in a loop where ``f`` is the same in each iteration, or a method of an object that is not
    known. JAX may find the compiled code, but it looks it up in Python."""
    if not _may_emit(m, rarely=True):
        return
    operand, loop = made.operand, m.path.loops[-1]
    if (
        made.name != "jax.jit"
        or len(m.path.loops) <= m.path.loop_base
        or not isinstance(node, ir.Call)
        or not node.args
    ):
        return
    given = node.args[0].value
    is_method = type(operand) is Unknown and isinstance(given, ir.Attribute)
    is_plain = isinstance(operand, FunctionValue) and not operand.cached and not _is_trivial(operand)
    if not (is_method or is_plain) or not _is_called_in(loop.node, node) or 0 < loop.trip_count <= _SHORT_LOOKUP:
        return
    if loop.unrolled or not paths_read(given).isdisjoint(bound_in(loop)) or not _goes_on(m, node, loop):
        return
    m.bus.emit(
        Repetition(
            m.path.context(frame.scope), node, "looked up", made.name, operand, loop.node, True, "", loop_fact(loop.node), None,
        )
    )  # fmt: skip


_SHORT_LOOKUP = 10
"""Half a millisecond in so few iterations is nothing."""


def _is_called_in(loop: Any, made: ir.Call) -> bool:
    """``jit(f)(x)``: what ``jit`` returns is called at once; or bound to a variable that only the loop reads."""
    return any(isinstance(node, ir.Call) and node.func is made for node in walk(loop))


def _track_making(m: Machine, loop: LoopState, made: TransformedValue, *, own: bool) -> None:
    """Remember where and in which loop it was made, for its calls."""
    made.maker = m.path.stack[-1] if m.path.stack else None
    made.loop = loop
    made.loops_outside = m.path.loop_base if not own and made.maker is not None and drives(made.maker.fn) else -1
    made.fact_against = loop_fact(loop.node)
    if not own and _is_steady(m, loop, made.operand):
        m.trackers[Freshness].steady.add(made)


def _is_cheap(m: Machine, loop: LoopState, made: TransformedValue) -> bool:
    """It compiles a few times, or in no time; a collective that runs on all devices does not."""
    few = 0 < loop.trip_count * _calls_alike(m, loop) <= _FEW and not loop.unrolled
    return few or (_is_trivial(made.operand) and made.name != "jax.pmap")


def _is_steady(m: Machine, loop: LoopState, operand: Value) -> bool:
    """The call in the loop that leads here gets nothing that the loop binds, so that it makes the same each time."""
    call = m.path.stack[loop.links].node if len(m.path.stack) > loop.links else None
    if not isinstance(call, ir.Call) or (isinstance(operand, FunctionValue) and _depends(loop, operand)):
        return False
    read = paths_read(call)
    return not any(path in read or any(path.startswith(part + ".") for part in read if part) for path in bound_in(loop))


def _calls_alike(m: Machine, loop: LoopState) -> int:
    """How often the body of the loop calls the function that leads here."""
    link = m.path.stack[loop.links] if len(m.path.stack) > loop.links else None
    if link is None or not isinstance(link.node, ir.Call) or not isinstance(loop.node, (ir.For, ir.While)):
        return 1
    called = path_of(link.node.func)
    calls = [n for n in walk(loop.node) if isinstance(n, ir.Call) and called and path_of(n.func) == called]
    return max(len(calls), 1)


def _called_in(m: Machine, loop: LoopState) -> Site | None:
    """The call in the body of the loop that leads here."""
    link = m.path.stack[loop.links] if len(m.path.stack) > loop.links else None
    return site_of(link.scope, link.node) if link is not None and link.node is not None else None


def _was_given_fresh(m: Machine, loop: LoopState) -> bool:
    """A function on the way here got one that is new in every iteration, and was told of: all that follows is because of it."""
    return any(
        isinstance(value, TransformedValue) and value.loop is loop
        for link in m.path.stack[loop.links :]
        if link.bound
        for value in link.bound.values()
    )


def _is_trivial(operand: Value) -> bool:
    """``lambda x: x``, ``lambda x: jax.lax.pmean(x, "i")``: compiled in no time."""
    if not isinstance(operand, FunctionValue) or len(operand.fn.body) != 1:
        return False
    body = operand.fn.body[0]
    if not isinstance(body, ir.Return):
        return False
    if isinstance(body.value, ir.Call) and isinstance(body.value.func, ir.Attribute):
        plain = all(isinstance(argument.value, (ir.Name, ir.Constant)) for argument in body.value.args)
        return plain and body.value.func.attr in _COLLECTIVES
    return isinstance(body.value, ir.Name)


def emit_control_flow(
    m: Machine, frame: Frame, node: Any, name: str, fact: TransformFact, bound: dict[str, Value]
) -> None:
    """Tell the rules of a ``scan``, ``cond`` … that is compiled for a body that is new in every iteration."""
    if fact.model not in _CONTROL_FLOW or not _may_emit(m):
        return
    for parameter in fact.operands:
        operand = bound.get(parameter)
        for member in _elements(operand) if operand is not None else ():
            found = _loop_around(m, member)
            if found is not None and _is_eager(m, node, found[0]) and _goes_on(m, node, found[0]):
                loop, own = found
                if not own and (_is_of_library(m, loop) or _may_be_staged(m, loop)):
                    return
                if 0 < loop.trip_count <= _FEW or (own and _is_one_of_a_kind(m, frame, loop, member)):
                    return
                if _was_given_fresh(m, loop):
                    return
                against = loop_fact(loop.node)
                m.bus.emit(
                    Repetition(
                        m.path.context(frame.scope), node, "body", name, member, loop.node, own, "", against,
                        _called_in(m, loop),
                    )
                )  # fmt: skip
                return


def _is_a_setting(m: Machine, node: Any, operand: Value, loop: LoopState | None) -> bool:
    """Another function each time because it is meant to be another one: it was passed in, or a call has made it
    (``jit(make_train(config))``) of what may differ. loop: the loop around, None where a caller's is meant."""
    maker = m.path.stack[-1] if m.path.stack else None
    if loop is None and maker is not None and maker.bound is not None:
        if any(operand is passed for passed in maker.bound.values()):
            return True
    if isinstance(operand, ExternalMethod) and operand.name.rpartition(".")[2] == "init":
        return loop is None
    if isinstance(operand, FunctionValue) and operand.closure is not None and operand.owner is None:
        if maker is None or not _is_inside(operand.closure, maker.fn):
            return loop is None or not paths_read(node).isdisjoint(bound_in(loop))
    return False


def _is_inside(frame: Frame | None, fn: ir.Function | None) -> bool:
    while frame is not None:
        if frame.fn is fn:
            return True
        frame = frame.parent
    return False


def _elements(value: Value) -> tuple[Value, ...]:
    if isinstance(value, TupleValue):
        return value.elts
    if isinstance(value, ListValue):
        return value.known() or ()
    return (value,)


def track_needs_python(m: Machine, *, stores: bool = False, draws: bool = False) -> None:
    """The functions that a transform runs here do what they could not do, or would do once only, if they were jitted.
    stores: they assign to an attribute of an object, and could return that instead. draws: they draw numbers on the host,
    and could get those as an argument instead."""
    made = m.trackers[Freshness]
    for link in reversed(m.path.stack):
        if link.kind in ("root", "contract"):
            return
        made.needs_python.add(id(link.fn))
        if stores:
            made.storing.add(id(link.fn))
        if draws:
            made.drawing.add(id(link.fn))


class _Traced(NamedTuple):
    """What Python does when a transformed function is called. untold: nothing tells what the function runs, or it is
    compiled, so that only a statement of a loop counts. works: it stores something besides, or draws numbers of the host."""

    how: RepetitionKind
    maps: bool
    untold: bool
    works: bool
    draws: bool


def emit_traced(m: Machine, frame: Frame, node: Any, made: TransformedValue, reports: int) -> None:
    """Tell the rules that Python ran what ``grad`` or ``vmap`` was applied to in every iteration of an eager loop.
    reports: so many were made before it ran; after an error there is no next iteration."""
    fact = made.fact
    if fact.model != "wrap" or fact.omnistaging or fact.tracing == "none" or not _may_emit(m, nested=True):
        return
    traced = _traced_by(m, made)
    if traced is None or _raises(m, reports):
        return
    rarely: Repetition | None = None
    for depth in range(len(m.path.loops) - 1, m.path.loop_base - 1 if traced.maps else -1, -1):
        loop = m.path.loops[depth]
        if loop.guards > loop.frequent:
            break
        if traced.untold and not isinstance(loop.node, (ir.For, ir.While)):
            continue
        mutates = made.name.startswith("flax.nnx.")
        if not _is_long(node, loop, maps=traced.maps) or not _repeats(m, node, loop, maps=traced.maps, mutates=mutates):
            continue
        presumed = _is_presumed(m, node, loop, maps=traced.maps, mutates=mutates)
        found = Repetition(
            m.path.context(frame.scope), node, traced.how, made.name, made.operand, loop.node, depth >= m.path.loop_base,
            "", traced_again_fact(loop.node), _called_in(m, loop), traced.works, made.site, traced.draws, presumed,
        )  # fmt: skip
        if not presumed:
            m.bus.emit(found)
            return
        rarely = rarely or found  # a loop around it may tell more
    if rarely is not None:
        m.bus.emit(rarely)


def _traced_by(m: Machine, made: TransformedValue) -> _Traced | None:
    """None if Python runs nothing of what the transform was applied to, or little."""
    operand, maps = made.operand, made.fact.maps_axes is not None
    compiled, unknown = not maps and _is_compiled(m, operand), not maps and type(operand) is Unknown
    stores, draws = (False, False) if compiled or maps else _works_on_the_host(m, operand)
    if not (compiled or unknown or stores or draws or runs_python(m, operand)):
        return None
    if maps and is_short_lambda(m, operand):
        return None
    untold = compiled or unknown
    return _Traced("differentiated" if untold else "traced", maps, untold, stores or draws, draws)


def _is_presumed(m: Machine, node: Any, loop: LoopState, *, maps: bool, mutates: bool) -> bool:
    """The loop may be too short for a finding by default, or no loop that runs outside of tracing."""
    if (0 < loop.trip_count <= _SHORT and not maps) or is_rare(m):
        return True
    return mutates and not _repeats(m, node, loop, maps=maps, mutates=False)


def _raises(m: Machine, reports: int) -> bool:
    """One of the reports since that number is an error that ends the iteration."""
    since = m.bus.emissions[reports:]
    return any((e.report.level or e.rule.level) == "error" and e.rule.raises != "nothing" for e in since)


def _is_long(node: Any, loop: LoopState, *, maps: bool) -> bool:
    """The loop is not known to have few iterations. maps: a ``vmap`` runs in it."""
    few = _SHORT if maps and not _searches(node, loop) else _FEW_STEPS
    return not (loop.unrolled or 0 < loop.times <= _FEW or 0 < loop.trip_count <= few)


def _repeats(m: Machine, node: Any, loop: LoopState, *, maps: bool, mutates: bool) -> bool:
    """Each iteration surely runs the node outside of tracing, and another one follows. mutates: it works on an object that
    the iterations hand on."""
    is_eager = _is_eager(m, node, loop, here=maps, mutates=mutates)
    return not _was_given_fresh(m, loop) and is_eager and _goes_on(m, node, loop)


def _works_on_the_host(m: Machine, operand: Value) -> tuple[bool, bool]:
    """Whether the function stores something besides, and whether it draws numbers on the host."""
    made, function = m.trackers[Freshness], _identity_of(operand)
    return function in made.storing, function in made.drawing


def needs_python(m: Machine, operand: Value) -> bool:
    """The function has been seen to do what it could not do, or would do once only, if it were jitted."""
    return _identity_of(operand) in m.trackers[Freshness].needs_python


def _identity_of(operand: Value) -> int:
    """Of the code of the function, or of the one behind a method or a partial; 0 for what is no function of the program."""
    while isinstance(operand, (BoundMethod, PartialValue)):
        operand = operand.func
    return id(operand.fn) if isinstance(operand, FunctionValue) else 0


def _is_compiled(m: Machine, operand: Value) -> bool:
    """What ``jit`` returned, or a function that only calls that: ``grad`` of it runs compiled code, but differentiates it
    again in each call."""
    if isinstance(operand, TransformedValue):
        return operand.name in COMPILING
    return isinstance(operand, FunctionValue) and _only_calls_compiled(m, operand)


def _is_eager(m: Machine, node: Any, loop: LoopState, *, here: bool = False, mutates: bool = False) -> bool:
    """No code stages the loop. If its function is a library's, whose callers are not known, it may be a short one that users
    unroll; but hardly one whose iterations pass their results to the next. here: what ``node`` computes."""
    if not m.path.stack or m.path.stack[0].kind != "entry" or any(is_start(m, link) for link in m.path.stack):
        return True
    if "<locals>" in m.path.stack[0].function:  # its receiver may stage it
        return False
    if any(_may_be_overridden(m, link) for link in m.path.stack[loop.links :]):
        return False
    if mutates and isinstance(loop.node, (ir.For, ir.While)):
        return True
    place = m.path.stack[loop.links].node if len(m.path.stack) > loop.links else node
    return (
        isinstance(loop.node, (ir.For, ir.While))
        and place is not None
        and any(hands_on(loop.node, call) for call in (place, *([] if here else _calls_in(loop.node))))
    )


def _may_be_overridden(m: Machine, link: Link) -> bool:
    receiver = link.receiver
    return isinstance(receiver, Instance) and not receiver.exact and bool(m.program.subclasses(receiver.cls))


def _is_of_library(m: Machine, loop: LoopState) -> bool:
    """The loop is, or calls, a method of an object whose use is not known."""
    if not m.path.stack or m.path.stack[0].kind != "entry":
        return False
    around = m.path.stack[max(loop.links - 1, 0) : loop.links + 1]
    return any(isinstance(link.receiver, Instance) and not link.receiver.exact for link in around)


def _searches(node: Any, loop: LoopState) -> bool:
    """What an iteration computes decides where the next one looks: ``x = step(x)``; or ``x = solver.ask()``, and after it
    ``solver.tell(f(x))``."""
    return isinstance(loop.node, (ir.For, ir.While)) and (hands_on(loop.node, node) or _asks_and_tells(loop.node))


def _asks_and_tells(loop: ir.For | ir.While) -> bool:
    """An object makes something, and one of its methods gets what a call made of that."""
    asked: dict[str, set[str]] = {}
    for statement in loop.body:
        value = statement.value if isinstance(statement, (ir.Assign, ir.ExprStmt)) else None
        if value is None:
            continue
        calls = [node for node in walk(value) if isinstance(node, ir.Call)]
        owner = path_of(value.func.value) if isinstance(value, ir.Call) and isinstance(value.func, ir.Attribute) else ""
        for made in asked.values():
            if any(not made.isdisjoint(paths_read(argument.value)) for call in calls for argument in call.args):
                if owner and made is asked.get(owner):
                    return True
                made |= bound_paths(statement)
        if owner and isinstance(statement, ir.Assign):
            asked.setdefault(owner, set()).update(bound_paths(statement))
    return False


def hands_on(loop: ir.For | ir.While, call: Any) -> bool:
    """The call reads a variable that the same iteration rebinds in the statement of the call or after it."""
    bound_again: set[str] = set()
    for statement in loop.body:
        bound = bound_paths(statement, targets_of_loops=False)
        if statement.end > call.start:
            bound_again |= bound
        elif isinstance(statement, (ir.Assign, ir.AnnAssign)):
            bound_again -= bound
    return not bound_again.isdisjoint(paths_read(call))


def runs_python(m: Machine, value: Value) -> bool:
    """Calling the value runs code of the project that is not compiled and could be."""
    if isinstance(value, TransformedValue):
        return value.name not in COMPILING and runs_python(m, value.operand)
    if isinstance(value, (PartialValue, BoundMethod)):
        return runs_python(m, value.func)
    if isinstance(value, UnionValue):
        return all(runs_python(m, member) for member in value.members)
    if not isinstance(value, FunctionValue) or id(value.fn) in m.trackers[Freshness].needs_python:
        return False
    return not _only_calls_compiled(m, value)


def _only_calls_compiled(m: Machine, function: FunctionValue) -> bool:
    """``lambda w: loss(w, x)`` where ``loss`` is jitted."""
    body = function.fn.body
    if len(body) != 1 or not isinstance(body[0], ir.Return) or not isinstance(body[0].value, ir.Call):
        return False
    callee = body[0].value.func
    found = _looked_up(m, function, callee.id) if isinstance(callee, ir.Name) else None
    return found is not None and not isinstance(found, External) and not runs_python(m, found)


def is_short_lambda(m: Machine, value: Value) -> bool:
    """A lambda that calls no model and no function of the project: a few operations, whichever code dispatches them."""
    if not isinstance(value, FunctionValue) or not value.fn.is_lambda:
        return False
    called = (node.func for part in value.fn.body for node in walk(part) if isinstance(node, ir.Call))
    if any(isinstance(func, ir.Attribute) and func.attr in _APPLYING for func in called):
        return False
    read = (_looked_up(m, value, name) for name in names_read(value.fn.body))
    return not any(isinstance(found, (FunctionValue, BoundMethod, PartialValue, Instance)) for found in read)


def _looked_up(m: Machine, function: FunctionValue, name: str) -> Value | None:
    """The value of a name that a function reads but does not bind."""
    frame = function.closure
    while frame is not None and name not in frame.slots:
        frame = frame.parent
    found = frame.slots.get(name) if frame is not None else m.program.variable(function.scope, name)
    return found if isinstance(found, Value) else None


def track_called(m: Machine, made: TransformedValue, scope: ModuleScope, node: Any) -> None:
    """What a ``jit`` returned is called: in a loop, or what was made there."""
    if made.name in COMPILING and _is_called_by_name(m, node):
        if len(m.path.loops) > m.path.loop_base:  # the program has a compiled form of what runs here
            m.bus.record_everywhere(compiled_call_fact(node))
        for around in m.path.loops[m.path.loop_base :]:
            m.bus.record_fact(traced_again_fact(around.node), scope, node.start)
    loop = made.loop
    if loop is None or loop not in m.path.loops:
        return
    if made.maker is not None and made.maker in m.path.stack[loop.links :]:  # the loop is a caller's
        if m.path.mode.compiled and m.path.stack[-1] is not made.maker and m.path.stack[-1].fn is not None:
            return  # what compiles the code around it takes it in
        if any(isinstance(inner.node, ir.While) for inner in m.path.loops[m.path.loops.index(loop) + 1 :]):
            return  # ``while not done``: one compilation for an episode
    where = made.site
    if made.made < loop.since:  # an earlier iteration made it
        m.bus.record_fact(made.fact_against, where.scope, where.start)
    elif len(m.path.loops) <= made.loops_outside:
        return  # a function that trains for many steps does this once before
    elif made.maker is None or made in m.trackers[Freshness].steady or _counts_for(m, made.maker):
        m.bus.record_fact(CALLED_AT_ONCE, where.scope, where.start)


def _is_called_by_name(m: Machine, node: Any) -> bool:
    """The running code itself calls a function that was made elsewhere."""
    mode = m.path.mode
    called = isinstance(node, ir.Call) and isinstance(node.func, (ir.Name, ir.Attribute))
    return called and not (mode.staged or mode.ambient or mode.differentiated)


def _counts_for(m: Machine, maker: Link) -> bool:
    """How often its result is called says how often the maker runs."""
    return any(link is maker for link in m.path.stack) or _makes_the_same(maker)


def _makes_the_same(maker: Link) -> bool:
    """A function of a module, without parameters, made it: who calls that again gets the same again."""
    fn = maker.fn
    return maker.kind == "call" and fn is not None and not fn.params and fn.qualname == fn.name and not fn.is_lambda


def track_kept(m: Machine, value: Value, depth: int = 3) -> None:
    """The value is put where it may outlive the iteration: an attribute, a container, a variable of an outer scope."""
    seen, layer = {value}, [value]
    for step in range(depth + 1):
        for kept in layer:
            if isinstance(kept, TransformedValue):
                _track_transform_kept(m, kept)
        if step < depth:
            # Containers share what they hold, so that a walk along every path would take many times as long.
            layer = [p for p in dict.fromkeys(part for kept in layer for part in _kept_with(kept)) if p not in seen]
            seen.update(layer)


def _track_transform_kept(m: Machine, value: TransformedValue) -> None:
    if value.name in COMPILING:
        m.bus.record_fact(KEPT, value.site.scope, value.site.start)
    if value.loop is not None:
        m.bus.record_fact(value.fact_against, value.site.scope, value.site.start)
    elif isinstance(value.operand, TransformedValue):
        _track_transform_kept(m, value.operand)


def _kept_with(value: Value) -> tuple[Value, ...]:
    if isinstance(value, TupleValue):
        return value.elts
    if isinstance(value, UnionValue):
        return value.members
    if isinstance(value, (ListValue, DictValue)):
        return tuple(part for part in value.slots.values() if isinstance(part, Value))
    return ()


# --- what loops look like -------------------------------------------------------------------------------


def drives(fn: ir.Function | None) -> bool:
    """The function has a loop of its own that passes on a state: ``state = step(state, x)``."""
    if fn is None:
        return False
    todo: list[Any] = list(fn.body)
    while todo:
        statement = todo.pop()
        if isinstance(statement, (ir.For, ir.While)) and any(
            hands_on(statement, call) for call in _calls_in(statement)
        ):
            return True
        todo += blocks(statement)
    return False


def _calls_in(loop: ir.For | ir.While) -> list[ir.Expr]:
    """What the assignments of a loop call."""
    found: list[ir.Expr] = []
    todo: list[Any] = list(loop.body)
    while todo:
        statement = todo.pop()
        if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Call):
            found.append(statement.value)
        todo += blocks(statement)
    return found


def _goes_on(m: Machine, node: Any, loop: LoopState) -> bool:
    """The iteration that runs ``node``, or calls the function that does, may be followed by another one."""
    place = m.path.stack[loop.links].node if len(m.path.stack) > loop.links else node
    if place is None or not isinstance(loop.node, (ir.For, ir.While)):
        return True
    return _falls_through(loop.node.body, place.start)


def _falls_through(block: list[ir.Stmt], start: int) -> bool:
    for statement in block:
        if statement.end <= start:
            continue
        if isinstance(statement, (ir.Return, ir.Raise, ir.Break)):
            return False
        if isinstance(statement, (ir.If, ir.With, ir.Try)) and statement.start <= start:
            inner = statement.body
            if inner[0].start <= start < inner[-1].end and not _falls_through(inner, start):
                return False
            inner = statement.orelse if isinstance(statement, (ir.If, ir.Try)) else []
            if inner and inner[0].start <= start < inner[-1].end and not _falls_through(inner, start):
                return False
    return True
