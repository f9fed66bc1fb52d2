"""The call stack and the loops of the path that runs: records that the machine fills in and values point to.

Vocabulary
----------
link        one step of the call stack: a place in the caller, and which run of the callee it led to.
mode        how code runs: staged or eager, under which trace, transforms and mesh axes.
mapped axis the axis of one vmap or pmap around the running code.
flow        how a statement ends: it falls through, returns, raises, breaks or continues.
writes      what one branch leaves behind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain.values import Site, Value

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import ModuleScope


class Tried(msgspec.Struct, frozen=True):
    """A ``try`` of a script that catches what tracers raise. depth: so many links the call stack had. named: it names the
    errors, rather than catch whatever goes wrong."""

    depth: int
    named: bool


NORMAL: Final = 0
RETURN: Final = 1
RAISE: Final = 2
BREAK: Final = 3
CONTINUE: Final = 4
Flow = Literal[0, 1, 2, 3, 4]

LinkKind = Literal["call", "root", "contract", "entry"]
"""How one function leads to the next: it calls it, it stages it (a root), a library stages it by contract; or jaxlint
itself enters the program there."""

NEVER = 1 << 60
"""Later than anything."""

Writes = dict[tuple[int, Any], tuple[dict[Any, Any], Any, Any]]
"""What a branch leaves behind: (id of slots, slot) → (slots, slot, new contents)."""

Watched = dict[tuple[int, Any], tuple[dict[Any, Any], Any, list[Any]]]
"""Everything written while watched: (id of slots, slot) → (slots, slot, all contents in order)."""


class Mode(msgspec.Struct, frozen=True, eq=False):
    """How code runs right now; see ``events.Context``. ``mapped_axes``: the vmaps around it. ``differentiated``: so is a
    ``grad`` or another transform that needs derivatives. compiled: number of the innermost trace whose code Python runs
    only once, 0 if there is none. axes: names of axes that are bound; axes_closed: these are all
    (see ``axes``). jitted: number of the outermost trace whose code is compiled by itself, 0 if there is none. optional:
    another path runs the same function untransformed, so that code behind an undecided test may belong to that path.
    outermost: number of the outermost trace, 0 when eager."""

    staged: bool = False
    ambient: bool = False
    trace: int = 0
    presumed: bool = False
    mapped_axes: tuple[MappedAxis, ...] = ()
    shapes_only: bool = False
    differentiated: bool = False
    compiled: int = 0
    axes: frozenset[str] = frozenset()
    axes_closed: bool = False
    jitted: int = 0
    optional: bool = False
    outermost: int = 0


class MappedAxis(msgspec.Struct, frozen=True, eq=False):
    """One vmap or pmap around the running code. ``call``: where it was called; ``shared``: canonical values that every
    element receives alike, with whether they were captured (else: passed with ``in_axes`` None). ``site``: where it was
    applied. ``depth``: so many links of the call stack are outside of it."""

    transform: str
    call: Link
    shared: dict[Value, bool]
    site: Site
    depth: int


class Link(msgspec.Struct, frozen=True, eq=False):
    """One link of the call stack: the place in the caller, and which run of the callee it led to.

    receiver: the object of a method call, or the class of a class method. bound: the callee's arguments by parameter.
    compiles: the link is a transform call that compiles what it traces, so that Python runs that once for many calls.
    """

    scope: ModuleScope
    node: Any
    kind: LinkKind
    function: str
    text: str
    serial: int
    fn: ir.Function | None
    receiver: Value | None = None
    bound: dict[str, Value] | None = None
    compiles: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """One step of a use's path: a node of a function run known by its serial. function: in whose body the node stands,
    None for a module. link: what leads from the node into the next function, if it does; staged: by way of a transform."""

    serial: int
    node: Any
    scope: ModuleScope
    function: ir.Function | None = field(default=None, compare=False)
    link: Link | None = field(default=None, compare=False)
    staged: bool = field(default=False, compare=False)


@dataclass(slots=True, eq=False)
class LoopState:
    """A Python loop being run. node, scope: where it stands. counters: values that count its iterations, elements: what it goes
    over, both by identity.
    base, mark: lengths of the journal at its start and at that of the iteration. exits: how paths that leave it look from
    its start; continues: how those that go on early look from the iteration's start. unrolled: it is run element by
    element. guards: tests of its counters around what runs now; picked: those among them that compare a counter (``i ==
    0``) and take no remainder of it. runs: its next iteration is the first, and there surely is one. since: when its
    iteration began (see ``freshness``). times: the number of its iterations, 0 where that is not known; trip_count: the same,
    whichever code calls the function. links: so many lead to it on the call stack. tested: a test of this iteration has looked
    at a counter. leaving: what runs is returned from inside of it. again: some path goes on to another iteration. branches:
    as many alternatives are open around its body. stepped, drifting, appended, shortened, growing: see ``variation``.
    records: what trackers know of this loop, by class. bound: see ``freshness.bound_in``. rare: results of tests that look
    at a counter, by identity, and whether they hold every few iterations. frequent: so many of the guards are such tests.
    coarse, epoch, steady, carries: see ``readiness``. counting: its elements are numbers. last: no pass over its body
    follows the running one. vague: a ``break`` stands behind a guess. entering: of a loop of JAX whose first iteration runs,
    the initial carry."""

    kind: str
    node: Any
    scope: ModuleScope
    exits: list[Writes] = field(default_factory=list)
    continues: list[Writes] = field(default_factory=list)
    counters: set[int] = field(default_factory=set)
    elements: set[int] = field(default_factory=set)
    guards: int = 0
    picked: int = 0
    base: int = 0
    mark: int = 0
    unrolled: bool = False
    runs: bool = False
    since: int = NEVER
    times: int = 0
    trip_count: int = 0
    links: int = 0
    tested: bool = False
    leaving: bool = False
    again: bool = False
    branches: int = 0
    stepped: set[tuple[int, Any]] = field(default_factory=set)
    drifting: set[tuple[int, Any]] = field(default_factory=set)
    appended: list[Any] = field(default_factory=list)
    shortened: set[int] = field(default_factory=set)
    growing: set[tuple[int, Any]] = field(default_factory=set)
    records: dict[type, Any] = field(default_factory=dict)
    bound: set[str] | None = None
    rare: dict[int, bool] = field(default_factory=dict)
    frequent: int = 0
    vague: bool = False
    coarse: bool = False
    epoch: bool = False
    steady: bool = False
    carries: bool = False
    counting: bool = False
    last: bool = False
    entering: Value | None = None
