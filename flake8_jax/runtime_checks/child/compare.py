"""Compare what two runs captured, call by call.

Request: ``pairs``: ``reference``, ``other`` and ``again`` (a second run of the reference, or None), folders written by
``replay``. Message: ``compared``, one entry a pair.

Vocabulary
----------
equal     the same to the last bit. close: within ``TOLERANCE`` times the precision of the dtype, measured against the largest
          value of the array. noisy: the reference itself gives another value when it runs again; left out.
drift     a call whose result is not close, but whose inputs (or some captured call inside it) were no longer equal, and not
          more than ``AMPLIFIED`` times closer than the results are: rounding that adds up, not the function.
ulp       units in the last place between two numbers of the same floating type.
"""

from __future__ import annotations

import json
import math
import os
from typing import Any

from flake8_jax.runtime_checks.child.main import Channel

TOLERANCE = 256
AMPLIFIED = 1000
_WORST = {"equal": 0, "close": 1, "drift": 2, "differs": 3}


def run(request: dict[str, Any], channel: Channel) -> None:
    """Compare all pairs."""
    runs: dict[str, _Run] = {}

    def read(folder: str | None) -> _Run | None:
        if folder is None:
            return None
        if folder not in runs:
            runs[folder] = _Run(folder)
        return runs[folder]

    for pair in request["pairs"]:
        reference, other = read(pair["reference"]), read(pair["other"])
        assert reference is not None and other is not None
        channel.send("compared", **compare(reference, other, read(pair["again"])))


class _Run:
    """Captured calls, by function and in order. A call knows its place among all, and where its inner ones begin."""

    def __init__(self, folder: str) -> None:
        with open(os.path.join(folder, "calls.json"), encoding="utf-8") as file:
            calls = json.load(file)
        path = os.path.join(folder, "arrays.npz")
        self.arrays: Any = {}
        if os.path.exists(path):
            import numpy

            self.arrays = numpy.load(path)
        self.by_function: dict[int, list[dict[str, Any]]] = {}
        for place, call in enumerate(calls):
            first = place
            while first > 0 and calls[first - 1]["depth"] > call["depth"]:
                first -= 1
            call["place"], call["inner"] = place, range(first, place)
            self.by_function.setdefault(call["function"], []).append(call)

    def array(self, leaf: dict[str, Any]) -> Any:
        import numpy

        return numpy.frombuffer(self.arrays[leaf["at"]].tobytes(), _dtype(leaf["dtype"])).reshape(leaf["shape"])


def _dtype(name: str) -> Any:
    import numpy

    try:
        return numpy.dtype(name)
    except TypeError:
        import ml_dtypes

        return numpy.dtype(getattr(ml_dtypes, name))


def compare(reference: _Run, other: _Run, again: _Run | None) -> dict[str, Any]:
    """Of every function: how many calls and leaves were compared, the largest differences, the first call that differs."""
    functions: dict[int, dict[str, Any]] = {}
    pairs: list[tuple[dict[str, Any], int, int]] = []
    for number, calls in reference.by_function.items():
        theirs = other.by_function.get(number, [])
        functions[number] = {
            "calls": 0, "counts": [len(calls), len(theirs)], "leaves": 0, "status": "equal", "noisy": 0, "ulp": 0.0,
            "relative": 0.0, "drifted": 0, "drift": 0.0, "first": None,
        }  # fmt: skip
        stopped = any(c["raised"] for c in [*calls[-1:], *theirs[-1:]])
        if len(calls) == len(theirs) or stopped:
            pairs += [(call, number, index) for index, call in enumerate(calls[: len(theirs)])]
    moved: dict[int, float] = {}  # how far the results of each call are from one another
    for call, number, index in sorted(pairs, key=lambda pair: pair[0]["place"]):
        twin = None if again is None else _at(again.by_function.get(number, []), index)
        found = _compare_call(reference, call, other, other.by_function[number][index], again, twin)
        before = max([found["moved"], *(moved.get(place, 0.0) for place in call["inner"])])
        if found["status"] == "differs" and not found["structural"] and before > 0.0:
            if found["relative"] <= AMPLIFIED * before:
                found["status"] = "drift"
        moved[call["place"]] = found["relative"]
        _add(functions[number], found, index, call["place"])
    return {"functions": functions}


def _at(calls: list[dict[str, Any]], index: int) -> dict[str, Any] | None:
    return calls[index] if index < len(calls) else None


def _add(total: dict[str, Any], found: dict[str, Any], index: int, place: int) -> None:
    total["calls"] += 1
    for name in ("leaves", "noisy"):
        total[name] += found[name]
    for name in ("ulp", "relative"):
        if found["status"] != "drift":
            total[name] = max(total[name], found[name])
    if found["status"] == "drift":
        total["drifted"] += 1
        total["drift"] = max(total["drift"], found["relative"])
    if found["status"] == "differs" and total["first"] is None:
        total["first"] = {"call": index, "place": place, "what": found["what"], "relative": found["relative"]}
    if _WORST[found["status"]] > _WORST[total["status"]]:
        total["status"] = found["status"]


def _compare_call(
    reference: _Run,
    one: dict[str, Any],
    other: _Run,
    two: dict[str, Any],
    again: _Run | None,
    twin: dict[str, Any] | None,
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "status": "equal", "leaves": 0, "noisy": 0, "ulp": 0.0, "relative": 0.0, "what": "", "moved": 0.0,
        "structural": False,
    }  # fmt: skip
    if one["raised"] or two["raised"]:
        if bool(one["raised"]) != bool(two["raised"]):
            raised = one["raised"] or two["raised"]
            which = "raises" if two["raised"] else "no longer raises"
            found.update(
                status="differs", structural=True, what=f"it {which} {raised['type']}: {raised['message'][:120]}"
            )
        return found
    found["moved"] = _moved(reference, one["inputs"], other, two["inputs"])
    ours, theirs = one["outputs"], two["outputs"]
    if [leaf["path"] for leaf in ours] != [leaf["path"] for leaf in theirs]:
        found.update(
            status="differs", structural=True, what=f"the result has {len(theirs)} leaves instead of {len(ours)}"
        )
        return found
    twins = twin["outputs"] if twin is not None and not twin["raised"] else []
    for number, (a, b) in enumerate(zip(ours, theirs)):
        if again is not None and number < len(twins):
            if leaf_difference(reference, a, again, twins[number])["status"] != "equal":
                found["noisy"] += 1
                continue
        single = leaf_difference(reference, a, other, b)
        found["leaves"] += single["counts"]
        found["ulp"] = max(found["ulp"], single["ulp"])
        found["relative"] = max(found["relative"], single["relative"])
        if _WORST[single["status"]] > _WORST[found["status"]]:
            found["status"], found["what"] = single["status"], f"result{a['path']} {single['what']}"
            found["structural"] = single["structural"]
    return found


def _moved(one: _Run, ours: list[dict[str, Any]], other: _Run, theirs: list[dict[str, Any]]) -> float:
    """How far the inputs are from one another."""
    if [leaf["path"] for leaf in ours] != [leaf["path"] for leaf in theirs]:
        return 0.0  # a function whose parameters changed: nothing says that they are different values
    return max((leaf_difference(one, a, other, b)["relative"] for a, b in zip(ours, theirs)), default=0.0)


def leaf_difference(one: _Run, a: dict[str, Any], other: _Run, b: dict[str, Any]) -> dict[str, Any]:
    """status, ulp, relative difference, and a phrase. counts: whether there was anything to compare."""
    if a["kind"] == "other" or b["kind"] == "other":
        return _said("equal")
    if a["kind"] == "value" and b["kind"] == "value":
        return _values(a, b)
    import numpy

    x = one.array(a) if a["kind"] == "array" else numpy.asarray(a["value"])
    y = other.array(b) if b["kind"] == "array" else numpy.asarray(b["value"])
    if x.shape != y.shape or (x.dtype != y.dtype and a["kind"] == b["kind"]):
        return _said("differs", f"is {y.dtype}{list(y.shape)} instead of {x.dtype}{list(x.shape)}", structural=True)
    if x.dtype == y.dtype and x.tobytes() == y.tobytes():
        return _said("equal", counts=1)
    return _arrays(x, y)


def _values(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    x, y = a["value"], b["value"]
    counts = int(a["type"] in ("int", "float", "complex", "bool"))
    if x == y or (isinstance(x, float) and isinstance(y, float) and math.isnan(x) and math.isnan(y)):
        return _said("equal", counts=counts)
    if isinstance(x, float) and isinstance(y, float):
        import numpy

        # A Python float that came out of an array has the precision of a single one at best.
        return _arrays(numpy.asarray(x, numpy.float32), numpy.asarray(y, numpy.float32))
    return _said("differs", f"is {repr(y)[:60]} instead of {repr(x)[:60]}", counts=counts, relative=1.0)


def _arrays(x: Any, y: Any) -> dict[str, Any]:
    import numpy

    floating = not numpy.issubdtype(x.dtype, numpy.integer) and x.dtype != numpy.bool_ and x.dtype.kind not in "SU"
    if not floating or x.dtype.kind in "SU":
        count = int(numpy.count_nonzero(x != y))
        return _said(
            "differs" if count else "equal", f"differs in {count} of {x.size} elements", counts=1, relative=0.0
        )
    wide = numpy.complex128 if numpy.iscomplexobj(x) else numpy.float64
    p, q = x.astype(wide), y.astype(wide)
    finite = numpy.isfinite(p) & numpy.isfinite(q)
    same = (p == q) | (numpy.isnan(p) & numpy.isnan(q))
    if not (finite | same).all():
        count = int((~(finite | same)).sum())
        return _said(
            "differs", f"has NaN or infinity in {count} places where the other has not", counts=1, relative=math.inf
        )
    gap = numpy.abs(p - q)[finite]
    largest = float(numpy.abs(p[finite]).max(initial=0.0))
    relative = float(gap.max(initial=0.0)) / largest if largest else float(gap.max(initial=0.0))
    precision = _precision(x.dtype)
    status = "equal" if not gap.any() else "close" if relative <= min(TOLERANCE * precision, 0.05) else "differs"
    ulp = _ulps(x, y) if x.dtype == y.dtype else relative / precision
    return _said(status, f"differs by {relative:.2g} of its largest value", counts=1, ulp=ulp, relative=relative)


def _precision(dtype: Any) -> float:
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
        return 0.0
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


def _said(
    status: str, what: str = "", *, counts: int = 0, ulp: float = 0.0, relative: float = 0.0, structural: bool = False
) -> dict[str, Any]:
    return {
        "status": status, "what": what, "counts": counts, "ulp": ulp, "relative": relative, "structural": structural,
    }  # fmt: skip
