"""How far two parts of values are from one another.

Vocabulary
----------
equal     the same to the last bit. close: within ``ULPS`` units in the last place, element by element.
unsure    further apart, but no further than rounding may lie at the scale of what was computed; a run in float64 can tell.
rounding  in float64 the same difference is so much smaller that it can be nothing but rounding. scaled: no such run is to be
          had, and the difference is within the rounding of the largest number around.
scale     the largest finite number in the results of the call and in what went into it.
retyped   the same numbers, but of another kind: an array of NumPy for one of JAX, a weak type for a strong one.
allowed   differences that are meant: ``finite`` (NaN and infinity may become numbers), ``nearer`` (results may come nearer to
          those in float64), ``keys`` (typed keys for legacy ones and back), ``kinds`` (the reference ran without jit, where
          NumPy has its own types).
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

ULPS = 4
_UNSURE = 1e-2  # of the scale: what is further apart is no rounding
_SCALED = 64  # times the precision of the type, at the scale
_SHRUNK = 1e-4
_WORST = {"equal": 0, "close": 1, "rounding": 1, "scaled": 1, "drift": 2, "unsure": 3, "differs": 4}

Leaf = dict[str, Any]


def worse(one: str, other: str) -> str:
    return other if _WORST[other] > _WORST[one] else one


@dataclass(frozen=True)
class Distance:
    """status: see above. what: a phrase. ulp, relative: the largest ones; relative to the largest element.
    counts: how many results were compared, unseen: how many could not be. settled: a run in float64 had the say."""

    status: str = "equal"
    what: str = ""
    counts: int = 0
    unseen: int = 0
    ulp: float = 0.0
    relative: float = 0.0
    structural: bool = False
    retyped: str = ""
    changed: bool = False
    settled: bool = False


@dataclass(frozen=True)
class Around:
    """What is known around a leaf: the scale; the same leaf of the two runs in float64 and its scale, None where there is
    none; whether such runs were tried; what is allowed."""

    scale: float = 0.0
    wide: tuple[Any, Any] | None = None
    wide_scale: float = 0.0
    tried: bool = False
    allowed: Collection[str] = ()
    comparable: bool = False


def leaf_distance(a: Leaf, b: Leaf, x: Any, y: Any, around: Around) -> Distance:
    """x, y: the numbers of leaves that have some, or None where they were not kept."""
    if "code" in (a["kind"], b["kind"]) and a["kind"] == b["kind"]:
        return Distance()
    if "opaque" in (a["kind"], b["kind"]):
        if a["kind"] == b["kind"] and a["type"] != b["type"]:
            return _structural(f"is {_a(b['type'])} instead of {_a(a['type'])}")
        return Distance(unseen=1)
    if a["kind"] == b["kind"] == "node":
        return _nodes(a, b)
    if a["kind"] in ("node", "code") or b["kind"] in ("node", "code"):
        return _structural(f"is {_described(b)} instead of {_described(a)}")
    if a["kind"] == b["kind"] == "value":
        return _values(a, b, x, y, around)
    return _arrays(a, b, x, y, around)


def _nodes(a: Leaf, b: Leaf) -> Distance:
    if a["type"] != b["type"]:
        return _structural(f"is {_a(b['type'])} instead of {_a(a['type'])}")
    if a["parts"] != b["parts"]:
        odd = [part for part in (*b["parts"], *a["parts"]) if (part in a["parts"]) != (part in b["parts"])]
        return _structural(
            f"has {len(b['parts'])} parts instead of {len(a['parts'])}"
            if len(a["parts"]) != len(b["parts"])
            else f"has other parts, such as {odd[0]}" if odd else "has its parts in another order"
        )  # fmt: skip
    return Distance()


def _values(a: Leaf, b: Leaf, x: Any, y: Any, around: Around) -> Distance:
    """Plain Python values."""
    counts = int(a["type"] in ("int", "float", "complex", "bool"))
    if a["type"] != b["type"]:
        return _structural(f"is {_a(b['type'])} instead of {_a(a['type'])}")
    one, other = a["value"], b["value"]
    if one == other:
        return Distance(counts=counts)
    if a["type"] == "float":
        import numpy

        if around.wide is not None and around.wide[0] == x:  # it came from where float64 changes nothing
            around = replace(around, wide=None)
        # A Python float that came out of an array has the precision of a single one at best.
        return replace(numbers(x.astype(numpy.float32), y.astype(numpy.float32), around), counts=1)
    return Distance(
        "differs", f"is {repr(other)[:60]} instead of {repr(one)[:60]}", counts=counts, relative=1.0, changed=True
    )


def _arrays(a: Leaf, b: Leaf, x: Any, y: Any, around: Around) -> Distance:
    """Arrays and keys; of one of them, a number will do as well."""
    for leaf in (a, b):
        if leaf["kind"] == "value" and leaf["type"] not in ("int", "float", "bool", "complex"):
            return _structural(f"is {_described(b)} instead of {_described(a)}")
    if a["kind"] == b["kind"] and (a["dtype"], a["shape"], a["at"]) == (b["dtype"], b["shape"], b["at"]):
        return Distance(counts=1, retyped=_retyped(a, b, around))
    wrong = _unlike(a, b, around)
    if wrong:
        return _structural(wrong)
    if x is None or y is None:
        return Distance("unsure", "is another one, and too large to be kept and compared", unseen=1, changed=True)
    return replace(numbers(x, y, around), counts=1, retyped=_retyped(a, b, around))


def _unlike(a: Leaf, b: Leaf, around: Around) -> str:
    """How shape or type of two arrays differ."""
    shapes = [list(leaf.get("shape", [])) for leaf in (a, b)]
    types = [leaf.get("dtype") for leaf in (a, b)]
    if a["kind"] != b["kind"]:
        kinds = {_class(leaf) for leaf in (a, b)}
        return "" if shapes[0] == shapes[1] and len(kinds) == 1 else f"is {_described(b)} instead of {_described(a)}"
    narrowed = types[0] is not None and narrow(types[0]) == types[1] and "kinds" in around.allowed
    if shapes[0] == shapes[1] and (types[0] == types[1] or narrowed):
        return ""
    return f"is {_described(b)} instead of {_described(a)}"


def narrow(dtype: str) -> str:
    """The type that JAX uses for one of 64 bits."""
    return {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}.get(dtype, dtype)


def _class(leaf: Leaf) -> str:
    name = str(leaf.get("dtype") or leaf["type"])
    return next((word for word in ("bool", "uint", "int", "float", "complex") if word in name), name).replace(
        "uint", "int"
    )


def _retyped(a: Leaf, b: Leaf, around: Around) -> str:
    """Of what other kind it is, with the same numbers."""
    owners = [leaf.get("of", "value") for leaf in (a, b)]
    if "kinds" in around.allowed or ("keys" in around.allowed and "key" in owners):
        return ""
    names = {"jax": "an array of JAX", "numpy": "an array of NumPy", "scalar": "a NumPy number", "key": "a typed key",
             "value": "a Python number"}  # fmt: skip
    if owners[0] != owners[1]:
        return f"{names[owners[1]]} instead of {names[owners[0]]}"
    if a.get("dtype") != b.get("dtype"):
        return f"{b.get('dtype')} instead of {a.get('dtype')}"
    if a.get("weak") != b.get("weak"):
        return "of a weak type" if b.get("weak") else "of a weak type no more"
    return ""


def _described(leaf: Leaf) -> str:
    return f"{leaf['dtype']}{leaf['shape']}" if leaf["kind"] == "array" else _a(leaf["type"])


def _a(word: str) -> str:
    return f"{'an' if word[:1].lower() in 'aeio' else 'a'} {word}"


def _structural(what: str) -> Distance:
    return Distance("differs", what, structural=True, changed=True)


# --- numbers -----------------------------------------------------------------------------------------------------


def numbers(x: Any, y: Any, around: Around) -> Distance:
    """Of arrays of one shape."""
    import numpy

    if not is_floating(x.dtype) or not is_floating(y.dtype):
        count = int(numpy.count_nonzero(x != y))
        what = f"differs in {count} of {x.size} elements"
        return Distance("differs", what, changed=True) if count else Distance()
    p, q = widened(x), widened(y)
    same = (p == q) | (numpy.isnan(p) & numpy.isnan(q))
    if same.all():
        return _signs(x, y)
    healed = ~numpy.isfinite(p) & numpy.isfinite(q) & bool({"finite", "nearer"} & set(around.allowed))
    finite = numpy.isfinite(p) & numpy.isfinite(q)
    if not (finite | same | healed).all():
        count = int((~(finite | same | healed)).sum())
        what = f"has NaN or infinity in {count} places where the other has not"
        return Distance("differs", what, relative=math.inf, changed=True)
    gap = numpy.where(finite, numpy.abs(numpy.where(finite, p, 0) - numpy.where(finite, q, 0)), 0.0)
    largest = float(numpy.abs(p[finite]).max(initial=0.0))
    relative = float(gap.max(initial=0.0)) / (largest or 1.0)
    ulp = _ulps(x, y) if x.dtype == y.dtype else relative / precision(y.dtype)
    status = _status(x, y, gap, ulp, around)
    what = f"differs by {relative:.2g} of its largest value"
    settled = around.wide is not None and _is_wider(x, around.wide)
    return Distance(status, what, ulp=ulp, relative=relative, changed=True, settled=settled)


def _signs(x: Any, y: Any) -> Distance:
    """Equal numbers: zeros may have other signs."""
    import numpy

    if numpy.iscomplexobj(x) or x.dtype != y.dtype:
        return Distance()
    turned = numpy.signbit(widened(x)) != numpy.signbit(widened(y))
    turned &= ~numpy.isnan(widened(x))
    return Distance("close", "has zeros of another sign", ulp=1.0, changed=True) if turned.any() else Distance()


def _status(x: Any, y: Any, gap: Any, ulp: float, around: Around) -> str:
    if ulp <= ULPS and x.dtype == y.dtype:
        return "close"
    largest = float(gap.max(initial=0.0))
    if not around.tried:
        return "unsure" if largest <= _UNSURE * around.scale or "nearer" in around.allowed else "differs"
    if around.wide is not None and _is_wider(x, around.wide):
        return "rounding" if _shrinks(x, y, gap, around) else "differs"
    if "nearer" in around.allowed:
        return "unsure"
    return "scaled" if largest <= _SCALED * precision(y.dtype) * around.scale else "differs"


def _is_wider(x: Any, wide: tuple[Any, Any]) -> bool:
    """The run in float64 really had more digits."""
    import numpy

    one, other = wide
    if one.shape != x.shape or other.shape != x.shape or not is_floating(one.dtype) or not is_floating(other.dtype):
        return False
    if precision(one.dtype) < precision(x.dtype):
        return True
    return bool(one.dtype == x.dtype == numpy.float64 and not numpy.array_equal(one, x, equal_nan=True))


def _shrinks(x: Any, y: Any, gap: Any, around: Around) -> bool:
    """In float64 the two are as much nearer to one another as rounding would be."""
    import numpy

    assert around.wide is not None
    p, q = (widened(one) for one in around.wide)
    same = (p == q) | (numpy.isnan(p) & numpy.isnan(q))
    healed = ~numpy.isfinite(p) & numpy.isfinite(q) & ("nearer" in around.allowed or "finite" in around.allowed)
    finite = numpy.isfinite(p) & numpy.isfinite(q)
    if not (finite | same | healed).all():
        return False
    apart = numpy.where(finite, numpy.abs(numpy.where(finite, p, 0) - numpy.where(finite, q, 0)), 0.0)
    rounding = _SCALED * precision(numpy.dtype(numpy.float64)) * around.wide_scale
    limit = numpy.maximum(_SHRUNK * gap, max(rounding, 1e-3 * _SHRUNK * float(gap.max(initial=0.0))))
    if not (apart <= limit).all():
        return False
    if "nearer" not in around.allowed or not around.comparable:
        return True
    known = numpy.isfinite(p) & numpy.isfinite(widened(x))
    room = ULPS * precision(y.dtype) * numpy.abs(p) + numpy.finfo(numpy.float32).tiny
    with numpy.errstate(invalid="ignore"):
        nearer = numpy.abs(widened(y) - p) <= numpy.abs(widened(x) - p) + room
    return bool((nearer | ~known).all())


def widened(x: Any) -> Any:
    import numpy

    return x.astype(numpy.complex128 if numpy.iscomplexobj(x) else numpy.float64)


def is_floating(dtype: Any) -> bool:
    import numpy

    return not numpy.issubdtype(dtype, numpy.integer) and dtype != numpy.bool_ and dtype.kind not in "SUM"


def precision(dtype: Any) -> float:
    import numpy

    try:
        return float(numpy.finfo(dtype).eps)
    except ValueError:
        import ml_dtypes

        finfo: Any = ml_dtypes.finfo  # a class without types
        return float(finfo(dtype).eps)


def _ulps(x: Any, y: Any) -> float:
    """The largest distance, in numbers of the type that lie between."""
    import numpy

    if numpy.iscomplexobj(x):
        return max(_ulps(x.real.copy(), y.real.copy()), _ulps(x.imag.copy(), y.imag.copy()))
    signed = {1: numpy.int8, 2: numpy.int16, 4: numpy.int32, 8: numpy.int64}.get(x.dtype.itemsize)
    if signed is None:
        return math.inf
    finite = numpy.isfinite(x.astype(numpy.float64)) & numpy.isfinite(y.astype(numpy.float64))
    return float(_distance(_ordered(x, signed), _ordered(y, signed))[finite].max(initial=0))


def _ordered(x: Any, signed: Any) -> Any:
    """The numbers of the type, counted from zero in the order of their values."""
    import numpy

    bits = numpy.ascontiguousarray(x).view(signed).astype(numpy.int64)
    return numpy.where(bits >= 0, bits, int(numpy.iinfo(signed).min) - bits)


def _distance(x: Any, y: Any) -> Any:
    """Without sign and without overflow."""
    import numpy

    a, b = numpy.maximum(x, y).astype(numpy.uint64), numpy.minimum(x, y).astype(numpy.uint64)
    return a - b
