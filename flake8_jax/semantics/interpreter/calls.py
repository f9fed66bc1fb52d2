"""Calls: evaluating arguments, finding out what is called, and running functions of the project.

Vocabulary
----------
arguments   evaluated arguments with their IR; ``star``/``double_star`` stand for what a ``*x``/``**x`` of unknown
            contents may add.
context     one run of a function on one memoization key of its inputs. There are only so many (``machine.Caps``): the
            first half of the staged ones, and of the others, know their arguments' constants; then arguments are
            generalised; then the result is unknown. Entries, and runs that use up keys (which cannot be remembered),
            have a cap of their own, and so have functions that never gave a rule anything to say.
effects     what a run changed outside of itself; replayed when the run is remembered instead of repeated.
"""

from __future__ import annotations

from contextlib import nullcontext

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.arguments import Arguments, Call
from flake8_jax.semantics.domain.classes import find_in_class, is_stub
from flake8_jax.semantics.domain.conditions import are_mutually_exclusive, labelled, normal_condition
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.signatures import call_error, untransformed
from flake8_jax.semantics.domain.values import (
    Array,
    BoundMethod,
    BuiltinValue,
    Condition,
    Const,
    DictValue,
    External,
    FunctionValue,
    Instance,
    PartialValue,
    Site,
    StaticMethodValue,
    SuperValue,
    TransformedValue,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    known_elements,
)
from flake8_jax.semantics.interpreter.asserting import asserts, expects_error, waited_for
from flake8_jax.semantics.interpreter.iteration import iterated
from flake8_jax.semantics.interpreter.operations import call, method_of, perform, possible
from flake8_jax.semantics.interpreter.running import call_function_value
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import CALL, EVALUATE
from flake8_jax.semantics.trackers.call_signatures import check_called
from flake8_jax.semantics.trackers.captures import APPLYING, track_parameters
from flake8_jax.semantics.trackers.freshness import Freshness
from flake8_jax.semantics.trackers.presumption import Presuming
from flake8_jax.semantics.trackers.products import Products


def evaluate_arguments(m: Machine, frame: Frame, node: ir.Call) -> Arguments:
    """The arguments of a call, left to right."""
    args = Arguments([])
    presumption = m.trackers[Presuming].presumption
    for argument in node.args:
        expression = argument.value
        value = EVALUATE[type(expression)](m, frame, expression)
        if m.observer is not None:
            m.observer(frame, expression, value)
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
                make_element = iterated(m, frame, argument.value, value, "star", None)
                element = make_element() if make_element is not None else Unknown("star")
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
        if len(args.values) > 1 and expects_error(m, frame, node):
            return _call_for_error(m, frame, node, args)
        if saved.jitted and isinstance(node.func, ir.Attribute) and node.func.attr in APPLYING:
            track_parameters(m, frame, node)
        if type(func) is Array or type(func) is TupleValue:
            check_called(m, func, Call(frame, node, args))
        return call(m, frame, node, func, args, used=used)


def _call_for_error(m: Machine, frame: Frame, node: ir.Call, args: Arguments) -> Value:
    """``self.assertRaises(TypeError, f, x)`` calls ``f(x)``."""
    m.path.caught += 1
    rest = Arguments(args.values[2:], args.kwargs, args.nodes[2:], args.keyword_nodes, args.star, args.double_star)
    call(m, frame, node, args.values[1], rest)
    m.path.caught -= 1
    return Unknown("expected error")


def _super(m: Machine, frame: Frame, node: ir.Call) -> Value:
    owner_frame: Frame | None = frame
    while owner_frame is not None and owner_frame.self_value is None:
        owner_frame = owner_frame.parent
    if owner_frame is not None and owner_frame.owner is not None and owner_frame.self_value is not None:
        return SuperValue(owner_frame.owner, owner_frame.self_value)
    return Unknown("super")


def _call_function(m: Machine, func: FunctionValue, at: Call) -> Value:
    return call_function_value(m, at.frame, at.node, func, at.args)


def _call_bound(m: Machine, func: BoundMethod, at: Call) -> Value:
    return call(m, at.frame, at.node, func.func, at.args.prepended(func.self_value), used=at.used)


def _call_partial(m: Machine, func: PartialValue, at: Call) -> Value:
    merged = at.args.prepended(*func.args)
    merged.kwargs = {**func.kwargs, **at.args.kwargs}
    return perform(m, func.func, at.to(merged))


def _call_instance(m: Machine, func: Instance, at: Call) -> Value:
    result: Value | None = Unknown("recursion", host_test=True)
    if m.path.forward():
        method = method_of(m, at.frame, at.node, func, "__call__")
        result = call(m, at.frame, at.node, method, at.args) if method is not None else None
        m.path.forwarded.pop()
    return result if result is not None else Unknown("call")


def _call_static(m: Machine, func: StaticMethodValue, at: Call) -> Value:
    return call(m, at.frame, at.node, func.func, at.args, used=at.used)


def _is_plain_code(member: Value) -> bool:
    """A function or method of the project that no transform was applied to: if the program may call it, it runs as written."""
    if isinstance(member, PartialValue):
        return _is_plain_code(member.func)
    return isinstance(member, (FunctionValue, BoundMethod)) or (isinstance(member, Const) and member.value is None)


def _call_any(m: Machine, func: UnionValue, at: Call) -> Value:
    """One of several functions: run each from the same state."""
    results: list[Value] = []
    branches, labels = [], []
    held = func.conditions or (frozenset(),) * len(func.members)
    suits = [_suits(member, at.args) for member in func.members]
    mode, choosing = m.path.mode, not all(map(_is_plain_code, func.members))
    chosen_at, m.trackers[Products].chosen_at = m.trackers[Products].chosen_at, len(m.path.stack)
    is_doubtful, doubtful = at.frame.undecided and len(func.members) > 1 and _are_unlike(func.members), []
    for member, conditions, suited in zip(func.members, held, suits, strict=True):
        if (
            isinstance(member, Const)
            or (not suited and any(suits))
            or are_mutually_exclusive(m.path.assumed, conditions)
        ):
            if isinstance(member, TransformedValue) and not suited:
                member.called = True  # by this call, had it been meant
            continue
        mark, assumed, around = len(m.journal.entries), m.path.assumed, m.path.branches
        m.path.assumed, m.path.branches = assumed | conditions, (*around, m.path.new_branch())
        chosen = _narrowed(at.args, conditions) if conditions else at.args
        m.trackers[Freshness].choosing += choosing
        reports = len(m.bus.emissions)
        if _has_plain_counterpart(member, func.members):
            m.path.mode = msgspec.structs.replace(mode, optional=True)
        results.append(call(m, at.frame, at.node, member, chosen, used=at.used))
        m.path.mode = mode
        if _is_guessed(m, member, func.members):
            m.bus.drop_errors(reports, _body_of(member))
        if is_doubtful:
            doubtful.append(m.bus.take_since(reports))
        m.trackers[Freshness].choosing -= choosing
        m.path.assumed, m.path.branches = assumed, around
        branches.append(m.journal.rollback(mark))
        labels.append(conditions)
    m.trackers[Products].chosen_at = chosen_at
    m.bus.keep_common_errors(doubtful)
    m.journal.merge(branches, labels if func.conditions else None)
    if not results:
        return Unknown("call")
    joined = joining.union_of(results)
    return labelled(joined, results, labels) if func.conditions and joined is not results[0] else joined


def _has_plain_counterpart(member: Value, members: tuple[Value, ...]) -> bool:
    """``run = f if eager else jax.jit(f)``: what f does in some configuration alone may be what cannot be staged."""
    return _is_compiled(member) and any(
        not _is_compiled(other) and _are_same(untransformed(other), untransformed(member)) for other in members
    )


def _is_compiled(value: Value) -> bool:
    while isinstance(value, TransformedValue):
        if value.fact.omnistaging:
            return True
        value = value.operand
    return False


def _are_same(one: Value, other: Value) -> bool:
    """Two mentions of one function, or of one method of one object."""
    if isinstance(one, BoundMethod) and isinstance(other, BoundMethod):
        return one.self_value is other.self_value and one.func is other.func
    return one is other


def _are_unlike(members: tuple[Value, ...]) -> bool:
    """``model = React() if … else GPT()``: behind another test, ``if baseline: model(x)``, it may well be the other one."""
    owners = [v.self_value if isinstance(v, BoundMethod) else v for v in members]
    return len({id(v.cls) for v in owners if isinstance(v, Instance)}) > 1


def _is_guessed(m: Machine, member: Value, members: tuple[Value, ...]) -> bool:
    """A subclass's own form of a method that the class, or another subclass, has too, of an object that only an annotation says
    to be of the class: it is not known whether objects of the subclass come here."""
    if not isinstance(member, BoundMethod) or not isinstance(member.self_value, Instance) or member.self_value.exact:
        return False
    receiver, method = member.self_value, member.func
    if not isinstance(method, FunctionValue) or any(link.receiver is receiver for link in m.path.stack):
        return False
    found = find_in_class(receiver.cls, method.fn.name)
    if found is None or found[1] is method:
        return False
    if isinstance(found[1], FunctionValue) and is_stub(found[1].fn):
        return any(other is not member and getattr(other, "self_value", None) is receiver for other in members)
    return True


def _body_of(member: Value) -> Site | None:
    """Where the body of a method stands."""
    method = member.func if isinstance(member, BoundMethod) else member
    if not isinstance(method, FunctionValue) or not method.fn.body:
        return None
    return Site(method.scope, method.fn.body[0].start, method.fn.body[-1].end)


def _suits(member: Value, args: Arguments) -> bool:
    """The arguments can be bound: of several functions, one that would raise TypeError was not meant."""
    return not call_error(untransformed(member), args)


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


def _narrowed(args: Arguments, conditions: frozenset[Condition]) -> Arguments:
    """The arguments as they are where ``conditions`` hold: None, or surely not None; what they were in the branch where the
    function was chosen."""
    is_none: dict[int, bool] = {}
    for condition in conditions:
        key, truth = normal_condition(condition)
        if key[0] == "is" and key[2] == ("c", "NoneType", None) and key[1][0] == "v":
            is_none[key[1][1]] = truth

    def narrow(value: Value) -> Value:
        value = possible(value, conditions)
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


# --- running a function ---------------------------------------------------------------------------------
