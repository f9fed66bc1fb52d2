"""Draws with the keys that Flax linen and Haiku keep for their modules, under a ``vmap`` of JAX itself.

Vocabulary
----------
kept key    the library takes it from the key of ``apply``, counts the draws, and so gives each draw a new one.
plain       a transform of JAX, which these counters do not know of: the batch elements of its ``vmap`` all draw with one key.
network     a function that Haiku transformed, while ``init`` or ``apply`` runs it.

This was run on Flax 0.12.8 and Haiku 0.0.17. Limitations: layers other than ``nn.Dropout`` that draw, such as those for
attention; networks and modules whose code jaxlint does not see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from flake8_jax.core import ir
from flake8_jax.semantics.domain.classes import mro_of
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.values import Const, ExternalInstance, Instance, known_elements, site_of
from flake8_jax.semantics.events.shared_draws import SharedDraw
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flake8_jax.semantics.domain.arguments import Call
    from flake8_jax.semantics.domain.scopes import Frame
    from flake8_jax.semantics.domain.stack import Link
    from flake8_jax.semantics.domain.values import ExternalMethod, FunctionValue, Site, Value
    from flake8_jax.semantics.machine.core import Machine

Library: TypeAlias = Literal["flax", "haiku"]
_PLAIN = frozenset({"jax.vmap", "jax.pmap"})
_DROPOUT = "flax.linen.Dropout"
_BASES = {"flax": "flax.linen.Module", "haiku": "haiku.Module"}
_RUNNING = frozenset({"apply", "init", "init_with_output"})
"""Methods that give a module a key of its own."""


class Networks(Tracker):
    """The networks of Haiku that run, and the draws with kept keys. depths: how many links the call stack had at the start
    of each network. draws: those under a ``vmap``, so that a remembered run that is done again draws again."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.depths: list[int] = []
        self.draws: list[tuple[Site, Library]] = []

    def enter(self) -> list[int]:
        depths, self.depths = self.depths, []
        return depths

    def leave(self, saved: list[int], *, finished: bool) -> None:
        self.depths = saved

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> int:
        return len(self.draws)

    def since(self, mark: int, run: FinishedRun) -> list[tuple[Site, Library]] | None:
        return self.draws[mark:] or None

    def replay(self, record: list[tuple[Site, Library]], replay: Replay) -> None:
        for draw, library in record:
            _emit(self.m, draw, library)


def emit_dropout(m: Machine, func: ExternalInstance, at: Call) -> None:
    """An object of a library class is called."""
    if func.cls != _DROPOUT or not m.path.mode.mapped_axes or not m.bus.wants(SharedDraw):
        return
    args = at.args
    off = args.kwargs.get("deterministic", args.values[1] if len(args.values) > 1 else func.slots.get("deterministic"))
    broadcast = func.slots.get("broadcast_dims")
    is_plain = broadcast is None or known_elements(broadcast) == ()
    if _is(off, True) or _is(func.slots.get("rate"), 0) or not is_plain or "rng" in args.kwargs or len(args.values) > 2:
        return
    _emit(m, site_of(at.frame.scope, at.node), "flax")


def emit_made_key(m: Machine, func: ExternalMethod, at: Call) -> None:
    """A method that a library class gives is called: ``self.make_rng("noise")`` takes the next key of a module."""
    if func.name == "make_rng" and m.path.mode.mapped_axes and m.bus.wants(SharedDraw) and at.node is not None:
        _emit(m, site_of(at.frame.scope, at.node), "flax")


def emit_next_key(m: Machine, frame: Frame, node: Any) -> None:
    """A network or a module of Haiku takes its next key."""
    if m.path.mode.mapped_axes and m.bus.wants(SharedDraw) and node is not None:
        _emit(m, site_of(frame.scope, node), "haiku")


def _emit(m: Machine, draw: Site, library: Library) -> None:
    if not m.path.mode.mapped_axes:
        return
    axis = m.path.mode.mapped_axes[-1]
    outside, inside = m.path.stack[: axis.depth], m.path.stack[axis.depth :]
    if any(isinstance(link.node, ir.Call) and last_name(link.node.func) in _RUNNING for link in inside):
        return
    m.trackers[Networks].draws.append((draw, library))
    if axis.transform not in _PLAIN:
        return
    # Haiku gives keys to networks alone: one that does not begin inside of the map is around it
    is_around = library == "haiku" and all(depth <= axis.depth for depth in m.trackers[Networks].depths)
    if is_around or any(_are_modules(m, outside, _BASES[library])):
        context = m.path.context(axis.site.scope)
        m.bus.emit(SharedDraw(context, axis.site, draw, axis.transform, library))


def _are_modules(m: Machine, links: list[Link], base: str) -> Iterator[bool]:
    """Of each link, whether it leads into a method of a module."""
    for link in links:
        cls = link.receiver.cls if isinstance(link.receiver, Instance) else None
        owners = mro_of(cls) if cls is not None and not cls.has_unknown_base else ()
        yield any(m.program.knowledge.is_subclass(name, base) for owner in owners for name in owner.external_bases)


def _is(value: Value | None, constant: object) -> bool:
    return isinstance(value, Const) and value.value == constant
