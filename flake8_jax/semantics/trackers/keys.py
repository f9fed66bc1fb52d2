"""PRNG keys: which code uses which key, where, and whether the key was used before.

Vocabulary
----------
use         code uses up a key: a sampler draws from it, or ``split`` makes new keys from it. ``fold_in`` makes a key but
            leaves its argument usable. ``key_data`` and similar functions only read the key. ``clone`` returns an equal key
            on purpose.
path        the call stack of a use: one place for every function, outermost first. Two uses collide in the first function
            in which their places differ, because there a reader sees that the key is used twice.
collision   a second use of one key, on a path that is possible after the first use.

Calls of unknown functions are uses only in previews (see ``key_conventions``). Limitations: keys in sets, equal data in
``fold_in``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal, NamedTuple

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain.boundary import NOT_TRAINING, key_behind, key_taken
from flake8_jax.semantics.domain.code import statement_at
from flake8_jax.semantics.domain.conditions import are_mutually_exclusive, is_of_branch, normal_condition
from flake8_jax.semantics.domain.joining import members_of
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.stack import Link, LoopState, MappedAxis, Place, Watched
from flake8_jax.semantics.domain.values import (
    MISSING,
    Array,
    Condition,
    Const,
    DictValue,
    FunctionValue,
    GeneratorValue,
    Instance,
    ListValue,
    Opaque,
    Room,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    canonical_key,
    held_by,
    part_of,
    site_of,
)
from flake8_jax.semantics.events.events import Intent, KeyEffect, KeyUse, SharedKey
from flake8_jax.semantics.events.facts import STARTING
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.limits import MAX_SETTLED_LOOPS
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker
from flake8_jax.semantics.trackers.dead_draws import is_dead_draw, is_thrown_away
from flake8_jax.semantics.trackers.iterations import is_update
from flake8_jax.semantics.trackers.key_arguments import argument_for, spelled
from flake8_jax.semantics.trackers.key_caches import is_filled_once
from flake8_jax.semantics.trackers.key_children import are_apart, are_apart_by_chance, gives_nothing, is_other_child
from flake8_jax.semantics.trackers.key_choices import exclude
from flake8_jax.semantics.trackers.key_comparisons import iterations_are_compared, results_are_compared
from flake8_jax.semantics.trackers.key_intent import Drawn, intent_of, is_default, is_same_start, undo_each_other
from flake8_jax.semantics.trackers.key_making import track_drawn
from flake8_jax.semantics.trackers.key_mirrors import are_meant_equal, is_scaled_back, is_sliced_by_turns
from flake8_jax.semantics.trackers.key_names import NamesOfBodies, body_around, names_bound
from flake8_jax.semantics.trackers.key_networks import start_two_networks
from flake8_jax.semantics.trackers.key_paths import is_captured, is_key, may_be_key
from flake8_jax.semantics.trackers.key_streams import Drawing, shared_by

DONATE: Final = "donate"
"""Effect of a use that is none of a key: the array was donated (see ``buffers``)."""
FOLD: Final = "fold_in"
"""In place of an unknown callee: ``fold_in`` leaves its key usable, but gives the keys of ``split`` again."""


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a key, as it is remembered. argument: the IR of a donated argument. draws: what comes out are numbers,
    neither other keys nor an object that starts with them. stream: which random bits of the key those come from. certain:
    of a donation, that a result takes the memory. inner: the rest of the path of a use in a remembered run. carried: it was
    in the iteration before, whose key came back (see ``key_carries``). conventional, given, folds: as in
    ``Usage``. steps_untrained: how many of the last steps are in a function that is set not to train."""

    effect: KeyEffect | Literal["donate"]
    path: tuple[Place, ...]
    conditions: frozenset[Condition]
    call: int
    sampler: str = ""
    argument: Any = None
    draws: bool = False
    stream: str = ""
    certain: bool = True
    inner: tuple[Place, ...] = field(default=(), compare=False)
    carried: bool = field(default=False, compare=False)
    conventional: str = ""
    given: str = ""
    folds: bool = False
    steps_untrained: int = 0

    @property
    def last(self) -> Place:
        """Where the key itself is used."""
        return self.inner[-1] if self.inner else self.path[-1]

    @property
    def summary(self) -> tuple[str]:
        return (self.effect,)


UseOfInput = tuple[int, tuple[str, ...], tuple[Use, ...]]
"""Uses of a key that was taken out of an input: its number, the steps to the key, the uses."""


KEY_USED: Final[list[Callable[[Machine, Value, Use], None]]] = []
"""What other trackers do where a key is used, here or in a remembered run that is done again."""


class Touch(NamedTuple):
    """A key is used, or an array is read: where, and which."""

    frame: Frame
    node: Any
    value: Value


class Usage(NamedTuple):
    """How a key is used up. argument: the IR of the key. sampler, draws, stream: as in ``Use``. conventional: the unknown
    callee, which by convention draws from the key. given: a fact without which it does not. folds: like Flax, it folds
    names into the key before it draws, so it shares numbers with itself alone, in the next iteration."""

    effect: KeyEffect
    argument: ir.Expr | None
    sampler: str = ""
    draws: bool = False
    stream: str = ""
    conventional: str = ""
    given: str = ""
    folds: bool = False


class Keys(Tracker):
    """conventions: what unknown callees get counts as used. uses: of each key, by its canonical value. axes_met: vmaps whose
    identity a remembered run knows. reported: how often further uses of a key were reported, by the key, its first use and
    the cell or file. stand_for: the key from before a loop, by the one at its head, which is that or another (see
    ``key_carries``); started_as: also where that one was used in the iteration before."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.conventions = False
        self.uses: dict[Value, Any] = {}
        self.reported: dict[tuple[Value, int, int, ModuleScope, int], int] = {}
        self.axes_met: set[MappedAxis] = set()
        self.names = NamesOfBodies()
        self.stand_for: dict[Value, Value] = {}
        self.started_as: dict[Value, Value] = {}

    def owns(self, slots: dict[Any, Any]) -> bool:
        return slots is self.uses

    def merge(self, contents: list[Any]) -> Any:
        """Key uses that may have happened on any of the paths."""
        merged: list[Any] = []
        for uses in contents:
            if uses is not MISSING:
                merged += [u for u in uses if u not in merged]
        return tuple(merged[:6])

    def settle(self, mark: int, result: Value) -> None:
        if self.uses:
            settle_splits(self.m, mark, result)

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> int:
        """How many steps of a path lead to what the function does."""
        return sum(link.node is not None for link in self.m.path.stack)

    def since(self, mark: int, run: FinishedRun) -> list[UseOfInput] | None:
        """The uses of keys that came with the inputs."""
        written = dict.fromkeys(slot for slots, slot in run.written if slots is self.uses)
        if not written:
            return None
        index = {id(canonical_key(v)): i for i, v in enumerate(run.inputs) if isinstance(v, (Array, Opaque))}
        taken = {
            id(part): (whole, step)
            for whole in map(canonical_key, run.inputs)
            if isinstance(whole, Array) and whole.parts
            for step, part in whole.parts.items()
        }
        found: dict[tuple[int, tuple[str, ...]], tuple[Use, ...]] = {}
        for key in written:
            where = _from_input(key, index, taken)
            if where is not None:
                found[where] = tuple(as_remembered(use, mark) for use in self.uses.get(key, ()))
        return [(i, steps, uses) for (i, steps), uses in found.items()] or None

    def replay(self, record: list[UseOfInput], replay: Replay) -> None:
        m = self.m
        for i, steps, uses in record:
            key: Value = canonical_key(replay.inputs[i])
            for step in steps:
                if isinstance(key, Opaque):
                    key = part_of(key, step, partial(Unknown, step))
                elif isinstance(key, Array):
                    key = key_taken(key, step)
            if any(use.draws for use in uses):
                track_drawn(m, key)
            earlier = self.uses.get(key, ())
            here = [as_used_here(m, use, replay) for use in uses]
            m.journal.write(self.uses, key, _kept((*earlier, *here)))
            for use in here:
                _emit_used(m, key, use)

    def enter(self) -> dict[Value, Any]:
        """Two uses of a key collide only where one call path leads to both."""
        saved, self.uses = self.uses, {}
        return saved

    def leave(self, saved: Any, *, finished: bool) -> None:
        self.uses = saved


def uses_left_by_exception(m: Machine, seen: Watched) -> Watched:
    """What an exception may leave of what was written up to it. A draw that it interrupts gives no numbers, so the handler
    may draw again with the same key; a donated buffer may be gone.

    Limitation: a draw that was over when a later statement raised, and whose numbers are still used, is forgotten as well.
    """
    uses = m.trackers[Keys].uses

    def left(key: Value, contents: Any) -> Any:
        before = uses.get(key, ())
        return contents if contents is MISSING else tuple(u for u in contents if u in before or u.effect == DONATE)

    return {
        where: (slots, slot, [left(slot, one) for one in values] if slots is uses else values)
        for where, (slots, slot, values) in seen.items()
    }


MAX_USES = 6
"""So many uses of a key are remembered at most."""


def _kept(uses: tuple[Use, ...]) -> tuple[Use, ...]:
    """The first uses of a key, by which all that follow are named one defect, and the last ones."""
    if len(uses) > MAX_USES:
        uses = tuple([use for use in uses if not use.conventional])
    return uses if len(uses) <= MAX_USES else (*uses[: MAX_USES // 2], *uses[-MAX_USES // 2 :])


def _from_input(
    key: Any, index_of_key: dict[int, int], taken: dict[int, tuple[Array, str]]
) -> tuple[int, tuple[str, ...]] | None:
    """From which input, by which steps, a used key was taken. taken: the keys taken out of arrays of keys."""
    steps: list[str] = []
    value = key
    parent: Value
    while id(value) not in index_of_key:
        if id(value) in taken:
            parent, step = taken[id(value)]
        elif isinstance(value, Opaque) and value.parent is not None:
            parent, step = value.parent, value.step
        else:
            return None
        steps.append(step)
        value = canonical_key(parent)
    return index_of_key[id(value)], tuple(reversed(steps))


def as_remembered(use: Use, depth: int) -> Use:
    """A use as a remembered run keeps it: the path from the run's function on, and nothing of the values of then."""
    inner = (*use.path[depth:], *use.inner)
    return replace(use, inner=tuple(replace(place, link=_without_values(place.link)) for place in inner))


def _without_values(link: Link | None) -> Link | None:
    return link and msgspec.structs.replace(link, receiver=None, bound=None)


def as_used_here(m: Machine, use: Use, replay: Replay) -> Use:
    """A use inside a remembered run, as it stands on the present call path."""
    node = replay.node if replay.node is not None else use.path[-1].node
    path = current_path(m, replay.scope, node)
    path = (*path[:-1], replace(path[-1], link=replay.outside[-1]))
    return replace(use, path=path, conditions=frozenset(m.path.conditions))


def current_path(m: Machine, scope: ModuleScope, node: Any) -> tuple[Place, ...]:
    """The path of something that happens right now at ``node``."""
    places: list[Place] = []
    serial, function = 0, None
    for link in m.path.stack:
        if link.node is not None:
            places.append(Place(serial, link.node, link.scope, function, link))
        serial, function = link.serial, link.fn
    places.append(Place(serial, node, scope, function))
    return tuple(places)


def parting(path: tuple[Place, ...], earlier: tuple[Place, ...]) -> int | None:
    """The step at which two paths part: the first function in which their places differ. None: they meet nowhere."""
    level = 0
    limit = min(len(path), len(earlier))
    while (
        level < limit - 1
        and path[level].serial == earlier[level].serial
        and path[level].node is earlier[level].node
        and path[level + 1].serial == earlier[level + 1].serial
    ):
        level += 1
    return level if path[level].serial == earlier[level].serial else None


def link_at(m: Machine, level: int) -> Link:
    """The link on the stack that leads from step ``level`` of the current path to the next."""
    linked = [link for link in m.path.stack if link.node is not None]
    return linked[level] if level < len(linked) else m.path.stack[-1]


def _loop_around(m: Machine, level: int, key: Value) -> LoopState:
    """The innermost loop that runs step ``level`` of the current path again and again with the key: none of what is called
    there, and no loop of JAX that the key has just entered as a part of the carry."""
    linked = [i for i, link in enumerate(m.path.stack) if link.node is not None]
    depth = linked[level] if level < len(linked) else len(m.path.stack)
    around = [loop for loop in m.path.loops if loop.links <= depth and not _enters(loop, key)]
    return (around or m.path.loops)[-1]


def _enters(loop: LoopState, key: Value) -> bool:
    if loop.entering is None:
        return False
    canonical = canonical_key(key)
    return canonical_key(loop.entering) is canonical or any(held is canonical for held in _held_within(loop.entering))


def use_key(m: Machine, touch: Touch, usage: Usage) -> None:
    """A sampler or ``split`` uses a key."""
    value = touch.value
    conditions = value.conditions if isinstance(value, UnionValue) else None
    for i, member in enumerate(members_of(value)):
        if may_be_key(member):
            held = frozenset(m.path.conditions)
            if conditions:
                held |= {c for c in conditions[i] if not is_of_branch(c)}
            _use_one(m, touch._replace(value=key_behind(member)), usage, held)


def _use_one(m: Machine, touch: Touch, usage: Usage, conditions: frozenset[Condition]) -> None:
    if m.path.mode.shapes_only:
        return  # nothing is drawn where only shapes are asked for
    frame, node, key = touch
    if usage.draws:
        track_drawn(m, key)
    canonical = canonical_key(key)
    path = current_path(m, frame.scope, node)
    if usage.conventional != FOLD:
        _emit_shared(m, touch._replace(value=canonical), usage)
    uses = m.trackers[Keys].uses
    earlier = uses.get(canonical, ())
    if m.bus.wants(KeyUse):
        colliding = [
            u
            for u in _nearest_first(frame.scope, path, earlier)
            if _is_reported(canonical, usage, u) and _collides(m, usage, path, conditions, u)
        ]
        for use in _one_for_each_function(path, colliding):
            certain = {normal_condition(c) for c in use.conditions} <= {normal_condition(c) for c in conditions}
            apart = _are_apart(m, usage, path, use)
            certain = certain and not apart and not _may_draw_nothing(m, usage, path, use)
            _emit_collision(m, key, usage, Collision(use, path, certain, use is not colliding[0], apart))
    made = Use(
        usage.effect, path, conditions, id(node), usage.sampler, draws=usage.draws, stream=usage.stream,
        conventional=usage.conventional, given=usage.given, folds=usage.folds, steps_untrained=_steps_untrained(m),
    )  # fmt: skip
    if made not in earlier:
        m.journal.write(uses, canonical, _kept((*earlier, made)))
        _emit_used(m, canonical, made)


def _steps_untrained(m: Machine) -> int:
    """How many of the last steps of the current path are in a function that is set not to train; 0 if none is."""
    for steps, link in enumerate((link for link in reversed(m.path.stack) if link.node is not None), 1):
        if link.bound is not None and any(_is_switched_off(link.bound.get(name), off) for name, off in _SWITCHES):
            return steps
    return 0


_SWITCHES = tuple(NOT_TRAINING.items())


def _is_switched_off(value: Value | None, off: bool) -> bool:
    return isinstance(value, Const) and value.value is off


def _may_draw_nothing(m: Machine, usage: Usage, path: tuple[Place, ...], earlier: Use) -> bool:
    """One of the uses is a split in a function that is set not to train, which may have no use for the new keys."""
    level = parting(path, earlier.path)
    if level is None:
        return False
    length = len(earlier.path) + len(earlier.inner)
    then = _is_split(earlier) and 0 < earlier.steps_untrained < length - level
    return then or (_is_split(usage) and 0 < _steps_untrained(m) < len(path) - level)


def _one_for_each_function(path: tuple[Place, ...], uses: list[Use]) -> list[Use]:
    """Of the uses that a use on ``path`` collides with, the first for each function where they part: if a callee uses its key
    twice, that is wrong whatever its caller did with the key."""
    kept: list[Use] = []
    depth = -1
    for use in uses:
        level = parting(path, use.path)
        if level is not None and level > depth:
            kept.append(use)
            depth = level
    return kept or uses[:1]


def _emit_used(m: Machine, key: Value, use: Use) -> None:
    for hear in KEY_USED:
        hear(m, key, use)


def _is_reported(key: Value, usage: Usage, earlier: Use) -> bool:
    """Something says that the value is a key: its kind, or JAX itself, which uses it as one."""
    if FOLD in (usage.conventional, earlier.conventional):
        return _is_split(usage) or _is_split(earlier)
    is_certain = {usage.conventional, earlier.conventional} <= {"", *STARTING}
    return (
        is_certain
        or (isinstance(key, Array) and key.dtype == "key")
        or not (usage.conventional and earlier.conventional)
    )


def _collides(
    m: Machine, usage: Usage, path: tuple[Place, ...], conditions: frozenset[Condition], earlier: Use
) -> bool:
    """The key is used twice in earnest: on one path, and by things that share something."""
    if earlier.effect == DONATE or not may_follow(m, path, conditions, earlier):
        return False
    if _same_shuffle(m, usage.sampler, earlier, path) or is_filled_once(path, (*earlier.path, *earlier.inner)):
        return False
    names = m.trackers[Keys].names
    if _are_apart(m, usage, path, earlier) and not (
        earlier.effect == "consume" and are_apart_by_chance(earlier.last, path[-1], names)
    ):
        return False
    if (usage.conventional or earlier.conventional) and _is_slight(m, usage, path, earlier):
        return False
    level = parting(path, earlier.path)
    if level is None:
        return not (usage.folds or earlier.folds)
    first, second = earlier.path[level], path[level]
    if (usage.folds or earlier.folds) and (first.node is not second.node or usage.folds != earlier.folds):
        # Of one call, the key that a module folds into, and the same as an argument; or two modules.
        both = usage.folds and earlier.folds and first.node is not second.node
        return both and start_two_networks(earlier.last, path[-1], (first, second))
    now, then = path[level:], (*earlier.path[level:], *earlier.inner)
    if any(names.around(place).give_shapes(place.node, body_around(place)) for place in (*now, *then)):
        return False
    if (usage.draws and is_dead_draw(now, names)) or (earlier.draws and is_dead_draw(then, names)):
        return False
    return not exclude(first, second, names)


def _are_apart(m: Machine, usage: Usage, path: tuple[Place, ...], earlier: Use) -> bool:
    """Two splits whose new keys, as far as the code uses them, are different ones."""
    names = m.trackers[Keys].names
    return _is_split(usage) and _is_split(earlier) and are_apart(earlier.last, path[-1], names)


def _is_slight(m: Machine, usage: Usage, path: tuple[Place, ...], earlier: Use) -> bool:
    """Of two uses of which one is that of an unknown callee: they rather share nothing, or are meant."""
    names, both = m.trackers[Keys].names, (usage.conventional, earlier.conventional)
    now, then = path[-1], earlier.last
    level = parting(path, earlier.path)
    again = level is not None and path[level].node is earlier.path[level].node
    if usage.folds or earlier.folds:
        return False
    if all(both):
        return both[0] == both[1] and not again and not _draws_alone(both[0])
    if not _is_split(earlier if usage.conventional else usage):
        return False
    split, other = (then, now) if usage.conventional else (now, then)
    if FOLD in both:
        return not _is_around(split, other) or is_other_child(split, other, names)
    return gives_nothing(split, names)


def _is_around(outer: Place, inner: Place) -> bool:
    """Both stand in one run of a function, or one in a function that the other's function defines."""
    if outer.serial == inner.serial:
        return True
    around = outer.function.qualname if outer.function is not None else ""
    return inner.function is not None and inner.function.qualname.startswith(f"{around}.<locals>.")


_DRAWING = ("sample", "reset", "draw", "noise", "random")


def _draws_alone(callee: str) -> bool:
    """What the callee gives is what it draws: two of these are not one function of other arguments under equal noise."""
    return any(word in callee.lower() for word in _DRAWING)


def _is_split(use: Usage | Use) -> bool:
    """New keys are made of the key, whatever became of them."""
    return not (use.draws or use.sampler or use.conventional)


def _nearest_first(scope: ModuleScope, path: tuple[Place, ...], uses: tuple[Use, ...]) -> tuple[Use, ...]:
    """In the order in which they happened; but those in the same cell of a notebook come before those in other cells, those
    of this iteration before those of the one before, and those of unknown callees last."""
    if any(use.carried or use.conventional for use in uses):
        uses = tuple(sorted(uses, key=lambda use: (bool(use.conventional), use.carried)))
    if not scope.cells or len(uses) < 2:
        return uses
    cell = scope.cell_of(path[0].node.start)
    return tuple(sorted(uses, key=lambda use: scope.cell_of(use.path[0].node.start) != cell))


def may_follow(m: Machine, path: tuple[Place, ...], conditions: frozenset[Condition], earlier: Use) -> bool:
    """What happens on a path, under these conditions, may come after an earlier use."""
    if are_mutually_exclusive(earlier.conditions, conditions):
        return False
    # ``if i == 0:``: not in every iteration, maybe in one alone
    if not any(loop.picked for loop in m.path.loops):
        return True
    level = parting(path, earlier.path)
    return level is None or path[level].node is not earlier.path[level].node


def forget_uses(m: Machine, mark: int) -> dict[Value, tuple[Use, ...]]:
    """Take back the uses since ``mark``, but for donations: what runs next runs in place of that. Gives them back."""
    slots = m.trackers[Keys].uses
    before: dict[Value, Any] = {}
    for written, slot, old in m.journal.entries[mark:]:
        if written is slots:
            before.setdefault(slot, old)
    taken = {key: slots.get(key, ()) for key in before}
    for key, old in before.items():
        kept = () if old is MISSING else old
        given = [use for use in taken[key] if use.effect == DONATE and use not in kept]
        m.journal.write(slots, key, (*kept, *given))
    return taken


def use_again(m: Machine, taken: dict[Value, tuple[Use, ...]]) -> None:
    """Restore the uses that ``forget_uses`` took back."""
    for key, uses in taken.items():
        m.journal.write(m.trackers[Keys].uses, key, uses)


def settle_splits(m: Machine, mark: int, result: Value) -> None:
    """A function that was run since ``mark`` has returned: if it gives no keys back, it consumed what it split."""
    touched = {id(slot): slot for slots, slot, _old in m.journal.entries[mark:] if slots is m.trackers[Keys].uses}
    if not touched or _holds_key(result):
        return
    depth = sum(link.node is not None for link in m.path.stack) + 1
    for key in touched.values():
        uses = m.trackers[Keys].uses.get(key, ())
        settled = tuple(
            replace(use, effect="consume") if use.effect == "split" and len(use.path) > depth else use for use in uses
        )
        if settled != uses:
            m.journal.write(m.trackers[Keys].uses, key, settled)


def _holds_key(value: Value, depth: int = 4, room: Room | None = None) -> bool:
    """The value is or contains a key, or may."""
    if isinstance(value, Array):
        return value.dtype == "key"
    if depth == 0 or type(value) not in _MAY_HOLD_KEYS:
        return False
    parts = held_by(value)
    room = room if room is not None else Room()
    return bool(parts) and room.enter(value) and any(_holds_key(part, depth - 1, room) for part in parts)


_MAY_HOLD_KEYS = frozenset({TupleValue, UnionValue, ListValue, DictValue, Instance, GeneratorValue})
SHUFFLES = frozenset({"jax.random.permutation", "jax.random.shuffle"})
_PLACES = frozenset({"jax.random.randint", "jax.random.choice"})
"""Samplers that say where: what cuts images draws so. ``bernoulli`` makes masks, which two arrays should not share."""


def _same_shuffle(m: Machine, sampler: str, earlier: Use, path: tuple[Place, ...]) -> bool:
    """The same permutation for several arrays on purpose: what keeps inputs and labels aligned.

    One and the same call in the next iteration of a loop is none, but for comprehensions and maps over a tree, whose
    "iterations" are the arrays. A choice from each leaf of a tree takes the same rows of all.
    """
    if sampler == earlier.sampler == "jax.random.choice":
        return bool(m.path.loops) and m.path.loops[-1].kind == "tree_map"
    if sampler not in SHUFFLES or earlier.sampler not in SHUFFLES:
        return False
    if [p.node for p in path] != [p.node for p in earlier.path]:
        return True
    return not m.path.loops or m.path.loops[-1].kind in ("comprehension", "map", "tree_map")


MAX_REPORTED = 100
"""So many further uses of a key are reported, each with its place and its intent."""


class Collision(NamedTuple):
    """Two uses that collide: the earlier one, the path of the other. certain: whenever that runs, so did the first. within: an
    earlier one collides, too, in a function that leads here. apart: two splits, of which the code reads different new keys."""

    earlier: Use
    path: tuple[Place, ...]
    certain: bool
    within: bool
    apart: bool


def _emit_collision(m: Machine, key: Value, usage: Usage, collision: Collision) -> None:
    """Say where the two uses part: in the innermost function that both go through."""
    earlier, path, certain, within, apart = collision
    assert earlier.effect != DONATE
    level = _report_level(m, key, path, earlier)
    if level is None:
        return
    here, there = _step(path, level), _step(earlier.path, level)
    if usage.folds and not usage.conventional and not is_update(body_around(here), here.node, here.scope):
        return  # an evaluation, whose masks may be alike, or be none
    carried = earlier.carried or (here.node is there.node and _comes_back(m, path, level, earlier, key))
    in_loop, draws = here.node is there.node and not carried, usage.draws and earlier.draws
    if _is_reported_often(m, key, here, there) and not in_loop:
        return  # one finding covers them all
    innermost = level == len(path) - 1
    loop = _loop_around(m, level, key) if in_loop and m.path.loops else None
    if loop is not None and loop.kind not in ("for", "while") and m.path.passes > MAX_SETTLED_LOOPS:
        certain = False  # another key may come back in what such a loop carries
    m.bus.emit(
        KeyUse(
            # What a cell raises is shown on purpose; equal numbers are not what it shows.
            context=m.path.context(here.scope, caught=m.path.caught > m.path.failing_cell),
            at=here.node,
            key=key,
            effect=usage.effect if innermost else "consume",
            earlier=site_of(there.scope, there.node),
            earlier_effect=earlier.effect,
            first=site_of(earlier.last.scope, earlier.last.node),
            first_in=_name_of(earlier.last.function),
            last_in=_name_of(path[-1].function),
            last=site_of(path[-1].scope, path[-1].node),
            spelled="" if innermost else spelled(path[level], _step(path, level), key),
            inner_key=usage.argument,
            was_split=_is_split(earlier),
            draws=draws,
            shares="unread" if apart else shared_by(_drawing(usage, path[-1]), _drawing(earlier, earlier.last)),
            intent=_intent_of(m, key, usage, collision, level, in_loop=in_loop),
            in_loop=in_loop,
            loop_kind=loop.kind if loop is not None else "",
            loop=site_of(loop.scope, loop.node) if loop is not None else None,
            same_call=False,
            through="" if innermost else link_at(m, level).function,
            key_node=usage.argument if innermost else argument_for(link_at(m, level), key),
            certain=certain,
            sampler=usage.sampler if innermost else "",
            earlier_sampler=earlier.sampler,
            carried=carried,
            within=within,
            callees=(earlier.conventional, usage.conventional),
            given=usage.given or earlier.given,
            captured=not innermost and is_captured(link_at(m, level), key, usage.argument),
        )
    )


def _intent_of(m: Machine, key: Value, usage: Usage, collision: Collision, level: int, *, in_loop: bool) -> Intent:
    """Why the two uses, which part at this level, may be meant to be alike."""
    earlier, path = collision.earlier, collision.path
    chosen = _CHOSEN.get((earlier.sampler, usage.sampler))
    if chosen:
        return chosen
    owner = m.trackers[Keys].stand_for.get(canonical_key(key), canonical_key(key))
    if is_same_start(owner, earlier.path[level:], path[level:]):
        return "same-data"
    if undo_each_other(path, earlier.path):
        return "paired"
    here, there = _step(path, level), _step(earlier.path, level)
    if any(is_thrown_away(place, m.trackers[Keys].names) for place in (here, there)):
        return "discarded"
    if is_default(m.trackers[Keys].started_as.get(canonical_key(key), owner), here, there):
        return "fixed"
    found = intent_of(owner, here, there, _around(m, path, level), in_loop=in_loop, draws=_drawn(usage, earlier))
    if found:
        return found
    given = argument_for(here.link, key) if here.link is not None else None
    if in_loop:
        return _intent_of_iterations(here, given, _drawn(usage, earlier))
    then, now = (*earlier.path, *earlier.inner)[level:], path[level:]
    if results_are_compared(body_around(here), then, now):
        return "same-data"
    is_one = usage.draws and usage.sampler == earlier.sampler
    is_mirrored = (is_one and are_meant_equal(then, now, usage.sampler)) or is_scaled_back(there, here, given)
    return "mirrored" if is_mirrored else ""


def _intent_of_iterations(here: Place, given: ir.Expr | None, drawn: Drawn) -> Intent:
    """Why the uses of two iterations may be meant to be alike, by what becomes of them. given: the argument that is the key."""
    body = body_around(here)
    if drawn == "shuffles" and is_sliced_by_turns(body, here):
        return "evaluation"
    return "same-data" if iterations_are_compared(body, here, given) else ""


def _report_level(m: Machine, key: Value, path: tuple[Place, ...], earlier: Use) -> int | None:
    """The place on the path where the two uses part; further in where an object holds the key, which uses it there,
    unless both uses are one place of a method."""
    level = parting(path, earlier.path)
    if level is None or path[level].node is earlier.path[level].node:
        return level
    limit = min(len(path), len(earlier.path))
    while (
        level < limit - 1
        and _held_by_receiver(m, level, key)
        and path[level + 1].node is not earlier.path[level + 1].node
    ):
        level += 1
    return level


def _is_reported_often(m: Machine, key: Value, here: Place, there: Place) -> bool:
    """The same earlier use has collided with many others in this file, or cell. Counts this one."""
    reported = m.trackers[Keys].reported
    cell = here.scope.cell_of(here.node.start) if here.scope.cells else 0
    what = (canonical_key(key), there.node.start, there.node.end, here.scope, cell)
    reported[what] = reported.get(what, 0) + 1
    return reported[what] > MAX_REPORTED


def _drawn(usage: Usage, earlier: Use) -> Drawn:
    """What both uses give."""
    if usage.sampler in SHUFFLES and earlier.sampler in SHUFFLES:
        return "shuffles"
    if usage.sampler in _PLACES and earlier.sampler in _PLACES:
        return "places"
    return "numbers" if usage.draws and earlier.draws else ""


def _nodes_of(use: Use) -> list[Any]:
    return [place.node for place in (*use.path, *use.inner)]


def _comes_back(m: Machine, path: tuple[Place, ...], level: int, earlier: Use, key: Value) -> bool:
    """``x, key = step(key)`` in a loop: the call gives another key back, which it used elsewhere than the one that it got.
    ``agent.step()`` leaves another key in the agent."""
    now = [place.node for place in path]
    if level == len(path) - 1 or _nodes_of(earlier) == now:
        return False
    given = spelled(path[level], _step(path, level), key)
    if "." in given:  # the key of an object that keeps its key was used right here in the iteration before as well
        return all(_nodes_of(use) != now for use in m.trackers[Keys].uses.get(canonical_key(key), ()))
    around = statement_at(body_around(path[level]), path[level].node)
    targets = around.targets if isinstance(around, ir.Assign) else []
    return any(name.id == given for target in targets for name in names_bound(target))


_DROPOUT = "flax.linen.Dropout.__call__"
_CHOSEN: dict[tuple[str, str], Intent] = {(_DROPOUT, _DROPOUT): "shared"}
"""Samplers that take a key of their own unless one is passed: who passes one to two of them chose it."""


def _drawing(use: Usage | Use, last: Place) -> Drawing:
    return Drawing(use.sampler, use.stream, _is_split(use), use.draws, last)


def _name_of(function: ir.Function | None) -> str:
    return function.qualname if function is not None else ""


def _around(m: Machine, path: tuple[Place, ...], level: int) -> Link | None:
    """What led to the function in whose body a step of a path stands; no code calls the first one of an entry."""
    if level:
        return path[level - 1].link
    return next((link for link in m.path.stack if link.node is None and link.serial == path[0].serial), None)


def _step(path: tuple[Place, ...], level: int) -> Place:
    """A step of a path, with the link that leads to the function of the project that runs there: a transform stages it."""
    for place in path[level:]:
        if place.link is None or place.link.fn is not None:
            return replace(path[level], link=place.link, staged=path[level].link is not place.link)
    return path[level]


def _held_by_receiver(m: Machine, level: int, key: Value) -> bool:
    """The call at ``level`` is of a method whose object holds the key: the reader must look into the method."""
    link = link_at(m, level)
    receiver = link.receiver
    if not isinstance(receiver, Instance):
        return False
    canonical = canonical_key(key)
    held = any(isinstance(v, Value) and _contains(v, canonical) for v in receiver.slots.values())
    return held


def _contains(value: Value, key: Value, depth: int = 3) -> bool:
    if is_key(value, key):
        return True
    if depth and isinstance(value, TupleValue):
        return any(_contains(v, key, depth - 1) for v in value.elts)
    return False


# --- elements of collections --------------------------------------------------------------------


MAX_HELD_DEPTH = 4


def begin_element(m: Machine, loop: LoopState, element: Value) -> None:
    """Another iteration has another element, though one value may stand for all of them: a use of what the last element
    held is no use of what this one holds. The uses from before the loop concern all elements."""
    before: dict[Value, tuple[Use, ...]] | None = loop.records.get(Keys)
    uses = m.trackers[Keys].uses
    if before is None:
        loop.records[Keys] = {held: uses[held] for held in _held_within(element) if held in uses} if uses else {}
    elif uses:
        _restore_uses(m, element, before)


def pick_element(m: Machine, element: Value) -> Value:
    """``xs[i]`` with an unknown index gives any element: a use of what another one holds is no use of what this one holds."""
    if m.trackers[Keys].uses:
        _restore_uses(m, element, {})
    return element


def _restore_uses(m: Machine, element: Value, before: dict[Value, tuple[Use, ...]]) -> None:
    uses = m.trackers[Keys].uses
    for held in _held_within(element):
        past = uses.get(held, ())
        kept = tuple([use for use in past if use in before.get(held, ())])
        if len(kept) < len(past):
            m.journal.write(uses, held, kept)


def _held_within(element: Value) -> list[Value]:
    """The arrays and opaque values that the containers and objects of an element hold."""
    found: list[Value] = []
    todo, room = [(part, 1) for part in held_by(element)], Room(100)
    while todo:
        value, depth = todo.pop()
        if isinstance(value, (Array, Opaque)):
            found.append(canonical_key(value))
            parts = value.parts
            if parts and room.enter(value):
                todo += [(part, depth) for part in parts.values()]
        elif depth < MAX_HELD_DEPTH and room.enter(value):
            todo += [(part, depth + 1) for part in held_by(value)]
    return found


# --- elements of mapped axes -----------------------------------------------------------------------


def shared_values(values: list[Value], captured: bool, limit: int = 60) -> dict[Value, bool]:
    """Every possible key inside values that are equal for all elements of a vmap."""
    found: dict[Value, bool] = {}
    todo = list(values)
    while todo and len(found) < limit:
        value = todo.pop()
        if may_be_key(value):
            found[canonical_key(value)] = captured
            if isinstance(value, Opaque) and value.parts:
                todo += value.parts.values()
        elif isinstance(value, TupleValue):
            todo += value.elts
        elif isinstance(value, (ListValue, DictValue)):
            todo += [v for v in value.slots.values() if isinstance(v, Value)]
    return found


def _emit_shared(m: Machine, touch: Touch, usage: Usage) -> None:
    if not m.path.mode.mapped_axes or not m.bus.wants(SharedKey):
        return
    axis = m.path.mode.mapped_axes[-1]
    root: Value | None = touch.value
    while root is not None and root not in axis.shared:
        root = root.parent if isinstance(root, Opaque) else None
    if root is None:
        return
    captured = axis.shared[root]
    scope, node = (touch.frame.scope, touch.node) if captured else (axis.call.scope, axis.call.node)
    m.bus.emit(SharedKey(m.path.context(scope), node, axis.transform, captured, usage.conventional))
