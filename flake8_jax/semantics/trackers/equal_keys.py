"""Keys that are made of one constant seed at several places: they are equal, so what is drawn from them is as well.

Vocabulary
----------
made        where a key is made of a seed that the analysis knows, as a path (see ``keys``).
draw        a use of such a key.
meeting     a statement that reads what both draws gave, in the function in which the ways to the two draws part: results
            that never meet need not be independent.

A pair of draws is reported when its entry ends, not while a function runs that other callers may repeat.

Limitations: seeds that are arrays, ``fold_in`` with equal data, results that meet in an object or in another function.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import (
    blocks,
    bound_paths,
    last_name,
    names_read,
    nodes_around,
    path_of,
    statement_at,
)
from flake8_jax.semantics.domain.conditions import are_mutually_exclusive
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.stack import Link, Place
from flake8_jax.semantics.domain.values import (
    Array,
    Condition,
    Const,
    ExternalInstance,
    FunctionValue,
    HostArray,
    Instance,
    Room,
    TransformedValue,
    Tree,
    Unknown,
    Value,
    canonical_key,
    held_by,
    site_of,
)
from flake8_jax.semantics.events.events import EqualKeys, Shared
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker
from flake8_jax.semantics.trackers.key_children import are_apart
from flake8_jax.semantics.trackers.key_names import body_around
from flake8_jax.semantics.trackers.key_streams import Drawing, shared_by
from flake8_jax.semantics.trackers.keys import DONATE, KEY_USED, Keys, Use, current_path, parting

MAKERS = frozenset({"jax.random.key", "jax.random.PRNGKey"})
MAX_DRAWS = 8
"""So many draws of keys of one seed are remembered in one entry."""


@dataclass(frozen=True, slots=True)
class Made:
    """A key of a seed. inner: the rest of the path where a remembered run made it."""

    seed: int
    path: tuple[Place, ...]
    inner: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """A use of a key of a seed. conditions: what held when it was used."""

    key: Value
    made: Made
    use: Use
    conditions: frozenset[Condition]


class Pending(NamedTuple):
    """Two draws that meet. chain: what led to the function in which the second key is made."""

    event: EqualKeys
    chain: tuple[Link, ...]


class Mark(NamedTuple):
    """A function begins to run. depth, serial: the step of paths that stands in it, and its run. made: so many keys of
    seeds there were."""

    depth: int
    serial: int
    made: int


class Repeated(NamedTuple):
    """What a run did that another call does again. made: the keys that it made, drawn: those that it used itself; in both
    the paths begin in its function."""

    made: dict[Value, Made]
    drawn: list[Draw]


class SeededKeys(Tracker):
    """made: the keys of known seeds. drawn: by seed, the draws of this entry. pending: the pairs to report when it ends."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.made: dict[Value, Made] = {}
        self.drawn: dict[int, Any] = {}
        self.pending: dict[tuple[int, ModuleScope], Pending] = {}
        self.wanted = m.bus.wants(EqualKeys)

    def enter(self) -> tuple[dict[int, Any], dict[tuple[int, ModuleScope], Pending]]:
        saved = self.drawn, self.pending
        self.drawn, self.pending = {}, {}
        return saved

    def leave(self, saved: Any, *, finished: bool) -> None:
        if finished:
            for one in self.pending.values():
                self.m.bus.emit_settled(one.event, one.chain)
        self.drawn, self.pending = saved

    def owns(self, slots: dict[Any, Any]) -> bool:
        return slots is self.drawn

    def merge(self, contents: list[Any]) -> Any:
        """The draws on any of the paths."""
        merged: dict[Draw, None] = {}
        for draws in contents:
            if type(draws) is tuple:
                merged.update(dict.fromkeys(draws))
        return tuple(merged)[:MAX_DRAWS]

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> Mark | None:
        if not self.wanted:
            return None
        stack = self.m.path.stack
        return Mark(sum([link.node is not None for link in stack]), stack[-1].serial, len(self.made))

    def since(self, mark: Mark | None, run: FinishedRun) -> Repeated | None:
        if mark is None:
            return None
        made = {key: self.made[key] for key in list(self.made)[mark.made :]} if len(self.made) > mark.made else {}
        seeds = dict.fromkeys(slot for slots, slot in run.written if slots is self.drawn)
        drawn = [draw for seed in seeds for draw in self.drawn.get(seed, ()) if _is_inside(draw, mark)]
        if not made and not drawn:
            return None
        return Repeated(
            {key: _below(one, mark.depth) for key, one in made.items()},
            [replace(d, made=_below(d.made, mark.depth), use=_use_below(d.use, mark.depth)) for d in drawn],
        )

    def replay(self, record: Repeated, replay: Replay) -> None:
        path = _path_to(self.m, replay)
        for draw in record.drawn:
            made = replace(draw.made, path=path)
            conditions = frozenset(self.m.path.conditions)
            _track(self.m, Draw(draw.key, made, replace(draw.use, path=path), conditions))

    def replayed(self, record: Repeated | None, replay: Replay, result: Value) -> None:
        if record is None or not record.made:
            return
        path = _path_to(self.m, replay)
        for then, now in _pairs(replay.remembered, result):
            made = record.made.get(then)
            if made is not None and now is not then:
                self.made[now] = replace(made, path=path)


def _path_to(m: Machine, replay: Replay) -> tuple[Place, ...]:
    path = current_path(m, replay.scope, replay.node)
    return (*path[:-1], replace(path[-1], link=replay.outside[-1]))


def _is_inside(draw: Draw, mark: Mark) -> bool:
    """The key was made and used in a run."""
    return all(
        len(path) > mark.depth and path[mark.depth].serial == mark.serial for path in (draw.made.path, draw.use.path)
    )


def _below(made: Made, depth: int) -> Made:
    return Made(made.seed, (), tuple([replace(place, link=None) for place in (*made.path[depth:], *made.inner)]))


def _use_below(use: Use, depth: int) -> Use:
    return replace(use, path=(), inner=tuple([replace(p, link=None) for p in (*use.path[depth:], *use.inner)]))


def _pairs(then: Value, now: Value, room: Room | None = None) -> Iterator[tuple[Value, Value]]:
    """The arrays that a remembered run gave, with those that the repeated one gives."""
    room = room if room is not None else Room(200)
    if isinstance(then, Array) and isinstance(now, Array):
        yield then, now
    elif type(then) is type(now) and room.enter(then):
        for one, other in zip(held_by(then), held_by(now)):
            yield from _pairs(one, other, room)


def track_made(m: Machine, name: str, key: Value, seed: Value | None, place: tuple[ModuleScope, Any]) -> None:
    """A key is made of a seed."""
    tracker = m.trackers[SeededKeys]
    if tracker.wanted and name in MAKERS and isinstance(seed, Const) and type(seed.value) is int:
        if not m.path.mode.presumed and not _is_default(m, *place):
            tracker.made[key] = Made(seed.value, current_path(m, *place))


def _is_default(m: Machine, scope: ModuleScope, node: Any) -> bool:
    """The key is the default of a parameter or of a field, or stands in for a missing one: many calls may have it, each for
    itself."""
    function = m.path.stack[-1].fn if m.path.stack else None
    body = function.body if function is not None else scope.tree.body
    if isinstance(statement_at(body, node), (ir.FunctionDef, ir.ClassDef)):
        return True
    around = nodes_around(body, node.start, node.end)
    return any(isinstance(outer, (ir.If, ir.IfExp)) and _asks_for_none(outer.test) for outer in around)


def _asks_for_none(test: ir.Expr) -> bool:
    return isinstance(test, ir.Compare) and any(
        isinstance(one, ir.Constant) and one.kind == "none" for one in test.comparators
    )


def _track_use(m: Machine, key: Value, use: Use) -> None:
    """A key is used: is it one of a seed?"""
    tracker = m.trackers[SeededKeys]
    canonical = canonical_key(key)
    made = tracker.made.get(canonical) if tracker.made else None
    if made is not None and use.effect != DONATE and not use.conventional and not m.path.mode.presumed:
        _track(m, Draw(canonical, made, use, frozenset(m.path.conditions)))


KEY_USED.append(_track_use)


def _track(m: Machine, draw: Draw) -> None:
    tracker = m.trackers[SeededKeys]
    earlier: tuple[Draw, ...] = tracker.drawn.get(draw.made.seed, ())
    for other in earlier:
        if _emit_pair(m, other, draw):
            break
    if len(earlier) < MAX_DRAWS and not any(d.key is draw.key and d.use == draw.use for d in earlier):
        m.journal.write(tracker.drawn, draw.made.seed, (*earlier, draw))


def _emit_pair(m: Machine, first: Draw, second: Draw) -> bool:
    """Keep what the entry tells of two draws, if they use equal keys by mistake."""
    if first.key is second.key or are_mutually_exclusive(first.conditions, second.conditions):
        return False
    level = parting(second.made.path, first.made.path)
    where = parting(second.use.path, first.use.path)
    if level is None or where is None:
        return False
    if where != level and not all(len(d.made.path) + len(d.made.inner) == level + 1 for d in (first, second)):
        return False  # what one function makes for itself and what its caller makes
    there, here = first.made.path[level], second.made.path[level]
    one, other = first.use.path[where], second.use.path[where]
    if _is_one_place_again(there, here) or _is_one_place_again(one, other) or _is_repetition(one, other):
        return False
    if _is_held(first, level) or _is_held(second, level):
        return False
    draws_alone = where == level and (_is_own(first, level) or _is_own(second, level))
    if draws_alone and not _are_put_together(one, other):
        return False
    shares = _shared(m, first, second)
    if not shares or not _meet(body_around(other), one.node, other.node):
        return False
    if here.node.start < there.node.start and here.scope is there.scope:
        here, there = there, here
    event = EqualKeys(
        m.path.context(here.scope), here.node, second.made.seed, site_of(there.scope, there.node), shares,
        here.function.qualname if here.function is not None else "",
    )  # fmt: skip
    m.trackers[SeededKeys].pending.setdefault((here.node.start, here.scope), Pending(event, _chain_to(m, level)))
    return True


def _is_one_place_again(one: Place, other: Place) -> bool:
    """The same code; or two cells of a notebook, of which each begins from scratch."""
    if one.node is other.node:
        return True
    return bool(one.scope.cells) and one.scope.cell_of(one.node.start) != other.scope.cell_of(other.node.start)


def _are_put_together(one: Place, other: Place) -> bool:
    """Two functions that draw for themselves count only where one statement has the results of both."""
    if one.link is None or other.link is None or one.link.fn is other.link.fn:
        return False
    body = body_around(other)
    return statement_at(body, one.node) is statement_at(body, other.node)


def _chain_to(m: Machine, level: int) -> tuple[Link, ...]:
    """What led to the function in which a step of the current path stands."""
    chain: list[Link] = []
    steps = 0
    for link in m.path.stack:
        if link.node is not None:
            if steps == level:
                break
            steps += 1
        chain.append(link)
    return tuple(chain)


def _is_repetition(one: Place, other: Place) -> bool:
    """One function is called twice, on data or on settings that differ: it is compared with itself under equal keys."""
    now, then = other.link, one.link
    if now is None or then is None or now.fn is None or now.fn is not then.fn:
        return False
    before = then.bound or {}
    return any(_is_data(value, before.get(name)) for name, value in (now.bound or {}).items())


def _is_data(value: Value, before: Value | None) -> bool:
    """An argument that is no size, no setting and no key, or of which nothing is known but that it is another one."""
    if isinstance(value, Array):
        return value.dtype != "key"
    if isinstance(value, Unknown):
        return before is None or canonical_key(before) is not canonical_key(value)
    return isinstance(value, (Tree, Instance, FunctionValue, HostArray, ExternalInstance, TransformedValue))


def _is_held(draw: Draw, level: int) -> bool:
    """A method uses the key that its object has made: how it draws is its own affair."""
    made, used = draw.made, draw.use.path
    link = used[level].link if level < len(used) else None
    return len(made.path) + len(made.inner) > level + 1 and link is not None and link.receiver is not None


def _is_own(draw: Draw, level: int) -> bool:
    """The function that is called at a step uses a key that it has made itself."""
    made, used = draw.made.path, draw.use.path
    return len(made) + len(draw.made.inner) > level + 1 and made[level].node is used[level].node


def _shared(m: Machine, first: Draw, second: Draw) -> Shared:
    """What the two draws have in common: nothing that counts if they are of different kinds."""
    now, then = _drawing(second.use), _drawing(first.use)
    shares = shared_by(now, then)
    if shares == "new-keys":
        names = m.trackers[Keys].names
        return "" if are_apart(first.use.last, second.use.last, names) else shares
    return shares if shares in ("numbers", "bits") else ""


def _drawing(use: Use) -> Drawing:
    return Drawing(use.sampler, use.stream, not use.draws and not use.sampler, use.draws, use.last)


# --- where results meet -----------------------------------------------------------------------------------------


def _meet(body: list[ir.Stmt], first: Any, second: Any) -> bool:
    """A statement of the body reads what both calls gave, and does not compare them."""
    one, other = statement_at(body, first), statement_at(body, second)
    if one is None or other is None:
        return False
    if one is other:
        return not _compares(one)
    if one.start > other.start:
        one, other = other, one
    of_first, of_second = _given_by(one), set[str]()
    given = _given_by(other)
    if _objects(of_first - given) & _objects(given - of_first):
        return True
    for statement in _statements(body):
        if statement.start <= one.start:
            continue
        read = _read_by(statement) if not _takes_shapes(statement) else set()
        from_first, from_second = bool(read & of_first), bool(read & of_second) or statement is other
        if from_first and from_second:
            return not _compares(statement)
        changed = _given_by(statement)
        of_first = of_first | changed if from_first else of_first - changed
        of_second = of_second | changed if from_second else of_second - changed
    return False


_OF_SHAPES = frozenset({"init", "lazy_init", "init_with_output", "eval_shape", "tabulate", "zeros_like", "ones_like"})


def _takes_shapes(statement: ir.Stmt) -> bool:
    """The statement looks at the shapes of its arguments alone, as the making of parameters does."""
    value = getattr(statement, "value", None)
    return isinstance(value, ir.Call) and last_name(value.func) in _OF_SHAPES


def _objects(paths: set[str]) -> set[str]:
    """What holds the attributes among the paths."""
    return {path.rpartition(".")[0] for path in paths if "." in path}


def _given_by(statement: ir.Stmt) -> set[str]:
    """The variables and attributes that a statement binds, and the containers that it puts something into."""
    if blocks(statement):
        return set()
    found = bound_paths(statement)
    if isinstance(statement, ir.ExprStmt) and isinstance(statement.value, ir.Call):
        func = statement.value.func
        owner = path_of(func.value) if isinstance(func, ir.Attribute) and func.attr in _GROWING else ""
        if owner and owner != "self":
            found.add(owner)
    return found - {"_"}


def _read_by(statement: ir.Stmt) -> set[str]:
    """The variables and attributes that a statement reads, those of its blocks left out."""
    if isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
        return set()
    parts: list[Any] = [statement]
    if isinstance(statement, ir.Assign):
        parts = [statement.value, *(t for t in statement.targets if isinstance(t, ir.Subscript))]
    elif isinstance(statement, ir.AnnAssign):
        parts = [statement.value] if statement.value is not None else []
    elif isinstance(statement, (ir.For,)):
        parts = [statement.iter]
    elif isinstance(statement, (ir.If, ir.While)):
        parts = [statement.test]
    elif isinstance(statement, ir.With):
        parts = [item.context for item in statement.items]
    elif isinstance(statement, ir.Try):
        parts = []
    found: set[str] = set()
    for part in parts:
        found |= names_read(part)
        found |= {path_of(node) for node in walk(part) if isinstance(node, ir.Attribute)}
    return found


def _statements(body: list[ir.Stmt]) -> Iterator[ir.Stmt]:
    for statement in body:
        yield statement
        yield from _statements(blocks(statement))


_GROWING = frozenset({"append", "extend", "insert", "add", "update", "setdefault"})
_COMPARING = frozenset({"allclose", "isclose", "array_equal", "print"})


def _compares(statement: ir.Stmt) -> bool:
    """The statement compares what it reads, or shows it."""
    if isinstance(statement, ir.Assert):
        return True
    value = getattr(statement, "value", None)
    if isinstance(value, ir.Compare):
        return True
    if isinstance(value, ir.Call):
        name = last_name(value.func)
        return name in _COMPARING or name.startswith("assert")
    return False
