"""What code does to a value, whatever the value is: call it, read an attribute, apply an operator, take it as an annotation.

Each looks up how in a table of ``machine.dispatch``, which the modules that model a kind of value fill in; so those may
need each other's operations and still import one another one way.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.arguments import Arguments, Call
from flake8_jax.semantics.domain.classes import find_in_class
from flake8_jax.semantics.domain.conditions import alternatives, are_mutually_exclusive
from flake8_jax.semantics.domain.dispatching import dispatched_in
from flake8_jax.semantics.domain.scopes import RUNNING, Frame, ModuleScope
from flake8_jax.semantics.domain.tracer_tests import class_of
from flake8_jax.semantics.domain.values import (
    LIBRARY,
    Array,
    BuiltinValue,
    Condition,
    DictValue,
    External,
    Instance,
    Opaque,
    PartialValue,
    Static,
    Tree,
    UnionValue,
    Unknown,
    Value,
)
from flake8_jax.semantics.events.events import LibraryCall, MethodCall, NameUse
from flake8_jax.semantics.interpreter.objects import library_member
from flake8_jax.semantics.interpreter.parts import track_method_call
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import ATTRIBUTE, CALL, DESCRIBE, lookup
from flake8_jax.semantics.trackers.buffers import read_by_method
from flake8_jax.semantics.trackers.clocks import DeviceWork
from flake8_jax.semantics.trackers.eager_steps import EagerSteps
from flake8_jax.semantics.trackers.eager_steps import track_call as track_step_work
from flake8_jax.semantics.trackers.effects import track_call as track_work
from flake8_jax.semantics.trackers.effects import waits
from flake8_jax.semantics.trackers.forks import Forks, track_handle_called
from flake8_jax.semantics.trackers.host_buffers import HostBuffers, track_waited
from flake8_jax.semantics.trackers.key_conventions import track_key_given
from flake8_jax.semantics.trackers.loaders import vary_by_method
from flake8_jax.semantics.trackers.presumption import Presuming
from flake8_jax.semantics.trackers.products import Products, check_callee
from flake8_jax.semantics.trackers.readiness import track_number, track_read
from flake8_jax.semantics.trackers.reads import Reads
from flake8_jax.semantics.trackers.replicas import Replicas, track_unknown_call
from flake8_jax.semantics.trackers.runs import track_wrapped
from flake8_jax.semantics.trackers.steps import TrainingSteps, hand_over
from flake8_jax.semantics.trackers.updates import Updates, track_result
from flake8_jax.semantics.trackers.variation import Variations, depend


def describes_shapes(m: Machine, scope: ModuleScope, node: ir.Expr | None) -> bool:
    """An annotation such as ``PyTree[jax.ShapeDtypeStruct]``: shapes and dtypes in place of arrays."""
    if isinstance(node, ir.Subscript):
        parts = node.index.elts if isinstance(node.index, ir.Tuple) else [node.index]
        return any(describes_shapes(m, scope, part) for part in parts)
    if not isinstance(node, (ir.Name, ir.Attribute)):
        return False
    target = resolve_name(m, scope, None, node)
    return isinstance(target, External) and target.name == "jax.ShapeDtypeStruct"


def resolve_name(m: Machine, scope: ModuleScope, frame: Frame | None, node: ir.Expr) -> Value | None:
    """The object that a (dotted) name in an annotation denotes, without telling any rule."""

    if isinstance(node, ir.Name):
        anchor = frame if frame is not None else Frame(None, scope, None)
        return lookup(m, anchor, node.id) or m.program.builtin(node.id)
    if isinstance(node, ir.Attribute):
        base = resolve_name(m, scope, frame, node.value)
        if base is None:
            return None
        return load_attribute(m, frame if frame is not None else Frame(None, scope, None), node, base, node.attr)
    return None


def callee_name(target: Value) -> str:
    """The canonical name of the library function that a callee is; empty if it is none."""
    while isinstance(target, PartialValue):
        target = target.func
    if isinstance(target, External):
        return target.name
    if isinstance(target, BuiltinValue):
        return ("builtins." + target.name) if target.bound is None else target.name
    return ""


def call(m: Machine, frame: Frame, node: Any, func: Value, args: Arguments, *, used: bool = True) -> Value:
    """Call ``func``. node: where, for evidence and events. used: the result is."""
    return perform(m, func, Call(frame, node, args, used))


def perform(m: Machine, func: Value, at: Call) -> Value:
    """Make a call of ``func``."""
    if m.trackers[DeviceWork].times and not m.path.mode.staged:
        track_work(m, func, at)
    if m.trackers[EagerSteps].wanted and not m.path.mode.compiled:
        track_step_work(m, func, at)
    if m.trackers[TrainingSteps].taken is not None:
        hand_over(m, func, [*at.args.values, *at.args.kwargs.values()])
    if m.trackers[HostBuffers].given and not m.path.mode.staged and waits(m, func, at):
        track_waited(m)
    if m.path.loops and type(func) in _NO_FUNCTION and not m.path.mode.staged:
        _emit_shown(m, at)
    handler = CALL.get(type(func))
    if handler is not None:
        given = handler(m, func, at)
        if m.trackers[Updates].wanted:
            track_result(m, func, at, given)
        return given
    if id(func) in m.trackers[Products].made:
        check_callee(m, at.frame, at.node, func)
    presumption = m.trackers[Presuming].presumption
    if presumption is not None:
        presumption.deny(func)
    if m.trackers[Reads].matter and isinstance(func, Unknown) and isinstance(func.parent, Opaque):
        read_by_method(m, at.frame, at.node, func.parent, func.step.lstrip("."))
    track_key_given(m, func, at)
    track_method_call(m, func)
    _emit_waiting(m, func, at)
    if m.trackers[Replicas].running:
        name = func.step.lstrip(".") if isinstance(func, Opaque) else ""
        track_unknown_call(m, name, (*at.args.values, *at.args.kwargs.values()))
    if m.trackers[Forks].handles and isinstance(func, Unknown):
        track_handle_called(m, at, func)
    result = _unknown_result(func)
    track_wrapped(m, func, (*at.args.values, *at.args.kwargs.values()), result)
    if m.trackers[Variations].known:
        vary_by_method(m, func, result)
        depend(m, (*at.args.values, *at.args.kwargs.values()), result)
    if m.trackers[Updates].wanted:
        track_result(m, func, at, result)
    return result


def _unknown_result(func: Value) -> Unknown:
    """What a call of something unknown returns. A method of what an unknown library returned returns such an object, too."""
    if not isinstance(func, Unknown):
        return Unknown("call")
    is_of_library = isinstance(func.parent, Unknown) and func.parent.label == LIBRARY
    return Unknown(LIBRARY if is_of_library else "call", host_test=func.host_test)


_WAITING = frozenset({".item", ".tolist", ".block_until_ready"})


def _emit_waiting(m: Machine, func: Value, at: Call) -> None:
    """A method of something unknown, which only an array has: it waits if that is a result of a compiled call."""
    if not isinstance(func, Unknown) or func.step not in _WAITING:
        return
    base, name = func.parent, func.step[1:]
    if base is None or not dispatched_in(base):
        if m.path.loops:
            track_number(m, func)  # most likely a result, too
        return
    rules = m.bus.subscribers(MethodCall)
    if rules and isinstance(at.node, ir.Call):
        args, context = at.args, m.path.context(at.frame.scope)
        m.bus.emit(
            MethodCall(
                context, at.node, base, name, tuple(args.values), args.kwargs, tuple(args.nodes), args.keyword_nodes,
                at.used, None,
            ),
            rules,
        )  # fmt: skip
    if m.path.loops:
        track_number(m, func) if dispatched_in(base) < 0 else track_read(m, (base,), name)


_SHOWING = {
    "set_postfix": "tqdm.tqdm.set_postfix",
    "set_postfix_str": "tqdm.tqdm.set_postfix_str",
    "set_description": "tqdm.tqdm.set_description",
    "set_description_str": "tqdm.tqdm.set_description_str",
    "add_scalar": "tensorboardX.SummaryWriter.add_scalar",
    "add_scalars": "tensorboardX.SummaryWriter.add_scalars",
    "loglog": "matplotlib.axes.Axes.loglog",
    "plot": "matplotlib.axes.Axes.plot",
    "semilogy": "matplotlib.axes.Axes.semilogy",
}
"""Methods that only progress bars, TensorBoard and plots have: a bar is what it iterates over to the analysis."""


_LOGGED = "wandb.log"
_LOGGING = frozenset({"log", "log_metrics"})
"""Methods of objects that log runs, such as that of ``wandb.init()``, if they get a dict: each makes numbers of it at once."""
_NO_FUNCTION = frozenset({Unknown, Static, BuiltinValue})
"""Methods of what has none of that name."""


def _emit_shown(m: Machine, at: Call) -> None:
    """A progress bar, or an object that logs a run, gets results in a loop: it makes strings or numbers of them at once."""
    node = at.node
    if type(node) is not ir.Call or type(node.func) is not ir.Attribute:
        return
    args, name = at.args, _SHOWING.get(node.func.attr, "")
    if node.func.attr in _LOGGING and args.values and type(args.values[0]) is DictValue:
        name = _LOGGED
    if not name:
        return
    known, values = m.program.knowledge.entry(name), [*args.values, *args.kwargs.values()]
    formatted = tuple([held for value in values if type(value) is Static for held in value.holds])
    rules = [rule for rule in m.bus.subscribers(LibraryCall) if rule.effects is None]
    if rules:
        m.bus.emit(
            LibraryCall(
                context=m.path.context(at.frame.scope), at=node, name=name, args=tuple(args.values), kwargs=args.kwargs,
                nodes=tuple(args.nodes), keyword_nodes=args.keyword_nodes, bound={}, bound_nodes={}, used=at.used,
                fact=known.function, namespace=known.namespace, formatted=formatted, fixed=False,
            ),
            rules,
        )  # fmt: skip
    track_read(m, values)


def method_of(m: Machine, frame: Frame, node: Any, value: Instance, name: str) -> Value | None:
    """The bound method of an instance; None if its class has none that we know."""
    if find_in_class(value.cls, name) is None and (value.exact or not m.program.subclasses(value.cls)):
        if not any(library_member(m, b, name, value) for b in value.cls.external_bases):
            return None
    method = load_attribute(m, frame, node, value, name)
    return method if not isinstance(method, Unknown) else None


def call_method(m: Machine, frame: Frame, node: Any, value: Instance, name: str, *values: Value) -> Value | None:
    """Call a method of an instance by name; None if its class has none that we know."""
    method = method_of(m, frame, node, value, name)
    return call(m, frame, node, method, Arguments(list(values))) if method is not None else None


_OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
              "@": "matmul", "&": "and", "|": "or", "^": "xor", "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
              "==": "eq", "!=": "ne"}  # fmt: skip


def call_operator(m: Machine, frame: Frame, node: Any, left: Value, op: str, right: Value) -> Value | None:
    """An operator that a project class defines."""
    name = _OPERATORS.get(op)
    if name is None:
        return None
    if isinstance(left, Instance) and find_in_class(left.cls, f"__{name}__") is not None:
        return call_method(m, frame, node, left, f"__{name}__", right)
    if isinstance(right, Instance) and find_in_class(right.cls, f"__r{name}__") is not None:
        return call_method(m, frame, node, right, f"__r{name}__", left)
    return None


def load_attribute(m: Machine, frame: Frame, node: Any, base: Value, attr: str) -> Value:
    """``base.attr``."""
    if attr == "__class__" and isinstance(base, (Array, Tree, Unknown)):
        return class_of(base)
    handler = ATTRIBUTE.get(type(base))
    return handler(m, frame, node, base, attr) if handler is not None else Unknown(attr)


def value_of_annotation(m: Machine, scope: ModuleScope, frame: Frame | None, node: ir.Expr | None) -> Value | None:
    """The value that an annotation describes; None where it says nothing of use."""
    handler = DESCRIBE.get(type(node))
    return handler(m, scope, frame, node) if handler is not None else None


def possible_here(m: Machine, value: UnionValue | Static) -> Value:
    """The alternatives of a value that can be on the present path: those that arose under no contrary condition."""
    now = m.path.assumed.union(m.path.conditions)
    return possible(value, now) if now else value


def possible(value: Value, now: frozenset[Condition]) -> Value:
    """The alternatives of a value that arose under no condition contrary to ``now``."""
    known = alternatives(value)
    kept = [(v, held) for v, held in known if not are_mutually_exclusive(held, now)]
    if not kept or len(kept) == len(known):
        return value
    if type(value) is not Static:
        return joining.union_of([v for v, _ in kept])
    return joining.join_all([v for v, _ in kept])


def _late_global(m: Machine, frame: Frame, name: str) -> Value:
    """A global that the running module has not bound yet: found if it is a def further down. A name of JAX that no import binds
    is meant: a line that imports it is missing, or a star brings it from a file that is."""
    if frame.scope.state == RUNNING:
        found = m.program.attribute(frame.scope, name)
        if not isinstance(found, Unknown):
            return found
    if name == "random" and "random.PRNGKey(" in frame.scope.text:
        return External("jax.random")
    return External(USUAL_NAMES[name]) if name in USUAL_NAMES else Unknown(name)


USUAL_NAMES = {"jax": "jax", "jnp": "jax.numpy"}
"""Names that only JAX and its NumPy have, where nothing else is bound to them."""


def emit_name(m: Machine, frame: Frame, node: Any, value: External, spelled: str, *, is_import: bool = False) -> None:
    """Tell the rules that a library name is read."""
    if m.bus.names_wanted is not None and value.name not in m.bus.names_wanted:
        return
    m.bus.emit(NameUse(m.path.context(frame.scope), node, value.name, spelled, is_import, node.start, node.end))
