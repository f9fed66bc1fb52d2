"""NumPy arrays that JAX may still read when code writes to them.

JAX dispatches a computation and returns at once. On the CPU it reads the memory of a NumPy argument while it computes, and
``device_put`` may keep that memory as its own. JAX converts an array of 64-bit numbers first, so it has a copy of that one.

Vocabulary
----------
buffer      a NumPy array made here with a dtype that JAX takes as it is (``narrow``). A view is the buffer that it shows.
given       passed to JAX. *raced*: until the program waits for the device. *shared*: as long as the result is kept.
wait        something that may have to wait for a result. Which one is not asked: then the device is done with all of them.
action      one of these. Those of a remembered run are done again to the buffers of today, where they can be found.

Limitations: arrays of unknown dtype, arrays that the project does not make, buffers inside of objects, calls of unknown
functions, which may wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from flake8_jax.core import ir
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.values import (
    MISSING,
    Const,
    DictValue,
    External,
    ExternalInstance,
    FunctionValue,
    HostArray,
    Instance,
    ListValue,
    TupleValue,
    Value,
    contents_of,
    site_of,
)
from flake8_jax.semantics.events.events import OverwrittenBuffer
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker

Kind = Literal["raced", "shared"]
RACING = frozenset({"jax.numpy.asarray", "jax.numpy.array"})
SHARING = frozenset({"jax.device_put", "jax.numpy.from_dlpack", "jax.dlpack.from_dlpack"})
_NARROW = frozenset({
    "float32", "float16", "bfloat16", "int32", "int16", "int8", "uint32", "uint16", "uint8", "bool", "bool_", "single", "half",
    "intc", "short", "byte", "ubyte", "complex64", "csingle", "f4", "f2", "i4", "i2", "i1", "u4", "u2", "u1",
})  # fmt: skip
"""Dtypes that JAX does not convert."""
_MAKING = frozenset(
    f"numpy.{name}"
    for name in ("zeros", "ones", "empty", "full", "array", "arange", "linspace", "frombuffer", "fromiter", "zeros_like",
                 "ones_like", "empty_like", "full_like", "ascontiguousarray", "copy")
)  # fmt: skip
_LIKE = frozenset({"numpy.zeros_like", "numpy.ones_like", "numpy.empty_like", "numpy.full_like", "numpy.copy"})
_FILLING = frozenset({"numpy.copyto", "numpy.put", "numpy.place", "numpy.putmask", "numpy.fill_diagonal"})
FILLING_METHODS = frozenset({"fill", "sort", "put", "partition", "resize"})
MAX_ACTIONS = 200


class Given(NamedTuple):
    """A buffer was given to JAX at the node ``node`` (an identity), which made ``result`` (another one)."""

    node: int
    kind: Kind
    result: int


class Spot(NamedTuple):
    """An expression. argument: that of the buffer in a call, where it is one."""

    scope: ModuleScope
    node: Any
    argument: ir.Expr | None


class Action(NamedTuple):
    """verb: what happens to the buffer of that identity (0: to all)."""

    verb: Literal["give", "write", "wait"]
    buffer: int
    node: int
    kind: Kind
    result: int


Address = tuple[Any, ...]
"""Where a later call finds a buffer: an argument, a slot of an input, or the buffer itself."""


class HostBuffers(Tracker):
    """given: the state on the running path, by the identity of the buffer. narrow: buffers, with their number. views: the
    buffers that views show. kept: results that are in a container or an attribute. log: actions of the entry."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.given: dict[int, frozenset[Given]] = {}
        self.narrow: dict[int, tuple[HostArray, int]] = {}
        self.views: dict[int, tuple[HostArray, int]] = {}
        self.kept: set[int] = set()
        self.results: list[Value] = []
        self.spots: dict[int, Spot] = {}
        self.log: list[Action] = []

    def enter(self) -> Any:
        saved = self.given, self.log
        self.given, self.log = {}, []
        return saved

    def leave(self, saved: Any, *, finished: bool) -> None:
        self.given, self.log = saved

    def begin(self) -> None:
        """Another method of the same object is entered: it is not known how long after the ones before."""
        self.given, self.log = {}, []

    def owns(self, slots: dict[Any, Any]) -> bool:
        return slots is self.given

    def merge(self, contents: list[Any]) -> Any:
        """What any of the paths has given."""
        return frozenset().union(*[given for given in contents if given is not MISSING])

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> tuple[int, int, dict[str, Value]]:
        return len(self.log), len(self.narrow), bound

    def since(
        self, mark: tuple[int, int, dict[str, Value]], run: FinishedRun
    ) -> tuple[tuple[Address, Action], ...] | None:
        begin, older, bound = mark
        actions = list(dict.fromkeys(self.log[begin:]))
        if not actions or len(actions) > MAX_ACTIONS:
            return None
        addresses = dict(_addresses(bound, run.inputs))
        record: list[tuple[Address, Action]] = []
        for action in actions:
            number = self.narrow[action.buffer][1] if action.buffer else -1
            address = addresses.get(action.buffer, ("itself",) if number < older else None)
            if address is not None:
                record.append((address, action))
        return tuple(record) or None

    def replay(self, record: tuple[tuple[Address, Action], ...], replay: Replay) -> None:
        path, bound = self.m.path, replay.outside[-1].bound or {}
        stack, path.stack = path.stack, list(replay.outside)
        for address, action in record:
            buffer = action.buffer if address[0] == "itself" else self.root(_found(address, bound, replay.inputs))
            if buffer or not action.buffer:
                self.act(action._replace(buffer=buffer))
        path.stack = stack

    def root(self, value: Value | None) -> int:
        """The buffer that a value is or shows; 0 for another value."""
        number = self.views[id(value)][1] if id(value) in self.views else id(value)
        return number if number in self.narrow else 0

    def act(self, action: Action) -> None:
        """It happens on the running path."""
        self.log.append(action)
        known = self.given.get(action.buffer, frozenset())
        if action.verb == "give":
            self.m.journal.write(self.given, action.buffer, known | {Given(action.node, action.kind, action.result)})
        elif action.verb == "wait":
            for buffer, given in list(self.given.items()):
                left = frozenset([g for g in given if g.kind == "shared" and g.result in self.kept])
                if left != given:
                    self.m.journal.write(self.given, buffer, left)
        elif known:
            self.emit(action.node, min(known, key=lambda g: self.spots[g.node].node.start))

    def emit(self, node: int, given: Given) -> None:
        spot, taker = self.spots[node], self.spots[given.node]
        self.m.bus.emit(
            OverwrittenBuffer(
                self.m.path.context(spot.scope), spot.node, site_of(taker.scope, taker.node), taker.argument,
                given.kind == "shared" and given.result in self.kept,
            )
        )  # fmt: skip


def _addresses(bound: dict[str, Value], inputs: list[Any]) -> Iterator[tuple[int, Address]]:
    for i, value in enumerate(inputs):
        if isinstance(value, (Instance, ListValue, DictValue, ExternalInstance)):
            for slot, part in value.slots.items():
                if isinstance(part, HostArray):
                    yield id(part), ("slot", i, slot)
    for name, value in bound.items():
        if isinstance(value, HostArray):
            yield id(value), ("argument", name)


def _found(address: Address, bound: dict[str, Value], inputs: list[Any]) -> Value | None:
    if address[0] == "argument":
        return bound.get(address[1])
    found = inputs[address[1]].slots.get(address[2])
    return found if isinstance(found, Value) else None


# --- buffers ---------------------------------------------------------------------------------------------


def track_made_by(m: Machine, name: str, values: list[Value], bound: dict[str, Value], result: Value) -> None:
    """A function of NumPy has made an array."""
    if isinstance(result, HostArray) and name in _MAKING and m.bus.wants(OverwrittenBuffer):
        buffers, dtype = m.trackers[HostBuffers], bound.get("dtype")
        if _is_narrow(dtype) or (dtype is None and name in _LIKE and values and buffers.root(values[0])):
            buffers.narrow[id(result)] = result, len(buffers.narrow)


def track_converted(m: Machine, values: list[Value], result: Value) -> None:
    """``x.astype(dtype)``."""
    if isinstance(result, HostArray) and values and _is_narrow(values[0]) and m.bus.wants(OverwrittenBuffer):
        buffers = m.trackers[HostBuffers]
        buffers.narrow[id(result)] = result, len(buffers.narrow)


def track_view(m: Machine, base: HostArray, view: HostArray) -> None:
    """A part of an array is taken that shares its memory."""
    buffers = m.trackers[HostBuffers]
    root = buffers.root(base)
    if root:
        buffers.views[id(view)] = view, root


def is_buffer(m: Machine, value: Value) -> bool:
    return m.trackers[HostBuffers].root(value) > 0


def _is_narrow(dtype: Value | None) -> bool:
    if isinstance(dtype, External):
        return dtype.name.rpartition(".")[2] in _NARROW
    return isinstance(dtype, Const) and isinstance(dtype.value, str) and dtype.value.lstrip("<>=|") in _NARROW


# --- what happens to them --------------------------------------------------------------------------------


def track_given(
    m: Machine, frame: Frame, node: Any, values: Iterable[tuple[Value, Any]], result: Value, kind: Kind = "raced"
) -> None:
    """JAX gets values, each with the IR of the argument."""
    if m.path.mode.staged or m.path.mode.presumed or node is None or not m.trackers[HostBuffers].narrow:
        return
    buffers = m.trackers[HostBuffers]
    for value, written in values:
        for part in contents_of(value) or (value,):
            buffer = buffers.root(part)
            if buffer:
                buffers.results.append(result)
                buffers.spots[id(node)] = Spot(frame.scope, node, written if part is value else None)
                buffers.act(Action("give", buffer, id(node), kind, id(result)))


def track_overwritten(m: Machine, frame: Frame, node: Any, value: Value) -> None:
    """An array is written in place."""
    buffers = m.trackers[HostBuffers]
    buffer = buffers.root(value)
    if buffer and node is not None and not m.path.mode.staged and not m.path.mode.presumed:
        buffers.spots[id(node)] = Spot(frame.scope, node, None)
        buffers.act(Action("write", buffer, id(node), "raced", 0))


def track_filled_by(
    m: Machine, frame: Frame, node: Any, name: str, values: list[Value], kwargs: dict[str, Value]
) -> None:
    """A function of NumPy may write to an argument."""
    if name in _FILLING and values:
        track_overwritten(m, frame, node, values[0])
    if "out" in kwargs:
        track_overwritten(m, frame, node, kwargs["out"])


def track_waited(m: Machine) -> None:
    """The program may wait for the device."""
    if not m.path.mode.staged:
        m.trackers[HostBuffers].act(Action("wait", 0, 0, "raced", 0))


def track_kept_result(m: Machine, value: Value) -> None:
    """A value is put into a container or an attribute."""
    buffers = m.trackers[HostBuffers]
    if buffers.narrow:
        parts = value.elts if isinstance(value, TupleValue) else (value,)
        buffers.kept.update([id(part) for part in parts])
