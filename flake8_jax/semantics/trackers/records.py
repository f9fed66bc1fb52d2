"""What ``jaxlint inspect`` shows: for every function, how it was run and what its parameters were.

Vocabulary
----------
record      what is shown of a function, a parameter or a root; part of the JSON output.
kind        what a parameter was in some run: ``traced``, ``pytree``, ``concrete``, ``static`` …
chain       the calls from the transform that stages a function to the function.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Positions
from flake8_jax.semantics.domain.code import functions_of
from flake8_jax.semantics.domain.joining import members_of
from flake8_jax.semantics.domain.stack import Link, Mode
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    GRAD,
    MAYBE,
    Array,
    BoundMethod,
    BuiltinValue,
    ClassValue,
    Const,
    DictValue,
    External,
    FunctionValue,
    HostArray,
    Instance,
    ListValue,
    PartialValue,
    Static,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    level_of,
)
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.tracker import Tracker

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import ModuleScope


class ChainLink(msgspec.Struct, frozen=True):
    """One step from a root to a function."""

    filename: str
    line: int
    function: str


class RootRecord(msgspec.Struct, frozen=True):
    """A root that stages a function, and the calls between the two."""

    transform: str
    filename: str
    line: int
    chain: tuple[ChainLink, ...]


class ParameterRecord(msgspec.Struct, frozen=True):
    """A parameter and what it was in the contexts run: ``traced``, ``pytree`` (holds tracers), ``concrete``, ``key``,
    ``static``, ``function``, ``unknown``."""

    name: str
    kinds: tuple[str, ...]


class FunctionRecord(msgspec.Struct, frozen=True):
    """One function, method or lambda. ``line``: of the ``def``; ``first_line``: of its first decorator; ``last_line``: of the
    end of its body.

    presumed: it was (also) run as a library's users would stage it; kinds then include what it would see there.
    """

    filename: str
    qualname: str
    line: int
    first_line: int
    staged: bool
    ambient: bool
    roots: tuple[RootRecord, ...]
    params: tuple[ParameterRecord, ...]
    contexts: int
    presumed: bool = False
    last_line: int = 0


class _Observed:
    """What was seen of one function so far. python: parameters that a caller passed a Python value for."""

    __slots__ = (
        "ambient",
        "contexts",
        "fn",
        "kinds",
        "presumed",
        "presumed_kinds",
        "python",
        "roots",
        "scope",
        "staged",
    )

    def __init__(self, scope: ModuleScope, fn: ir.Function) -> None:
        self.scope = scope
        self.fn = fn
        self.contexts = 0
        self.staged = False
        self.ambient = False
        self.presumed = False
        self.python: set[str] = set()
        self.kinds: dict[str, set[str]] = {p.name: set() for p in fn.params}
        self.presumed_kinds: dict[str, set[str]] = {p.name: set() for p in fn.params}
        self.roots: dict[tuple[int, ...], tuple[Link, ...]] = {}


_TRACED = frozenset({"traced", "pytree"})
MAX_ROOTS = 4
"""So many places are told from which a function is staged."""
MAX_KINDS = 7


class Recording(Tracker):
    """records: what ``inspect`` tells of functions; None unless it asks."""

    def __init__(self, m: Machine) -> None:
        self.path = m.path
        self.records: Records | None = None

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> None:
        if self.records is not None:
            self.records.observe(function.scope, function.fn, bound, self.path.mode, self.path.stack)


def kind_of(value: Value) -> set[str]:
    """The kinds of a parameter's value."""
    if isinstance(value, UnionValue):
        several = [kind_of(member) for member in value.members]
        together = set[str]().union(*several)
        # One of these: that it is traced is said where it is whichever it is.
        return together if all(kinds & _TRACED for kinds in several) else (together - _TRACED) | {"unknown"}
    if isinstance(value, Array) and value.dtype == "key":
        return {"key", "traced"} if value.level in _TRACING else {"key"}
    kind = _KINDS.get(type(value))
    return {kind(value) if kind is not None else _kind_by_level(value)}


_TRACING = frozenset({ABSTRACT, GRAD})


def _kind_of_argument(value: Value, *, is_variadic: bool) -> set[str]:
    """The kinds of one argument. A sequence of unknown length may be empty; ``*args`` seldom is."""
    if not is_variadic and isinstance(value, ListValue) and value.known() is None:
        return {"unknown"}
    return kind_of(value)


def _kind_by_level(value: Value) -> str:
    level = level_of(value)
    return "pytree" if level in _TRACING else "unknown" if level == MAYBE else "static"


def _kind_of_array(value: Array) -> str:
    return "traced" if value.level in _TRACING else "unknown" if value.level == MAYBE else "concrete"


def _kind_of_unknown(value: Unknown) -> str:
    """A pytree where it stands for something outside of a trace, and parts of it were read that hold arrays."""
    parts = (value.parts or {}).values()
    holds = any(isinstance(v, Tree) or (isinstance(v, Unknown) and v.parts) for v in parts)
    return "pytree" if holds and value.origin is not None else "unknown"


def _kind_of_dict(value: DictValue) -> str:
    if value.slots["open"] and not any(True for _ in value.items()):
        return "unknown"  # no item in it is known: it may be empty
    return _kind_by_level(value)


_KINDS: dict[type, Callable[[Any], str]] = {
    DictValue: _kind_of_dict,
    Array: _kind_of_array,
    Tree: lambda value: "pytree" if value.level in _TRACING else "unknown",
    Unknown: _kind_of_unknown,
    HostArray: lambda value: "concrete",
    Instance: lambda value: "static" if "pytree" not in value.cls.traits else _kind_by_level(value),
    **dict.fromkeys((Const, Static), lambda value: "static"),
    **dict.fromkeys(
        (FunctionValue, BoundMethod, PartialValue, TransformedValue, External, BuiltinValue, ClassValue),
        lambda value: "function",
    ),
}
"""The kind of a value by its type; the kind of other values follows from their level."""


def _kinds(observed: _Observed, name: str) -> set[str]:
    """All kinds of a parameter. Where the callers in sight pass a Python value, no presumption makes it a tracer."""
    real, presumed = observed.kinds[name], observed.presumed_kinds[name]
    if name in observed.python and not real & _TRACED and presumed & _TRACED:
        presumed = (presumed - _TRACED) | {"unknown"}
    return real | presumed


def _is_python(value: Value, depth: int = 4) -> bool:
    """A Python value through and through: the structure is known, and there is no place for an array in it."""
    if isinstance(value, Instance):
        return "pytree" not in value.cls.traits or value.cls.childless
    if isinstance(value, TupleValue):
        parts = value.elts
    elif isinstance(value, ListValue):
        known = value.known()
        if known is None:
            return False
        parts = known
    elif isinstance(value, DictValue):
        if value.slots["open"] or "*" in value.slots:
            return False
        parts = tuple(v for _, v in value.items())
    else:
        return isinstance(value, (Const, Static))
    return depth > 0 and all(_is_python(part, depth - 1) for part in parts)


class Records:
    """Collects observations while the machine runs. holding: objects of the presumed runs that hold tracers somewhere."""

    def __init__(self, holding: AbstractSet[Value]) -> None:
        self.observed: dict[int, _Observed] = {}
        self.holding = holding

    def observe(
        self, scope: ModuleScope, fn: ir.Function, bound: dict[str, Value], mode: Mode, stack: list[Link]
    ) -> None:
        """One run of a function."""
        observed = self.observed.get(id(fn))
        if observed is None:
            observed = self.observed[id(fn)] = _Observed(scope, fn)
        observed.contexts += 1
        if mode.presumed:
            observed.presumed = True
        else:
            observed.staged = observed.staged or mode.staged
            observed.ambient = observed.ambient or mode.ambient
        self._observe_arguments(observed, bound, presumed=mode.presumed)
        if mode.staged and not mode.presumed and len(observed.roots) < MAX_ROOTS:
            start = next((i for i, link in enumerate(stack) if link.kind in ("root", "contract")), None)
            if start is not None:
                chain = tuple(stack[start:])
                key = tuple(id(link.node) for link in chain)
                observed.roots.setdefault(key, chain)

    def _observe_arguments(self, observed: _Observed, bound: dict[str, Value], *, presumed: bool) -> None:
        known = observed.presumed_kinds if presumed else observed.kinds
        unsaid = _unsaid(observed.fn) if presumed else frozenset()
        variadic = {p.name for p in observed.fn.params if p.kind == "vararg"}
        for name, value in bound.items():
            kinds = known.get(name) if name not in unsaid else None
            if kinds is not None and len(kinds) < MAX_KINDS:
                kinds |= {"pytree"} if value in self.holding else _kind_of_argument(value, is_variadic=name in variadic)
                if not presumed and any(map(_is_python, members_of(value))):
                    observed.python.add(name)

    def functions(self, scopes: list[ModuleScope]) -> list[FunctionRecord]:
        """One record per function of the given files, in source order; functions never run have no contexts."""
        found: list[FunctionRecord] = []
        for scope in scopes:
            positions = Positions(scope.tree.line_starts)
            for fn, start, first in functions_of(scope.tree):
                observed = self.observed.get(id(fn)) or _Observed(scope, fn)
                found.append(
                    FunctionRecord(
                        filename=scope.path,
                        qualname=fn.qualname,
                        line=positions.row(start),
                        first_line=positions.row(first),
                        staged=observed.staged,
                        ambient=observed.ambient,
                        roots=tuple(_root_record(chain) for chain in observed.roots.values()),
                        params=tuple(
                            ParameterRecord(p.name, tuple(sorted(_kinds(observed, p.name)))) for p in fn.params
                        ),
                        contexts=observed.contexts,
                        presumed=observed.presumed,
                        last_line=positions.row(fn.body[-1].end),
                    )
                )
        return found


def _unsaid(fn: ir.Function) -> frozenset[str]:
    """Parameters of which a presumed run says nothing: what a user might forward, and what objects are made of."""
    if fn.name in ("__init__", "__new__", "__post_init__"):
        return frozenset(p.name for p in fn.params)
    return frozenset(p.name for p in fn.params if p.kind == "kwarg")


def _root_record(chain: tuple[Link, ...]) -> RootRecord:
    root = chain[0]
    return RootRecord(
        transform=root.text.split(" ", 1)[0].strip("`"),
        filename=root.scope.path,
        line=_row(root),
        chain=tuple(ChainLink(link.scope.path, _row(link), link.function) for link in _entered(chain[1:])),
    )


def _entered(links: tuple[Link, ...]) -> list[Link]:
    """The links without the roots that the call of their operand repeats."""
    followers = (*links[1:], None)
    return [
        link
        for link, then in zip(links, followers)
        if link.kind != "root" or then is None or then.node is not link.node or then.kind != "call"
    ]


def _row(link: Link) -> int:
    if link.node is None:
        return 1
    return Positions(link.scope.tree.line_starts).row(link.node.start)
