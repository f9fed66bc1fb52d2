"""What the arguments of a library function say of the array that it gives: dtype, rank, leading length.

Vocabulary
----------
refinement  a function that says it for some functions: by the rank in their facts, or by the last part of their names.
conversion  ``asarray(x)``, ``array(x)``: the array that holds what ``x`` holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.boundary import track_rows
from flake8_jax.semantics.domain.dtypes import asked_dtype
from flake8_jax.semantics.domain.sizes import shape_source
from flake8_jax.semantics.domain.values import (
    CONCRETE,
    FALSE,
    GRAD,
    Array,
    Const,
    HostArray,
    ListValue,
    Static,
    Tree,
    TupleValue,
    Value,
    known_elements,
)
from flake8_jax.semantics.models.application import DescribedCall

_NUMBER_KINDS = ("bool", "int", "float", "complex")

Bound = dict[str, Value]


def refine(result: Array, app: DescribedCall) -> None:
    """Give the result what its arguments say of it."""
    args = app.at.args
    hidden = (args.star is not None or args.double_star is not None) and "dtype" in app.fact.params
    dtype = asked_dtype(app.bound, hidden=hidden)
    if dtype:
        result.dtype = dtype
        if result.level == GRAD and dtype in ("int", "bool"):
            result.level = CONCRETE
    shape = app.bound.get("shape")
    refinement = _RANKS.get(app.fact.rank) or _REFINEMENTS.get(app.short)
    if shape is not None and "shape" in app.fact.shape_params:
        _of_shape(result, shape)
        _add_own_axes(result, app)
    elif refinement is not None:
        refinement(result, app.bound)
    if dtype == "":
        result.dtype = ""


def refine_rank(result: Array, rank: str, bound: Bound) -> None:
    """Give the result the rank that the knowledge tables say of a function: ``np.mean`` of an array of JAX gives a number."""
    refinement = _RANKS.get(rank)
    if refinement is not None and result.ndim is None:
        refinement(result, bound)


def _is_int(value: Value) -> bool:
    return isinstance(value, Const) and type(value.value) is int


def _of_shape(result: Array, shape: Value) -> None:
    """``zeros(shape)``."""
    if isinstance(shape, TupleValue):
        result.ndim = len(shape.elts)
        first = shape.elts[0] if shape.elts else None
        result.length = _length_of(first)
    elif isinstance(shape, Const) and type(shape.value) is int:
        result.ndim, result.length = 1, _length_of(shape)
    elif isinstance(shape, Static) and shape.kind == "int":
        result.ndim = 1


def _add_own_axes(result: Array, app: DescribedCall) -> None:
    """``jax.random.multivariate_normal(key, mean, cov, (n,))`` gives ``n`` vectors: the shape leaves out the axes of one
    draw."""
    if result.ndim is None:
        return
    result.ndim += _OWN_AXES.get(app.name, 0)
    if app.name == "jax.random.choice" and rank_of(app.bound.get("a")) not in (0, 1):
        result.ndim = None


_OWN_AXES = {
    "jax.random.ball": 1,
    "jax.random.dirichlet": 1,
    "jax.random.multivariate_normal": 1,
    "jax.random.orthogonal": 2,
}
"""Samplers of vectors and matrices, with the axes of one draw."""


def _length_of(size: Value | None) -> int | None:
    """The length that a size says; ``-1`` leaves it to JAX."""
    return size.value if isinstance(size, Const) and type(size.value) is int and size.value >= 0 else None


_DRAWN_AT = {
    **dict.fromkeys(("rand", "randn"), 0),
    **dict.fromkeys(("normal", "uniform", "integers", "randint", "laplace", "gamma", "beta", "binomial"), 2),
    **dict.fromkeys(("random", "random_sample", "standard_normal", "permutation"), 0),
}
"""At which position a sampler of NumPy takes the shape, or the first number of it."""
_AS_LONG = frozenset({
    "array", "asarray", "ascontiguousarray", "copy", "float32", "float64", "int32", "zeros_like", "ones_like",
    "empty_like", "full_like", "exp", "log", "sin", "cos", "sqrt", "square", "abs", "sort",
})  # fmt: skip
"""Functions of NumPy whose result is as long as their first argument."""


def host_length(name: str, bound: Bound, given: Sequence[Value]) -> int | None:
    """The length of the leading axis of what a function of NumPy gives."""
    space, _, last = name.rpartition(".")
    first = given[0] if given else None
    if "shape" in bound and last != "reshape":
        return _leading(bound["shape"])
    if space.startswith("numpy.random"):
        at = _DRAWN_AT.get(last)
        size = bound.get("size", given[at] if at is not None and len(given) > at else None)
        return _leading(size) if last != "choice" else None
    if last == "arange":
        numbers = [n.value if isinstance(n, Const) else None for n in given]
        by_name = [name for i, name in enumerate(("stop", "step"), 1) if name in bound and len(given) <= i]
        return _count_in(numbers) if numbers and not by_name else None
    if last == "linspace":
        return _leading(bound["num"]) if "num" in bound else 50
    return first.length if last in _AS_LONG and isinstance(first, (Array, HostArray)) else None


def _count_in(numbers: list[Any]) -> int | None:
    """How many whole numbers ``arange`` gives."""
    if all(type(number) is int for number in numbers) and (len(numbers) < 3 or numbers[2]):
        return len(range(*numbers))
    return None


def host_rank(name: str, given: Sequence[Value], bound: Bound) -> int | None:
    """The rank of what a function of NumPy draws, or of ``np.arange``."""
    space, _, last = name.rpartition(".")
    first = given[0] if given else None
    if name == "numpy.arange":
        return 1
    if not space.startswith("numpy.random") or first is None:
        return None
    taken = first.ndim if isinstance(first, HostArray) else 1 if _is_integer(first) else None
    if last == "permutation" or (last == "choice" and taken != 1):
        return taken if last == "permutation" else None
    at = 1 if last == "choice" else _DRAWN_AT.get(last)
    size = bound.get("size", given[at] if at and len(given) > at else None)
    if isinstance(size, TupleValue):
        return len(size.elts)
    return 1 if size is not None and _is_integer(size) else None


def _is_integer(value: Value) -> bool:
    return _is_int(value) or (isinstance(value, Static) and value.kind == "int")


def _leading(shape: Value | None) -> int | None:
    """The first number of a shape."""
    parts = known_elements(shape) if isinstance(shape, (TupleValue, ListValue)) else (shape,)
    return _length_of(parts[0]) if parts else None


def reduced_rank(source: Value | None, bound: Mapping[str, Value]) -> int | None:
    """The rank of a reduction of ``source``; 0 over everything."""
    if not any(k in bound for k in ("axis", "keepdims", "axes")):
        return 0
    ndim = source.ndim if isinstance(source, (Array, HostArray)) else None
    keeps, axis = bound.get("keepdims", FALSE), bound.get("axis")
    if ndim is None or not isinstance(keeps, Const) or "axes" in bound:
        return None
    if keeps.value:
        return ndim
    if axis is None or (isinstance(axis, Const) and axis.value is None):
        return 0
    axes = (axis,) if isinstance(axis, Const) else known_elements(axis)
    if axes is None or not all(isinstance(a, Const) and type(a.value) is int for a in axes):
        return None
    return max(ndim - len(axes), 0)


def _reduced(result: Array, bound: Bound) -> None:
    source = next((bound[k] for k in ("a", "x", "self") if k in bound), None)
    result.ndim = reduced_rank(source, bound)


def _resized(result: Array, bound: Bound) -> None:
    """``concatenate([x, y])``: more elements than the argument ``x`` has."""
    parts = [part for value in bound.values() for part in (known_elements(value) or (value,))]
    result.ndim = None
    result.resized = any(
        (isinstance(p, (Array, Tree)) and p.origin is not None) or (isinstance(p, Array) and p.resized) for p in parts
    )


def _elementwise(result: Array, bound: Bound) -> None:
    first = next(iter(bound.values()), None)
    result.resized = isinstance(first, Array) and first.resized
    result.shaped = shape_source(first) if isinstance(first, Array) and len(bound) == 1 else None
    result.ndim = rank_of(first) if not _is_none(bound.get("axis")) else None


def rank_of(operand: Value | None) -> int | None:
    """How many axes an operand has; None where that is not known."""
    return getattr(operand, "ndim", 0 if isinstance(operand, (Const, Static)) else None)


def _is_none(value: Value | None) -> bool:
    return isinstance(value, Const) and value.value is None


def _flattened(result: Array, bound: Bound) -> None:
    """``cumsum(x)`` is one of all elements, ``cumsum(x, axis)`` has the axes of x."""
    axis = bound.get("axis")
    if axis is None or _is_none(axis):
        result.ndim = 1
    elif isinstance(axis, (Const, Static)):
        result.ndim = rank_of(next(iter(bound.values()), None))


def _broadcast(result: Array, bound: Bound) -> None:
    """``clip(x, low, high)``: as many axes as the operand with most."""
    ranks = [rank_of(operand) for operand in bound.values() if not _is_none(operand)]
    known = [rank for rank in ranks if rank is not None]
    result.ndim = max(known) if known and len(known) == len(ranks) else None


def _counted(result: Array, bound: Bound) -> None:
    """``arange(start, stop, step)``."""
    result.ndim = 1
    ends = [bound[p] for p in ("start", "stop") if p in bound]
    known: list[Any] = [end.value for end in ends if isinstance(end, Const) and type(end.value) is int]
    given = bound.get("step")
    step = given.value if isinstance(given, Const) else 1 if given is None else None
    if known and len(known) == len(ends) and type(step) is int and step > 0:
        result.length = max(-(-(known[-1] - (known[0] if len(known) == 2 else 0)) // step), 0)
    if not result.dtype and all(_is_int(v) or isinstance(v, Static) for v in bound.values()):
        result.dtype = "int"


def _chosen(result: Array, bound: Bound) -> None:
    """``where(condition, x, y)``."""
    kinds = {dtype_of(bound[p]) for p in ("x", "y") if p in bound}
    if len(kinds) == 1:
        result.dtype = kinds.pop()


def _converted(result: Array, bound: Bound) -> None:
    """``asarray(x)``."""
    source = next((bound[k] for k in ("object", "a", "x") if k in bound), None)
    convert = _CONVERSIONS.get(type(source))
    if convert is not None:
        convert(result, source)


_RANKS: dict[str, Callable[[Array, Bound], None]] = {
    "number": _reduced,
    "same": _elementwise,
    "flat": _flattened,
    "broadcast": _broadcast,
}
"""By what the knowledge tables say of the rank."""

_RESIZING = frozenset(
    {"append", "concatenate", "concat", "hstack", "insert", "pad", "repeat", "row_stack", "tile", "vstack"}
)


def _permuted(result: Array, bound: Bound) -> None:
    """``jax.random.permutation(key, len(rows))``, or of an array."""
    x = bound.get("x")
    if isinstance(x, (Array, HostArray)):
        _of_host_array(result, x)
    elif x is not None and _is_integer(x):
        result.dtype, result.ndim, result.length = "int", 1, _length_of(x)


_REFINEMENTS: dict[str, Callable[[Array, Bound], None]] = {
    **dict.fromkeys(_RESIZING, _resized),
    "arange": _counted,
    "asarray": _converted,
    "array": _converted,
    "permutation": _permuted,
    "where": _chosen,
}


# --- conversions, by what is converted --------------------------------------------------------------------


def _of_array(result: Array, source: Array) -> None:
    _of_host_array(result, source)
    if source.dtype == "key":
        result.origin = source


def _of_host_array(result: Array, source: Array | HostArray) -> None:
    result.dtype = result.dtype or source.dtype
    result.ndim = source.ndim
    result.length = source.length


def _of_sequence(result: Array, source: TupleValue | ListValue) -> None:
    elements = known_elements(source)
    if elements is None:
        return
    result.length = len(elements)
    result.dtype = result.dtype or _common_kind(elements)
    if all(isinstance(e, (Const, Static)) for e in elements):
        result.ndim = 1
    elif result.recipe is None:
        track_rows(result, elements)


def _of_constant(result: Array, source: Const) -> None:
    result.ndim = 0
    if not result.dtype and type(source.value) in joining.NUMBERS:
        result.dtype = joining.const_kind(source.value)


def _of_static(result: Array, source: Static) -> None:
    if source.kind in ("int", "float", "bool"):
        result.ndim, result.dtype = 0, result.dtype or source.kind
        result.derived = "static"
    elif source.kind == "shape":
        result.ndim, result.dtype, result.derived = 1, "int", "static"


_CONVERSIONS: dict[type, Callable[[Array, Any], None]] = {
    Array: _of_array,
    HostArray: _of_host_array,
    TupleValue: _of_sequence,
    ListValue: _of_sequence,
    Const: _of_constant,
    Static: _of_static,
}


def dtype_of(value: Value) -> str:
    """The dtype class of an operand; empty where it is not known."""
    if isinstance(value, (Array, HostArray)):
        return value.dtype
    return joining.const_kind(value.value) if isinstance(value, Const) and type(value.value) in joining.NUMBERS else ""


def _common_kind(elements: Sequence[Value], depth: int = 3) -> str:
    """The dtype class of an array made of numbers, in rows or not; empty where one of them is not known."""
    kinds: set[str] = set()
    for element in elements:
        rows = known_elements(element) if depth and isinstance(element, (TupleValue, ListValue)) else None
        if rows is not None:
            kinds.add(_common_kind(rows, depth - 1))
        else:
            kinds.add(element.kind if isinstance(element, Static) else dtype_of(element))
    return max(kinds, key=_NUMBER_KINDS.index) if kinds and kinds <= set(_NUMBER_KINDS) else ""
