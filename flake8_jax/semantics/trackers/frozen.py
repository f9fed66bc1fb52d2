"""Assignments to attributes of objects that a library has frozen, which raise.

Vocabulary
----------
freezing    a library class whose objects, and those of subclasses of the project, cannot be changed: a module of Equinox or of
            Flax, a data class of ``flax.struct``.
building    a method of the object that may still set attributes is on the call stack: the constructor, ``setup``.

Equinox freezes an object when its constructor ends, and lets that set declared fields only. Flax freezes a module while
``init`` and ``apply`` run it; before and after that, all code may set its attributes, so only ``__call__`` and ``setup`` are
judged. This was run on Equinox 0.11.4 to 0.13.8 and Flax 0.8.5 to 0.12.8.

Limitations: ``setattr``, methods of Flax modules that neither are ``__call__`` nor run in it, ``del``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.classes import find_in_class, mro_of
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.values import (
    ClassValue,
    ExternalInstance,
    FunctionValue,
    Instance,
    UnionValue,
    Value,
)
from flake8_jax.semantics.events.events import FrozenKind, FrozenStore
from flake8_jax.semantics.machine.tracker import Tracker

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import Frame
    from flake8_jax.semantics.machine.core import Machine
    from flake8_jax.semantics.trackers.allocations import Change

_EQUINOX = "equinox.Module"
_LINEN = "flax.linen.Module"
_STRUCT = "flax.struct.dataclass"
_STATES = frozenset({"flax.struct.PyTreeNode", "flax.training.train_state.TrainState"})
_NEUTRAL = frozenset({_EQUINOX, "builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"})
"""Bases that declare no fields."""
_CONSTRUCTORS = frozenset({"__init__", "__post_init__", "__new__", "__setstate__"})
_UNCLEAR = frozenset({"metaclass", "altered", "enum", "namedtuple"})
MAX_CLASSES = 40
"""Of a class with more subclasses, no constructor is known to leave a method alone."""
MAX_MEMBERS = 8
"""Of a value that may be more than so many objects, nothing is reported."""


class Frozen(Tracker):
    """reached: by class, the methods that its constructors, or its ``setup``, may call, directly or not."""

    def __init__(self, m: Machine) -> None:
        self.reached: dict[tuple[ClassValue, str], frozenset[str]] = {}


class Kept(NamedTuple):
    """An attribute that an object does not take. library: the class that freezes it; owner: the class of the object."""

    how: FrozenKind
    library: str
    owner: str


def check_store(m: Machine, change: Change) -> None:
    """``base.attr = value``."""
    base, frame, name = change.target, change.frame, change.name
    if base is None or not m.bus.wants(FrozenStore) or name.startswith("__"):
        return
    members = base.members if isinstance(base, UnionValue) else (base,)
    if len(members) > MAX_MEMBERS:
        return
    found: Kept | None = None
    for member in members:
        kept = _kept(m, frame, member, name)
        if kept is None:
            return
        found = found or kept
    if found is not None:
        context = m.path.context(frame.scope, caught=m.path.tries() or frame.attempts > 0)
        m.bus.emit(FrozenStore(context, change.node, found.how, found.library, found.owner, name))


def _kept(m: Machine, frame: Frame, base: Value, name: str) -> Kept | None:
    """Why an object does not take the attribute; None if it may."""
    if isinstance(base, ExternalInstance):
        is_frozen = base.cls in _STATES or _is_layer(m, base.cls)
        return Kept("frozen", base.cls, base.cls.rpartition(".")[2]) if is_frozen else None
    if not isinstance(base, Instance) or not _is_clear(m, base):
        return None
    cls, how = base.cls, None
    library = next((name for name in (_EQUINOX, _LINEN) if name in cls.external_bases), _STRUCT)
    if library == _EQUINOX:
        how = _kept_by_equinox(m, frame, base, name)
    elif library == _LINEN:
        how = _kept_by_linen(m, frame, base, name)
    elif ("frozen" in cls.traits or not _STATES.isdisjoint(cls.external_bases)) and name in _declared([cls]):
        how = "frozen"
    return Kept(how, library, cls.node.name) if how is not None else None


def _is_layer(m: Machine, name: str) -> bool:
    """A layer of Equinox: the tables have its constructor."""
    fact = m.program.knowledge.function(name) if name.startswith("equinox.nn.") else None
    return fact is not None and fact.returns == f"instance({name})" and not name.startswith("equinox.nn.State")


def _is_clear(m: Machine, base: Instance) -> bool:
    """All of the object's classes are known, and none says itself what an assignment does."""
    cls = base.cls
    if cls.has_unknown_base or cls.traits & _UNCLEAR or find_in_class(cls, "__setattr__") is not None:
        return False
    return base.exact or not m.program.overrides_of(cls, "__setattr__")


def _kept_by_equinox(m: Machine, frame: Frame, base: Instance, name: str) -> FrozenKind | None:
    methods = _running(m, frame, base)
    if methods.isdisjoint(_CONSTRUCTORS):
        reached = _reached_from(m, base.cls, "__init__")
        return None if reached is None or methods & reached else "frozen"
    classes = [base.cls] if base.exact else _family(base.cls)
    if classes is None or name in _declared(classes) or not _NEUTRAL.issuperset(base.cls.external_bases):
        return None
    return None if any("__annotations__" in cls.scope.text for cls in classes) else "undeclared"


def _kept_by_linen(m: Machine, frame: Frame, base: Instance, name: str) -> FrozenKind | None:
    methods = _running(m, frame, base)
    if not methods.isdisjoint(_CONSTRUCTORS):
        return None
    reached = _reached_from(m, base.cls, "setup")
    if "setup" in methods:
        return "setup" if name in _arguments(base.cls) else None
    if "__call__" not in methods or reached is None or methods & reached:
        return None
    return "frozen" if _has_parameters(base.cls) else None


def _has_parameters(cls: ClassValue) -> bool:
    """A Flax module with submodules, which only ``init`` and ``apply`` can run: it has ``setup``, or a compact ``__call__``."""
    if find_in_class(cls, "setup") is not None:
        return True
    return any(
        last_name(decorator) == "compact"
        for owner in mro_of(cls)
        for statement in owner.node.body
        if isinstance(statement, ir.FunctionDef) and statement.function.name == "__call__"
        for decorator in statement.decorators
    )


def _running(m: Machine, frame: Frame, base: Instance) -> frozenset[str]:
    """The methods of the object that run here."""
    names = {link.fn.name for link in m.path.stack if link.receiver is base and link.fn is not None}
    around: Frame | None = frame
    while around is not None:
        if around.fn is not None and around.self_value is base:
            names.add(around.fn.name)
        around = around.parent
    return frozenset(names)


def _reached_from(m: Machine, cls: ClassValue, start: str) -> frozenset[str] | None:
    """The methods that the constructors of a class (or its ``setup``) may call; None if there are too many classes."""
    known = m.trackers[Frozen].reached
    if (cls, start) not in known:
        family = _family(cls)
        if family is None:
            return None
        starts = _CONSTRUCTORS if start == "__init__" else {start}
        known[cls, start] = _closure(family, starts)
    return known[cls, start]


def _closure(classes: list[ClassValue], starts: Iterable[str]) -> frozenset[str]:
    reached: set[str] = set()
    todo = list(starts)
    while todo:
        name = todo.pop()
        for cls in classes:
            method = cls.namespace.get(name)
            if not isinstance(method, FunctionValue):
                continue
            named = {n.attr for n in _nodes(method.fn.body) if isinstance(n, ir.Attribute)} - reached
            reached |= named
            todo += named
    return frozenset(reached)


def _nodes(body: list[ir.Stmt]) -> Iterator[Any]:
    for statement in body:
        yield from walk(statement)


def _family(cls: ClassValue) -> list[ClassValue] | None:
    """The class with its ancestors and subclasses, and the ancestors of those; None if there are too many."""
    found: dict[ClassValue, None] = {}
    todo = [cls]
    while todo:
        heir = todo.pop()
        found.update(dict.fromkeys(mro_of(heir)))
        todo += [sub for sub in heir.subclasses if sub not in found]
        if len(found) > MAX_CLASSES:
            return None
    return list(found)


def _declared(classes: Iterable[ClassValue]) -> frozenset[str]:
    """The names that the bodies of the classes, and of their ancestors, annotate."""
    return frozenset(
        node.target.id
        for cls in classes
        for owner in mro_of(cls)
        for node in _nodes(owner.node.body)
        if isinstance(node, ir.AnnAssign) and isinstance(node.target, ir.Name)
    )


def _arguments(cls: ClassValue) -> frozenset[str]:
    """The fields that the constructor of a Flax module takes: those without a call for their default, which may say other."""
    return frozenset(
        statement.target.id
        for owner in mro_of(cls)
        for statement in owner.node.body
        if isinstance(statement, ir.AnnAssign)
        and isinstance(statement.target, ir.Name)
        and not isinstance(statement.value, ir.Call)
        and "ClassVar" not in cls.scope.text[statement.annotation.start : statement.annotation.end]
    )
