"""How large an array is at least, as far as the literal shapes of a program tell.

Vocabulary
----------
size        a lower bound on the number of elements, counted in units of four bytes (an array of bytes counts a quarter);
            0 where nothing is known. Below zero: of an array that holds one value throughout, which a compiler writes
            down in a line.
LARGE       a MiB.

Limitations: shapes; what indexing, reductions, products of matrices and broadcasting against another array give.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from flake8_jax.semantics.domain.values import (
    Array,
    Const,
    External,
    HostArray,
    ListValue,
    TupleValue,
    UnionValue,
    Value,
    canonical_key,
)

LARGE = 1 << 18
_UNIFORM = frozenset({"zeros", "ones", "full", "empty", "broadcast_to", "zeros_like", "ones_like", "full_like",
                      "empty_like"})  # fmt: skip
_KEEPING = frozenset({
    "abs", "add", "arccos", "arcsin", "arctan", "array", "asanyarray", "asarray", "ascontiguousarray", "astype",
    "bfloat16", "ceil", "clip", "concatenate", "copy", "cos", "cosh", "cumprod", "cumsum", "divide", "exp",
    "expand_dims", "expm1", "flip", "float16", "float32", "float64", "floor", "full_like", "hstack", "int32", "int64",
    "log", "log1p", "maximum", "minimum", "mod", "moveaxis", "multiply", "negative", "ones_like", "power",
    "rad2deg", "deg2rad", "ravel", "relu", "reshape", "rint", "roll", "round", "sigmoid", "sign", "sin", "sinh",
    "softmax", "sort", "sqrt", "square", "squeeze", "stack", "stop_gradient", "subtract", "swapaxes", "tan", "tanh",
    "transpose", "tril", "triu", "true_divide", "vstack", "where", "zeros_like",
})  # fmt: skip
"""Functions whose result is no smaller than the largest of their arguments."""
_KEEPING_METHODS = frozenset({"astype", "copy", "reshape", "ravel", "flatten", "transpose", "squeeze", "round", "clip",
                              "block_until_ready", "swapaxes", "cumsum"})  # fmt: skip
_MANY_VALUES = frozenset({"tril", "triu", "concatenate", "stack", "vstack", "hstack", "cumsum", "cumprod", "add", "where",
                          "subtract", "multiply", "divide", "true_divide", "maximum", "minimum"})  # fmt: skip
"""Those of them that make different values out of equal ones."""
_DRAWN_BY_SIZES = frozenset({"rand", "randn"})
_DRAWN_BY_FIRST = frozenset({"random", "random_sample", "standard_normal", "standard_exponential", "standard_cauchy"})
_DRAWN_BY_THIRD = frozenset({"normal", "uniform", "laplace", "gumbel", "logistic", "lognormal", "beta", "gamma",
                             "binomial", "integers", "randint", "vonmises", "wald"})  # fmt: skip
_BYTES_OF = {
    "bool": 1, "bool_": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2, "int4": 1,
    "uint4": 1, "float8_e4m3fn": 1, "float8_e5m2": 1,
}  # fmt: skip


def size_of(value: Value | None) -> int:
    """The size of an array, or the least of those that a union may be."""
    if isinstance(value, (Array, HostArray)):
        return value.size
    if isinstance(value, UnionValue):
        return min((size_of(member) for member in value.members), key=abs)
    return 0


def is_large(value: Value) -> bool:
    """An array that surely is large, and no constant of one line."""
    return isinstance(value, (Array, HostArray)) and value.size >= LARGE


def grade(size: int) -> int:
    """-1, 0 or 1: what matters of a size to those who compare runs."""
    return (size >= LARGE) - (size <= -LARGE)


def joint_size(values: Iterable[Value | None]) -> int:
    """The size of what is computed element by element: that of the largest. It holds one value where all of them do."""
    sizes = [size_of(value) for value in values if not isinstance(value, Const)]
    largest = max(sizes, key=abs, default=0)
    return abs(largest) if any(size >= 0 for size in sizes) else largest


def lesser_size(a: int, b: int) -> int:
    """The size of one of two arrays."""
    return min(a, b, key=abs) if (a < 0) == (b < 0) else 0


def emit_size(result: Value, name: str, bound: dict[str, Value], given: list[Value]) -> None:
    """Note the size of what a function of JAX or NumPy gave. given: its positional arguments."""
    if not isinstance(result, (Array, HostArray)):
        return
    space, _, last = name.rpartition(".")
    size = _made(space, last, bound, given)
    if not size and last in _KEEPING:
        size = joint_size(_arrays_in(bound.values()))
        if last in _MANY_VALUES:
            size = abs(size)
    if size:
        size = -abs(size) if last in _UNIFORM else size
        unit = _BYTES_OF.get(_dtype_name(bound.get("dtype")), 4) if last != "astype" else 4
        result.size = size * unit // 4
        if last in ("arange", "linspace"):
            result.ndim = 1


def track_filled(base: Value) -> None:
    """Something was put into an array of NumPy: it may hold more than one value now."""
    if isinstance(base, HostArray):
        base.size = abs(base.size)


def size_of_method(base: Array | HostArray, name: str, values: list[Value]) -> int:
    """The size of what a method of an array gives."""
    if name not in _KEEPING_METHODS:
        return 0
    if name == "astype" and values:
        return base.size * _BYTES_OF.get(_dtype_name(values[0]), 4) // 4
    return base.size


def _arrays_in(values: Iterable[Value]) -> list[Value]:
    found: list[Value] = []
    for value in values:
        if isinstance(value, (Array, HostArray, UnionValue)):
            found.append(value)
        elif isinstance(value, TupleValue):
            found += value.elts
        elif isinstance(value, ListValue):
            found += value.known() or ()
    return found


def _made(space: str, last: str, bound: dict[str, Value], given: list[Value]) -> int:
    """How many elements a function that makes an array gives it."""
    if "shape" in bound and last not in ("reshape", "bernoulli"):
        return _elements(bound["shape"])
    if space.startswith("numpy.random"):
        return _drawn(last, bound, given)
    count = _COUNTS.get(last)
    return count(bound) if count is not None else 0


def _drawn(sampler: str, bound: dict[str, Value], given: list[Value]) -> int:
    """How many numbers a sampler of NumPy draws."""
    if sampler in _DRAWN_BY_SIZES:
        return math.prod(_integer(v) for v in given) if given else 0
    at = 0 if sampler in _DRAWN_BY_FIRST else 2 if sampler in _DRAWN_BY_THIRD else None
    return _elements(bound.get("size", given[at] if at is not None and len(given) > at else None))


def _count_of_range(bound: dict[str, Value]) -> int:
    start, stop = _integer(bound.get("start")), _integer(bound.get("stop"))
    return 0 if "step" in bound else max(0, stop - start) if "stop" in bound else start


def _count_of_points(bound: dict[str, Value]) -> int:
    return _integer(bound["num"]) if "num" in bound else 50


def _count_of_matrix(bound: dict[str, Value]) -> int:
    rows = _integer(bound.get("N", bound.get("n")))
    return rows * (_integer(bound["M"]) if isinstance(bound.get("M"), Const) else rows)


_COUNTS: dict[str, Callable[[dict[str, Value]], int]] = {
    "arange": _count_of_range,
    "linspace": _count_of_points,
    **dict.fromkeys(("eye", "tri", "identity"), _count_of_matrix),
}
"""How many elements a function makes that is given no shape, by the last part of its name."""


def _integer(value: Value | None) -> int:
    return value.value if isinstance(value, Const) and type(value.value) is int else 0


def _elements(shape: Value | None) -> int:
    if isinstance(shape, (TupleValue, ListValue)):
        parts = shape.elts if isinstance(shape, TupleValue) else shape.known() or ()
        return math.prod(_integer(part) for part in parts) if parts else 0
    return _integer(shape)


def _dtype_name(value: Value | None) -> str:
    if isinstance(value, External):
        return value.name.rpartition(".")[2]
    if isinstance(value, Const) and isinstance(value.value, str):
        return value.value
    return "bool" if getattr(value, "name", "") == "bool" else ""


def shape_source(value: Value) -> Value | None:
    """The value outside of the staged function whose shape an array surely has, where that is known."""
    if not isinstance(value, Array):
        return None
    return value.shaped if value.shaped is not None or value.origin is None else canonical_key(value)
