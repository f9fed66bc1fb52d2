"""Calls: evaluating arguments, finding out what is called, and running functions of the project.

Vocabulary
----------
arguments   evaluated arguments with their IR; ``star``/``double_star`` stand for what a ``*x``/``**x`` of unknown
            contents may add.
context     one run of a function on one fingerprint of its inputs. There are only so many (``machine.Caps``): the
            first half of the staged ones, and of the others, know their arguments' constants; then arguments are
            generalised; then the result is unknown. Entries, and runs that use up keys (which cannot be remembered),
            have a cap of their own, and so have functions that never gave a rule anything to say.
effects     what a run changed outside of itself; replayed when the run is remembered instead of repeated.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain import boundary, joining, memo_keys
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.stack import NORMAL, RETURN, Link, Mode
from flake8_jax.semantics.domain.values import (
    MISSING,
    NO_BIRTH,
    NONE,
    Array,
    BoundMethod,
    BuiltinValue,
    Const,
    DictValue,
    External,
    ExternalInstance,
    FunctionValue,
    GeneratorValue,
    HostArray,
    Instance,
    ListValue,
    Opaque,
    PartialValue,
    Static,
    StaticMethodValue,
    SuperValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    canonical_key,
    freshen,
    known_elements,
    part_of,
)
from flake8_jax.semantics.events.events import CachedCall
from flake8_jax.semantics.interpreter.asserting import asserts, waited_for
from flake8_jax.semantics.interpreter.iteration import iterated
from flake8_jax.semantics.interpreter.operations import call, call_method
from flake8_jax.semantics.interpreter.summaries import (
    _MUTABLE,
    Remembered,
    call_text,
    holds_fresh_closure,
    is_mutable,
    path_of,
    repeat,
    transplant,
)
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import CALL, EVALUATE, evaluate, run_block
from flake8_jax.semantics.machine.limits import MAX_CALL_DEPTH, MAX_STEPS_PER_ENTRY
from flake8_jax.semantics.trackers.axes import bound_note
from flake8_jax.semantics.trackers.captures import Captures
from flake8_jax.semantics.trackers.clocks import DeviceWork, Mark, forget_order, note_lost, since
from flake8_jax.semantics.trackers.clocks import mark as log_mark
from flake8_jax.semantics.trackers.freshness import Freshness, shelters
from flake8_jax.semantics.trackers.keys import Keys, settle_splits
from flake8_jax.semantics.trackers.presumption import Presuming
from flake8_jax.semantics.trackers.products import Products
from flake8_jax.semantics.trackers.records import Recording
from flake8_jax.semantics.trackers.replicas import Replicas, note_call
from flake8_jax.semantics.trackers.runs import Runs, note_called
from flake8_jax.semantics.trackers.unrolling import NOTHING, LoopNests, leave_function
from flake8_jax.semantics.trackers.variation import Variations, variations_of, vary_joined

MAX_DESCENT = 8
"""A recursion that counts down is followed to this depth, another one to the second call."""


def evaluate_arguments(m: Machine, frame: Frame, node: ir.Call) -> Arguments:
    """The arguments of a call, left to right."""
    args = Arguments([])
    presumption = m.trackers[Presuming].presumption
    for argument in node.args:
        expression = argument.value
        value = EVALUATE[type(expression)](m, frame, expression)
        if argument.star == 0 and args.star is None:
            if argument.keyword is None:
                args.values.append(value)
                args.nodes.append(expression)
            else:
                args.kwargs[argument.keyword] = value
                args.keyword_nodes[argument.keyword] = expression
        elif argument.star == 1:
            known = known_elements(value)
            if known is not None and args.star is None:
                args.values += known
                args.nodes += [None] * len(known)
            else:
                supply = iterated(m, frame, argument.value, value, "star", None)
                element = supply() if supply is not None else Unknown("star")
                args.star = element if args.star is None else joining.join(args.star, element)
        elif argument.star == 2:
            if isinstance(value, DictValue):
                args.kwargs.update({k: v for k, v in value.items() if isinstance(k, str)})
                if value.slots["open"] or "*" in value.slots:
                    args.double_star = value.slots.get("*") or Unknown("**")
            else:
                args.double_star = Unknown("**")
                if presumption is not None:
                    presumption.deny(value)  # keywords that are passed on: there may be none
        elif argument.keyword is not None:
            args.kwargs[argument.keyword] = value
            args.keyword_nodes[argument.keyword] = argument.value
        elif args.star is not None:
            args.star = joining.join(args.star, value)
    return args


def evaluate_call(m: Machine, frame: Frame, node: ir.Call, *, used: bool = True) -> Value:
    """A call expression."""
    return call_evaluated(m, frame, node, evaluate(m, frame, node.func), used=used)


def call_evaluated(m: Machine, frame: Frame, node: ir.Call, func: Value, *, used: bool = True) -> Value:
    """A call expression whose callee is evaluated."""
    if type(func) is BuiltinValue and func.name == "super" and func.bound is None:
        return _super(m, frame, node)
    saved = m.path.mode
    if isinstance(func, External) and not saved.shapes_only:
        transform = m.program.knowledge.transform(func.name)
        if transform is not None and transform.result == "shape":
            # What is written in the call is made for its shape alone.
            m.path.mode = msgspec.structs.replace(saved, shapes_only=True)
    with waited_for(m) if m.path.loops and asserts(node.func) else nullcontext():
        args = evaluate_arguments(m, frame, node)
        m.path.mode = saved
        return call(m, frame, node, func, args, used=used)


def _super(m: Machine, frame: Frame, node: ir.Call) -> Value:
    owner_frame: Frame | None = frame
    while owner_frame is not None and owner_frame.self_value is None:
        owner_frame = owner_frame.parent
    if owner_frame is not None and owner_frame.owner is not None and owner_frame.self_value is not None:
        return SuperValue(owner_frame.owner, owner_frame.self_value)
    return Unknown("super")


def _call_function(
    m: Machine, frame: Frame, node: Any, func: FunctionValue, args: Arguments, used: bool, decorating: bool
) -> Value:
    return call_function_value(m, frame, node, func, args)


def _call_bound(
    m: Machine, frame: Frame, node: Any, func: BoundMethod, args: Arguments, used: bool, decorating: bool
) -> Value:
    return call(m, frame, node, func.func, args.prepended(func.self_value), used=used)


def _call_partial(
    m: Machine, frame: Frame, node: Any, func: PartialValue, args: Arguments, used: bool, decorating: bool
) -> Value:
    merged = args.prepended(*func.args)
    merged.kwargs = {**func.kwargs, **args.kwargs}
    return call(m, frame, node, func.func, merged, used=used, decorating=decorating)


def _call_instance(
    m: Machine, frame: Frame, node: Any, func: Instance, args: Arguments, used: bool, decorating: bool
) -> Value:
    result: Value | None = Unknown("recursion", host_test=True)
    if m.path.forward():
        result = call_method(m, frame, node, func, "__call__", tuple(args.values), args)
        m.path.forwarded.pop()
    return result if result is not None else Unknown("call")


def _call_static(
    m: Machine, frame: Frame, node: Any, func: StaticMethodValue, args: Arguments, used: bool, decorating: bool
) -> Value:
    return call(m, frame, node, func.func, args, used=used)


def _call_any(
    m: Machine, frame: Frame, node: Any, func: UnionValue, args: Arguments, used: bool, decorating: bool
) -> Value:
    """One of several functions: run each from the same state."""
    results: list[Value] = []
    arms = []
    held = func.conditions or (frozenset(),) * len(func.members)
    suits = [not isinstance(member, FunctionValue) or _suits(member, args) for member in func.members]
    chosen_at, m.trackers[Products].chosen_at = m.trackers[Products].chosen_at, len(m.path.stack)
    for member, conditions, suited in zip(func.members, held, suits, strict=True):
        if isinstance(member, Const) or (not suited and any(suits)):
            continue
        mark, assumed, around = len(m.journal.entries), m.path.assumed, m.path.arms
        m.path.assumed, m.path.arms = assumed | conditions, (*around, m.path.new_arm())
        chosen = _narrowed(args, conditions) if conditions else args
        m.trackers[Freshness].choosing += 1
        results.append(call(m, frame, node, member, chosen, used=used))
        m.trackers[Freshness].choosing -= 1
        m.path.assumed, m.path.arms = assumed, around
        arms.append(m.journal.take_back(mark))
    m.trackers[Products].chosen_at = chosen_at
    m.journal.merge(arms)
    return joining.union_of(results) if results else Unknown("call")


def _suits(func: FunctionValue, args: Arguments) -> bool:
    """So many positional arguments fit: of several functions, one that would raise TypeError was not meant."""
    if args.star is not None or args.double_star is not None or args.kwargs or args.unknown_rest:
        return True
    positional = [p for p in func.fn.params if p.kind in ("positional", "posonly")]
    least = sum(p.default is None for p in positional)
    return least <= len(args.values) and (
        len(args.values) <= len(positional) or any(p.kind == "vararg" for p in func.fn.params)
    )


CALL.update(
    {
        FunctionValue: _call_function,
        BoundMethod: _call_bound,
        PartialValue: _call_partial,
        Instance: _call_instance,
        UnionValue: _call_any,
        StaticMethodValue: _call_static,
    }
)


def _narrowed(args: Arguments, conditions: frozenset[tuple[Any, bool]]) -> Arguments:
    """The arguments as they are where ``conditions`` hold: None, or surely not None."""
    from flake8_jax.semantics.domain.conditions import normal_condition

    is_none: dict[int, bool] = {}
    for condition in conditions:
        key, truth = normal_condition(condition)
        if key[0] == "is" and key[2] == ("c", "NoneType", None) and key[1][0] == "v":
            is_none[key[1][1]] = truth

    def narrow(value: Value) -> Value:
        wanted = is_none.get(id(value))
        if wanted is None or not isinstance(value, UnionValue):
            return value
        kept = [v for v in value.members if (isinstance(v, Const) and v.value is None) == wanted]
        return joining.union_of(kept) if kept else value

    return Arguments(
        [narrow(v) for v in args.values], {k: narrow(v) for k, v in args.kwargs.items()}, args.nodes, args.keyword_nodes,
        args.star, args.double_star, args.unknown_rest,
    )  # fmt: skip


# --- binding ------------------------------------------------------------------------------------------


def bind(m: Machine, func: FunctionValue, args: Arguments) -> dict[str, Value]:
    """Arguments by parameter name. What is missing is its default, or unknown."""
    from flake8_jax.semantics.interpreter.operations import value_of_annotation

    bound: dict[str, Value] = {}
    positional = args.values
    taken = 0
    kwargs = dict(args.kwargs)
    for p in func.fn.params:
        kind = p.kind
        if kind in ("positional", "posonly"):
            if taken < len(positional):
                value = positional[taken]
                taken += 1
            elif p.name in kwargs and kind == "positional":
                value = kwargs.pop(p.name)
            elif args.star is not None and p.default is None:
                value = freshen(args.star)
            elif args.star is not None or args.double_star is not None or args.unknown_rest:
                value = Unknown(p.name)
            else:
                value = func.defaults.get(p.name) or Unknown(p.name)
        elif kind == "kwonly":
            if p.name in kwargs:
                value = kwargs.pop(p.name)
            elif args.double_star is not None or args.unknown_rest:
                value = Unknown(p.name)
            else:
                value = func.defaults.get(p.name) or Unknown(p.name)
        elif kind == "vararg":
            extras = tuple(positional[taken:])
            taken = len(positional)
            if args.star is not None or args.unknown_rest:
                element = joining.join_all([*extras, args.star if args.star is not None else Unknown(p.name)])
                bound[p.name] = ListValue(None, element, is_tuple=True, born=m.path.mode.trace)
            else:
                bound[p.name] = TupleValue(extras)
            continue
        else:
            is_open = args.double_star is not None or args.unknown_rest
            rest = args.double_star if args.double_star is not None else Unknown("item") if args.unknown_rest else None
            bound[p.name] = DictValue(kwargs, rest, is_open=is_open, born=m.path.mode.trace)
            continue
        if p.annotation is not None and isinstance(value, (Unknown, Tree)):
            said = value_of_annotation(m, func.scope, func.closure, p.annotation)
            if said is not None:
                trusted = m.path.mode.presumed and is_only_static(said)
                said = individual(m, said, value)
                value = said if trusted else refined(value, said)
        bound[p.name] = value
    return bound


def is_only_static(value: Value) -> bool:
    """An annotation that leaves no room for arrays: ``int``, ``tuple[int, ...]`` …"""
    if isinstance(value, (TupleValue, UnionValue)):
        parts = value.elts if isinstance(value, TupleValue) else value.members
        return bool(parts) and all(is_only_static(v) for v in parts)
    if isinstance(value, ListValue):
        return is_only_static(joining.any_element(value))
    return isinstance(value, (Static, Const))


def individual(m: Machine, said: Value, value: Opaque, depth: int = 2) -> Value:
    """A generic instance stands for any of its class; as an argument it has leaves of its own, those of ``value``."""
    if isinstance(said, UnionValue):
        return UnionValue(tuple(individual(m, v, value, depth) for v in said.members))
    if not isinstance(said, Instance) or said is not said.cls.generic:
        return said
    # The settings of other objects are looked up here and there: they stay one and the same for all.
    leaves = (Array, Tree, Unknown, Instance) if "pytree" in said.cls.traits else (Array,)
    if not any(isinstance(part, leaves) for part in said.slots.values()):
        return said
    made = Instance(said.cls, exact=said.exact, level=said.level, born=NO_BIRTH)
    made.complete = said.complete
    for name, part in said.slots.items():
        made.slots[name] = part
        if isinstance(part, leaves):
            outside = part_of(value, "." + name, lambda: Unknown("part"))
            if isinstance(part, Instance):
                if depth and isinstance(outside, Opaque):
                    made.slots[name] = individual(m, part, outside, depth - 1)
            else:
                own = freshen(part)
                own.origin = outside  # type: ignore[attr-defined]
                made.slots[name] = own
    return made


def refined(value: Unknown | Tree, said: Value) -> Value:
    """An opaque argument together with what its parameter's annotation says."""
    if isinstance(value, Unknown):
        if isinstance(said, (Array, Tree, Unknown)):
            made = freshen(said)
            made.origin = value  # type: ignore[attr-defined]
            return made
        return said
    if isinstance(said, UnionValue):
        present = [v for v in said.members if not (isinstance(v, Const) and v.value is None)]
        if len(present) != 1:
            return value
        said = present[0]
    if isinstance(said, Array):
        array = Array(value.level, said.dtype, said.ndim)
        array.origin = value
        return array
    if isinstance(said, Static) and said.kind in ("int", "float", "bool"):
        array = Array(value.level, said.kind, 0)
        array.origin = value
        return array
    if isinstance(said, (TupleValue, ListValue, DictValue, ExternalInstance)):
        return boundary.tracify(said, value.level)
    if isinstance(said, Instance) and "pytree" in said.cls.traits:
        return boundary.tracify(said, value.level)
    return value


# --- running a function ---------------------------------------------------------------------------------


def free_names(m: Machine, fn: ir.Function) -> tuple[str, ...]:
    """Names that a function reads but does not bind: its possible captures."""
    found = m.program.free_names.get(id(fn))
    if found is None:
        from flake8_jax.semantics.domain.code import names_read

        local = set(fn.local_names)
        found = tuple(sorted(n for n in names_read(fn) if n not in local))
        m.program.free_names[id(fn)] = found
    return found


def captured_values(m: Machine, func: FunctionValue) -> dict[str, Value]:
    """What a function closes over, from enclosing functions (not globals)."""
    if func.closure is None:
        return {}
    captures: dict[str, Value] = {}
    for name in free_names(m, func.fn):
        frame: Frame | None = func.closure
        while frame is not None:
            value = frame.slots.get(name)
            if value is not None:
                captures[name] = value
                break
            frame = frame.parent
    return captures


def call_function_value(
    m: Machine,
    frame: Frame,
    node: Any,
    func: FunctionValue,
    args: Arguments,
    *,
    kind: str = "call",
    text: str = "",
    mode: Mode | None = None,
    serial: int | None = None,
) -> Value:
    """Run a function of the project on arguments, or remember an equal run."""
    fn = func.fn
    note_called(m, func, kind)
    running = [link for link in m.path.stack if link.fn is fn] if m.path.stack else []
    if len(m.path.stack) >= MAX_CALL_DEPTH or (len(running) >= 2 and not _descends(m, func, args, running)):
        m.bus.count("recursion or depth")
        note_lost(m, frame, node)
        return Unknown("recursion", host_test=True)
    if m.path.steps > MAX_STEPS_PER_ENTRY:
        m.bus.count("step budget")
        note_lost(m, frame, node)
        return Unknown("budget", host_test=True)
    if args.kwargs and args.values and _is_given_twice(fn, args):
        return Unknown("raises")  # a way that no run of the program takes: a guess somewhere above was wrong
    from flake8_jax.semantics.interpreter.operations import describes_shapes

    bound = bind(m, func, args)
    if func.cached:
        _tell_cached(m, frame, node, func, args)
    run_mode = mode if mode is not None else m.path.mode
    presumption = m.trackers[Presuming].presumption
    if presumption is not None:
        if run_mode.presumed:
            if id(fn) in presumption.drivers:
                return Unknown("driver")
            bound = presumption.presumed(func, bound)
        else:
            presumption.bind(fn, bound)
            if kind == "entry":
                presumption.exclude(fn, [p.name for p in fn.params if describes_shapes(m, func.scope, p.annotation)])
    assumed = m.path.assumed
    if m.path.conditions and func.closure is not None:
        m.path.assumed = assumed | _held_of_captures(m, func)
    m.trackers[Freshness].sheltered += shelters(func)
    result = _run_or_repeat(m, frame, node, func, bound, run_mode, kind, text, serial)
    m.trackers[Freshness].sheltered -= shelters(func)
    m.path.assumed = assumed
    if m.trackers[Replicas].running:
        note_call(m, fn)
    if func.cached:
        tell_cached(m, frame, node, result, fn.name)
    return Unknown("decorated") if func.replaced else result


def _is_given_twice(fn: ir.Function, args: Arguments) -> bool:
    """A parameter gets an argument by position and another by name: TypeError."""
    given = fn.params[: len(args.values)]
    return any(p.kind == "positional" and p.name in args.kwargs for p in given)


def tell_cached(m: Machine, frame: Frame, node: Any, result: Value, name: str) -> None:
    """Tell the rules that staged code calls a function that keeps its results for later calls."""
    if m.path.mode.ambient and not m.path.mode.presumed and node is not None and m.bus.wants(CachedCall):
        m.bus.emit(CachedCall(m.path.context(frame.scope), node, result, name))


def _held_of_captures(m: Machine, func: FunctionValue) -> frozenset[tuple[Any, bool]]:
    """What the way to this call has taught of the values that the function closes over."""
    captured = {id(v) for v in captured_values(m, func).values()}
    return frozenset(c for c in m.path.conditions if not captured.isdisjoint(mentioned(m, c)))


def mentioned(m: Machine, condition: tuple[Any, bool]) -> set[int]:
    """Identities of the values that a condition is about, and of those that they are parts of."""
    from flake8_jax.semantics.domain.conditions import normal_condition

    found: set[int] = set()
    for part in normal_condition(condition)[0][1:]:
        if type(part) is tuple and part[0] == "v":
            value = m.path.identified.get(part[1])
            while value is not None:
                found.add(id(value))
                value = value.parent if isinstance(value, Opaque) else None
    return found


def _run_or_repeat(
    m: Machine, frame: Frame, node: Any, func: FunctionValue, bound: dict[str, Value], run_mode: Mode, kind: str, text: str,
    serial: int | None,
) -> Value:  # fmt: skip
    """Run a function on bound arguments, unless an equal run is remembered or there were too many."""
    fn = func.fn
    key, inputs, plain = _fingerprint(m, func, bound, run_mode)
    known = m.trackers[Runs].memo.setdefault(id(fn), {})
    found = known.get(key) if plain and serial is None else None
    if found is not None:
        return repeat(m, found, inputs, frame.scope, node, fn)
    staged = run_mode.staged
    count, most = (
        m.trackers[Runs].contexts.get((id(fn), staged), 0),
        m.trackers[Runs].caps.staged if staged else m.trackers[Runs].caps.eager,
    )
    if m.trackers[Runs].runs >= m.trackers[Runs].caps.generous and id(fn) not in m.trackers[Runs].telling:
        most = min(most, m.trackers[Runs].caps.quiet_staged if staged else m.trackers[Runs].caps.quiet_eager)
    if count >= most // 2 and plain and serial is None and kind == "call":
        general = {k: v if v is func.defaults.get(k) else _generalised(v) for k, v in bound.items()}
        if any(general[k] is not v for k, v in bound.items()):
            bound = general
            key, inputs, plain = _fingerprint(m, func, bound, run_mode)
            found = known.get(key) if plain else None
        if found is not None:
            return repeat(m, found, inputs, frame.scope, node, fn)
        if count >= most:
            _give_up(m, run_mode)
            note_lost(m, frame, node)
            return Unknown("contexts", host_test=True)
    elif count >= m.trackers[Runs].caps.entries:
        _give_up(m, run_mode)
        note_lost(m, frame, node)
        return Unknown("contexts", host_test=True)
    m.trackers[Runs].contexts[id(fn), staged] = count + 1
    m.trackers[Runs].runs += 1
    return _run(m, frame, node, func, bound, run_mode, kind, text, serial, known, key, inputs, plain)


def _give_up(m: Machine, mode: Mode) -> None:
    """A function was run often enough: what this run would have shown is not known."""
    m.bus.count("contexts")
    for axis in mode.axes:
        m.bus.note_everywhere(bound_note(axis))


def _descends(m: Machine, func: FunctionValue, args: Arguments, running: list[Link]) -> bool:
    """A recursion that counts down: a constant argument is smaller than it was, and not below zero."""
    before = running[-1].bound
    if before is None or len(running) >= MAX_DESCENT:
        return False
    for name, now in bind(m, func, args).items():
        then = before.get(name)
        if isinstance(now, Const) and isinstance(then, Const) and type(now.value) is type(then.value) is int:
            if 0 <= now.value < then.value:
                return True
    return False


def _tell_cached(m: Machine, frame: Frame, node: Any, func: FunctionValue, args: Arguments) -> None:
    from flake8_jax.semantics.domain.values import GRAD, holds_tracer
    from flake8_jax.semantics.events.events import Hashing

    if not m.bus.wants(Hashing) or node is None:
        return
    for value in (*args.values, *args.kwargs.values()):
        if isinstance(value, Array) and holds_tracer(value, GRAD):
            m.bus.emit(Hashing(m.path.context(frame.scope), node, value, "cache"))
            return


def _shared(m: Machine, mode: Mode, prints: memo_keys.Fingerprint) -> tuple[Any, ...]:
    """The inputs that all lanes of a vmap around the running code receive alike, with that vmap."""
    found: list[Any] = []
    for number, value in enumerate(prints.objects):
        root: Value | None = value
        while root is not None:
            root = canonical_key(root)
            for lane in mode.lanes:
                if root in lane.shared:
                    m.trackers[Keys].lanes_met.add(lane)  # it stays alive, and so its identity stays its own
                    found.append((number, id(lane), lane.shared[root]))
            root = root.parent if isinstance(root, Opaque) else None
    return tuple(found)


def _shared_by_lanes(mode: Mode) -> int:
    return sum([len(lane.shared) for lane in mode.lanes]) if mode.lanes else 0


_NO_LOOPS: frozenset[int] = frozenset()


def _fingerprint(m: Machine, func: FunctionValue, bound: dict[str, Value], mode: Mode) -> tuple[Any, list[Any], bool]:
    """Key of a run, its inputs in order, and whether such a run may be remembered at all."""
    loops = _NO_LOOPS if mode.staged or not m.path.loops else frozenset([id(loop) for loop in m.path.loops])
    prints = memo_keys.Fingerprint(m.trackers[Keys].uses, loops=loops, trace=mode.trace)
    prints.presumed = mode.presumed
    if m.trackers[Variations].known and not mode.staged:
        prints.variations = m.trackers[Variations].known
    # Reading a result waits in every iteration of a caller's loop, unless a test of the iteration's number guards it.
    waiting = bool(loops) and not any(loop.guards for loop in m.path.loops)
    parts: list[Any] = [
        mode.staged,
        mode.ambient,
        mode.presumed,
        m.path.caught > 0,
        bool(mode.lanes),
        waiting,
        mode.differentiated,
        mode.axes,
        mode.axes_closed and bool(mode.axes),
        m.trackers[DeviceWork].timing and not mode.staged,
    ]
    for name, value in bound.items():
        if m.trackers[DeviceWork].timing and type(value) is HostArray and value.readings:
            parts.append(value.readings)
        prints.budget = memo_keys.MAX_NODES
        parts.append((name, prints.of(value)))
    if func.closure is not None:
        for name, value in captured_values(m, func).items():
            prints.budget = memo_keys.MAX_NODES
            parts.append(("^" + name, prints.of(value)))
    if m.path.assumed:
        parts.append(frozenset(c for c in m.path.assumed if not prints.numbers.keys().isdisjoint(mentioned(m, c))))
    if mode.lanes:
        parts.append(_shared(m, mode, prints))
    used = bool(m.trackers[Keys].uses) and any(
        canonical_key(v) in m.trackers[Keys].uses for v in prints.objects if isinstance(v, (Array, Opaque))
    )
    try:
        # Two hashes in place of the key itself: thousands of runs are remembered, and keys are large.
        hashes = tuple([hash(part) for part in parts])
        digest = (hash(hashes), hash(hashes[::-1]))
    except TypeError:
        return None, prints.objects, False
    return digest, prints.objects, not used and not (mode.lanes and prints.cut)


def _generalised(value: Value) -> Value:
    """Arguments with their numbers forgotten. Words stay: they name the way that a function takes, and without them it
    would take all."""
    if isinstance(value, Const) and value.value is not None and type(value.value) not in (bool, str):
        return Static(joining.const_kind(value.value))
    if isinstance(value, TupleValue):
        elements = tuple([_generalised(v) for v in value.elts])
        same = all(new is old for new, old in zip(elements, value.elts))
        return value if same else TupleValue(elements, value.cls, value.names)
    if isinstance(value, Array) and value.dtype != "key":
        dtype = value.dtype if value.dtype == "bool" else ""
        general = dtype == value.dtype and value.ndim is None and value.length is None and not value.dispatched
        return value if general else Array(value.level, dtype)
    return value


def _run(
    m: Machine, frame: Frame, node: Any, func: FunctionValue, bound: dict[str, Value], mode: Mode, kind: str, text: str,
    serial: int | None, known: dict[Any, Any], key: Any, inputs: list[Any], plain: bool,
) -> Value:  # fmt: skip
    fn = func.fn
    inner = Frame(fn, func.scope, func.closure, owner=func.owner)
    inner.slots.update(bound)
    inner.trace = mode.trace
    if func.owner is not None and fn.params:
        inner.self_value = bound.get(fn.params[0].name)
    mark, reports, shared = len(m.journal.entries), len(m.bus.emissions), _shared_by_lanes(mode)
    logged = log_mark(m)
    before, m.trackers[LoopNests].inside, work, varieties, captured = (
        m.trackers[LoopNests].inside,
        NOTHING,
        m.trackers[LoopNests].work,
        m.trackers[LoopNests].varieties,
        len(m.trackers[Captures].embedded),
    )
    link = Link(
        scope=frame.scope, node=node, kind=kind, function=fn.qualname,
        text=text or call_text(m, fn),
        serial=serial if serial is not None else m.path.new_serial(), fn=fn, receiver=inner.self_value, bound=bound,
    )  # fmt: skip
    saved_mode, saved_base, saved_conditions = m.path.mode, m.path.loop_base, len(m.path.conditions)
    saved_condition_base, m.path.condition_base = m.path.condition_base, saved_conditions
    inner.mark = mark
    m.path.stack.append(link)
    m.path.mode = mode
    m.path.loop_base = len(m.path.loops)
    records = m.trackers[Recording].records
    if records is not None:
        records.note(func.scope, fn, bound, mode, m.path.stack)
    flow = run_block(m, inner, fn.body)
    del m.path.conditions[saved_conditions:]
    m.path.condition_base = saved_condition_base
    m.path.loop_base = saved_base
    m.path.mode = saved_mode
    m.path.stack.pop()
    size = leave_function(m, before)
    if inner.exits:
        arms = inner.exits
        writes = m.journal.take_back(mark)
        if flow == NORMAL or inner.ended:
            arms.append(writes)
        m.journal.merge(arms)
    if flow == NORMAL and not fn.is_generator:
        inner.returns.append(Unknown("stub") if _is_stub(fn) else NONE)
    if fn.is_generator:
        forget_order(m, logged)
        result: Value = GeneratorValue(
            joining.union_of(inner.yields) if inner.yields else Unknown("yield"), born=m.path.mode.trace
        )
    elif inner.returns:
        result = inner.returns[0]
        for other in inner.returns[1:]:
            result = joining.join(result, other)
        if m.trackers[Variations].known and len(inner.returns) > 1:
            vary_joined(m, inner.returns, result)
    else:
        result = Unknown("raises" if flow != RETURN else "return")
    if len(m.bus.emissions) > reports or (
        m.trackers[Keys].uses and any(slots is m.trackers[Keys].uses for slots, _slot, _old in m.journal.entries[mark:])
    ):
        m.trackers[Runs].telling.add(id(fn))
    m.bus.keep_first_reports(reports)
    if m.trackers[Keys].uses:
        settle_splits(m, mark, result)
    if plain and serial is None and shared == _shared_by_lanes(mode):
        meaning = (m.trackers[LoopNests].work - work, m.trackers[LoopNests].varieties > varieties, size)
        embedded = frozenset(m.trackers[Captures].embedded[captured:])
        _remember(m, func, inner, inputs, result, known, key, mark, reports, meaning, embedded, logged)
    return result


def _is_stub(fn: ir.Function) -> bool:
    """The body is a docstring, or ``...``: somebody else says what the function does."""
    return all(isinstance(s, ir.ExprStmt) and isinstance(s.value, ir.Constant) for s in fn.body)


def _remember(
    m: Machine, func: FunctionValue, inner: Frame, inputs: list[Any], result: Value, known: dict[Any, Any], key: Any,
    mark: int, reports: int, meaning: tuple[int, bool, int], embedded: frozenset[Value], logged: Mark,
) -> None:  # fmt: skip
    if holds_fresh_closure(result, func.closure):
        return
    own = inner.slots
    effects = [(slots, slot) for slots, slot, _old in m.journal.entries[mark:] if slots is not own]
    index_of_slots: dict[int, int] = {}
    index_of_key: dict[int, int] = {}
    if effects:
        index_of_slots = {id(v.slots): i for i, v in enumerate(inputs) if type(v) in _MUTABLE}
        index_of_key = {id(canonical_key(v)): i for i, v in enumerate(inputs) if isinstance(v, (Array, Opaque))}
    outer_frames: set[int] = set()
    outer = func.closure
    while outer is not None:
        outer_frames.add(id(outer.slots))
        outer = outer.parent
    use_effects: dict[tuple[int, tuple[str, ...]], Any] = {}
    slot_effects: dict[tuple[int, Any], Any] = {}
    taken: dict[int, tuple[Array, str]] = {}
    if effects:
        taken = {
            id(part): (whole, step)
            for whole in map(canonical_key, inputs)
            if isinstance(whole, Array) and whole.parts
            for step, part in whole.parts.items()
        }
    for slots, slot in effects:
        if slots is m.trackers[Keys].uses:
            where = path_of(slot, index_of_key, taken)
            if where is not None:
                use_effects[where] = m.trackers[Keys].uses.get(slot, ())
        elif id(slots) in index_of_slots:
            now = slots.get(slot, MISSING)
            slot_effects[(index_of_slots[id(slots)], slot)] = now
        elif id(slots) in outer_frames or id(slots) in m.program.slot_ids:
            return  # writes to variables of enclosing scopes: run it each time
    known[key] = Remembered(
        inputs,
        # What the run made is copied, lest it change later; an input stays the input, to be exchanged for another.
        transplant(result, {id(v): v for v in inputs}, m, m.path.mode.trace) if is_mutable(result) else result,
        [(i, steps, uses) for (i, steps), uses in use_effects.items()],
        [(i, slot, value) for (i, slot), value in slot_effects.items()],
        m.bus.emissions[reports:],
        len(m.path.stack),
        m.path.mode.trace,
        *meaning,
        tuple([i for i, v in enumerate(inputs) if v in embedded]) if embedded else (),
        since(m, logged),
        variations_of(m, result),
    )
