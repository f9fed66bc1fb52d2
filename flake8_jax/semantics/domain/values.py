"""Abstract values: what the interpreter knows about a Python value while it runs the program without JAX.

Vocabulary
----------
level       whether an array is a tracer. CONCRETE: it has a value. MAYBE: it is an array, but it is not known whether a
            caller traces it. GRAD: a tracer of concrete tracing (``jax.grad`` alone): it has a value, but ``float()`` and
            NumPy conversion raise. ABSTRACT: a tracer of abstract tracing: it has no value.
opaque      an Unknown or a Tree: its structure is not known. Its parts are created when they are first read and stored, so
            that ``state.key`` read twice is the same value.
identity    PRNG keys, containers and instances are compared by identity: the same Python object means the same run-time
            value.
allocation trace
            the number of the trace in which a container or an object was created (``made_in``; 0: outside tracing).
            ``UNKNOWN_TRACE``: not known. Below zero: during the creation of a generic instance (see ``allocations``).

Mutable run-time objects (lists, dicts, instances) keep their contents in a plain dict named ``slots``. The interpreter
writes to it through its journal, so that branches can be run one after the other and joined. There is one exception: an
attribute that no code sets is created when it is first read, and is written directly, because it is the same on every path.

Limitations: the contents of sets, bytes, strided views, array shapes beyond rank and leading length.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from flake8_jax.core import ir
    from flake8_jax.knowledge.model import TransformFact
    from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
    from flake8_jax.semantics.domain.stack import Link, LoopState


class Condition(NamedTuple):
    """A test on the way to where code runs, and how it came out. key: of the test (see ``conditions``)."""

    key: Any
    truth: bool


Level = Literal[0, 1, 2, 3]
"""How an array stands to tracing; the higher of two levels is that of what is computed from both."""
CONCRETE: Final = 0
MAYBE: Final = 1
GRAD: Final = 2
ABSTRACT: Final = 3
StaticKind = Literal["", "int", "bool", "str", "float", "complex", "shape", "dtype", "set", "ellipsis"]
"""What is known of a host value: its type, a row of sizes, a dtype, a set, nothing."""
HashKind = Literal["", "none", "identity", "fields", "leaves", "own", "inherited"]
"""What the hash of an object is made of: ``leaves`` are those of its pytree, ``own`` is a method of the project's or of an
unknown library's. Of a class itself: empty where no decorator makes it a dataclass."""
UNKNOWN_TRACE = 1 << 60
"""Later than any trace: what carries it is never taken for something that a trace found there."""


class Value:
    """The base class of the abstract values, which say what jaxlint knows about a Python value. Compare them with ``is``: two
    objects are two values, even if jaxlint knows the same about both."""

    __slots__ = ()


class Opaque(Value):
    """A value of unknown structure whose parts are made on demand.

    parts: the attributes (``".key"``) and items (``"[0]"``) read so far.
    parent/step: where this value came from, when it is itself a part.
    origin: the value outside a staging boundary that this one stands for inside it. dispatched: as in Array.
    """

    __slots__ = ("dispatched", "origin", "parent", "parts", "step")

    def __init__(self, parent: Value | None = None, step: str = "") -> None:
        self.parts: dict[str, Value] | None = None
        self.parent = parent
        self.step = step
        self.dispatched = 0
        self.origin: Value | None = None


FIELD_DEFAULT, LOADER, BATCH, RAISES, LIBRARY = "default", "a ragged loader", "a ragged batch", "raises", "library call"
"""Labels: of what the factory of a dataclass field makes, a call that gives nothing, an unknown library; see ``loaders``."""


class Unknown(Opaque):
    """A value about which jaxlint knows nothing. Rules report nothing about it.
    - ``label``: a text that says where the value came from, for ``jaxlint inspect`` and for debugging.
    - ``host_test``: whether Python decides the truth of this value in a way that jaxlint cannot follow, such as ``isinstance``
      of an unknown value or a module flag. jaxlint reports no error in code that runs only after a test of such a value.
    - ``doubt``: as ``host_test``, but only one outcome of the test is doubtful: this one (True or False). For example, it is
      True for ``x is None`` if no annotation says that ``x`` may be None.
    - ``untraced``: the outcome that says that nothing is traced: False for ``isinstance(x, Tracer)``.
    - ``formula``, ``leaf_of``, ``type_of``: for rules of jaxlint itself."""

    __slots__ = ("doubt", "formula", "host_test", "label", "leaf_of", "type_of", "untraced")

    def __init__(
        self, label: str = "", parent: Value | None = None, step: str = "", *, host_test: bool = False,
        doubt: bool | None = None, untraced: bool | None = None,
    ) -> None:  # fmt: skip
        self.parts: dict[str, Value] | None = None
        self.parent = parent
        self.step = step
        self.dispatched = 0
        self.origin: Value | None = None
        self.label, self.host_test = label, host_test
        self.formula: Recipe | None = None
        self.doubt, self.untraced = doubt, untraced
        self.leaf_of: Value | None = None
        self.type_of: Value | None = None


class Tree(Opaque):
    """A pytree that holds arrays of ``level``, of unknown structure: maybe a lone array, maybe a dict, never None."""

    __slots__ = ("level",)

    def __init__(self, level: Level, parent: Value | None = None, step: str = "") -> None:
        self.parts: dict[str, Value] | None = None
        self.parent = parent
        self.step = step
        self.dispatched = 0
        self.origin: Value | None = None
        self.level = level


class Array(Value):
    """What jaxlint knows about a JAX array, or about the tracer that stands for one while JAX traces.
    - ``level``: whether the array is a tracer: 3 if it is a tracer without a value, as under ``jit``; 2 if it is a tracer with
      a value, as under ``grad`` alone; 1 if jaxlint does not know whether a caller traces it; 0 if it is not a tracer.
    - ``dtype``: ``bool``, ``int``, ``float``, ``complex`` or ``key``; ``""`` if jaxlint does not know it.
    - ``ndim``: the number of dimensions; None if jaxlint does not know it.
    - ``length``: the size of the first axis; None if jaxlint does not know it.
    - ``size``: the array has at least this many elements (of four bytes each); 0 if jaxlint does not know it, and below 0 if
      all elements are equal.
    - ``parts``: if the array is an array of keys: the keys that the code has taken out of it with a constant index.
    - ``derived``: not empty if the code computed the array from static shapes while JAX traced, so that a Python number would
      do; the text says how, and a message can quote it.
    - ``declared``: jaxlint knows only from an annotation that this is a JAX array. It may be a NumPy array or the ``Ref`` of a
      Pallas kernel, so a rule reports no error about it.
    - ``resized``: the array certainly has more or fewer elements than the argument of the traced function from which it was
      computed.
    - ``shaped``: a value from outside the traced function that certainly has the same shape as this array.
    - ``dispatched``, ``origin``, ``recipe``: for rules of jaxlint itself."""

    __slots__ = (
        "declared", "derived", "dispatched", "dtype", "length", "level", "ndim", "origin", "parts", "recipe", "resized",
        "shaped", "size",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 - data
        self,
        level: Level,
        dtype: str = "",
        ndim: int | None = None,
        length: int | None = None,
        *,
        dispatched: int = 0,
        derived: str = "",
        size: int = 0,
        resized: bool = False,
        declared: bool = False,
    ) -> None:
        self.level = level
        self.dtype = dtype
        self.ndim = ndim
        self.length = length
        self.dispatched = dispatched
        self.parts: dict[str, Value] | None = None
        self.derived = derived
        self.origin: Value | None = None
        self.recipe: Recipe | None = None
        self.size = size
        self.resized = resized
        self.shaped: Value | None = None
        self.declared = declared


@dataclass(frozen=True, eq=False, slots=True)
class Recipe:
    """What made an array. name: an operator, or the last part of a function's name. function: in which code; None: a module."""

    name: str
    operands: tuple[Value, ...]
    node: Any
    function: ir.Function | None


class HostArray(Value):
    """A NumPy array (or scalar): concrete data on the host. ``size``: how large it is at least (see ``sizes``). length: of
    its leading axis or None. readings: of a clock, where it came out of one (see ``clocks``). declared: only an annotation
    says that it is one."""

    __slots__ = ("declared", "dtype", "length", "ndim", "readings", "size")

    def __init__(self, dtype: str = "", ndim: int | None = None, size: int = 0, *, declared: bool = False) -> None:
        self.declared = declared
        self.dtype = dtype
        self.ndim = ndim
        self.size = size
        self.length: int | None = None
        self.readings: tuple[Any, ...] = ()


class Const(Value):
    """A Python constant that jaxlint knows: ``value`` is None, Ellipsis, or a bool, int, float, complex, str or bytes."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


UNKNOWN_RANK = -1
MAX_HELD = 100
"""A string that is built of strings, line by line, holds what they hold: so many values are known."""


class Static(Value):
    """A host value known while tracing, but not to us. kind: what is known of its type.

    holds: the values interpolated into a string (``f"{x}"``) without a format spec, and what such a string among them holds.
    made_in: of a set. guess: the kind is only what is most likely, as that of a dict's keys is. rank: of a shape, how long it
    is, and of the rank of an array, that it is one; UNKNOWN_RANK if it is not known which, None of everything else. first: of a
    shape, its first number or None. choices: what it is in each branch, with what held there.
    """

    __slots__ = ("choices", "first", "guess", "holds", "kind", "made_in", "rank")

    def __init__(
        self, kind: StaticKind = "", holds: tuple[Value, ...] = (), made_in: int = UNKNOWN_TRACE, *, guess: bool = False,
        rank: int | None = None,
    ) -> None:  # fmt: skip
        self.guess = guess
        self.rank = rank
        self.kind = kind
        self.first: int | None = None
        self.choices: tuple[tuple[Value, frozenset[Condition]], ...] = ()
        self.holds = holds if len(holds) < 2 else _distinct(holds)
        self.made_in = made_in


def _distinct(held: tuple[Value, ...]) -> tuple[Value, ...]:
    """What a string holds, each value once. Of too many those that are Python's own go first."""
    distinct = tuple(dict.fromkeys(held))
    if len(distinct) <= MAX_HELD:
        return distinct
    return tuple(sorted(distinct, key=lambda value: isinstance(value, Static)))[:MAX_HELD]


def is_registered(value: TupleValue) -> bool:
    """A NamedTuple whose class is registered as a pytree of its own kind: not all fields need be children."""
    return isinstance(value.cls, ClassValue) and value.cls.traits >= {"namedtuple", "pytree"}


MAX_WEIGHT = 10_000


class TupleValue(Value):
    """A tuple of known length; a NamedTuple when ``cls`` is set (``names`` are then its fields).

    weight: so many tuples a walk through it meets. ``t = (t, t)`` over and over would be more than anyone can walk: where
    it gets too heavy, the tuples in it are unknown.
    """

    __slots__ = ("cls", "elts", "names", "weight")

    def __init__(self, elts: tuple[Value, ...], cls: Value | None = None, names: tuple[str, ...] = ()) -> None:
        self.weight: int = 1
        for value in elts:
            if type(value) is TupleValue:
                self.weight += value.weight
        if self.weight > MAX_WEIGHT:
            elts = tuple([Unknown("large") if type(v) is TupleValue and v.weight > 1 else v for v in elts])
            self.weight = len(elts)
        self.elts = elts
        self.cls = cls
        self.names = names


class ListValue(Value):
    """A list (or another sequence): known elements in ``slots[0..n-1]`` while ``slots["n"]`` is an int; else
    ``slots["n"]`` is None and ``slots["*"]`` stands for every element. ``is_tuple``: an immutable one of unknown length.
    ``slots["declared"]``: only an annotation says so. ``slots["some"]``: it has an element; ``slots["filtered"]``: it may."""

    __slots__ = ("is_tuple", "made_in", "slots")

    def __init__(
        self,
        elts: tuple[Value, ...] | None,
        rest: Value | None = None,
        *,
        is_tuple: bool = False,
        made_in: int = UNKNOWN_TRACE,
    ) -> None:
        self.slots: dict[Any, Any] = {}
        if elts is None:
            self.slots["n"] = None
            self.slots["*"] = rest
        else:
            self.slots["n"] = len(elts)
            for i, v in enumerate(elts):
                self.slots[i] = v
        self.is_tuple = is_tuple
        self.made_in = made_in

    def known(self) -> tuple[Value, ...] | None:
        """The elements, where their number is known."""
        n = self.slots["n"]
        return None if n is None else tuple(self.slots[i] for i in range(n))


class DictValue(Value):
    """A dict. Known items under ``("k", key)``; ``slots["*"]`` joins all values under unknown keys (absent: none).

    ``slots["open"]`` is true when there may be keys that we do not know. ``slots["factory"]``: what a ``defaultdict`` calls
    for a missing one. ``slots["frozen"]``: it cannot change, and has a hash. ``slots["declared"]``: only an annotation says so.
    """

    __slots__ = ("made_in", "slots")

    def __init__(
        self,
        items: dict[Any, Value],
        rest: Value | None = None,
        *,
        is_open: bool = False,
        made_in: int = UNKNOWN_TRACE,
    ) -> None:
        self.slots: dict[Any, Any] = {("k", k): v for k, v in items.items()}
        self.slots["open"] = is_open
        if rest is not None:
            self.slots["*"] = rest
        self.made_in = made_in

    def is_closed(self) -> bool:
        """All keys are known."""
        return not self.slots["open"] and "*" not in self.slots

    def items(self) -> Iterator[tuple[Any, Value]]:
        for slot, value in self.slots.items():
            if type(slot) is tuple:
                yield slot[1], value


class FunctionValue(Value):
    """A function of the project, closed over the frame in which it was defined.

    defaults: evaluated defaults by parameter name. owner: the class whose body defined it, for ``super()``.
    made: when it was (see ``freshness``), of all function objects. altered: an unknown decorator may have made
    something else of it. replaced: that decorator was computed, so that what a call gives is not known either.
    """

    __slots__ = ("altered", "cached", "closure", "defaults", "fn", "made", "owner", "replaced", "scope", "wrapped")

    def __init__(
        self,
        fn: ir.Function,
        scope: ModuleScope,
        closure: Frame | None,
        defaults: dict[str, Value],
        owner: ClassValue | None = None,
    ) -> None:
        self.fn = fn
        self.scope = scope
        self.closure = closure
        self.defaults = defaults
        self.owner = owner
        self.wrapped: Value | None = None
        self.cached = False
        self.made = 0
        self.altered = False
        self.replaced = False


class BoundMethod(Value):
    __slots__ = ("func", "made", "self_value")

    def __init__(self, func: Value, self_value: Value, made: int = 0) -> None:
        self.func = func
        self.self_value = self_value
        self.made = made


class PartialValue(Value):
    """``functools.partial(func, *args, **kwargs)``. pytree: like ``jax.tree_util.Partial``, whose leaves are the arguments."""

    __slots__ = ("args", "func", "kwargs", "made", "pytree")

    def __init__(self, func: Value, args: tuple[Value, ...], kwargs: dict[str, Value], made: int = 0) -> None:
        self.func = func
        self.args = args
        self.kwargs = kwargs
        self.made = made
        self.pytree = False


@dataclass(frozen=True, eq=False, slots=True)
class Site:
    """A place in the program: the file and the offsets of an expression."""

    scope: ModuleScope
    start: int
    end: int


def site_of(scope: ModuleScope, node: Any) -> Site:
    """The place of an expression."""
    return Site(scope, node.start, node.end)


class TransformedValue(Value):
    """What ``jax.jit(f)``, ``jax.vmap(f, in_axes=0)`` or ``jax.grad(f)`` returns.

    name: canonical name of the transform. options: the transform's other arguments by parameter name.
    site: where the transform was applied. held: conditions that held there.
    rules_asked: code reads the attributes that set rules. rules: derivative rules set by ``defvjp`` or ``defjvp``.
    loop: the one whose iterations each make such a value, where that was reported to rules; maker: the run of a function that
    made it; fact_against: what withdraws the report; loops_outside: a call has to be in more loops than these to count (see
    ``freshness``).
    """

    __slots__ = (
        "called",
        "fact",
        "fact_against",
        "held",
        "loop",
        "loops_outside",
        "made",
        "maker",
        "name",
        "operand",
        "options",
        "rules",
        "rules_asked",
        "site",
    )  # fmt: skip

    def __init__(self, name: str, fact: TransformFact, operand: Value, options: dict[str, Value], site: Site) -> None:
        self.name = name
        self.fact = fact
        self.operand = operand
        self.options = options
        self.site = site
        self.called = False
        self.rules: tuple[Value, ...] = ()
        self.held: frozenset[Condition] = frozenset()
        self.rules_asked = False
        self.made = 0
        self.loop: LoopState | None = None
        self.maker: Link | None = None
        self.fact_against = ""
        self.loops_outside = -1


class External(Value):
    """An object of a library, such as a module, a function, a class or a constant. ``name`` is its canonical name, such as
    ``jax.numpy.where``, under which the library documents it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class ExternalInstance(Value):
    """An instance of a library class, or the result of a library call whose class is known. exact: it is of no subclass.
    ``slots`` holds what is known of its attributes. level: level of the arrays in it, where it is a pytree.
    static_names: the attributes that its class surely keeps out of the pytree, so that staged code sees their plain values."""

    __slots__ = ("cls", "exact", "level", "made_in", "slots", "static_names")

    def __init__(
        self,
        cls: str,
        slots: dict[Any, Any] | None = None,
        level: Level = MAYBE,
        made_in: int = UNKNOWN_TRACE,
        static_names: frozenset[str] = frozenset(),
    ) -> None:
        self.static_names = static_names
        self.exact = False
        self.cls = cls
        self.slots: dict[Any, Any] = slots if slots is not None else {}
        self.level = level
        self.made_in = made_in


REF = "jax.Ref"
"""The class of what Pallas kernels get, and ``jax.new_ref`` gives: a place that items are read from and stored to."""


class BuiltinValue(Value):
    """A builtin of Python by name (``max``, ``len``), or a method of a builtin value with the value bound."""

    __slots__ = ("bound", "name")

    def __init__(self, name: str, bound: Value | None = None) -> None:
        self.name = name
        self.bound = bound


class ModuleValue(Value):
    """A module of the project."""

    __slots__ = ("scope",)

    def __init__(self, scope: ModuleScope) -> None:
        self.scope = scope


@dataclass(eq=False, slots=True)
class ClassField:
    """One field of a dataclass-like class. static: no leaf of a pytree, but kept as it is across a staging boundary. hashed:
    the hash asks for its value as the constructor got it. converted: it holds what a converter made of that value."""

    name: str
    annotation: ir.Expr | None
    default: Value | None
    static: bool
    scope: ModuleScope
    hashed: bool = True
    converted: bool = False


class ClassValue(Value):
    """A class of the project.

    bases: the evaluated bases (ClassValue, External, Unknown …). namespace: the class body's bindings.
    traits: what decorators and library bases make of it: ``pytree dataclass namedtuple static_attributes enum``.
    leaf_names: the attributes that a flatten function of its own gives out as children; None where it has none.
    childless: it surely gives out no children. flatten: its body. hashed: what own decorators make of hashes (``hashing``).
    """

    __slots__ = (
        "bases", "childless", "closure", "external_bases", "fields", "flatten", "generic", "has_unknown_base", "hashed",
        "leaf_names", "mro_cache", "namespace", "node", "scope", "static_names", "subclasses", "traits",
    )  # fmt: skip

    def __init__(self, node: ir.ClassDef, scope: ModuleScope, bases: list[Value], closure: Frame | None) -> None:
        self.node = node
        self.scope = scope
        self.bases = bases
        self.closure = closure
        self.namespace: dict[str, Value] = {}
        self.traits: set[str] = set()
        self.fields: list[ClassField] = []
        self.static_names: set[str] = set()
        self.mro_cache: list[ClassValue] | None = None
        self.subclasses: list[ClassValue] = []
        self.generic: Instance | None = None
        self.external_bases: list[str] = []
        self.has_unknown_base = False
        self.leaf_names: frozenset[str] | None = None
        self.childless = False
        self.flatten: list[ir.Stmt] = []
        self.hashed: HashKind = ""


class Instance(Value):
    """An instance of a project class. ``slots``: attributes set so far. exact: the class is known for sure (it was
    constructed here), not only a base of it. level: for pytrees of unknown contents, what its leaves are."""

    __slots__ = ("cls", "complete", "exact", "level", "made_in", "slots")

    def __init__(
        self, cls: ClassValue, *, exact: bool, level: Level | None = None, made_in: int = UNKNOWN_TRACE
    ) -> None:
        self.cls = cls
        self.slots: dict[Any, Any] = {}
        self.exact = exact
        self.level = level
        self.made_in = made_in
        self.complete = False


class AtValue(Value):
    """``x.at`` (index None) or ``x.at[index]``."""

    __slots__ = ("base", "index")

    def __init__(self, base: Value, index: Value | None = None) -> None:
        self.base = base
        self.index = index


class Deferred(Value):
    """A name imported from a module that was still being run; looked up again when it is read."""

    __slots__ = ("name", "scope")

    def __init__(self, scope: ModuleScope, name: str) -> None:
        self.scope = scope
        self.name = name


class SuperValue(Value):
    """``super()``: the methods of ``self_value`` after ``cls`` in its method resolution order."""

    __slots__ = ("cls", "self_value")

    def __init__(self, cls: ClassValue, self_value: Value) -> None:
        self.cls = cls
        self.self_value = self_value


class PropertyValue(Value):
    """A property: ``fget`` runs on access, ``fset`` on assignment."""

    __slots__ = ("cached", "fget", "fset")

    def __init__(self, fget: Value, *, cached: bool = False, fset: Value | None = None) -> None:
        self.fget = fget
        self.fset = fset
        self.cached = cached


class StaticMethodValue(Value):
    """``staticmethod`` (``to_class`` false) or ``classmethod``."""

    __slots__ = ("func", "to_class")

    def __init__(self, func: Value, *, to_class: bool) -> None:
        self.func = func
        self.to_class = to_class


class GeneratorValue(Value):
    """What calling a generator function gives: iterating yields ``element``. fresh: which counts the iterations.
    some: there surely is a first element. numbers: of a range whose bounds are known. count: so many elements, numbers and
    keys all of them; None if that is not so."""

    __slots__ = ("count", "element", "fresh", "made_in", "numbers", "some")

    def __init__(
        self, element: Value, *, fresh: bool = False, some: bool = False, made_in: int = UNKNOWN_TRACE,
        numbers: range | None = None, count: int | None = None,
    ) -> None:  # fmt: skip
        self.numbers = numbers
        self.element = element
        self.fresh = fresh
        self.some = some
        self.made_in = made_in
        self.count = count


class UnionValue(Value):
    """One of a few values, depending on the path taken. conditions: for each member, what held when it arose."""

    __slots__ = ("conditions", "members")

    def __init__(self, members: tuple[Value, ...], conditions: tuple[frozenset[Condition], ...] | None = None) -> None:
        self.members = members
        self.conditions = conditions


NONE = Const(None)
OMITTED = Const(None)
"""The default of a parameter for which an unknown caller may pass an argument."""
TRUE = Const(True)
FALSE = Const(False)
MAX_UNION = 6


@dataclass(slots=True)
class Missing:
    """Marks an unbound slot in the journal."""

    reason: str = field(default="unbound")


MISSING: Any = Missing()


MAX_VISITS = 20_000


class Room:
    """How many more values one walk through a value may visit.

    A list can contain itself, and a list of lists that share their elements unfolds into very many: a bound on the depth
    alone does not bound such a walk.
    """

    __slots__ = ("left",)

    def __init__(self, left: int = MAX_VISITS) -> None:
        self.left = left

    def enter(self, value: Value) -> bool:
        """Visit what ``value`` holds; False if that is too much."""
        if type(value) is TupleValue:
            self.left -= 1 + len(value.elts)
        elif isinstance(value, UnionValue):
            self.left -= 1 + len(value.members)
        else:
            self.left -= 1 + len(getattr(value, "slots", ()))
        return self.left >= 0


def level_of(value: Value, depth: int = 4, room: Room | None = None) -> Level:
    """The highest tracing level of any array in ``value``; CONCRETE if there is none, MAYBE where unknown."""
    if isinstance(value, (Array, Tree)):
        return value.level
    if depth == 0 or type(value) is Unknown:
        return MAYBE
    leveled = _LEVELED.get(type(value))
    if leveled is None:
        return CONCRETE
    room = room if room is not None else Room()
    if not room.enter(value):
        return MAYBE
    best: Level = CONCRETE
    if isinstance(value, Instance) and value.level is not None:
        best = value.level
    for part in leveled(value):
        best = max(best, level_of(part, depth - 1, room))
    return best


def _elements_or_any(value: ListValue) -> Iterable[Value]:
    known = value.known()
    if known is not None:
        return known
    return (value.slots["*"],) if value.slots.get("*") is not None else ()


def _leaf_slots(value: Instance) -> Iterable[Value]:
    """What an object holds as the children of a pytree."""
    if "pytree" not in value.cls.traits:
        return ()
    return [v for k, v in value.slots.items() if k not in value.cls.static_names]


_LEVELED: dict[type, Callable[[Any], Iterable[Value]]] = {
    TupleValue: lambda value: value.elts,
    UnionValue: lambda value: value.members,
    ListValue: _elements_or_any,
    DictValue: lambda value: [v for k, v in value.slots.items() if k != "open"],
    Instance: _leaf_slots,
    ExternalInstance: lambda value: value.slots.values(),
    GeneratorValue: lambda value: (value.element,),
}
"""The values whose arrays give a container its level, by the type of the container."""


def is_traced_array(value: Value) -> bool:
    """Return whether a value certainly is a tracer whose numbers are unknown while JAX traces, as under ``jit`` or ``vmap`` but
    not under ``grad`` alone. If jaxlint knows several possible values, this has to hold for each of them."""
    if isinstance(value, Array):
        return value.level == ABSTRACT
    return isinstance(value, UnionValue) and all(is_traced_array(m) for m in value.members)


def is_tracer(value: Value) -> bool:
    """Return whether a value certainly is a tracer of an array: one whose numbers are unknown, as under ``jit``, or one that
    knows them, as under ``grad`` alone."""
    if isinstance(value, Array):
        return value.level >= GRAD
    return isinstance(value, UnionValue) and all(is_tracer(m) for m in value.members)


def holds_tracer(value: Value, minimum: int = ABSTRACT) -> bool:
    """A traced array or tree: if the operation accepts it at all, it receives a tracer."""
    if isinstance(value, (Array, Tree)):
        return value.level >= minimum
    return isinstance(value, UnionValue) and all(holds_tracer(m, minimum) for m in value.members)


def hashes_tracer(value: Value, minimum: int = ABSTRACT) -> bool:
    """Hashing the value hashes a tracer: it is one, or a tuple that contains one."""
    if isinstance(value, TupleValue):
        return any(hashes_tracer(element, minimum) for element in value.elts)
    return holds_tracer(value, minimum)


def is_host_value(value: Value) -> bool:
    """Surely no JAX array: a constant, a static, a NumPy array, a function, a container of those."""
    if isinstance(value, (Const, Static, HostArray, FunctionValue, ClassValue, External, ModuleValue, BuiltinValue)):
        return True
    if isinstance(value, TupleValue):
        return all(is_host_value(v) for v in value.elts)
    if isinstance(value, UnionValue):
        return all(is_host_value(v) for v in value.members)
    return False


class SliceValue(Value):
    """``lower:upper:step`` inside an index; None where absent."""

    __slots__ = ("lower", "step", "upper")

    def __init__(self, lower: Value | None, upper: Value | None, step: Value | None) -> None:
        self.lower = lower
        self.upper = upper
        self.step = step


def copy_with_new_identity(value: Value, depth: int = 6) -> Value:
    """The same value, but another one: what a second iteration or another unknown index gives."""
    if isinstance(value, Array):
        made = Array(
            value.level, value.dtype, value.ndim, value.length, dispatched=value.dispatched, size=value.size,
            resized=value.resized, declared=value.declared,
        )  # fmt: skip
        made.recipe = shaped_of(value)
        return made
    if isinstance(value, Unknown):
        unknown = Unknown(value.label, host_test=value.host_test, doubt=value.doubt, untraced=value.untraced)
        unknown.formula, unknown.leaf_of, unknown.type_of = value.formula, value.leaf_of, value.type_of
        return unknown
    if isinstance(value, Tree):
        return Tree(value.level)
    if isinstance(value, TupleValue) and depth:
        return TupleValue(tuple(copy_with_new_identity(v, depth - 1) for v in value.elts), value.cls, value.names)
    if isinstance(value, UnionValue) and depth:
        return UnionValue(tuple(copy_with_new_identity(v, depth - 1) for v in value.members))
    return value


SHAPED = "shaped"
"""The recipe of an array that holds elements of its operands."""


def shaped_of(value: Array) -> Recipe | None:
    """The recipe of an array that holds elements of ``value``; None where nothing is known of how that was computed."""
    recipe = value.recipe
    if recipe is not None and recipe.name == SHAPED:
        return recipe
    return Recipe(SHAPED, (value,), None, None) if recipe is not None and value.dtype != "key" else None


class ExternalMethod(Value):
    """A method of an instance of a library class (or of a project class that inherits it). ``name``: qualified."""

    __slots__ = ("cls", "made", "name", "self_value")

    def __init__(self, cls: str, name: str, self_value: Value, made: int = 0) -> None:
        self.cls = cls
        self.name = name
        self.self_value = self_value
        self.made = made


_STAND_FOR_OTHERS = frozenset({Array, Tree, Unknown})


def canonical_key(value: Value) -> Value:
    """The outermost value that this one stands for: the identity under which a key's uses are counted."""
    while type(value) in _STAND_FOR_OTHERS and value.origin is not None:  # type: ignore[attr-defined]
        value = value.origin  # type: ignore[attr-defined]
    return value


def known_elements(value: Value) -> tuple[Value, ...] | None:
    """The elements of a sequence of known length."""
    if isinstance(value, TupleValue):
        return value.elts
    if isinstance(value, ListValue):
        return value.known()
    return None


def held_by(value: Value) -> Sequence[Value]:
    """What a container, an object, a generator or a union holds directly, whatever of it is known; nothing for others."""
    if isinstance(value, TupleValue):
        return value.elts
    if isinstance(value, UnionValue):
        return value.members
    if isinstance(value, GeneratorValue):
        return (value.element,)
    if isinstance(value, (ListValue, DictValue, Instance, ExternalInstance)):
        return [v for v in value.slots.values() if isinstance(v, Value)]
    return ()


def contents_of(value: Value) -> tuple[Value, ...] | None:
    """What a tuple, a list or a dict holds, and the members of a union; None of any other value."""
    return tuple(held_by(value)) if isinstance(value, (TupleValue, UnionValue, ListValue, DictValue)) else None


def part_of(value: Opaque, step: str, make: Callable[[], Value]) -> Value:
    """The part of an opaque value under ``step``, made by ``make`` when it is read for the first time."""
    if value.parts is None:
        value.parts = {}
    found = value.parts.get(step)
    if found is None:
        found = make()
        value.parts[step] = found
        if isinstance(found, (Array, Tree, Unknown)) and isinstance(value.origin, Opaque):
            found.origin = part_of(value.origin, step, lambda: Unknown("part", value.origin, step))
        if isinstance(found, Opaque):
            found.parent, found.step = value, step
    return found
