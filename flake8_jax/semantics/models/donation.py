"""Calls of compiled functions that take over the buffers of arguments (see ``buffers``).

Vocabulary
----------
room        a result of the size of the argument. Without one XLA cannot use the buffer, and the array stays.

Facts checked on JAX 0.10: negative ``donate_argnums`` donate nothing; neither do arguments that the function never
reads, nor calls while JAX traces. A position also donates the keyword argument of that name, and a name the position.

Limitations: ``equinox.filter_jit(donate=…)``, nnx, compiled objects (``lower().compile()``), shardings, sizes: a result
of another rank is taken to have no room, one of unknown rank to have some perhaps. An error needs one that surely has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flake8_jax.core import ir
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.arguments import Call
from flake8_jax.semantics.domain.code import names_read
from flake8_jax.semantics.domain.signatures import constants_of, parameter_names, static_parameters, underlying
from flake8_jax.semantics.domain.trees import leaves_of
from flake8_jax.semantics.domain.values import (
    Array,
    Const,
    FunctionValue,
    HostArray,
    TransformedValue,
    Tree,
    Unknown,
    Value,
    canonical_key,
    copy_with_new_identity,
    known_elements,
)
from flake8_jax.semantics.events.events import DonatedUse, UndonatedStep
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import CALL
from flake8_jax.semantics.models.transforms import call_transformed
from flake8_jax.semantics.trackers.buffers import donated_leaves, emit_read, is_donated
from flake8_jax.semantics.trackers.freshness import track_called
from flake8_jax.semantics.trackers.keys import DONATE, Keys, Touch, Use, current_path
from flake8_jax.semantics.trackers.per_call import track_called_by_maker
from flake8_jax.semantics.trackers.reads import Reads
from flake8_jax.semantics.trackers.steps import track_step
from flake8_jax.semantics.trackers.unjitted import track_uncompiled

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.arguments import Arguments


def _call(m: Machine, tv: TransformedValue, at: Call) -> Value:
    """Call ``jax.jit(f, donate_argnums=…)`` and the like."""
    track_called(m, tv, at.frame.scope, at.node)
    track_called_by_maker(m, tv)
    if m.path.mode.staged or m.path.mode.presumed or not isinstance(at.node, ir.Call):
        return call_transformed(m, tv, at)
    named = _by_parameter(tv, at.args)
    if m.trackers[Reads].matter and tv.fact.tracing != "none":
        _read_arguments(m, tv, at, named)
    result = call_transformed(m, tv, at)
    track_uncompiled(m, tv, at.node)
    if tv.fact.donates and tv.options and tv.name in _DONATING and m.bus.wants(DonatedUse):
        if _donate(m, tv, at, named, result):
            return _renewed(m, result)
    if m.path.loops and m.bus.wants(UndonatedStep) and _may_donate(tv, at):
        track_step(m, at.frame, at.node, tv, _split(tv, named), result)
    return result


def _split(tv: TransformedValue, named: list[tuple[str, Value]]) -> list[tuple[str, Value]]:
    """The arguments that lie on the devices as the results do: ``pmap`` copies to all devices what it does not split."""
    axes = tv.options.get("in_axes") if tv.name == "jax.pmap" else None
    if axes is None:
        return named
    if isinstance(axes, Const):
        return named if axes.value is not None else []
    entries = known_elements(axes) or ()
    return [
        argument
        for argument, axis in zip(named, entries, strict=False)
        if isinstance(axis, Const) and axis.value is not None
    ]


def _may_donate(tv: TransformedValue, at: Call) -> bool:
    """A compiled function that donates nothing, though it could."""
    donates = any(option in tv.options for option in (*tv.fact.donates, "**"))
    return tv.name in _WORTH_DONATING and at.args.star is None and not donates


CALL[TransformedValue] = _call
_WORTH_DONATING = frozenset({"jax.jit", "jax.pmap"})
_DONATING = frozenset({"jax.jit", "jax.pmap", "haiku.jit", "equinox.filter_jit"})
_BY_WORD = {"all": 0, "warn": 0, "all-except-first": 1, "warn-except-first": 1}
"""From which position on ``equinox.filter_jit(f, donate=…)`` donates arguments."""


def _by_parameter(tv: TransformedValue, args: Arguments) -> list[tuple[str, Value]]:
    """The arguments with the names of their parameters, empty where those are not known."""
    names = parameter_names(tv.operand) or []
    named = [(names[i] if i < len(names) else "", value) for i, value in enumerate(args.values)]
    return [*named, *args.kwargs.items()]


def _never_read(tv: TransformedValue, parameter: str) -> bool:
    """The function does not so much as name the parameter: JAX drops such an argument."""
    function = underlying(tv.operand)
    return isinstance(function, FunctionValue) and bool(parameter) and parameter not in names_read(function.fn.body)


def _read_arguments(m: Machine, tv: TransformedValue, at: Call, named: list[tuple[str, Value]]) -> None:
    """The call reads its arguments, which may have been donated before."""
    statics = static_parameters(tv) if tv.fact.statics else (set(), set())
    for parameter, value in named:
        if statics is None or parameter in statics[1]:
            continue
        donated = next(donated_leaves(m, value), None)
        if donated is not None and not _never_read(tv, parameter):
            part, leaf, use = donated
            emit_read(m, Touch(at.frame, at.node, part), leaf, use)


def donated_parameters(tv: TransformedValue) -> tuple[set[int], set[str]]:
    """Positions and names of the arguments that a compiled function takes over; none where the options are unknown."""
    signature = parameter_names(tv.operand)
    positions: set[int] = set()
    names: set[str] = set()
    word = tv.options.get("donate")
    if isinstance(word, Const) and word.value in _BY_WORD:
        positions = set(range(_BY_WORD[word.value], len(signature or ())))
    for option in tv.fact.donates:
        for constant in constants_of(tv.options.get(option)) or []:
            if isinstance(constant, str) and option != "donate":
                names.add(constant)
            elif isinstance(constant, int) and constant >= 0:
                positions.add(constant)
    if signature is not None:
        names |= {signature[i] for i in positions if i < len(signature)}
        positions |= {i for i, name in enumerate(signature) if name in names}
    return positions, names


def _donate(m: Machine, tv: TransformedValue, at: Call, named: list[tuple[str, Value]], result: Value) -> bool:
    """Note which buffers the call takes over; whether there are any."""
    if at.args.star is not None:
        return False
    chosen = _chosen(tv, len(at.args.values), named)
    if chosen is None:
        return False
    given: list[Value] = []
    arguments: dict[int, ir.Expr | None] = {}
    kept: list[Value] = []
    for i, ((_, value), written) in enumerate(zip(named, _written(at.args, named), strict=True)):
        for leaf in leaves_of(value, individual=True):
            if i not in chosen:
                kept.append(leaf)
            elif not isinstance(leaf, HostArray) and not (tv.fact.filters and isinstance(leaf, Unknown)):
                given.append(leaf)
                arguments[id(leaf)] = written
    taken = _with_room(given, result)
    path, conditions = current_path(m, at.frame.scope, at.node), frozenset(m.path.conditions)
    uses = m.trackers[Keys].uses
    for number, (leaf, certain) in enumerate(taken):
        whole = canonical_key(leaf)
        use = Use(DONATE, path, conditions, id(at.node), argument=arguments[id(leaf)], certain=certain)
        m.trackers[Reads].matter = True
        m.journal.write(uses, whole, (*uses.get(whole, ()), use)[-6:])
        again = [*[other for other, _ in taken[:number]], *kept]
        if any(canonical_key(other) is whole for other in again):
            emit_read(m, Touch(at.frame, at.node, leaf), whole, use, same_call=True)
    return bool(taken)


def _chosen(tv: TransformedValue, count: int, named: list[tuple[str, Value]]) -> set[int] | None:
    """Which arguments are donated, the first ``count`` of them by position; None where the function donates none."""
    positions, names = donated_parameters(tv)
    if not (positions or names):
        return None
    return {
        i
        for i, (name, _) in enumerate(named)
        if (i in positions if i < count else name in names) and not _never_read(tv, name)
    }


def _renewed(m: Machine, result: Value, depth: int = 8) -> Value:
    """The result with new arrays where the function returned its arguments: JAX makes new arrays for those."""
    if isinstance(result, (Array, Tree, Unknown)):
        return copy_with_new_identity(result) if is_donated(m, result) else result
    if depth == 0 or not any(is_donated(m, leaf) for leaf in leaves_of(result)):
        return result
    return joining.map_leaves(result, lambda v: _renewed(m, v, depth - 1), m.path.mode.trace)


def _written(args: Arguments, named: list[tuple[str, Value]]) -> list[ir.Expr | None]:
    """The IR of each argument."""
    count = len(args.values)
    positional = [args.nodes[i] if i < len(args.nodes) else None for i in range(count)]
    return [*positional, *[args.keyword_nodes.get(name) for name, _ in named[count:]]]


NO_ROOM, ROOM_PERHAPS, ROOM = 0, 1, 2
"""Whether a result may take the memory of a donated leaf."""


def _with_room(given: list[Value], result: Value) -> list[tuple[Value, bool]]:
    """Those of the donated leaves, in order, for which there may be a result that takes their memory; whether there
    surely is."""
    if isinstance(result, (Unknown, Tree)):
        return [(leaf, not isinstance(leaf, Array)) for leaf in given]
    results = leaves_of(result)
    found: list[tuple[Value, bool]] = []
    for leaf in given:
        room = max(results, key=lambda r: _room(leaf, r), default=None)
        kind = _room(leaf, room) if room is not None else NO_ROOM
        if room is not None and kind:
            found.append((leaf, kind == ROOM))
            if isinstance(leaf, Array) == isinstance(room, Array) or isinstance(room, Array):
                results.remove(room)
    return found


def _dtype_differs(leaf: Array, result: Array) -> bool:
    """The elements surely are of another size."""
    return leaf.dtype != result.dtype and bool({leaf.dtype, result.dtype} & {"bool", "key", "complex"})


def _room(leaf: Value, result: Value) -> int:
    """Whether the result has the size of the donated leaf."""
    if not isinstance(result, Array):
        return ROOM if type(leaf) is type(result) else ROOM_PERHAPS
    if not isinstance(leaf, Array):
        return (
            ROOM_PERHAPS if result.ndim != 0 and result.dtype not in ("bool", "key") and not result.resized else NO_ROOM
        )
    if result.shaped is not None and result.shaped is canonical_key(leaf) and not _dtype_differs(leaf, result):
        return ROOM
    differ = leaf.length is not None and result.length is not None and leaf.length != result.length
    if differ or result.resized or (leaf.ndim != result.ndim and result.ndim == 0):
        return NO_ROOM
    if leaf.ndim is not None and result.ndim is not None and leaf.ndim != result.ndim:
        return NO_ROOM
    if _dtype_differs(leaf, result):
        return NO_ROOM
    return ROOM if leaf.ndim is not None and leaf.ndim == result.ndim else ROOM_PERHAPS
