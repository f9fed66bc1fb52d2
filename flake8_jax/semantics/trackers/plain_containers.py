"""State of ``flax.nnx`` that Flax refuses: modules and arrays in a list, a tuple or a dict of Python, or in an attribute that
was None first, and variables that an operator changes in place.

Since Flax 0.12, an attribute that is a plain container is static: the constructor, or the assignment, raises ValueError if it
holds a module, a variable or an array (run on Flax 0.12.2 and 0.12.8). ``nnx.List``, ``nnx.Dict`` and ``nnx.data`` hold them.
The first assignment decides whether an attribute is static: after ``self.head = None``, the assignment of a module raises
ValueError (run on Flax 0.12.8). After a module, None and another module may follow.
``variable += 1`` raises NotImplementedError since Flax 0.12.0; before, it changed the value of the variable.

Limitations: what a helper function appends; items of dicts; variables that layers of the library make.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.classes import find_in_class, mro_of
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.values import (
    Array,
    ClassValue,
    Const,
    DictValue,
    ExternalInstance,
    Instance,
    ListValue,
    Room,
    TupleValue,
    Value,
    contents_of,
)
from flake8_jax.semantics.events.refused import AugmentedVariable, ContainerKind, PlainContainer, StaticAttribute
from flake8_jax.semantics.trackers.versions import ApiUses

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.arguments import Call
    from flake8_jax.semantics.domain.scopes import Frame
    from flake8_jax.semantics.machine.core import Machine
    from flake8_jax.semantics.trackers.allocations import Change

_MODULE = "flax.nnx.Module"
_VARIABLE = "flax.nnx.Variable"
_DATA = (_MODULE, _VARIABLE, "flax.nnx.Pytree")
_OPERATORS = {
    "+": "__iadd__",
    "-": "__isub__",
    "*": "__imul__",
    "/": "__itruediv__",
    "@": "__imatmul__",
    "**": "__ipow__",
}
_SINCE, _ANY = (0, 12, 0), (99, 0, 0)
_UNCLEAR = frozenset({"metaclass", "altered"})
_DECLARES = re.compile(r"(?i)data|static")
_VISITS = 30


def check_kept_container(m: Machine, change: Change, source: ir.Expr | None) -> None:
    """``self.layers = [nnx.Linear(…), …]``. source: the IR of the value."""
    if source is None or (isinstance(source, ir.Call) and last_name(source.func) in ("data", "static")):
        return
    target, value = change.target, change.value
    if isinstance(target, Instance) and isinstance(value, (ListValue, TupleValue, DictValue)):
        if m.bus.wants(PlainContainer) and _is_refused(m, change.frame, target.cls, change.name):
            if _holds_data(m, value, Room(_VISITS)):
                is_tuple = isinstance(value, TupleValue) or (isinstance(value, ListValue) and value.is_tuple)
                kind: ContainerKind = "dict" if isinstance(value, DictValue) else "tuple" if is_tuple else "list"
                _emit(m, change.frame, change.node, target.cls, kind, change.name)


def check_static_attribute(m: Machine, change: Change, source: ir.Expr | None) -> None:
    """``self.head = nnx.Linear(…)`` in the constructor, after ``self.head = None``."""
    target, function = change.target, change.frame.fn
    if not isinstance(target, Instance) or function is None or not isinstance(target.slots.get(change.name), Const):
        return
    if isinstance(source, ir.Call) and last_name(source.func) in ("data", "static"):
        return
    is_constructor = function.name == "__init__" and change.frame.self_value is target
    if is_constructor and m.bus.wants(StaticAttribute) and _is_lone_data(m, change.value):
        first = _first_assigned(function, change.name)
        others = [owner for owner in mro_of(target.cls) if not _contains(owner.node, function)]
        if not isinstance(first, ir.Constant) or any(_may_assign(owner, change.name) for owner in others):
            return
        if _deletes(function, change.name):
            return
        if _is_refused(m, change.frame, target.cls, change.name):
            context = m.path.context(change.frame.scope, caught=m.path.tries() or change.frame.attempts > 0)
            text = change.frame.scope.text[first.start : first.end]
            m.bus.emit(StaticAttribute(context, change.node, target.cls.node.name, change.name, text))


def _is_lone_data(m: Machine, value: Value | None) -> bool:
    return isinstance(value, (Array, ExternalInstance, Instance)) and _holds_data(m, value, Room(_VISITS))


def _first_assigned(function: ir.Function, name: str) -> ir.Expr | None:
    """The first value that the function assigns to an attribute of that name."""
    nodes = (node for statement in function.body for node in walk(statement))
    found = (n for n in nodes if isinstance(n, ir.Assign) and any(_is_attribute(t, name) for t in n.targets))
    first = min(found, key=lambda node: node.start, default=None)
    return first.value if first is not None else None


def _deletes(function: ir.Function, name: str) -> bool:
    """``del self.head``: the next assignment makes a new attribute."""
    nodes = (node for statement in function.body for node in walk(statement))
    return any(isinstance(node, ir.Delete) and any(_is_attribute(t, name) for t in node.targets) for node in nodes)


def _is_attribute(target: ir.Expr, name: str) -> bool:
    return isinstance(target, ir.Attribute) and target.attr == name


def _contains(cls: ir.ClassDef, function: ir.Function) -> bool:
    return any(isinstance(statement, ir.FunctionDef) and statement.function is function for statement in cls.body)


def _may_assign(cls: ClassValue, name: str) -> bool:
    """The constructor of another class may have made the attribute one that holds data."""
    return f".{name}" in cls.scope.text[cls.node.start : cls.node.end]


def check_appended(m: Machine, call: Call, base: ListValue) -> None:
    """``self.layers.append(nnx.Linear(…))`` in the constructor of ``self``."""
    frame, node = call.frame, call.node
    owner = frame.self_value
    if not isinstance(owner, Instance) or not m.bus.wants(PlainContainer) or not isinstance(node, ir.Call):
        return
    place = node.func.value if isinstance(node.func, ir.Attribute) else None
    if not isinstance(place, ir.Attribute) or owner.slots.get(place.attr) is not base or frame.fn is None:
        return
    if frame.fn.name == "__init__" and _is_refused(m, frame, owner.cls, place.attr):
        if _assignments(frame.fn, place.attr) == 1 and _holds_data(m, call.args.values[0], Room(_VISITS)):
            _emit(m, frame, node, owner.cls, "list", place.attr)


def check_augmented(m: Machine, frame: Frame, node: ir.AugAssign, old: Value) -> None:
    """``self.count += 1``."""
    exact = False
    if isinstance(old, ExternalInstance):
        exact = old.exact
        if not m.program.knowledge.is_subclass(old.cls, _VARIABLE):
            return
    elif isinstance(old, Instance):
        exact = old.exact
        if not any(m.program.knowledge.is_subclass(base, _VARIABLE) for base in old.cls.external_bases):
            return
        if old.cls.has_unknown_base or find_in_class(old.cls, _OPERATORS.get(node.op, "__iadd__")) is not None:
            return
    else:
        return
    if m.bus.wants(AugmentedVariable) and _may_be_new(m, frame):
        context = m.path.context(frame.scope, caught=m.path.tries() or frame.attempts > 0)
        m.bus.emit(AugmentedVariable(context, node, exact))


def _emit(m: Machine, frame: Frame, node: ir.Node, cls: ClassValue, kind: ContainerKind, name: str) -> None:
    context = m.path.context(frame.scope, caught=m.path.tries() or frame.attempts > 0)
    m.bus.emit(PlainContainer(context, node, kind, cls.node.name, name))


def _assignments(function: ir.Function, name: str) -> int:
    """How often the function assigns to an attribute of that name: what comes later may be another container."""
    statements = [node for statement in function.body for node in walk(statement) if isinstance(node, ir.Assign)]
    return sum(isinstance(t, ir.Attribute) and t.attr == name for s in statements for t in s.targets)


def _is_refused(m: Machine, frame: Frame, cls: ClassValue, name: str) -> bool:
    """Flax looks at such an attribute of the class, in a release that the file is for."""
    if _MODULE not in cls.external_bases or cls.has_unknown_base or cls.traits & _UNCLEAR:
        return False
    if find_in_class(cls, "__setattr__") is not None or any(_declares(owner, name) for owner in mro_of(cls)):
        return False
    return _may_be_new(m, frame)


def _may_be_new(m: Machine, frame: Frame) -> bool:
    """The file may run on a Flax that refuses such code."""
    versions = m.trackers[ApiUses].versions
    if versions is None or not versions.is_wanted(frame.scope) or m.program.is_project("flax"):
        return False
    return versions.supports_some(frame.scope, "flax", _SINCE, _ANY)


def _declares(cls: ClassValue, name: str) -> bool:
    """The class says that it is no pytree, or what the attribute is for one."""
    if any(base.keyword is not None for base in cls.node.bases) or name in cls.namespace:
        return True
    return any(
        isinstance(s, ir.AnnAssign)
        and isinstance(s.target, ir.Name)
        and s.target.id == name
        and _DECLARES.search(cls.scope.text[s.start : s.end])
        for s in cls.node.body
    )


def _holds_data(m: Machine, value: Value, room: Room) -> bool:
    """A module, a variable or an array is in the value for sure."""
    if not room.enter(value):
        return False
    if isinstance(value, (TupleValue, ListValue, DictValue)):
        return any(_holds_data(m, held, room) for held in contents_of(value) or ())
    if isinstance(value, Array):
        return not value.declared
    if isinstance(value, ExternalInstance):
        return any(m.program.knowledge.is_subclass(value.cls, name) for name in _DATA)
    if isinstance(value, Instance):
        plain = any(base.keyword is not None for owner in mro_of(value.cls) for base in owner.node.bases)
        return _MODULE in value.cls.external_bases and not plain
    return False
