"""Classes of the project: what their bases and decorators make of them, their fields, and their instances.

Vocabulary
----------
trait       what a class is to JAX and to Python: ``pytree``, ``dataclass``, ``namedtuple``, ``enum``,
            ``static_attributes`` (linen-like: attributes are configuration), ``filtered`` (equinox-like).
            ``frozen``: nothing can assign to its fields (flax.struct). ``metaclass``: one of its own makes the class.
            ``altered``: a decorator may have made anything of it.
generic     an instance of which only the class is known: ``__init__`` run once with unknown arguments.

Limitations: what metaclasses do, ``__slots__``, ``__new__``, C3 corner cases.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain import boundary
from flake8_jax.semantics.domain.arguments import Arguments, Call, bind_parameters
from flake8_jax.semantics.domain.classes import PROTOCOLS, find_in_class, is_deep, mro_of
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.stack import Mode
from flake8_jax.semantics.domain.values import (
    FIELD_DEFAULT,
    Array,
    ClassField,
    ClassValue,
    Const,
    DictValue,
    External,
    FunctionValue,
    HashKind,
    Instance,
    Level,
    ListValue,
    Static,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    held_by,
    known_elements,
)
from flake8_jax.semantics.interpreter.fields import is_converted, is_hashed, is_marked_static, is_static_field
from flake8_jax.semantics.interpreter.operations import value_of_annotation
from flake8_jax.semantics.interpreter.running import call_function_value
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import CALL, PASSED_FUNCTIONS, evaluate
from flake8_jax.semantics.trackers.allocations import allocation_of_generic
from flake8_jax.semantics.trackers.linen_calls import check_submodule
from flake8_jax.semantics.trackers.unrolling import track_variety

NAMEDTUPLE = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple"})
ENUMS = frozenset({"enum.Enum", "enum.IntEnum", "enum.Flag", "enum.IntFlag", "enum.StrEnum"})
DATACLASS = frozenset({"dataclasses.dataclass", "chex.dataclass", "flax.struct.dataclass", "flax.nnx.dataclass",
                       "jax_dataclasses.pytree_dataclass", "simple_pytree.dataclass", "tjax.dataclasses.dataclass",
                       "chex.mappable_dataclass"})  # fmt: skip
PYTREE_DECORATORS = frozenset({"chex.dataclass", "flax.struct.dataclass", "jax.tree_util.register_dataclass",
                               "jax.tree_util.register_pytree_node_class", "jax_dataclasses.pytree_dataclass",
                               "jax.tree_util.register_pytree_with_keys_class", "simple_pytree.dataclass"})  # fmt: skip

PLAIN_METACLASSES = frozenset({"builtins.type", "abc.ABCMeta"})
"""They leave the attributes of a class as its body says."""
_PLAIN_DECORATORS = frozenset({"functools.total_ordering", "typing.final", "typing_extensions.final",
                               "typing.runtime_checkable", "typing_extensions.runtime_checkable"})  # fmt: skip


def is_known_decorator(m: Machine, name: str) -> bool:
    """A class decorator of which it is known what it makes of the class."""
    return name in DATACLASS | PYTREE_DECORATORS | _PLAIN_DECORATORS or m.program.knowledge.class_(name) is not None


def finish_class(m: Machine, cls: ClassValue) -> None:
    """Read traits and fields off the bases and the body, once the body has run."""
    own = library_name(m, cls)
    if own and m.program.knowledge.class_(own) is not None:
        _traits_of_library_base(m, cls, own)
    for base in cls.bases:
        if isinstance(base, ClassValue):
            _inherit(m, cls, base)
        elif isinstance(base, External):
            cls.external_bases.append(base.name)
            _traits_of_library_base(m, cls, base.name)
        elif isinstance(base, (Unknown, UnionValue)):
            cls.has_unknown_base = True
    if "enum" not in cls.traits and cls.traits & {"dataclass", "namedtuple", "pytree"}:
        read_fields(m, cls)


def _inherit(m: Machine, cls: ClassValue, base: ClassValue) -> None:
    """What a class takes over of a base of the project."""
    m.program.add_subclass(base, cls)
    cls.traits |= base.traits
    cls.static_names |= base.static_names
    cls.leaf_names = base.leaf_names if cls.leaf_names is None else cls.leaf_names
    cls.external_bases += [b for b in base.external_bases if b not in cls.external_bases]
    cls.has_unknown_base = cls.has_unknown_base or base.has_unknown_base
    if is_deep(cls):
        cls.has_unknown_base = True
    elif base.traits & {"dataclass", "namedtuple"}:
        known = {f.name for f in cls.fields}
        cls.fields += [f for f in base.fields if f.name not in known]


def _traits_of_library_base(m: Machine, cls: ClassValue, name: str) -> None:
    if name in NAMEDTUPLE:
        cls.traits |= {"namedtuple"}
        return
    if name in ENUMS:
        cls.traits |= {"enum"}
        return
    fact = m.program.knowledge.class_(name)
    if fact is None:
        if name not in PROTOCOLS | {"builtins.object", "abc.ABC", "typing.Generic"}:
            cls.has_unknown_base = True
        return
    if fact.pytree:
        cls.traits.add("pytree")
    if fact.dataclass:
        cls.traits.add("dataclass")
    if fact.static_attributes:
        cls.traits.add("static_attributes")
    if name.startswith("equinox."):
        cls.traits.add("filtered")
    for base in fact.base:
        _traits_of_library_base(m, cls, m.program.knowledge.canonical(base))


def apply_class_decorator(m: Machine, cls: ClassValue, name: str, options: dict[str, Value]) -> None:
    """``@dataclass``, ``@register_dataclass`` … on a class, or the call with the class as its argument."""
    fact = m.program.knowledge.class_(name)
    if name in DATACLASS or (fact is not None and fact.dataclass):
        cls.traits.add("dataclass")
        cls.hashed = _hash_made(name, options)
    if name == "flax.struct.dataclass" and "frozen" not in options:
        cls.traits.add("frozen")
    if name in PYTREE_DECORATORS or (fact is not None and fact.pytree):
        cls.traits.add("pytree")
    if fact is not None and fact.static_attributes:
        cls.traits.add("static_attributes")
    read_fields(m, cls)
    for option in ("meta_fields", "drop_fields", "static_fields"):
        names = options.get(option)
        for value in (
            names.elts
            if isinstance(names, TupleValue)
            else (names.known() or ())
            if isinstance(names, ListValue)
            else ()
        ):
            if isinstance(value, Const):
                cls.static_names.add(str(value.value))
    if "register_pytree" in name:
        read_flatten(cls)


def decorate_alike(m: Machine, cls: ClassValue, traits: set[str], model: ClassValue) -> None:
    """A decorator of the project that ran often enough makes of this class what it made of another, which got these traits."""
    cls.traits |= traits
    cls.hashed = model.hashed
    if traits & {"dataclass", "pytree"}:
        read_fields(m, cls)
    if "pytree" in traits and model.flatten:
        track_leaves(cls, model.flatten)


def find_constructor(cls: ClassValue) -> FunctionValue | None:
    """``__init__`` as it stands in the code; None where a decorator writes one."""
    for owner in mro_of(cls):
        found = owner.namespace.get("__init__")
        if found is not None:
            return found if isinstance(found, FunctionValue) else None
        if owner.hashed and owner.fields:
            return None
    return None


_LIKE_DATACLASSES = frozenset({"dataclasses.dataclass", "chex.dataclass", "flax.struct.dataclass"})
"""Decorators that take the options of ``dataclasses.dataclass``. That of Flax freezes by itself."""


def _hash_made(name: str, options: dict[str, Value]) -> HashKind:
    """The hash that a decorator gives a class which has none of its own."""
    defaults = {"eq": True, "unsafe_hash": False, "frozen": name == "flax.struct.dataclass"}
    given = {option: options.get(option, Const(default)) for option, default in defaults.items()}
    if name not in _LIKE_DATACLASSES or not all(isinstance(value, Const) for value in given.values()):
        return "own"
    eq, unsafe_hash, frozen = [isinstance(value, Const) and bool(value.value) for value in given.values()]
    if unsafe_hash or (eq and frozen):
        return "fields"
    return "none" if eq else "inherited"


def read_fields(m: Machine, cls: ClassValue) -> None:
    """The annotated names of the class body, in order; inherited ones first."""
    inherited = [f for f in cls.fields if f.scope is not cls.scope or f.name not in _annotated_names(cls)]
    own: list[ClassField] = []
    for statement in cls.node.body:
        if not isinstance(statement, ir.AnnAssign) or not isinstance(statement.target, ir.Name):
            continue
        if _is_class_var(statement.annotation):
            continue
        name = statement.target.id
        static = is_static_field(m, cls, statement.value) or is_marked_static(m, cls, statement.annotation)
        default = _field_default(m, cls, statement.value, name)
        own.append(
            ClassField(
                name,
                statement.annotation,
                default,
                static,
                cls.scope,
                is_hashed(statement.value),
                is_converted(statement.value),
            )
        )
        if static:
            cls.static_names.add(name)
    names = {f.name for f in own}
    cls.fields = [f for f in inherited if f.name not in names] + own


def _annotated_names(cls: ClassValue) -> set[str]:
    return {s.target.id for s in cls.node.body if isinstance(s, ir.AnnAssign) and isinstance(s.target, ir.Name)}


def _is_class_var(annotation: ir.Expr) -> bool:
    return last_name(annotation.value if isinstance(annotation, ir.Subscript) else annotation) == "ClassVar"


def _field_default(m: Machine, cls: ClassValue, node: ir.Expr | None, name: str) -> Value | None:
    if node is None:
        return None
    if isinstance(node, ir.Call):
        for argument in node.args:
            if argument.keyword == "default":
                return evaluate(m, Frame(None, cls.scope, cls.closure), argument.value)
            if argument.keyword in ("default_factory", "factory"):
                return Unknown(FIELD_DEFAULT)
        if (
            any(
                a.keyword in ("pytree_node", "static", "metadata", "converter", "init", "kw_only", "repr")
                for a in node.args
            )
            or not node.args
        ):
            callee = node.func.attr if isinstance(node.func, ir.Attribute) else getattr(node.func, "id", "")
            if callee in ("field", "static_field", "static", "Field"):
                return None
    return cls.namespace.get(name)


def read_flatten(cls: ClassValue) -> None:
    """``tree_flatten`` of a hand-made pytree, its own or an inherited one: what stands in its auxiliary data is static."""
    for name in ("tree_flatten", "tree_flatten_with_keys"):
        found = find_in_class(cls, name)
        if found is not None and isinstance(found[1], FunctionValue):
            track_leaves(cls, found[1].fn.body)


def track_leaves(cls: ClassValue, flatten: list[ir.Stmt]) -> None:
    """What the body of a flatten function says: its children are leaves, what stands in the auxiliary data is static."""
    children, aux = _flattened(flatten)
    fields = {field.name for field in cls.fields}
    data, static = _self_names(children), _self_names(aux)
    listed = _listed_in(cls, children) if not data & fields else set()
    if listed:  # ``[getattr(self, name) for name in self.leaves]``
        data, static = listed, fields - listed
    elif not data and not static and len(flatten) > 1:  # it sorts the fields as it runs: by what they are
        data = {field.name for field in cls.fields if _may_hold_arrays(field.annotation)}
        static = fields - data
    cls.static_names |= static - data
    cls.leaf_names = frozenset(data)
    cls.flatten = flatten
    cls.childless = _gives_nothing(flatten)


def _listed_in(cls: ClassValue, children: ir.Expr | None) -> set[str]:
    """The names of fields in the attributes of the class that an expression reads."""
    found: set[str] = set()
    for node in walk(children) if children is not None else ():
        attribute = find_in_class(cls, node.attr) if isinstance(node, ir.Attribute) else None
        names = known_elements(attribute[1]) if attribute is not None else None
        found |= {name.value for name in names or () if isinstance(name, Const) and isinstance(name.value, str)}
    return found


_CONTAINERS = frozenset({
    "list", "List", "dict", "Dict", "Mapping", "Sequence", "Iterable", "Optional", "Union", "Callable", "set", "Set",
})  # fmt: skip
_ARRAYS = frozenset({"Array", "ArrayLike", "ndarray", "DeviceArray", "jnp", "np", "jax", "Tensor"})


def _may_hold_arrays(annotation: ir.Expr | None) -> bool:
    """Not plain numbers and texts, nor tuples of them."""
    if isinstance(annotation, ir.Subscript) and last_name(annotation.value) in ("tuple", "Tuple"):
        parts = annotation.index.elts if isinstance(annotation.index, ir.Tuple) else [annotation.index]
        return any(_may_hold_arrays(part) for part in parts if not _is_ellipsis(part))
    if isinstance(annotation, ir.Subscript) and last_name(annotation.value) not in _CONTAINERS:
        # ``Static[bool]``, of an alias for ``Annotated``; ``Float[Array, "n"]`` says that it is an array
        return any(isinstance(node, ir.Name) and node.id in _ARRAYS for node in walk(annotation.index))
    return not (isinstance(annotation, ir.Name) and annotation.id in ("int", "float", "bool", "str"))


def _is_ellipsis(node: ir.Expr) -> bool:
    return isinstance(node, ir.Constant) and node.kind == "ellipsis"


def _flattened(body: list[ir.Stmt]) -> tuple[ir.Expr | None, ir.Expr | None]:
    """The children and the auxiliary data, as a flatten function computes them."""
    bound: dict[str, ir.Expr] = {}
    for statement in body:
        if (
            isinstance(statement, ir.Assign)
            and len(statement.targets) == 1
            and isinstance(statement.targets[0], ir.Name)
        ):
            bound[statement.targets[0].id] = statement.value
        if (
            isinstance(statement, ir.Return)
            and isinstance(statement.value, ir.Tuple)
            and len(statement.value.elts) == 2
        ):
            children, aux = (bound.get(e.id, e) if isinstance(e, ir.Name) else e for e in statement.value.elts)
            return children, aux
    return None, None


def _gives_nothing(body: list[ir.Stmt]) -> bool:
    """``return (), aux``: a flatten function without children."""
    last = body[-1] if body else None
    value = last.value if isinstance(last, ir.Return) else None
    children = value.elts[0] if isinstance(value, ir.Tuple) and len(value.elts) == 2 else None
    return isinstance(children, (ir.Tuple, ir.List)) and not children.elts


def _self_names(node: Any) -> set[str]:
    """Names ``x`` of all ``self.x`` in an expression."""
    found: set[str] = set()
    todo: list[Any] = [node]
    while todo:
        n = todo.pop()
        if isinstance(n, ir.Attribute) and isinstance(n.value, ir.Name):
            found.add(n.attr)
        elif isinstance(n, (ir.Tuple, ir.List)):
            todo += n.elts
        elif isinstance(n, ir.Dict):
            todo += n.values
        elif isinstance(n, ir.Call):
            todo += [a.value for a in n.args]
    return found


# --- instances --------------------------------------------------------------------------------------


def construct(m: Machine, frame: Frame, node: Any, cls: ClassValue, args: Arguments) -> Value:
    """``cls(…)``."""
    if "enum" in cls.traits:
        return Static("")
    _stage_constructor_arguments(m, frame, node, cls, args)
    if "static_attributes" in cls.traits:
        check_submodule(m, frame, node, cls, args)
    if m.path.loops and m.path.mode.compiled and find_in_class(cls, "__call__") is not None:
        track_variety(m)
    if "namedtuple" in cls.traits:
        fields = tuple(f.name for f in cls.fields)
        bound = _bind_fields(m, cls, args)
        return TupleValue(tuple(bound[n] for n in fields), cls, fields)
    made = Instance(cls, exact=True, made_in=m.path.mode.trace)
    init = find_constructor(cls)
    if init is not None:
        call_function_value(m, frame, node, init, args.prepended(made))
        made.complete = True
        if not made.slots:
            made.slots.update(_constants_set(m, cls, init.fn))
    elif cls.fields and (cls.traits & {"dataclass", "static_attributes", "pytree"}):
        made.slots.update(_bind_fields(m, cls, args))
        made.complete = args.star is None and args.double_star is None
        _set_up(m, frame, node, made)
    else:
        made.complete = not cls.external_bases and not cls.has_unknown_base
        made.slots.update(args.kwargs)
    return made


def _constants_set(m: Machine, cls: ClassValue, init: ir.Function) -> dict[str, Value]:
    """Attributes that a constructor sets to a constant whatever it is given, and nothing sets again. They tell classes apart
    (``self.kind = "exomol"``) where the constructor has run too often to be run once more."""
    own: dict[str, list[ir.Expr | None]] = {}
    for statement in init.body:
        if isinstance(statement, ir.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ir.Attribute) and isinstance(target.value, ir.Name):
                if init.params and target.value.id == init.params[0].name:
                    own.setdefault(target.attr, []).append(statement.value)
                    continue
        stored: set[str] = set()
        _collect_self_stores([statement], stored)
        for name in stored:
            own.setdefault(name, []).append(None)
    changed = assigned_later(m, cls)
    return {
        name: Const(values[0].value)
        for name, values in own.items()
        if len(values) == 1 and isinstance(values[0], ir.Constant) and values[0].kind in ("str", "bool", "int")
        if name not in changed
    }


def _set_up(m: Machine, frame: Frame, node: Any, made: Instance) -> None:
    """Run what a generated constructor runs in the end."""
    for name in ("__post_init__", "__attrs_post_init__"):
        post = find_in_class(made.cls, name)
        if post is not None and isinstance(post[1], FunctionValue):
            call_function_value(m, frame, node, post[1], Arguments([made]))


def library_name(m: Machine, cls: ClassValue) -> str:
    """The canonical name of a class when the project is itself a library that the knowledge tables describe."""
    top = cls.scope.name.partition(".")[0]
    if top not in m.program.knowledge.libraries:
        return ""
    return m.program.knowledge.canonical(f"{cls.scope.name}.{cls.node.name}")


def _stage_constructor_arguments(m: Machine, frame: Frame, node: Any, cls: ClassValue, args: Arguments) -> None:
    """Functions passed to a known library class that runs them staged (optax's ``GradientTransformation``)."""
    name = library_name(m, cls)
    fact = m.program.knowledge.function(name) if name else None
    if fact is not None and (fact.stages or fact.schedules or fact.calls):
        for run in PASSED_FUNCTIONS:
            run(m, frame, node, name, fact, bind_parameters(fact.params, args)[0])


def _bind_fields(m: Machine, cls: ClassValue, args: Arguments) -> dict[str, Value]:
    """Constructor arguments by field, defaults filled in."""
    bound: dict[str, Value] = {}
    positional = list(args.values)
    for i, f in enumerate(cls.fields):
        if i < len(positional):
            bound[f.name] = positional[i]
        elif f.name in args.kwargs:
            bound[f.name] = args.kwargs[f.name]
        elif args.star is not None or args.double_star is not None:
            bound[f.name] = Unknown("forwarded")
        elif f.default is not None:
            bound[f.name] = f.default
        else:
            bound[f.name] = Unknown(f.name)
        if f.converted and not isinstance(bound[f.name], Array):
            bound[f.name] = _field_value(m, cls, f)
    return bound


def generic_instance(m: Machine, cls: ClassValue, level: Level | None = None) -> Value:
    """An instance of which only the class is known; with ``level``, the leaves of its pytree are of that level."""
    if "enum" in cls.traits:
        return Static("")
    if "namedtuple" in cls.traits:
        made = _generic_record(m, cls)
        return boundary.to_tracers(made, level) if level is not None else made
    if level is None:
        known = m.program.generic(cls)
        if known is None:
            known = made_generic = cls.generic = Instance(cls, exact=False)
            made_generic.made_in = allocation_of_generic(m, made_generic)
            m.isolated(cls.scope.path, lambda: _initialise_generic(m, cls, made_generic))
        return known
    base = generic_instance(m, cls)
    if not isinstance(base, Instance) or "pytree" not in cls.traits:
        return base
    traced = boundary.to_tracers(base, level)
    if isinstance(traced, Instance):
        traced.level = level
        _forget_origins(traced)
    return traced


def _generic_record(m: Machine, cls: ClassValue) -> Value:
    """A NamedTuple of which only the class is known. Records that hold records are made to some depth, and so many in all: the
    paths through classes that name one another are far more than the classes."""
    around = m.program.instantiating
    if not around:
        m.program.records_left = _MAX_RECORDS
    if (
        cls in around or len(around) >= _MAX_NESTED_RECORDS or not m.program.records_left
    ):  # a tree node holds its own kind
        return Unknown(cls.node.name)
    m.program.records_left -= 1
    around.append(cls)
    values = tuple(_field_value(m, cls, f) for f in cls.fields)
    around.pop()
    return TupleValue(values, cls, tuple(f.name for f in cls.fields))


_MAX_NESTED_RECORDS = 8
_MAX_RECORDS = 200


def _forget_origins(made: Instance) -> None:
    """Another instance of the class: its leaves stand for no values of the one that it was made like.

    A leaf may stand in a union (``Optional[jax.Array]``) or in a container as well.
    """
    seen: set[Value] = {made}
    todo: list[Value] = [made]
    while todo:
        node = todo.pop()
        static = node.cls.static_names if isinstance(node, Instance) else ()
        parts = node.slots.items() if isinstance(node, Instance) else enumerate(held_by(node))
        for name, value in parts:
            if isinstance(value, (Array, Tree)):
                value.origin = None
            elif isinstance(value, _OWN_PARTS) and value not in seen and name not in static:
                if not isinstance(value, Instance) or "pytree" in value.cls.traits:
                    seen.add(value)
                    todo.append(value)


_OWN_PARTS = (Instance, UnionValue, TupleValue, ListValue, DictValue)
"""What ``to_tracers`` rebuilds around the leaves of an instance."""


def _field_value(m: Machine, cls: ClassValue, f: ClassField) -> Value:
    found = value_of_annotation(m, f.scope, None, f.annotation)
    if found is not None:
        return found
    return Unknown(f.name)


def _initialise_generic(m: Machine, cls: ClassValue, made: Instance) -> None:
    m.path.mode = Mode(trace=made.made_in)
    init = find_constructor(cls)
    if init is not None:
        call_function_value(m, Frame(None, init.scope, None), None, init, Arguments([made], unknown_rest=True))
    elif cls.fields and (cls.traits & {"dataclass", "static_attributes", "pytree"}):
        for f in cls.fields:
            made.slots[f.name] = _field_value(m, cls, f)
        post = find_in_class(cls, "__post_init__")
        if post is not None and isinstance(post[1], FunctionValue):
            call_function_value(m, Frame(None, post[1].scope, None), None, post[1], Arguments([made]))
    changed = assigned_later(m, cls)
    for name, value in list(made.slots.items()):
        if (name in changed and isinstance(value, (Const, UnionValue))) or (isinstance(value, Const) and init is None):
            made.slots[name] = Unknown(name)


def assigned_later(m: Machine, cls: ClassValue, *, inherited: bool = True) -> set[str]:
    """Attributes that methods other than the constructor assign: their first value is not their only one. inherited: also
    those of the class itself and its bases; else only those of subclasses."""
    names: set[str] = set()
    for owner in [*(mro_of(cls) if inherited else ()), *m.program.subclasses(cls)]:
        names |= _stores_of(m, owner)
    return names


def is_assigned_later(m: Machine, cls: ClassValue, attr: str) -> bool:
    """A method of the class, or of its bases, other than the constructor assigns the attribute."""
    return any(attr in _stores_of(m, owner) for owner in mro_of(cls))


def _stores_of(m: Machine, owner: ClassValue) -> set[str]:
    own = m.program.self_stores.get(id(owner.node))
    if own is None:
        own = m.program.self_stores[id(owner.node)] = set()
        for statement in owner.node.body:
            if isinstance(statement, ir.FunctionDef) and statement.function.name not in ("__init__", "__post_init__"):
                _collect_self_stores(statement.function.body, own)
    return own


def stored_by(m: Machine, fn: ir.Function) -> set[str]:
    """Attributes of objects that a function assigns."""
    own = m.program.self_stores.get(id(fn))
    if own is None:
        own = m.program.self_stores[id(fn)] = set()
        _collect_self_stores(fn.body, own)
    return own


def _collect_self_stores(body: list[ir.Stmt], names: set[str]) -> None:
    todo: list[Any] = list(body)
    while todo:
        s = todo.pop()
        targets: list[Any] = []
        if isinstance(s, ir.Assign):
            targets = list(s.targets)
        elif isinstance(s, (ir.AugAssign, ir.AnnAssign)):
            targets = [s.target]
        elif isinstance(s, (ir.If, ir.While, ir.For)):
            todo += s.body + s.orelse
        elif isinstance(s, ir.With):
            todo += s.body
        elif isinstance(s, ir.Try):
            todo += s.body + s.orelse + s.finalbody
            for handler in s.handlers:
                todo += handler.body
        while targets:
            t = targets.pop()
            if isinstance(t, (ir.Tuple, ir.List)):
                targets += t.elts
            elif isinstance(t, ir.Attribute) and isinstance(t.value, ir.Name):
                names.add(t.attr)


def _call_class(m: Machine, func: ClassValue, at: Call) -> Value:
    return construct(m, at.frame, at.node, func, at.args)


CALL[ClassValue] = _call_class
