"""The methods of builtin values (lists, dicts, tuples, strings, NumPy arrays, ``x.at``), on abstract values.

Vocabulary
----------
method      see ``tables``: one function for the methods of one kind of value.
field       a place in a format string, with what fills it and its spec.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import Any

from flake8_jax.semantics.domain.arguments import Arguments, Call
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.sizes import size_of_method
from flake8_jax.semantics.domain.values import (
    GRAD,
    NONE,
    Array,
    AtValue,
    Const,
    DictValue,
    HostArray,
    Instance,
    ListValue,
    Static,
    Tree,
    TupleValue,
    Unknown,
    Value,
    holds_tracer,
    is_traced_array,
    known_elements,
)
from flake8_jax.semantics.events.events import Formatting
from flake8_jax.semantics.interpreter.assignment import emit_hash
from flake8_jax.semantics.interpreter.containers import at_update, dict_method, list_method, string_method
from flake8_jax.semantics.interpreter.objects import replaced
from flake8_jax.semantics.interpreter.operators import result_level, test_truth
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.array_methods import listed
from flake8_jax.semantics.models.builtins import emit_order
from flake8_jax.semantics.models.tables import methods_of
from flake8_jax.semantics.trackers.allocations import Change, emit_change, undo_changes
from flake8_jax.semantics.trackers.captures import Captures, embed
from flake8_jax.semantics.trackers.freshness import track_kept
from flake8_jax.semantics.trackers.globals import track_contents
from flake8_jax.semantics.trackers.growth import track_update
from flake8_jax.semantics.trackers.host_buffers import (
    FILLING_METHODS,
    track_converted,
    track_kept_result,
    track_overwritten,
    track_view,
)
from flake8_jax.semantics.trackers.late_binding import track_stored
from flake8_jax.semantics.trackers.steps import TrainingSteps, keep
from flake8_jax.semantics.trackers.unrolling import track_variety
from flake8_jax.semantics.trackers.variation import vary_method


@methods_of(ListValue)
def _list_method(m: Machine, base: ListValue, name: str, at: Call) -> Value:
    _emit_container(m, name, base, at)
    if name in ("index", "count") and at.args.values:
        _emit_search(m, at.frame, at.node, base, at.args.values[0])
    if name == "sort":
        emit_order(m, at.frame, at.node, "sorted", Arguments([base], {"key": at.args.kwargs.get("key", NONE)}))
    return list_method(m, at, base, name)


@methods_of(DictValue)
def _dict_method(m: Machine, base: DictValue, name: str, at: Call) -> Value:
    args = at.args
    _emit_container(m, name, base, at)
    if name in ("get", "pop", "setdefault") and args.values and args.nodes:
        emit_hash(m, at.frame, args.nodes[0] or at.node, args.values[0], "dict-lookup")
    return dict_method(m, at, base, name)


@methods_of(AtValue)
def _at_method(m: Machine, base: AtValue, name: str, at: Call) -> Value:
    """``x.at[i].set(y)``, ``x.at[i].get()``."""
    if name == "get":
        inputs = [v for v in (base.base, base.index) if v is not None]
        if m.trackers[Captures].constants:
            embed(m, inputs)
        return Array(result_level(m, inputs), getattr(base.base, "dtype", ""))
    if m.trackers[Captures].constants:
        embed(m, (base.base, *at.args.values))
    result = at_update(m, base, tuple(at.args.values))
    if m.path.loops:
        track_update(m, at.frame, at.node, base.base, result)
    return result


@methods_of(HostArray)
def _host_array_method(m: Machine, base: HostArray, name: str, at: Call) -> Value:
    if name == "item":
        return Static("")
    if name == "tolist":
        return listed(base)
    if name in FILLING_METHODS:
        track_overwritten(m, at.frame, at.node, base)
    made = HostArray(base.dtype, size=size_of_method(base, name, at.args.values))
    if name in ("astype", "copy", "clip", "round"):
        made.length = base.length
    vary_method(m, name, base, made)
    if name == "astype":
        track_converted(m, [*at.args.values, *at.args.kwargs.values()], made)
    elif name in ("reshape", "view", "ravel", "transpose", "squeeze"):
        track_view(m, base, made)
    return made


@methods_of(TupleValue)
def _tuple_method(m: Machine, base: TupleValue, name: str, at: Call) -> Value:
    if name == "_replace":
        return replaced(m, base, at.args)
    if name in ("index", "count"):
        if at.args.values:
            _emit_search(m, at.frame, at.node, base, at.args.values[0])
        return Static("int")
    if name == "_asdict":
        return DictValue(dict(zip(base.names, base.elts, strict=False)), made_in=m.path.mode.trace)
    return Unknown(name)


@methods_of(Instance)
def _instance_method(m: Machine, base: Instance, name: str, at: Call) -> Value:
    """``replace`` of a class that a library makes a dataclass."""
    return replaced(m, base, at.args) if name == "replace" else Unknown(name)


@methods_of(Const, Static)
def _text_method(m: Machine, base: Const | Static, name: str, at: Call) -> Value:
    """A method of a string, a number or a set."""
    args = at.args
    if isinstance(base, Static) and base.kind == "set":
        _emit_container(m, name, base, at)
    if name == "format" and m.bus.wants(Formatting):
        _emit_format(m, base, at)
    if isinstance(base, Static) and base.kind not in ("str", ""):
        return Static("")
    held = tuple(v for v in (*args.values, *args.kwargs.values()) if isinstance(v, (Array, Tree)))
    result = string_method(name)
    return Static("str", held) if name == "format" and isinstance(result, Static) else result


# --- what rules hear of them ------------------------------------------------------------------------------

_PUTTING = frozenset({"append", "extend", "insert", "appendleft", "extendleft", "add", "update", "setdefault"})
_TAKING = frozenset({"pop", "popleft", "popitem", "remove", "discard", "clear"})


def _emit_container(m: Machine, name: str, base: Value, at: Call) -> None:
    """Tell the rules that a list, dict or set is changed that is older than the running trace."""
    if name not in _PUTTING and name not in _TAKING:
        return
    put = _put(name, at.args) if name in _PUTTING else None
    if put is not None:
        track_kept(m, put)
        track_stored(m, put)
        track_kept_result(m, put)
        if m.trackers[TrainingSteps].taken is not None:
            keep(m, put)
    if not m.path.mode.staged:
        if put is not None and name != "setdefault":
            track_contents(m, at.frame, at.node, base, put)
    elif put is not None:
        emit_change(m, Change(at.frame, at.node, "method", base, put, name))
    else:
        undo_changes(m, base)


def _put(name: str, args: Arguments) -> Value:
    """What goes into the container."""
    values = [*(args.values[1:] if name in ("insert", "setdefault") else args.values), *args.kwargs.values()]
    return values[0] if len(values) == 1 else TupleValue(tuple(values))


def _emit_search(m: Machine, frame: Frame, node: Any, base: Value, item: Value) -> None:
    """``[1, 2].index(x)`` compares, and asks for the truth of each comparison."""
    elements = known_elements(base) or ()
    if is_traced_array(item) and any(e is not item for e in elements):
        test_truth(m, frame, item, "in", node, node)
    elif not isinstance(item, (Array, Tree, Unknown)):
        traced = [e for e in elements if is_traced_array(e)]
        if traced:
            test_truth(m, frame, traced[0], "in", node, node)


def _emit_format(m: Machine, base: Value, at: Call) -> None:
    """``"{:.2f}".format(x)``: a field with a spec asks what fills it for its value."""
    args = at.args
    if m.path.loops and m.path.mode.compiled and any(type(v) is Static for v in (*args.values, *args.kwargs.values())):
        track_variety(m)
    if not isinstance(base, Const) or not isinstance(base.value, str):
        return
    for value, spec in _fields(base.value, args):
        if isinstance(value, (Array, Tree)) and holds_tracer(value, GRAD):
            m.bus.emit(Formatting(m.path.context(at.frame.scope), at.node, value, "format-method", spec))


def _fields(text: str, args: Arguments) -> Iterator[tuple[Value | None, str]]:
    """The fields of a format string that have a spec and convert nothing first: what fills each, and the spec."""
    try:
        fields = list(string.Formatter().parse(text))
    except ValueError:
        return
    position = 0
    for _text, name, spec, conversion in fields:
        if name is None:
            continue
        value: Value | None = None
        if name == "" or name.isdigit():
            index = position if name == "" else int(name)
            position += name == ""
            value = args.values[index] if index < len(args.values) else None
        elif name.isidentifier():
            value = args.kwargs.get(name)
        if spec and not conversion:
            yield value, spec
