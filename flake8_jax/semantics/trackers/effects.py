"""The work that a call of eager code gives the device, for the log of ``clocks``.

Vocabulary
----------
effect      the kind of work (``COMPUTED``, ``WAIT`` …) that a call of library code is; empty for one that does nothing of
            interest. Functions of the project are run, so they speak for themselves.
converted   a function of the host needs the contents of its arguments: it waits for those on the device.

Limitations: what unknown containers hold is not known, so printing or converting one counts as a wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.classes import find_in_class
from flake8_jax.semantics.domain.values import (
    MAX_HELD,
    Array,
    AtValue,
    BoundMethod,
    BuiltinValue,
    ClassValue,
    Const,
    DictValue,
    External,
    ExternalInstance,
    ExternalMethod,
    FunctionValue,
    GeneratorValue,
    HostArray,
    Instance,
    ListValue,
    PartialValue,
    Room,
    SliceValue,
    Static,
    StaticMethodValue,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    contents_of,
    is_host_value,
)
from flake8_jax.semantics.machine.dispatch import SPECIAL
from flake8_jax.semantics.trackers.clocks import (
    CLOCKS,
    COMPUTED,
    LOST,
    PROFILING,
    WAIT,
    DeviceWork,
    add_work,
    compiled_identity,
    track_wait,
    track_warm,
)

if TYPE_CHECKING:
    from flake8_jax.knowledge.loader import Entry
    from flake8_jax.knowledge.model import FunctionFact
    from flake8_jax.semantics.domain.arguments import Arguments, Call
    from flake8_jax.semantics.domain.scopes import Frame
    from flake8_jax.semantics.machine.core import Machine

_ASYNCHRONOUS = (
    "jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.", "jax.random.", "jax.tree.", "jax.tree_util.", "jax.image.",
    "jax.ops.", "jax.dtypes.", "jax.sharding.", "optax.", "flax.linen.", "flax.nnx.", "haiku.", "equinox.", "distrax.", "rlax.",
)  # fmt: skip
"""Libraries whose functions dispatch and do not wait, but for those whose facts say otherwise."""
_AROUND_JAX = ("jax.", "optax.", "flax.", "haiku.", "equinox.", "chex.", "distrax.", "rlax.")
_ARITHMETIC = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.")
_STRUCTURED = frozenset({"scan", "map", "fori_loop", "while_loop", "cond", "switch", "associative_scan"})
_WRAPPING = frozenset({"wrap", "lift", "custom", "call", "tree_map", "tree_map_with_path", "tree_reduce", *_STRUCTURED})
_INERT_BUILTINS = frozenset(
    {"len", "range", "isinstance", "issubclass", "hasattr", "callable", "getattr", "setattr", "zip", "enumerate", "map",
     "filter", "list", "tuple", "dict", "type", "slice", "property", "id", "super", "abs", "pow", "divmod", "sum",
     "reversed", "iter", "next", "staticmethod", "classmethod", "same"}
)  # fmt: skip
_COMPARING_METHODS = frozenset({"sort", "index", "count", "remove"})
_CALLABLES = (FunctionValue, BoundMethod, PartialValue, TransformedValue, Instance)
_RUN = frozenset(
    {FunctionValue, BoundMethod, PartialValue, ClassValue, TransformedValue, UnionValue, StaticMethodValue}
)
"""Callees that the interpreter runs, or opens up further."""


def track_shown(m: Machine, frame: Frame, node: Any, value: Value) -> None:
    """A value becomes text."""
    if may_wait(value):
        track_wait(m, frame, node)


def track_call(m: Machine, func: Value, at: Call) -> None:
    """Eager code calls something."""
    kind = type(func)
    if kind in _RUN or kind is Const:  # the branch on which it is None raises
        return
    given = any(isinstance(v, _CALLABLES) for v in (*at.args.values, *at.args.kwargs.values()))
    work = m.trackers[DeviceWork]
    if not work.timing and not given:
        return
    read = _EFFECTS.get(kind)
    found = read(m, func, at.args) if read is not None else LOST
    if found == LOST and given:
        work.log.anything_warm = True
    if found and work.timing:
        add_work(m, found, at.frame.scope, at.node)


def waits(m: Machine, func: Value, at: Call) -> bool:
    """The call may have to wait for the device: a function of the host that gets a result, or something unknown."""
    kind = type(func)
    if kind in _RUN or kind is Const:
        return False
    read = _EFFECTS.get(kind)
    found = read(m, func, at.args) if read is not None else LOST
    return found == WAIT or (found == LOST and any(may_wait(v) for v in (*at.args.values, *at.args.kwargs.values())))


def _converted(args: Arguments) -> str:
    """A function of the host: it waits for the arrays that it is given."""
    given = [*args.values, *args.kwargs.values(), *[v for v in (args.star, args.double_star) if v is not None]]
    return WAIT if any(may_wait(v) for v in given) else ""


def may_wait(value: Value, depth: int = 6, room: Room | None = None) -> bool:
    """The value may hold an array of the device, so that reading it waits."""
    room = room if room is not None else Room()
    if isinstance(value, Static):
        if not depth or len(value.holds) >= MAX_HELD:
            return True
        # What a string in this one holds, this one holds as well.
        return any(may_wait(v, depth - 1, room) for v in value.holds if not isinstance(v, Static))
    if is_host_value(value) or isinstance(value, (BoundMethod, TransformedValue, PartialValue, StaticMethodValue)):
        return False
    if not depth or not room.enter(value):
        return True
    parts = (value.element,) if isinstance(value, GeneratorValue) else contents_of(value)
    if parts is None:
        return not isinstance(value, SliceValue)
    return any(may_wait(v, depth - 1, room) for v in parts)


# --- objects that are called ------------------------------------------------------------------------------


def _of_instance(m: Machine, func: Instance, args: Arguments) -> str:
    return "" if find_in_class(func.cls, "__call__") is not None else LOST


def _of_library_method(m: Machine, func: ExternalMethod, args: Arguments) -> str:
    return _of_member(m, func.cls, func.name, args)


def _of_library_object(m: Machine, func: ExternalInstance, args: Arguments) -> str:
    return _of_member(m, func.cls, "__call__", args)


def _of_member(m: Machine, cls: str, name: str, args: Arguments) -> str:
    """A method of a library class."""
    fact = m.program.knowledge.method(cls, name)
    if fact is None:
        return LOST
    if fact.sync is not None or fact.impure is not None or fact.stages or fact.calls:
        return _converted(args)
    return "" if (cls + ".").startswith(_ASYNCHRONOUS) else _converted(args)


# --- builtins and methods of builtin values ---------------------------------------------------------------


def _of_builtin(m: Machine, func: BuiltinValue, args: Arguments) -> str:
    if func.bound is None:
        return "" if func.name in _INERT_BUILTINS else _converted(args)
    read = _METHODS.get(type(func.bound))
    return read(m, func.bound, func.name.lstrip("."), args) if read is not None else LOST


def _of_update(m: Machine, base: AtValue, name: str, args: Arguments) -> str:
    return COMPUTED


def _of_array_method(m: Machine, base: Array | Tree, name: str, args: Arguments) -> str:
    if name == "is_ready":
        return WAIT  # a program that asks goes on asking until it is
    facts = m.program.knowledge.class_("jax.Array")
    fact = facts.methods.get(name) if facts is not None else None
    if fact is None:
        known = isinstance(base, Tree) and name in ("items", "keys", "values", "get", "pop", "update", "copy")
        return "" if known or name in ("copy_to_host_async", "delete", "addressable_data") else LOST
    if fact.sync is not None and name != "copy_to_host_async":
        return WAIT
    return COMPUTED if isinstance(base, Array) and not fact.host else ""


def _of_transformed_method(m: Machine, base: TransformedValue, name: str, args: Arguments) -> str:
    if name in ("lower", "trace"):
        track_warm(m, compiled_identity(base))
    return ""


def _of_container_method(m: Machine, base: Value, name: str, args: Arguments) -> str:
    return _converted(args) if name in _COMPARING_METHODS else ""


def _of_host_method(m: Machine, base: Value, name: str, args: Arguments) -> str:
    return _converted(args)


_METHODS: dict[type, Callable[[Machine, Any, str, Arguments], str]] = {
    AtValue: _of_update,
    Array: _of_array_method,
    Tree: _of_array_method,
    TransformedValue: _of_transformed_method,
    ListValue: _of_container_method,
    DictValue: _of_container_method,
    TupleValue: _of_container_method,
    Const: _of_host_method,
    Static: _of_host_method,
    HostArray: _of_host_method,
}
"""What a method does, by the value whose method it is."""


# --- library functions ------------------------------------------------------------------------------------


def _of_library_function(m: Machine, func: External, args: Arguments) -> str:
    name, known = func.name, m.program.knowledge.entry(func.name)
    if known.transform is not None:
        model = known.transform.model
        return COMPUTED if model in _STRUCTURED else "" if model in _WRAPPING else LOST
    if known.function is None:
        return _of_undescribed(name, known, args)
    return _of_described(name, known.function, args)


def _calls_back(fact: FunctionFact) -> bool:
    """The library runs functions that it is given."""
    return bool(fact.stages or fact.schedules or fact.callback)


def _is_modeled(name: str) -> bool:
    """A function with a model of its own, or a clock: neither gives the device work."""
    return name in SPECIAL or name in CLOCKS or name in PROFILING


def _of_undescribed(name: str, known: Entry, args: Arguments) -> str:
    """A name without a fact of its own: what holds for its library."""
    if _is_modeled(name) or known.class_ is not None:
        return ""
    space = known.namespace
    if space is None or (space.host == "" and not name.startswith(_ASYNCHRONOUS)):
        return LOST
    if name.startswith(_ARITHMETIC) and _has_array(args):
        return COMPUTED
    return _converted(args) if space.host else ""


def _of_described(name: str, fact: FunctionFact, args: Arguments) -> str:
    """A function with a fact."""
    if fact.sync is not None and fact.sync != "copy_to_host_async":
        return WAIT
    if fact.idle or _is_modeled(name) or fact.returns == "context":
        return ""
    if _calls_back(fact):
        return LOST
    if not name.startswith(_AROUND_JAX):
        return "" if fact.host in ("static", "inert") else _converted(args)
    if name.startswith(_ASYNCHRONOUS) and fact.impure is None:
        return COMPUTED if _computes(name, fact) and _has_array(args) else ""
    return LOST if fact.impure is None or _converted(args) else ""


def _computes(name: str, fact: FunctionFact) -> bool:
    """The function computes on the arrays that it is given."""
    if not name.startswith(_ARITHMETIC) or fact.shape_params:
        return False
    return fact.returns not in ("static", "reflection", "dtype", "dtype_test", "unknown", "none", "host")


def _has_array(args: Arguments) -> bool:
    """Something among the arguments surely is an array, or anything that is passed to a function of arrays."""
    return any(isinstance(v, (Array, Tree, Unknown)) for value in args.values for v in joining.members_of(value))


_EFFECTS: dict[type, Callable[[Machine, Any, Arguments], str]] = {
    BuiltinValue: _of_builtin,
    External: _of_library_function,
    ExternalMethod: _of_library_method,
    ExternalInstance: _of_library_object,
    Instance: _of_instance,
}
"""The effect of a call, by the kind of callee; of any other nothing is known."""
