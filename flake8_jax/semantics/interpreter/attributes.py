"""Reading and writing attributes of abstract values.

Vocabulary
----------
found       an attribute of a class, before it is bound to the object that it is read through.
override    a definition in a subclass: the object may be of that class.
part        an attribute of an opaque value, made when it is first read.

Limitations: descriptors of the project other than properties, ``__getattribute__``, attributes set through ``__dict__``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.classes import PROTOCOLS, find_in_class, is_field, is_remade, is_stub, mro_of
from flake8_jax.semantics.domain.code import names_read, reads_itself
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    GRAD,
    RAISES,
    UNKNOWN_RANK,
    Array,
    AtValue,
    BoundMethod,
    BuiltinValue,
    ClassValue,
    Const,
    DictValue,
    External,
    ExternalInstance,
    ExternalMethod,
    FunctionValue,
    GeneratorValue,
    HostArray,
    Instance,
    ListValue,
    ModuleValue,
    Opaque,
    PartialValue,
    PropertyValue,
    Static,
    StaticKind,
    StaticMethodValue,
    SuperValue,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    level_of,
    part_of,
)
from flake8_jax.semantics.interpreter.classes import assigned_later, generic_instance, is_assigned_later, stored_by
from flake8_jax.semantics.interpreter.objects import external_attribute, library_member
from flake8_jax.semantics.interpreter.operations import call, load_attribute
from flake8_jax.semantics.interpreter.operators import result_level
from flake8_jax.semantics.interpreter.running import emit_cached
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import ATTRIBUTE
from flake8_jax.semantics.trackers.allocations import (
    Allocations,
    Change,
    emit_change,
    emit_read,
    escapes_trace,
    forget_changes,
    undo_changes,
)
from flake8_jax.semantics.trackers.buffers import read
from flake8_jax.semantics.trackers.captures import Captures, embed
from flake8_jax.semantics.trackers.freshness import Freshness, now, track_kept
from flake8_jax.semantics.trackers.frozen import check_store
from flake8_jax.semantics.trackers.globals import emit_global, is_code, track_rebinding
from flake8_jax.semantics.trackers.host_buffers import track_kept_result
from flake8_jax.semantics.trackers.loaders import is_loader, vary_part
from flake8_jax.semantics.trackers.plain_containers import check_kept_container, check_static_attribute
from flake8_jax.semantics.trackers.presumption import ARRAY_ATTRIBUTES, Presuming
from flake8_jax.semantics.trackers.reads import Reads
from flake8_jax.semantics.trackers.staleness import track_attribute, track_rebound_attribute
from flake8_jax.semantics.trackers.variation import Variations, look_at_size

_STATIC_KINDS: dict[str, StaticKind] = {
    "shape": "shape", "ndim": "int", "size": "int", "dtype": "dtype", "nbytes": "int", "itemsize": "int"
}  # fmt: skip
_NAMES = frozenset({"__name__", "__qualname__", "__doc__", "__module__"})
_OF_DICTS = frozenset({"items", "keys", "values", "get", "pop", "update", "copy"})
_OF_SIZES = ("shape", "ndim", "ndims", "dtype", "size", "rank")
"""How names end that are static of whatever has them: ``batch_shape``, ``event_ndims``."""
_HALVES = frozenset({"T", "mT", "real", "imag", "flat"})


def size_attribute(base: Value, attr: str) -> Value:
    """The rank, shape, size or dtype of an array."""
    if attr not in ("shape", "ndim"):
        return Static(_STATIC_KINDS[attr])
    rank = base.ndim if isinstance(base, (Array, HostArray)) else None
    if rank is not None and attr == "ndim":
        return Const(rank)
    return Static(_STATIC_KINDS[attr], rank=UNKNOWN_RANK if rank is None else rank)


def _size_here(m: Machine, base: Value, attr: str) -> Value:
    """The same; in eager code, where loops are about it, with the first number of a shape."""
    size = size_attribute(base, attr)
    if attr == "shape" and isinstance(size, Static) and isinstance(base, (Array, HostArray)) and not m.path.mode.staged:
        size.first = base.length
    return size


_STRUCTURED = frozenset({TupleValue, ListValue, DictValue})
MAX_CANDIDATES = 6
"""Of a method with more definitions than these, which one runs is not asked."""


def _is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def _any_attribute(m: Machine, frame: Frame, node: Any, base: UnionValue, attr: str) -> Value:
    """That of any of the values; None has none."""
    failed = frame.failed
    found = joining.union_of([load_attribute(m, frame, node, v, attr) for v in base.members if not _is_none(v)])
    frame.failed = failed  # of one member alone
    return found


def _library_attribute(m: Machine, frame: Frame, node: Any, base: External, attr: str) -> Value:
    return external_attribute(m, base.name, attr)


def _module_attribute(m: Machine, frame: Frame, node: Any, base: ModuleValue, attr: str) -> Value:
    found = m.program.attribute(base.scope, attr)
    if m.path.mode.staged:
        emit_global(m, frame, node, base.scope, attr, found)
    return found


def _host_array_attribute(m: Machine, frame: Frame, node: Any, base: HostArray, attr: str) -> Value:
    if attr in _STATIC_KINDS:
        return _size_here(m, base, attr)
    if attr in ("T", "real", "imag", "flat"):
        return HostArray(base.dtype, size=base.size, declared=base.declared)
    return BuiltinValue("." + attr, base)


def _builtin_attribute(m: Machine, frame: Frame, node: Any, base: Value, attr: str) -> Value:
    """A method of a builtin type, known by its name."""
    return Static("str") if attr in _NAMES else BuiltinValue("." + attr, base)


def _static_attribute(m: Machine, frame: Frame, node: Any, base: Static, attr: str) -> Value:
    return Unknown(attr) if base.kind == "" else _builtin_attribute(m, frame, node, base, attr)


def _transformed_attribute(m: Machine, frame: Frame, node: Any, base: TransformedValue, attr: str) -> Value:
    if attr.startswith("def"):
        base.rules_asked = True
    if attr in ("__wrapped__", "func", "fun"):
        return base.operand
    return _builtin_attribute(m, frame, node, base, attr)


def _partial_attribute(m: Machine, frame: Frame, node: Any, base: PartialValue, attr: str) -> Value:
    return base.func if attr == "func" else _builtin_attribute(m, frame, node, base, attr)


def _bound_attribute(m: Machine, frame: Frame, node: Any, base: BoundMethod, attr: str) -> Value:
    return base.self_value if attr == "__self__" else _builtin_attribute(m, frame, node, base, attr)


def _function_attribute(m: Machine, frame: Frame, node: Any, base: FunctionValue, attr: str) -> Value:
    if attr in _NAMES:
        return Static("str")
    return base.wrapped or base if attr == "__wrapped__" else Unknown(attr)


def _dotted_builtin(m: Machine, frame: Frame, node: Any, base: BuiltinValue, attr: str) -> Value:
    return BuiltinValue(base.name + "." + attr, base.bound)


def _array_attribute(m: Machine, frame: Frame, node: Any, base: Array, attr: str) -> Value:
    if attr in _STATIC_KINDS:
        if m.trackers[Variations].known:
            look_at_size(m, base)
        return _size_here(m, base, attr)
    if attr == "at":
        return AtValue(base)
    if attr in _HALVES:
        if m.trackers[Captures].constants:
            embed(m, (base,))
        if m.trackers[Reads].matter and attr != "imag":  # that of real numbers is made without them
            read(m, frame, node, base)
        return Array(result_level(m, (base,)), base.dtype, base.ndim, size=base.size, declared=base.declared)
    fact = m.program.knowledge.class_("jax.Array")
    if fact is not None:
        if attr in fact.fields:
            return Static("")
        if attr in fact.methods:
            return BuiltinValue("." + attr, base)
    return Unknown(attr)


def _opaque_attribute(m: Machine, frame: Frame, node: Any, base: Opaque, attr: str) -> Value:
    presumption = m.trackers[Presuming].presumption
    if presumption is not None:
        if attr in ARRAY_ATTRIBUTES:
            presumption.mark(base)
        array = m.program.knowledge.class_("jax.Array")
        if array is not None and attr in array.methods:
            presumption.use_leaf(base)
    if attr in ("shape", "ndim", "dtype") and not (base.parts and "." + attr in base.parts):
        if m.trackers[Variations].known:
            look_at_size(m, base)
        return size_attribute(base, attr)
    if attr == "at":
        return AtValue(base)
    if isinstance(base, Tree):
        return _tree_attribute(m, base, attr)
    host = isinstance(base, Unknown) and base.host_test
    part = part_of(base, "." + attr, lambda: Unknown(attr, host_test=host))
    if m.trackers[Variations].known:
        vary_part(m, base, part)
    return part


def _tree_attribute(m: Machine, base: Tree, attr: str) -> Value:
    if attr in _STATIC_KINDS:
        return Static(_STATIC_KINDS[attr])
    if attr in ("T", "mT"):
        return Array(result_level(m, (base,)))
    fact = m.program.knowledge.class_("jax.Array")
    own = [c.namespace.get(attr) for c in m.program.pytree_with(attr)]
    of_arrays = fact is not None and attr in fact.methods and not any(isinstance(v, FunctionValue) for v in own)
    if of_arrays or attr in _OF_DICTS:
        return BuiltinValue("." + attr, base)
    return part_of(base, "." + attr, lambda: _tree_part(m, base, attr))


def field_of_tree(m: Machine, base: Tree, attr: str) -> Value | None:
    """An attribute that is read, not called, and that pytree classes of the project have as well as arrays do."""
    if not m.program.pytree_with(attr):
        return None
    return part_of(base, "." + attr, lambda: _tree_part(m, base, attr))


def _tree_part(m: Machine, base: Tree, attr: str) -> Value:
    """An attribute of a traced pytree of unknown class.

    An object that crosses a staging boundary is an instance of a registered class. Where one single pytree class of
    the project has such an attribute, it is that one; where several have it as a leaf, it is a leaf.
    """
    if attr.startswith("__"):
        return Unknown(attr)
    candidates = m.program.pytree_with(attr)
    if not candidates or attr.endswith(_OF_SIZES):
        return Unknown(attr)
    origin = [c for c in candidates if not any(b in candidates for b in c.bases)]
    if len({attr in c.static_names for c in candidates}) > 1:
        return Unknown(attr)  # a subclass declares the field again: which class it is decides whether it is a leaf
    if len(origin) == 1:
        known = _as_class(m, base, origin[0])
        if isinstance(known, TupleValue) and attr in known.names:
            return known.elts[known.names.index(attr)]
        if isinstance(known, (Instance, TupleValue)):
            return load_attribute(m, Frame(None, origin[0].scope, None), None, known, attr)
    if all(any(f.name == attr and not f.static for f in c.fields) for c in candidates):
        return Tree(base.level)
    return Unknown(attr)


def _as_class(m: Machine, base: Tree, cls: ClassValue) -> Value:
    """The traced object of a class that a pytree stands for: one for all its attributes."""
    known = base.parts.get("as class") if base.parts else None
    if known is None:
        known = generic_instance(m, cls, base.level)
        if base.parts is None:
            base.parts = {}
        base.parts["as class"] = known
    return known


class Found(NamedTuple):
    """An attribute found on a class and read through an instance. owner: the class that defines it."""

    value: Any
    instance: Value
    owner: ClassValue | None


def bind_to(m: Machine, frame: Frame, node: Any, found: Found) -> Value:
    """What an attribute found on a class is when it is read through an instance."""
    binder = _BINDERS.get(type(found.value))
    return binder(m, frame, node, found) if binder is not None else found.value


def _run_property(m: Machine, frame: Frame, node: Any, found: Found) -> Value:
    prop: PropertyValue = found.value
    reports = len(m.bus.emissions)
    m.trackers[Freshness].caching_calls += prop.cached
    value = call(m, frame, node, prop.fget, Arguments([found.instance]))
    m.trackers[Freshness].caching_calls -= prop.cached
    if prop.cached:
        _keep_cached(m, frame, node, found, value, reports)
    return value


def _keep_cached(m: Machine, frame: Frame, node: Any, found: Found, value: Value, reports: int) -> None:
    """A cached property has given ``value``: the next reading gives it again. reports: before it ran."""
    staged, instance, fget = m.path.mode.staged, found.instance, found.value.fget
    if staged:
        m.bus.drop_errors(reports)  # it may have been computed before, where it raised nothing
    if not isinstance(instance, Instance) or not isinstance(fget, FunctionValue):
        return
    if staged and escapes_trace(m, instance, m.path.mode.trace):
        emit_cached(m, frame, node, value, fget.fn.name)
    if instance.made_in >= 0:  # else every entry looks at it for the first time
        m.journal.write(instance.slots, fget.fn.name, value)


def _bind_static(m: Machine, frame: Frame, node: Any, found: Found) -> Value:
    method: StaticMethodValue = found.value
    if not method.to_class:
        return method.func
    if isinstance(found.instance, Instance):
        return BoundMethod(method.func, found.instance.cls, now(m))
    return BoundMethod(method.func, found.owner if found.owner is not None else Unknown("class"), now(m))


def _bind_method(m: Machine, frame: Frame, node: Any, found: Found) -> Value:
    return BoundMethod(found.value, found.instance, now(m))


def _bind_any(m: Machine, frame: Frame, node: Any, found: Found) -> Value:
    """It was replaced on one of two paths."""
    return joining.union_of([bind_to(m, frame, node, found._replace(value=v)) for v in found.value.members])


def _bind_descriptor(m: Machine, frame: Frame, node: Any, found: Found) -> Value:
    value: Instance = found.value
    return value if find_in_class(value.cls, "__get__") is None else Unknown("descriptor")


_BINDERS: dict[type, Callable[[Machine, Frame, Any, Found], Value]] = {
    PropertyValue: _run_property,
    StaticMethodValue: _bind_static,
    FunctionValue: _bind_method,
    TransformedValue: _bind_method,
    UnionValue: _bind_any,
    Instance: _bind_descriptor,
}
"""What an attribute of a class becomes that is read through an instance; another value stays what it is."""


def _instance_attribute(m: Machine, frame: Frame, node: Any, base: Instance, attr: str) -> Value:
    value = _attribute_of(m, frame, node, base, attr)
    if m.trackers[Allocations].changes:
        emit_read(m, base, attr)
    if m.path.mode.jitted:
        track_attribute(m, frame, node, base, attr, value)
    return value


def _attribute_of(m: Machine, frame: Frame, node: Any, base: Instance, attr: str) -> Value:
    if base.slots.get(attr) is not None:
        return _stored(m, frame, base, attr)
    if attr == "__class__":
        return base.cls
    if attr == "__dict__":
        return DictValue({k: v for k, v in base.slots.items() if isinstance(v, Value)}, is_open=True)
    cls = _class_here(frame, base)
    found = find_in_class(cls, attr)
    if found is not None and isinstance(found[1], FunctionValue) and is_assigned_later(m, cls, attr):
        if frame.fn is None or attr not in stored_by(m, frame.fn):
            return Unknown(attr)  # ``self.step = jax.jit(self.step)`` in a method that may have run
    overrides = _overrides(m, frame, base, cls, attr, found)
    if overrides is None:
        return Unknown(attr)
    if overrides and (found is None or isinstance(found[1], (FunctionValue, TransformedValue, PropertyValue))):
        candidates = _candidates(found, overrides, attr)
        if candidates is None:
            m.worklist.crowded.setdefault(cls, {})[attr] = None
            return Unknown(attr)
        return joining.union_of([bind_to(m, frame, node, Found(v, base, cls)) for v in candidates])
    if found is not None:
        return _found_on_class(m, frame, node, Found(found[1], base, found[0]), attr)
    return _inherited_attribute(m, frame, node, base, attr)


def _class_here(frame: Frame, base: Instance) -> ClassValue:
    """The class of an object, as code sees it: in a method of a subclass, ``self`` is an object of that one."""
    if base.exact:
        return base.cls
    around: Frame | None = frame
    while around is not None and around.self_value is not base:
        around = around.parent
    owner = around.owner if around is not None else None
    return owner if owner is not None and base.cls in mro_of(owner) else base.cls


def _stored(m: Machine, frame: Frame, base: Instance, attr: str) -> Value:
    """An attribute of the object itself; unknown where a subclass may have another one, for the methods that it overrides."""
    value = base.slots[attr]
    if not base.exact and type(value) in _STRUCTURED and attr in assigned_later(m, base.cls, inherited=False):
        if frame.fn is None or attr not in stored_by(m, frame.fn):
            base.slots[attr] = value = Unknown(attr)  # two reads must give one value
    return m.program.resolve(value)


def _overrides(
    m: Machine, frame: Frame, base: Instance, cls: ClassValue, attr: str, found: tuple[ClassValue, Value] | None
) -> list[tuple[ClassValue, Value]] | None:
    """What subclasses, of which the object may be, have in its place; None where only doubles of tests have one at all, and
    where the class is a protocol, which any other class may fulfil."""
    if base.exact:
        return []
    has_own = found is not None and isinstance(found[1], FunctionValue) and not is_stub(found[1].fn)
    possible = [o for o in m.program.overrides_of(cls, attr) if _comes_here(m, base, o[0])]
    if possible and any(isinstance(parent, External) and parent.name in PROTOCOLS for parent in cls.bases):
        return None
    overrides = [o for o in possible if not (has_own or o[0].scope.is_test) or _gets_here(m, frame, cls, o[0])]
    return None if possible and not overrides and not has_own else overrides


def _candidates(
    found: tuple[ClassValue, Value] | None, overrides: list[tuple[ClassValue, Value]], attr: str
) -> list[Value] | None:
    """Every definition of a method that an instance of a class or of its subclasses may have; None where one of them may
    be a field, or where there are too many."""
    if any(isinstance(v, (Const, Static, Instance)) and is_field(c, attr, exact=False) for c, v in overrides):
        return None
    candidates = [v for _, v in overrides]
    if found is not None and not (isinstance(found[1], FunctionValue) and is_stub(found[1].fn)):
        candidates.insert(0, found[1])
    return candidates if len(candidates) <= MAX_CANDIDATES else None


def _found_on_class(m: Machine, frame: Frame, node: Any, found: Found, attr: str) -> Value:
    assert isinstance(found.instance, Instance)
    cls, value = found.instance.cls, found.value
    if "enum" in cls.traits:
        return Static("")
    if "metaclass" in cls.traits and isinstance(value, (Const, Static)):
        return Unknown(attr)
    if isinstance(value, Instance) and is_field(cls, attr, exact=found.instance.exact):
        return Unknown(attr)  # the default of a field, which every constructor may set
    if found.owner is not None and m.program.is_replaced(found.owner, attr, value):
        return Unknown(attr, host_test=True)
    return bind_to(m, frame, node, found)


def _inherited_attribute(m: Machine, frame: Frame, node: Any, base: Instance, attr: str) -> Value:
    """An attribute that no class of the project defines: of a library base, of ``__getattr__``, or one not seen yet."""
    cls = base.cls
    if attr == "replace" and cls.traits & {"dataclass", "pytree"}:
        return BuiltinValue(".replace", base)
    for name in cls.external_bases:
        method = library_member(m, name, attr, base)
        if method is not None:
            return method
    delegate = find_in_class(cls, "__getattr__")
    if delegate is not None and not attr.startswith("__"):
        method = bind_to(m, frame, node, Found(delegate[1], base, delegate[0]))
        return call(m, frame, node, method, Arguments([Const(attr)]))
    made: Value = Unknown(attr)
    if base.level == ABSTRACT and "pytree" in cls.traits and not cls.has_unknown_base:
        if any(f.name == attr and not f.static for f in cls.fields):
            made = Tree(base.level)
    # Remembered without the journal: reading decides nothing, but two reads must give one value.
    base.slots[attr] = made
    return made


def _gets_here(m: Machine, frame: Frame, cls: ClassValue, sub: ClassValue) -> bool:
    """Whether the code that runs can have an instance of a subclass without having got it from the subclass's own file.

    Nothing can import a class of a script or of a test. Its file makes the instances and hands them over, and what is
    called there runs with those.
    """
    if sub.scope is cls.scope or sub.scope is frame.scope or m.program.is_imported(sub.scope):
        return True
    kept = sub.node.decorators or find_in_class(sub, "__init_subclass__") is not None or sub.scope.cells
    if kept and not sub.scope.is_test:
        return True
    return any(link.scope is sub.scope for link in m.path.stack)


def _comes_here(m: Machine, self_value: Instance, sub: ClassValue) -> bool:
    """Whether an instance of a subclass can be what runs the methods on the call stack: it may override one of them."""
    for link in m.path.stack:
        if link.receiver is not self_value or link.fn is None:
            continue
        own = find_in_class(sub, link.fn.name)
        if own is None or own[0] is self_value.cls or not isinstance(own[1], FunctionValue) or own[1].fn is link.fn:
            continue
        if own[0] not in mro_of(self_value.cls) and "super" not in names_read(own[1].fn):
            return False
    return True


def _external_instance_attribute(m: Machine, frame: Frame, node: Any, base: ExternalInstance, attr: str) -> Value:
    found = base.slots.get(attr)
    if found is not None:
        return found  # type: ignore[no-any-return]
    member = library_member(m, base.cls, attr, base)
    if isinstance(member, ExternalMethod):
        return member
    made = member if member is not None else Unknown(attr)
    base.slots[attr] = made
    return made


def _class_attribute(m: Machine, frame: Frame, node: Any, base: ClassValue, attr: str) -> Value:
    found = find_in_class(base, attr)
    if "enum" in base.traits and found is not None:
        return Static("")
    if found is not None:
        owner, value = found
        if isinstance(value, StaticMethodValue):
            return BoundMethod(value.func, base) if value.to_class else value.func
        if isinstance(value, PropertyValue) or (isinstance(value, (Const, Static)) and is_remade(base)):
            return Unknown(attr)
        return Unknown(attr, host_test=True) if m.program.is_replaced(owner, attr, value) else value
    if attr in ("__name__", "__qualname__", "__module__", "__doc__"):
        return Static("str")
    for name in base.external_bases:
        method = library_member(m, name, attr, base)
        if isinstance(method, ExternalMethod):
            return method
    return Unknown(attr)


def _tuple_attribute(m: Machine, frame: Frame, node: Any, base: TupleValue, attr: str) -> Value:
    if attr in base.names:
        return base.elts[base.names.index(attr)]
    if isinstance(base.cls, ClassValue):
        found = find_in_class(base.cls, attr)
        if found is not None:
            return bind_to(m, frame, node, Found(found[1], base, base.cls))
    if isinstance(base.cls, External):
        method = library_member(m, base.cls.name, attr, base)
        if method is not None:
            return method
    lacks = (
        base.cls is None and not hasattr((), attr) and attr != "block_until_ready"
    )  # of which JAX901 says what to write
    if lacks and isinstance(node, ir.Attribute) and node.attr == attr:
        frame.failed = node
        return Unknown(RAISES)
    return BuiltinValue("." + attr, base)


def _super_attribute(m: Machine, frame: Frame, node: Any, base: SuperValue, attr: str) -> Value:
    self_value = base.self_value
    cls = (
        self_value.cls
        if isinstance(self_value, Instance)
        else self_value
        if isinstance(self_value, ClassValue)
        else base.cls
    )
    order = mro_of(cls)
    after = order[order.index(base.cls) + 1 :] if base.cls in order else mro_of(base.cls)[1:]
    for owner in after:
        found = owner.namespace.get(attr)
        if found is not None:
            if isinstance(found, FunctionValue) and attr == "__new__":
                return found
            return bind_to(m, Frame(None, owner.scope, None), None, Found(found, self_value, owner))
    for name in base.cls.external_bases:
        method = library_member(m, name, attr, self_value)
        if method is not None:
            return method
        if attr == "__init__" and is_loader(name):
            return ExternalMethod(name, attr, self_value, now(m))
    return Unknown(attr)


ATTRIBUTE.update(
    {
        External: _library_attribute,
        Instance: _instance_attribute,
        Array: _array_attribute,
        Tree: _opaque_attribute,
        Unknown: _opaque_attribute,
        ModuleValue: _module_attribute,
        ClassValue: _class_attribute,
        UnionValue: _any_attribute,
        ExternalInstance: _external_instance_attribute,
        TupleValue: _tuple_attribute,
        HostArray: _host_array_attribute,
        SuperValue: _super_attribute,
        Static: _static_attribute,
        TransformedValue: _transformed_attribute,
        BoundMethod: _bound_attribute,
        PartialValue: _partial_attribute,
        FunctionValue: _function_attribute,
        BuiltinValue: _dotted_builtin,
        **dict.fromkeys((ListValue, DictValue, Const, AtValue, GeneratorValue), _builtin_attribute),
    }
)


def store_attribute(m: Machine, change: Change, source: ir.Expr | None = None) -> None:
    """``base.attr = value``. source: the IR of the value."""
    base, attr, value = change.target, change.name, change.value
    assert base is not None and value is not None
    track_kept(m, value)
    check_store(m, change)
    check_kept_container(m, change, source)
    check_static_attribute(m, change, source)
    if m.path.mode.staged:
        emit_attribute(m, change, source)
    else:
        forget_changes(m, base, attr)
    if isinstance(base, ModuleValue):
        if not is_code(value):  # patching a module's functions is not modeled
            track_rebinding(m, change.frame, attr, base.scope)
            m.journal.write(base.scope.slots, attr, joining.join(base.scope.slots.get(attr, value), value))
    elif isinstance(base, (Instance, ExternalInstance)):
        setter = _setter(base, attr) if isinstance(base, Instance) else None
        if setter is None:
            track_kept_result(m, value)
            if isinstance(base, Instance):
                track_rebound_attribute(m, change.frame, change.node, base, attr, value)
            m.journal.write(base.slots, attr, value)
        else:
            call(m, change.frame, change.node, setter, Arguments([base, value]))
    elif isinstance(base, ClassValue):
        m.journal.write(base.namespace, attr, value)
    elif isinstance(base, FunctionValue):
        if attr in ("__signature__", "__wrapped__"):
            base.wrapped = Unknown(attr) if attr == "__signature__" else value
    elif isinstance(base, Opaque):
        if base.parts is None:
            base.parts = {}
        m.journal.write(base.parts, "." + attr, value)
    elif isinstance(base, UnionValue):
        for member in base.members:
            if isinstance(member, (Instance, ExternalInstance)):
                m.journal.write(member.slots, attr, joining.join(member.slots.get(attr, value), value))


def _setter(base: Instance, attr: str) -> Value | None:
    """What runs when a property of an object is assigned to."""
    member = find_in_class(base.cls, attr) if attr not in base.slots else None
    return member[1].fset if member is not None and isinstance(member[1], PropertyValue) else None


def emit_attribute(m: Machine, change: Change, source: ir.Expr | None = None) -> None:
    """Tell the rules that staged code sets an attribute; one that is set back to a host value undoes what was done."""
    base, node = change.target, change.node
    if isinstance(base, ModuleValue):
        emit_change(m, msgspec.structs.replace(change, target=None, made_in=0))
        return
    if isinstance(base, Instance):
        member = find_in_class(base.cls, change.name)
        if member is not None and isinstance(member[1], PropertyValue) and not member[1].cached:
            return  # its setter tells
    itself = bool(change.op)
    if not itself and isinstance(node, ir.Attribute):
        itself = reads_itself(change.frame.scope, node, source)
    if not itself and change.value is not None and level_of(change.value) < GRAD:
        undo_changes(m, base, change.name)
    emit_change(m, msgspec.structs.replace(change, itself=itself))
