"""Constant seeds in functions that eager loops call: each iteration makes the same key and draws the same numbers.

Vocabulary
----------
maker       the function that makes a key of a constant seed.
drawing     a sampler draws of such a key while the maker runs.
place       the expression in the body of the loop that leads to the maker.

A seed in the body of the loop itself is an event of the call alone. Limitations: loops of
comprehensions, and functions that only an unknown caller runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain.code import names_read
from flake8_jax.semantics.domain.values import site_of
from flake8_jax.semantics.events.events import Context, RepeatedSeed
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker
from flake8_jax.semantics.trackers.eagerness import is_surely_eager
from flake8_jax.semantics.trackers.freshness import hands_on

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.stack import LoopState
    from flake8_jax.semantics.domain.values import Recipe, Site, Value
    from flake8_jax.semantics.machine.core import Machine

_FEW = 10
"""So few iterations, in all, may each be an experiment of its own."""
_MAX_DRAWINGS = 16


class Drawing(msgspec.Struct, frozen=True, eq=False):
    """A draw of a key that ``maker`` has made at ``seed``. context: of the draw."""

    seed: Site
    maker: ir.Function
    context: Context


class RepeatedSeeds(Tracker):
    """log: all drawings since the entry began. literal: where keys are made of seeds that stand in the function itself."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.wanted = m.bus.wants(RepeatedSeed)
        self.log: list[Drawing] = []
        self.literal: set[tuple[str, int]] = set()

    def enter(self) -> list[Drawing]:
        saved, self.log = self.log, []
        return saved

    def leave(self, saved: list[Drawing], *, finished: bool) -> None:
        self.log = saved

    def call(self, function: Any, bound: dict[str, Value]) -> int:
        return len(self.log)

    def since(self, mark: int, run: FinishedRun) -> tuple[Drawing, ...] | None:
        return tuple(self.log[mark : mark + _MAX_DRAWINGS]) if len(self.log) > mark else None

    def replay(self, record: tuple[Drawing, ...], replay: Replay) -> None:
        if not self.m.path.mode.staged:
            for drawing in record:
                site = site_of(replay.scope, replay.node) if replay.node is not None else None
                self.track(drawing, site, replay.node)

    def track(self, drawing: Drawing, site: Site | None = None, at: ir.Node | None = None) -> None:
        """The running iterations come to a drawing, by the call ``at``; without one, it happens in the function that runs."""
        self.log.append(drawing)
        path = self.m.path
        is_running = any(link.fn is drawing.maker for link in path.stack)
        count = 1
        for loop in reversed(path.loops):
            if loop.guards or not isinstance(loop.node, (ir.For, ir.While)):
                return
            count *= loop.trip_count or _FEW
            inside = path.stack[loop.links :]
            if (at is None or is_running) and not any(link.fn is drawing.maker for link in inside):
                return  # the loop stands in the maker, or in what the maker calls
            place = inside[0].node if inside else at
            if loop.unrolled or count < _FEW or place is None:
                continue
            handed_on = hands_on(loop.node, place)
            if is_surely_eager(self.m, loop) and (handed_on or _goes_on(loop, place)):
                called = site_of(inside[0].scope, place) if inside else site
                self.m.bus.emit(RepeatedSeed(drawing.context, drawing.seed, drawing.maker, called, handed_on))
            return


def _goes_on(loop: LoopState, place: ir.Node) -> bool:
    """The loop counts or waits for something, and does the same in each iteration. A call that gets what the loop goes over, a
    size or a setting, computes something else each time, under numbers that are meant to be equal."""
    if isinstance(loop.node, ir.For):
        return loop.counting and not set(names_read(loop.node.target)) & set(names_read(place))
    return True


def track_seeded(m: Machine, recipe: Recipe) -> None:
    """Eager code draws of a key that was made of a seed."""
    tracker = m.trackers[RepeatedSeeds]
    if not tracker.wanted or recipe.function is None or m.path.mode.staged or m.path.mode.presumed or not m.path.stack:
        return
    site = recipe.node
    if (site.scope.path, site.start) in tracker.literal:
        tracker.track(Drawing(site, recipe.function, m.path.context(site.scope)))
