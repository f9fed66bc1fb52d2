"""Library functions whose result no descriptor can say: functools, dataclasses, typing, pytree plumbing.

Vocabulary
----------
handler     a function that models some library functions, which its decorator names (see ``tables``).
make_element what gives the element of one iteration (see ``interpreter.iteration``).
"""

from __future__ import annotations

import math
from typing import Any

from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.arguments import Arguments, bind_parameters
from flake8_jax.semantics.domain.boundary import track_rows
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.signatures import CALLABLES
from flake8_jax.semantics.domain.trees import leaf_of, listed_leaves
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    CONCRETE,
    GRAD,
    Array,
    BuiltinValue,
    Const,
    DictValue,
    External,
    FunctionValue,
    GeneratorValue,
    HostArray,
    ListValue,
    Opaque,
    PartialValue,
    PropertyValue,
    Room,
    Static,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    copy_with_new_identity,
    held_by,
    known_elements,
)
from flake8_jax.semantics.interpreter.iteration import iterated
from flake8_jax.semantics.interpreter.objects import replaced
from flake8_jax.semantics.interpreter.operations import call
from flake8_jax.semantics.interpreter.operators import result_level
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.tables import builtin, library
from flake8_jax.semantics.trackers.freshness import now
from flake8_jax.semantics.trackers.presumption import Presuming
from flake8_jax.semantics.trackers.unrolling import trips_of


@library("functools.partial", "functools.partialmethod")
def _partial(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if not args.values or args.star is not None or args.double_star is not None:
        return Unknown("partial")
    func = args.values[0]
    if isinstance(func, PartialValue):
        return PartialValue(func.func, func.args + tuple(args.values[1:]), {**func.kwargs, **args.kwargs}, now(m))
    made = PartialValue(func, tuple(args.values[1:]), args.kwargs, now(m))
    fact = m.program.knowledge.transform(func.name) if isinstance(func, External) else None
    if fact is not None and fact.operands and fact.model not in ("wrap", "lift", "custom", "tree_map"):
        if len(args.values) > 1 or fact.operands[0] in args.kwargs:  # ``partial(lax.scan, body)`` stages the body
            m.worklist.partial_roots.append((made, node, frame.scope, tuple(m.path.stack)))
    return made


@library("jax.tree_util.Partial", "equinox.Partial")
def _pytree_partial(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``jax.tree_util.Partial(f, …)``."""
    made = _partial(m, frame, node, args)
    if isinstance(made, PartialValue):
        made.pytree = True
    return made


@library("functools.wraps", "haiku.name_like", "jaxtyping.jaxtyped")
def _wraps(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``functools.wraps(f)``: a decorator that gives back the function it decorates, under the signature of `f`."""
    return PartialValue(BuiltinValue("wraps"), (args.values[0],), {}) if args.values else BuiltinValue("same")


@builtin("wraps")
def _wrapped(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    original, function = args.values if len(args.values) == 2 else (Unknown("f"), Unknown("decorator"))
    return _under_signature(function, original)


@library("functools.update_wrapper", "equinox.module_update_wrapper")
def _update_wrapper(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    function = args.values[0] if args.values else Unknown("wrapper")
    return _under_signature(function, args.values[1]) if len(args.values) > 1 else function


def _under_signature(function: Value, original: Value) -> Value:
    """A function that sets ``__wrapped__``: JAX looks up names of arguments in the signature of what it wraps."""
    if isinstance(function, FunctionValue) and function is not original:
        function.wrapped = original
    return function


@library("functools.lru_cache", "functools.cache")
def _cache(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if args.values and isinstance(args.values[0], FunctionValue):
        return _mark_cached(args.values[0])
    if args.values and not isinstance(args.values[0], Const):
        return args.values[0]
    return External("functools.cache")


def _mark_cached(func: FunctionValue) -> FunctionValue:
    func.cached = True
    return func


@library("functools.singledispatch")
def _dispatched(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``functools.singledispatch``: which function runs depends on the type of the first argument, so what a call gives is
    not known, and a function that only raises is no end."""
    if args.values and isinstance(args.values[0], FunctionValue):
        args.values[0].replaced = True
    return args.values[0] if args.values else BuiltinValue("same")


@library(
    "contextlib.contextmanager",
    "abc.abstractmethod",
    "typing.overload",
    "typing.final",
    "typing_extensions.override",
    "typing.override",
    "typing.runtime_checkable",
    "typing.no_type_check",
    "flax.linen.compact",
    "flax.linen.nowrap",
    "haiku.transparent",
)
def _first(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return args.values[0] if args.values else BuiltinValue("same")


@library("copy.copy")
def _copied(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``copy.copy``: another object with the same contents."""
    return joining.copied(args.values[0], m.path.mode.trace, depth=0) if args.values else Unknown("copy")


@library("copy.deepcopy")
def _deep_copied(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``copy.deepcopy``: arrays get other buffers. A key is the same one in another buffer."""
    if not args.values:
        return Unknown("copy")
    if isinstance(args.values[0], Unknown):
        return copy_with_new_identity(args.values[0])
    copied = joining.copied(args.values[0], m.path.mode.trace)
    return joining.over_arrays(
        copied, lambda v: v if isinstance(v, Array) and v.dtype == "key" else copy_with_new_identity(v)
    )


@library("flax.core.freeze")
def _frozen(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``flax.core.freeze``: a dict that has a hash."""
    given = args.values[0] if args.values else args.kwargs.get("xs", Unknown("freeze"))
    if not isinstance(given, DictValue):
        return given
    made = joining.copied(given, m.path.mode.trace, depth=0)
    if isinstance(made, DictValue):
        made.slots["frozen"] = True
    return made


@library("typing.cast")
def _second(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return args.values[1] if len(args.values) > 1 else Unknown("cast")


@library("functools.cached_property")
def _cached_property(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return PropertyValue(args.values[0], cached=True) if args.values else Unknown("property")


@library("dataclasses.replace")
def _replace(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return replaced(m, args.values[0], args) if args.values else Unknown("replace")


@library("equinox.tree_at")
def _tree_at(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """The tree with other nodes where ``where`` finds some; a copy of which no leaf is known where that is not clear."""
    bound = bind_parameters(["where", "pytree", "replace", "replace_fn", "is_leaf"], args)[0]
    where, tree = bound.get("where"), bound.get("pytree")
    if where is None or tree is None or isinstance(tree, Opaque):
        return Unknown("tree_at")
    found = call(m, frame, node, where, Arguments([tree]))
    nodes, new = [found], [bound.get("replace", Unknown("tree_at"))]
    if isinstance(found, (TupleValue, ListValue)) and not _is_part(tree, found):
        elements, replacements = known_elements(found), known_elements(new[0])
        if elements is None or ("replace" in bound and replacements is None):
            return joining.over_arrays(tree, copy_with_new_identity)
        nodes = list(elements)
        new = list(replacements or ()) if "replace" in bound else [Unknown("tree_at") for _ in nodes]
    change = bound.get("replace_fn")
    if change is not None:
        new = [call(m, frame, node, change, Arguments([one])) for one in nodes]
    if len(nodes) != len(new) or not all(_is_part(tree, one) for one in nodes):
        return joining.over_arrays(tree, copy_with_new_identity)
    # None is one object wherever it stands: it is not known which of its places is meant.
    known = {id(one): Unknown("tree_at") if isinstance(one, Const) else by for one, by in zip(nodes, new, strict=True)}
    return _with_nodes(tree, known, m.path.mode.trace)


def _is_part(tree: Value, node: Value, room: Room | None = None) -> bool:
    """The node is somewhere in the tree."""
    room = room if room is not None else Room()
    return room.enter(tree) and any(part is node or _is_part(part, node, room) for part in held_by(tree))


def _with_nodes(tree: Value, known: dict[int, Value], made_in: int, depth: int = 8) -> Value:
    """The tree with some nodes replaced, by their identity."""
    if id(tree) in known:
        return known[id(tree)]
    return (
        joining.map_leaves(tree, lambda part: _with_nodes(part, known, made_in, depth - 1), made_in) if depth else tree
    )


MAX_REDUCED = 16
"""A reduction of so many known elements is followed element by element."""


@library("functools.reduce")
def _reduce(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) < 2:
        return Unknown("reduce")
    known = known_elements(args.values[1])
    if known is not None and 0 < len(known) <= MAX_REDUCED:
        so_far, *others = (*args.values[2:3], *known)
        for element in others:
            so_far = call(m, frame, node, args.values[0], Arguments([so_far, element]))
        return so_far
    make_element = iterated(m, frame, node, args.values[1], "no-events", None)
    if make_element is None:
        return args.values[2] if len(args.values) > 2 else Unknown("reduce")
    start = args.values[2] if len(args.values) > 2 else make_element()
    if isinstance(start, (*CALLABLES, UnionValue)):
        return Unknown("reduce")  # functions of which each calls the one before: it is not known which
    first = call(m, frame, node, args.values[0], Arguments([start, make_element()]))
    return call(m, frame, node, args.values[0], Arguments([joining.join(start, first), make_element()]))


@library("numpy.isscalar")
def _isscalar(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """NumPy asks for a type of Python or a scalar of its own: no array of JAX is one, nor a tracer."""
    value = args.values[0] if args.values else Unknown("element")
    is_array = isinstance(value, Array) or (isinstance(value, Tree) and value.level >= GRAD)
    return Const(False) if is_array else Static("bool")


@library("jax.core.trace_state_clean", "jax._src.core.trace_state_clean")
def _trace_state_clean(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """Whether no transform traces the code that runs."""
    return Const(False) if m.path.mode.staged else Unknown("trace state", host_test=True)


@library("jax.core.is_concrete", "jax._src.core.is_concrete")
def _is_concrete(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """Whether JAX knows the value of an array while it traces."""
    value = args.values[0] if args.values else None
    is_abstract = isinstance(value, (Array, Tree)) and value.level == ABSTRACT
    return Const(False) if is_abstract else Unknown("is concrete", host_test=True)


@library("jax.tree.leaves")
def _leaves(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    value = args.values[0] if args.values else Unknown("tree")
    is_leaf = args.kwargs.get("is_leaf", args.values[1] if len(args.values) > 1 else None)
    if is_leaf is not None and not isinstance(is_leaf, (Const, Unknown)):
        call(m, frame, node, is_leaf, Arguments([value if isinstance(value, Tree) else leaf_of(value)]))
    listed = listed_leaves(value, m.path.mode.trace)
    if isinstance(listed, ListValue) and listed.known() is None and isinstance(value, Tree) and value.level >= GRAD:
        listed.slots["some"] = True
    presumption = m.trackers[Presuming].presumption
    if presumption is not None and isinstance(listed, ListValue) and listed.known() is None:
        presumption.leaf_of(listed.slots["*"], value, is_element=is_leaf is None)
    return listed


@library("jax.tree.flatten")
def _flatten(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return TupleValue((_leaves(m, frame, node, args), Static("set")))


@library("jax.tree.flatten_with_path")
def _flatten_with_path(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    leaf = leaf_of(args.values[0]) if args.values else Unknown("leaf")
    return TupleValue((ListValue(None, TupleValue((Static("shape"), leaf)), made_in=m.path.mode.trace), Static("set")))


@library("jax.tree.leaves_with_path")
def _leaves_with_path(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    leaf = leaf_of(args.values[0]) if args.values else Unknown("leaf")
    return ListValue(None, TupleValue((Static("shape"), leaf)), made_in=m.path.mode.trace)


@library("jax.tree.unflatten")
def _unflatten(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    if len(args.values) < 2:
        return Unknown("unflatten")
    leaves = args.values[1]
    element: Value
    known = known_elements(leaves)
    if known is not None:
        element = joining.join_all(known) if known else Unknown("leaf")
    else:
        make_element = iterated(m, frame, node, leaves, "no-events", None)
        element = make_element() if make_element is not None else Unknown("leaf")
    if isinstance(element, (Array, Tree)):
        return Tree(element.level)
    return Unknown("unflatten")


@library("jax.device_get")
def _device_get(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``jax.device_get``: the same structure; on tracers it does nothing."""
    if not args.values:
        return Unknown("device_get")
    return _to_host(args.values[0])


def _to_host(value: Value, depth: int = 6, room: Room | None = None) -> Value:
    if isinstance(value, Array):
        return value if value.level >= 2 else HostArray(value.dtype, value.ndim)
    room = room if room is not None else Room()
    if isinstance(value, (Tree, Unknown)) or depth == 0 or not room.enter(value):
        return value if isinstance(value, Tree) and value.level >= 2 else Unknown("host tree")
    return joining.map_leaves(value, lambda v: _to_host(v, depth - 1, room))


@library("itertools.chain")
def _chain(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    parts: list[Value] = []
    for value in args.values:
        make_element = iterated(m, frame, node, value, "no-events", None)
        if make_element is not None:
            parts.append(make_element())
    return GeneratorValue(joining.union_of(parts) if parts else Unknown("chain"))


@library("itertools.product")
def _product(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    elements: list[Value] = []
    for value in args.values:
        make_element = iterated(m, frame, node, value, "no-events", None)
        elements.append(make_element() if make_element is not None else Unknown("product"))
    counts = [count for count in map(trips_of, args.values) if count is not None]
    every = math.prod(counts) if len(counts) == len(args.values) and not args.kwargs and args.star is None else None
    return GeneratorValue(TupleValue(tuple(elements)), count=every)


@library("jax.numpy.load")
def _load(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``jnp.load``: an array, or the mapping that is stored in an ``.npz`` file."""
    path = args.values[0] if args.values else args.kwargs.get("file")
    if isinstance(path, Const) and str(path.value).endswith(".npz"):
        return Unknown("arrays of a file")
    return Array(result_level(m, (), library=True), declared=True)


@library("jax.numpy.stack")
def _stack_like(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``jnp.stack`` of keys is an array of keys; else an array of the joint dtype."""
    source = args.values[0] if args.values else Unknown("stack")
    elements = known_elements(source)
    level = result_level(m, [*args.values, *(elements or ())], library=True)
    if not elements:
        return Array(level)
    axis = args.kwargs.get("axis", args.values[1] if len(args.values) > 1 else Const(0))
    length = len(elements) if isinstance(axis, Const) and axis.value == 0 else None
    joined = joining.join_all(elements)
    if isinstance(joined, Array):
        if level == GRAD and joined.dtype in ("int", "bool"):
            level = CONCRETE
        stacked = Array(level, joined.dtype, joined.ndim + 1 if joined.ndim is not None else None, length)
        if length is not None and joined.length is not None:
            track_rows(stacked, elements)
        return stacked
    return Array(level, length=length)
