"""What JAX passes to functions that it calls itself, for presumed runs: rules of primitives and of custom derivatives,
and what takes a registered pytree apart and puts it together again.

Vocabulary
----------
rule        a function that JAX calls to evaluate, differentiate, transpose or batch an operation, or to lower it.
table       a module-level dict of JAX (``ad.primitive_jvps``) that holds one rule for each primitive.
span        which positional parameters of a rule surely are (pytrees of) arrays, as first and last; to the end and
            beyond, if there is no last.

Rules run staged only where their operation is: that they would be is presumed, never asserted. A pytree that crosses a
staging boundary is flattened and made again with tracers for children, so both functions of a registration see them,
for any caller; not so where a class has no children. Limitations: rules of
``shard_map``, partitioning and higher-order primitives.
"""

from __future__ import annotations

from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.classes import find_in_class
from flake8_jax.semantics.domain.joining import members_of
from flake8_jax.semantics.domain.signatures import fixed_positions, opened
from flake8_jax.semantics.domain.values import (
    NONE,
    ClassValue,
    Const,
    External,
    FunctionValue,
    StaticMethodValue,
    TransformedValue,
    Value,
)
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.presumption import Presuming

Span = tuple[int, "int | None"]

_TABLES: dict[str, Span] = {
    "jax.interpreters.ad.primitive_jvps": (0, 2),
    "jax.interpreters.ad.primitive_transposes": (0, 1),
    "jax.interpreters.batching.primitive_batchers": (0, 1),
    "jax.interpreters.batching.axis_primitive_batchers": (3, 4),
    "jax.interpreters.batching.spmd_axis_primitive_batchers": (4, 5),
    "jax.interpreters.batching.fancy_primitive_batchers": (1, 2),
}
_PRIMITIVE = "jax.extend.core.Primitive"
_METHODS: dict[str, Span] = {"def_impl": (0, None)}
_FUNCTIONS: dict[str, tuple[int, Span]] = {
    "jax.interpreters.mlir.lower_fun": (0, (0, None)),
    "jax.interpreters.ad.defjvp": (1, (0, None)),
    "jax.interpreters.ad.deflinear": (1, (0, 1)),
    "jax.interpreters.ad.deflinear2": (1, (0, 1)),
}
"""Functions that take rules: the position of the first of them, and the span of each."""
_DEFINING: dict[str, tuple[Span, ...]] = {
    "defjvp": ((0, 2),),
    "defvjp": ((0, None), (0, 2)),
    "def_vmap": ((2, None),),
    "def_jvp": ((0, 2),),
    "def_fwd": ((1, 2),),
    "def_bwd": ((0, 2),),
}
"""Methods of functions with custom rules (the last three: equinox'), and the spans of the rules that they take, after
the arguments that are not differentiated."""


def track_stored_rule(m: Machine, table: Value, rule: Value) -> None:
    """``ad.primitive_jvps[primitive] = rule``."""
    if isinstance(table, External) and m.trackers[Presuming].presumption is not None:
        span = _TABLES.get(table.name)
        if span is not None:
            contract(m, rule, span)


def track_method_rule(m: Machine, cls: str, method: str, args: Arguments) -> None:
    """``primitive.def_impl(rule)``."""
    if m.trackers[Presuming].presumption is not None and cls == _PRIMITIVE and method in _METHODS and args.values:
        contract(m, args.values[0], _METHODS[method])


def track_function_rule(m: Machine, function: str, args: Arguments) -> None:
    """``mlir.lower_fun(rule)``, ``ad.deflinear2(primitive, rule)``."""
    if m.trackers[Presuming].presumption is not None and function in _FUNCTIONS:
        first, span = _FUNCTIONS[function]
        for rule in args.values[first:]:
            contract(m, rule, span)


def track_custom_rules(m: Machine, tv: TransformedValue, method: str, args: Arguments) -> None:
    """``f.defvjp(fwd, bwd)`` and similar functions; what ``f`` itself takes, it takes as arrays too."""
    spans = _DEFINING.get(method)
    fixed = fixed_positions(tv)
    if m.trackers[Presuming].presumption is None or spans is None or fixed is None:
        return
    # ``bwd`` and the rule of ``defjvp`` take what is not differentiated first, ``fwd`` where ``f`` takes it.
    symbolic = args.kwargs.get("symbolic_zeros", NONE)
    filters = tv.fact.filters
    for i, (rule, (first, last)) in enumerate(zip([*args.values, *args.kwargs.values()], spans)):
        if method == "defvjp" and i == 0:
            if isinstance(symbolic, Const) and not symbolic.value:  # else ``fwd`` gets objects that wrap the arrays
                contract(m, rule, (first, last), without=fixed)
        else:
            count = len(fixed)
            contract(m, rule, (first + count, None if last is None else last + count), filters=filters)
        _pass_through(m, tv.operand, rule, method, i, fixed)
    if not filters:
        contract(m, tv.operand, (0, None), without=fixed)


_LEADING = {"def_fwd": 1, "def_bwd": 3}
"""How many arguments of equinox' rules come before those of the function itself."""


def _pass_through(m: Machine, operand: Value, rule: Value, method: str, number: int, fixed: list[int]) -> None:
    """Arguments of the function that a rule gets too, as they are."""
    presumption = m.trackers[Presuming].presumption
    if not isinstance(operand, FunctionValue) or not isinstance(rule, FunctionValue) or presumption is None:
        return
    own = [p.name for p in operand.fn.params if p.kind in ("positional", "posonly")]
    names = [p.name for p in rule.fn.params if p.kind in ("positional", "posonly")]
    if method in _LEADING:
        pairs = zip(own, names[_LEADING[method] :])
    elif method == "defvjp" and number == 0:
        pairs = zip(own, names)
    else:
        pairs = zip([own[i] for i in fixed if i < len(own)], names)
    for mine, its in pairs:
        presumption.same_argument(operand, mine, rule, its)


def contract(
    m: Machine, rule: Value, span: Span, without: list[int] | tuple[int, ...] = (), *, filters: bool = False
) -> None:
    """JAX itself passes (pytrees of) arrays for these parameters of a function, a method or a partial application."""
    presumption = m.trackers[Presuming].presumption
    first, last = span
    for member in members_of(rule):
        function, skip, named = opened(member)
        if not isinstance(function, FunctionValue) or presumption is None:
            continue
        parameters = [p for p in function.fn.params if p.kind in ("positional", "posonly")][skip:]
        names = [p.name for i, p in enumerate(parameters) if i not in without][first:last]
        if last is None:
            names += [p.name for p in function.fn.params if p.kind == "vararg"]
        presumption.contract_surely(function, [n for n in names if n not in named], filters=filters)


# --- pytrees --------------------------------------------------------------------------------------

_FLATTENING = ("flatten_func", "flatten_with_keys", "flatten_with_keys_func")
_ORDER = ("nodetype", "flatten_func", "unflatten_func", "flatten_with_keys_func")
METHODS = ("tree_flatten", "tree_flatten_with_keys", "tree_unflatten")


def track_registration(m: Machine, args: Arguments) -> None:
    """``register_pytree_node(cls, flatten, unflatten)``: the object is an argument of one, the children of the other."""
    if m.trackers[Presuming].presumption is None:
        return
    given = {**dict(zip(_ORDER, args.values, strict=False)), **args.kwargs}
    owner = given.get("nodetype")
    if isinstance(owner, ClassValue) and owner.childless:
        return
    for name in _FLATTENING:
        if name in given:
            contract(m, given[name], (0, 1))
    if "unflatten_func" in given:
        contract(m, given["unflatten_func"], (1, 2))


def track_methods(m: Machine, cls: ClassValue) -> None:
    """``@register_pytree_node_class``: the same, by the names of the methods."""
    if m.trackers[Presuming].presumption is None or cls.childless:
        return
    for name in METHODS:
        found = find_in_class(cls, name)
        if found is not None:
            _track_method(m, found[1], name)


def _track_method(m: Machine, method: Value, name: str) -> None:
    leading = 0 if name == "tree_flatten" or name == "tree_flatten_with_keys" else 1
    if isinstance(method, StaticMethodValue):
        leading += method.to_class
        method = method.func
    if isinstance(method, FunctionValue):
        contract(m, method, (leading, leading + 1))
