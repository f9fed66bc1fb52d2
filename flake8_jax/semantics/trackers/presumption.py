"""What a library's functions would see if their users staged them.

Library code often has no root of its own: its users jit it. ``inspect`` therefore runs every function once more,
staged, and takes for traced what the code itself uses as an array: what it hands to ``jax.numpy``, asks for its
``shape``, maps over as a tree, passes across a staging boundary. Such a run is *presumed*: no rule reports on it
(but previews of those that say so, ``Subscription.presumed``), and records tell it apart.

Vocabulary
----------
marked       a value that JAX takes for an array: an argument of ``jax.numpy``, what crosses a staging boundary.
host         a value that surely is no array: a size, an axis, what is called, what is passed on as keywords.
array-like   a parameter that received a marked value; the callers' values are then marked as well, until nothing
             changes. A host value outweighs any mark.
path         where in a value the array lies: of ``loss, aux = state`` only ``state[0]`` may be one.
contract     parameters for which JAX or a library passes arrays, whatever the function does with them.
driver       a function that compiles others (``jit``, ``pmap``).
sure         parameters for which JAX itself passes arrays: a rule of a primitive, a function that puts a pytree together.
holding      objects of the presumed runs that hold tracers in some attribute.
carriers     classes whose instances are presumed to do so wherever they are passed (see ``receivers``).
leaf         an element of a pytree. It is no container, so a leaf that is indexed is an array.

Limitations: arithmetic between two unknown values says nothing of either, unless one is a leaf; nor do attributes of objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flake8_jax.semantics.domain.code import names_read, names_used
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    MAYBE,
    Array,
    BoundMethod,
    BuiltinValue,
    ClassValue,
    Const,
    FunctionValue,
    Instance,
    ListValue,
    PartialValue,
    TransformedValue,
    Tree,
    Unknown,
    Value,
    canonical_key,
    contents_of,
)
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.tracker import Tracker

if TYPE_CHECKING:
    from flake8_jax.core import ir

Path = tuple[str, ...]
"""Steps from a value to a part of it: ``("[0]", "['loss']")``."""
MAX_PATH, MAX_PATHS = 3, 32
SOME_ITEM = "[*]"
"""A step to an unknown item, which stands for no item that the code reads."""
ARRAY_ATTRIBUTES = frozenset({"shape", "ndim", "dtype", "at", "T", "mT", "astype", "reshape", "ravel", "squeeze",
                              "transpose", "swapaxes"})  # fmt: skip


class Presumption:
    """Collects, in the ordinary runs, which parameters are array-like; applies it in the presumed ones."""

    def __init__(self) -> None:
        self.marked: dict[Value, set[Path]] = {}
        self.marks = 0
        self.host: set[Value] = set()
        self.bindings: list[tuple[int, str, Value]] = []
        self.array_like: dict[tuple[int, str], set[Path]] = {}
        self.host_like: set[tuple[int, str]] = set()
        self.excluded: set[tuple[int, str]] = set()
        self.contracts: set[tuple[int, str]] = set()
        self.drivers: set[int] = set()
        self.sure: set[tuple[int, str]] = set()
        self.rules: list[FunctionValue] = []
        self.alike: list[tuple[tuple[int, str], tuple[int, str]]] = []
        self.holding: set[Value] = set()
        self.carriers: set[ClassValue] = set()
        self.leaves: list[tuple[Value, Value]] = []
        self.settled = False
        self.called: frozenset[int] = frozenset()
        self.entered: dict[str, Value] = {}

    def mark(self, value: Value, within: Path = ()) -> None:
        """JAX takes ``value``, or what lies under that path in it, for an array; what it is an item of holds one."""
        if not isinstance(value, (Unknown, Tree, Array)):
            return
        whole: Value | None = canonical_key(value)
        while isinstance(whole, Unknown) and whole not in self.host and len(within) <= MAX_PATH:
            paths = self.marked.setdefault(whole, set())
            if within not in paths and len(paths) < MAX_PATHS:
                paths.add(within)
                self.marks += 1
            within = (whole.step, *within)
            whole = whole.parent if whole.step.startswith("[") else None
            whole = canonical_key(whole) if whole is not None else None

    def mark_leaves(self, value: Value, depth: int = 4) -> None:
        """JAX takes whatever is in ``value`` for arrays: it crosses a staging boundary."""
        for part in _parts_of(value, depth):
            self.mark(part)

    def deny(self, value: Value, depth: int = 2) -> None:
        """``value`` can only be a host value: a size, an axis, a function."""
        for part in _parts_of(value, depth):
            if isinstance(part, (Unknown, Tree)):
                self.host.add(canonical_key(part))

    def is_host(self, value: Value) -> bool:
        """``value``, or what it is a part of, can only be a host value."""
        whole: Value | None = value
        while isinstance(whole, (Unknown, Tree)):
            whole = canonical_key(whole)
            if whole in self.host:
                return True
            whole = whole.parent if isinstance(whole, Unknown) else None
        return False

    def applies_to(self, scope: ModuleScope, fn: ir.Function) -> bool:
        """Tests and drivers run eagerly: a function that compiles functions is not compiled itself."""
        return not (scope.is_test or "/test/" in scope.path or id(fn) in self.drivers)

    def contract(self, fn: ir.Function, names: list[str]) -> None:
        """A library passes pytrees of arrays for these parameters; claimed of those that the code looks into."""
        self.contracts |= {(id(fn), n) for n in names}

    def contract_surely(self, function: FunctionValue, names: list[str], *, filters: bool = False) -> None:
        """JAX itself passes arrays, or pytrees of them, for these parameters. filters: only some of their items hold arrays."""
        self.rules.append(function)
        for name in names_read(function.fn) & set(names):
            self.array_like[id(function.fn), name] = {(SOME_ITEM,)} if filters else {()}
            self.sure.add((id(function.fn), name))

    def exclude(self, fn: ir.Function, names: list[str]) -> None:
        """These parameters surely are no arrays."""
        self.excluded |= {(id(fn), n) for n in names}

    def same_argument(self, one: FunctionValue, name: str, other: FunctionValue, other_name: str) -> None:
        """JAX passes the same for both parameters."""
        self.alike.append(((id(one.fn), name), (id(other.fn), other_name)))

    def leaf_of(self, leaf: Value, tree: Value, *, is_element: bool = False) -> None:
        """``leaf`` stands for every leaf of ``tree``. is_element: it surely is no container."""
        if isinstance(leaf, Unknown) and isinstance(tree, Unknown):
            self.leaves.append((leaf, tree))
            if is_element:
                leaf.leaf_of = tree

    def use_leaf(self, value: Value) -> None:
        """The code indexes ``value``, or computes with it. A leaf of a pytree with which that works is an array."""
        if isinstance(value, Unknown) and value.leaf_of is not None:
            self.mark(value)
            self.mark(value.leaf_of)

    def bind(self, fn: ir.Function, bound: dict[str, Value]) -> None:
        """A function runs with these arguments."""
        for name, value in bound.items():
            if isinstance(value, ListValue) and value.slots["n"] is None:
                value = value.slots["*"]  # any one of ``*args``
            if isinstance(value, Unknown):
                self.bindings.append((id(fn), name, value))
            elif isinstance(value, _CALLABLE) or (isinstance(value, Const) and type(value.value) is str):
                self.host_like.add((id(fn), name))

    def settle(self, called: set[int]) -> None:
        """All ordinary runs are over: what is known of an argument holds for the parameter, and the other way round.
        called: the functions that they call."""
        self.called = frozenset(called)
        self._settle_hosts()
        known = -1
        while known != (known := self.marks):
            for leaf, tree in self.leaves:
                if leaf in self.marked and canonical_key(tree) not in self.marked:
                    self.mark(tree)
            for fn, name, value in self.bindings:
                self._settle_paths((fn, name), value)
        for parameter in self.host_like:
            self.array_like.pop(parameter, None)
        self.bindings.clear()
        self.settled = True

    def learn(self, fn: ir.Function) -> bool:
        """The run that is over may show for the first time that parameters are array-like: where only known callers ran the
        function, or it was not run often enough."""
        known = self.marks
        for name, value in self.entered.items():
            if isinstance(value, Unknown) and (id(fn), name) not in self.host_like and not self.is_host(value):
                self._settle_paths((id(fn), name), value)
        return self.marks != known

    def _settle_hosts(self) -> None:
        """Which parameters can only be host values."""
        host_like = self.host_like | self.excluded
        passed = set(self.excluded)
        known = -1
        while known != (known := len(self.host) + len(host_like)):
            for fn, name, value in self.bindings:
                if self.is_host(value):
                    host_like.add((fn, name))
                elif (fn, name) in passed:
                    self.deny(value)
            for leaf, tree in self.leaves:
                if self.is_host(tree):
                    self.host.add(canonical_key(leaf))
            for pair in self.alike:
                if not host_like.isdisjoint(pair):
                    host_like.update(pair)
                    passed.update(pair)
        self.host_like |= host_like
        self.host_like -= self.sure - self.excluded

    def _settle_paths(self, parameter: tuple[int, str], value: Value) -> None:
        """A parameter and one argument for it are arrays under the same paths."""
        paths = self.array_like.get(parameter, set())
        seen = self.marked.get(canonical_key(value), set())
        if parameter in self.contracts and value.parts:  # type: ignore[attr-defined]
            seen = seen | {()}
        for path in paths - seen:
            self.mark(value, path)
        if seen - paths:
            self.marks += 1
            self.array_like[parameter] = paths | seen

    def holder(self, of: Instance) -> Instance:
        """An object like this one that holds tracers somewhere."""
        made = Instance(of.cls, exact=of.exact, level=of.level, made_in=of.made_in)
        made.slots.update(of.slots)
        self.holding.add(made)
        return made

    def presumed(self, func: FunctionValue, bound: dict[str, Value]) -> dict[str, Value]:
        """The arguments of a presumed run: array-like unknowns are pytrees of tracers."""
        return {name: self._presumed_argument(func, name, value) for name, value in bound.items()}

    def _presumed_argument(self, func: FunctionValue, name: str, value: Value) -> Value:
        parameter = (id(func.fn), name)
        if parameter in self.host_like:
            return Unknown(name) if isinstance(value, Tree) else value
        if isinstance(value, Unknown):
            return self._presumed_unknown(func, name, value)
        if isinstance(value, Instance):
            return self._presumed_object(func, name, value)
        if isinstance(value, ListValue) and parameter in self.array_like and value.slots["n"] is None:
            return ListValue(None, Tree(ABSTRACT), is_tuple=value.is_tuple, made_in=value.made_in)
        if isinstance(value, Array) and value.level == MAYBE and value.dtype != "key":
            array = Array(ABSTRACT, value.dtype, value.ndim)
            array.origin = value
            return array
        return value

    def _presumed_unknown(self, func: FunctionValue, name: str, value: Unknown) -> Value:
        parameter = (id(func.fn), name)
        # What a user leaves out keeps its default.
        if parameter not in self.array_like or name in func.defaults:
            return value
        if parameter not in self.sure and name not in names_used(func.fn):
            return value  # passed in and returned: it may as well be empty
        return _with_arrays(value, self.array_like[parameter])

    def _presumed_object(self, func: FunctionValue, name: str, value: Instance) -> Value:
        if not value.exact and value.cls in self.carriers:
            own = func.owner is not None and name == func.fn.params[0].name
            return value if own else self.holder(value)
        return self.holder(value) if () in self.array_like.get((id(func.fn), name), ()) else value


class Presuming(Tracker):
    """presumption: what unknown callers may pass; None unless ``inspect`` asks."""

    def __init__(self, m: Machine) -> None:
        self.presumption: Presumption | None = None


def _with_arrays(value: Unknown, paths: set[Path]) -> Value:
    """The value with pytrees of tracers under these paths: all of it, or items of it."""
    if () in paths:
        tree = Tree(ABSTRACT)
        tree.origin = value
        return tree
    made = Unknown(value.label)
    made.origin = value
    made.parts = {}
    for step in {path[0] for path in paths}:
        part = _with_arrays(Unknown(value.label), {path[1:] for path in paths if path[0] == step})
        assert isinstance(part, (Unknown, Tree))
        part.origin, part.parent, part.step = None, made, step
        made.parts[step] = part
    return made


_CALLABLE = (FunctionValue, BoundMethod, PartialValue, TransformedValue, BuiltinValue)


def _parts_of(value: Value, depth: int) -> Iterator[Value]:
    """A value, or what is in a container."""
    contents = contents_of(value) if depth else None
    if contents is None:
        yield value
        return
    for child in contents:
        yield from _parts_of(child, depth - 1)


_ARITHMETIC = frozenset({"+", "-", "*", "/", "@", "**"})


def track_operands(m: Machine, left: Value, op: str, right: Value) -> None:
    """Arithmetic on leaves of pytrees: they are arrays."""
    presumption = m.trackers[Presuming].presumption
    assert presumption is not None
    if op in _ARITHMETIC:
        presumption.use_leaf(left)
        presumption.use_leaf(right)
