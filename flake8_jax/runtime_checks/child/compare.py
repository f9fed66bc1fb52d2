"""Compare what two runs captured, call by call.

Request: ``pairs``: ``reference``, ``other``, ``again`` (a second run of the reference, or None) and ``other_again``, folders
written by ``replay``; ``wide``: the two of them in float64 (each may be None), or None where that was not tried yet;
``allowed``: differences that are meant (see ``closeness``); ``noise``: two runs of the original, each may be None. Message:
``compared``, one entry a pair: ``functions``, and ``printed``.

Vocabulary
----------
noisy     the reference itself gives another value when it runs again; left out.
drift     a call whose result is not close, but whose inputs (or some captured call inside it) were no longer equal, and not
          more than ``AMPLIFIED`` times closer than the results are: rounding that adds up, not the function.
miscalled the function was called so often in one run, and not as often in the other: its calls are not compared. Calls that
          JAX traces have no values; where one run traced some, numbers say nothing, and nothing of the function is compared.
unseen    results of a type that cannot be looked into.
state     what a call left of its arguments, the object of a method among them.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from flake8_jax.runtime_checks.child.closeness import Around, Distance, is_floating, leaf_distance, worse
from flake8_jax.runtime_checks.child.main import Channel
from flake8_jax.runtime_checks.child.printed import printed_difference

AMPLIFIED = 1000

Call = dict[str, Any]
Leaf = dict[str, Any]


def run(request: dict[str, Any], channel: Channel) -> None:
    """Compare all pairs."""

    @functools.cache
    def read(folder: str | None) -> Captured | None:
        return None if folder is None else Captured(folder)

    for pair in request["pairs"]:
        reference, other = read(pair["reference"]), read(pair["other"])
        assert reference is not None and other is not None
        wide = pair["wide"]
        comparing = Comparing(
            reference,
            other,
            read(pair["again"]),
            None if wide is None else (read(wide[0]), read(wide[1])),
            frozenset(pair["allowed"]),
        )
        again = read(pair["other_again"])
        printed = printed_difference(
            reference.printed,
            other.printed,
            None if comparing.again is None else comparing.again.printed,
            None if again is None else again.printed,
            pair["allowed"],
            (_printed(read(pair["noise"][0])), _printed(read(pair["noise"][1]))),
        )
        channel.send("compared", functions=comparing.functions(), printed=printed)


def _printed(run: Captured | None) -> str | None:
    return None if run is None else run.printed


class Captured:
    """Captured calls, by function and in order. A call knows its place among all, and where its inner ones begin."""

    def __init__(self, folder: str) -> None:
        with open(os.path.join(folder, "calls.json"), encoding="utf-8") as file:
            data = json.load(file)
        calls: list[Call] = data["calls"]
        self.counts = {int(number): count for number, count in data["counts"].items()}
        self.entered = {int(number): count for number, count in data["entered"].items()}
        self.printed: str | None = data["printed"]
        path = os.path.join(folder, "arrays.npz")
        self._arrays: Any = {}
        if os.path.exists(path):
            import numpy

            self._arrays = numpy.load(path)
        self.by_function: dict[int, dict[int, Call]] = {}
        for place, call in enumerate(calls):
            first = place
            while first > 0 and calls[first - 1]["depth"] > call["depth"]:
                first -= 1
            call["place"], call["inner"] = place, range(first, place)
            self.by_function.setdefault(call["function"], {})[call["index"]] = call

    def numbers(self, leaf: Leaf) -> Any:
        """The numbers of a leaf; None where it has none, or they were not kept."""
        import numpy

        if leaf["kind"] == "value":
            if leaf["type"] == "complex":
                return numpy.asarray(complex(leaf["value"]))
            value = float(leaf["value"]) if leaf["type"] == "float" else leaf["value"]
            return numpy.asarray(value) if leaf["type"] in ("int", "float", "bool") else None
        if leaf["kind"] != "array" or leaf["at"] not in self._arrays:
            return None
        return numpy.frombuffer(self._arrays[leaf["at"]].tobytes(), _dtype(leaf["dtype"])).reshape(leaf["shape"])


def _dtype(name: str) -> Any:
    import numpy

    try:
        return numpy.dtype(name)
    except TypeError:
        import ml_dtypes

        return numpy.dtype(getattr(ml_dtypes, name))


class Comparing:
    """One comparison of two runs."""

    def __init__(
        self,
        reference: Captured,
        other: Captured,
        again: Captured | None,
        wide: tuple[Captured | None, Captured | None] | None,
        allowed: frozenset[str],
    ) -> None:
        self.reference = reference
        self.other = other
        self.again = again
        self.wide = wide
        self.allowed = allowed

    def functions(self) -> dict[int, dict[str, Any]]:
        """Of every function: how many calls and leaves were compared, the largest differences, the first call that differs."""
        functions = {number: self._empty(number) for number in {*self.reference.counts, *self.other.counts}}
        moved: dict[int, float] = {}  # how far the results of each call are from one another
        for call, number in sorted(self._pairs(functions), key=lambda pair: pair[0]["place"]):
            found = self._call(call, number)
            before = max([found.moved, *(moved.get(place, 0.0) for place in call["inner"])])
            if found.distance.status in ("differs", "unsure") and not found.distance.structural and before > 0.0:
                if not found.distance.settled and found.distance.relative <= AMPLIFIED * before:
                    found.distance = replace(found.distance, status="drift")
            moved[call["place"]] = found.distance.relative
            _add(functions[number], found, call)
        return functions

    def _empty(self, number: int) -> dict[str, Any]:
        counts = [one.counts.get(number, 0) for one in (self.reference, self.other)]
        return {
            "calls": 0, "counts": counts, "leaves": 0, "unseen": 0, "status": "equal", "noisy": 0, "ulp": 0.0,
            "relative": 0.0, "drifted": 0, "drift": 0.0, "rounding": 0, "scaled": 0, "retyped": "", "first": None,
            "miscalled": "", "changed": False, "structural": "",
        }  # fmt: skip

    def _pairs(self, functions: dict[int, dict[str, Any]]) -> Iterator[tuple[Call, int]]:
        """The calls that both runs captured. Where one run ended in an exception, it may have had fewer."""
        for number, found in functions.items():
            ours = self.reference.by_function.get(number, {})
            theirs = self.other.by_function.get(number, {})
            stopped = any(call["raised"] for calls in (ours, theirs) for call in list(calls.values())[-1:])
            if found["counts"][0] != found["counts"][1] and not stopped:
                if any(run.entered.get(number, 0) > run.counts.get(number, 0) for run in (self.reference, self.other)):
                    continue
                varies = self.again is not None and self.again.counts.get(number, 0) != found["counts"][0]
                found["miscalled"] = f"{found['counts'][1]} times instead of {found['counts'][0]}"
                found["miscalled"] += ", a number that varies from run to run" * varies
                continue
            for index, call in ours.items():
                if index in theirs:
                    yield call, number

    def _call(self, one: Call, number: int) -> _Found:
        two = self.other.by_function[number][one["index"]]
        if one["raised"] or two["raised"]:
            return _Found(_raised(one["raised"], two["raised"]))
        repeated = None if self.again is None else self.again.by_function.get(number, {}).get(one["index"])
        found = _Found(Distance(), moved=self._moved(one["inputs"], two["inputs"]))
        calls = _Calls(self, one, two, repeated, number)
        for name, ours, theirs, ours_again in calls.sides():
            self._side(found, calls, name, ours, theirs, ours_again)
        return found

    def _side(
        self, found: _Found, calls: _Calls, name: str, ours: list[Leaf], theirs: list[Leaf], repeated: list[Leaf] | None
    ) -> None:
        """Results, or what is left of the arguments."""
        paths = [leaf["path"] for leaf in ours]
        if paths != [leaf["path"] for leaf in theirs]:
            if repeated is not None and paths != [leaf["path"] for leaf in repeated]:
                found.noisy += 1
                return
            self._shorter(found, name, ours, theirs)
            return
        by_path = None if repeated is None else {leaf["path"]: leaf for leaf in repeated}
        for place, (a, b) in enumerate(zip(ours, theirs)):
            if by_path is not None and self._is_noisy(a, by_path.get(a["path"])):
                found.noisy += 1
                continue
            single = self._leaf(a, b, functools.partial(calls.around, name, place))
            if name != "result" and single.unseen:
                single = replace(single, unseen=0)
            found.add(single, f"{_place(name, a['path'])} {single.what}")

    def _shorter(self, found: _Found, name: str, ours: list[Leaf], theirs: list[Leaf]) -> None:
        """The first part that is not as it was explains best why there are others."""
        if name == "settings":
            one = min({leaf["path"] for leaf in ours} ^ {leaf["path"] for leaf in theirs}, default="a setting")
            found.add(Distance("differs", structural=True, changed=True), f"{one} is set with or without the fix only")
            return
        for a, b in zip(ours, theirs):
            if a["path"] == b["path"]:
                single = self._leaf(a, b, Around)
                if single.structural:
                    found.add(single, f"{_place(name, a['path'])} {single.what}")
                    return
        found.add(
            Distance("differs", structural=True, changed=True), f"{name} has {len(theirs)} parts instead of {len(ours)}"
        )

    def _leaf(self, a: Leaf, b: Leaf, around: Any) -> Distance:
        """Looking around costs more than most comparisons need."""
        if a == b and a["kind"] != "opaque":
            return Distance(counts=int(a["kind"] == "array" or a.get("type") in ("int", "float", "complex", "bool")))
        return leaf_distance(a, b, self.reference.numbers(a), self.other.numbers(b), around())

    def _is_noisy(self, leaf: Leaf, repeated: Leaf | None) -> bool:
        if leaf["kind"] in ("opaque", "code") or repeated == leaf:
            return False
        return repeated is None or repeated["kind"] != leaf["kind"] or {**repeated, "weak": 0} != {**leaf, "weak": 0}

    def _moved(self, ours: list[Leaf], theirs: list[Leaf]) -> float:
        """How far the inputs are from one another."""
        if [leaf["path"] for leaf in ours] != [leaf["path"] for leaf in theirs]:
            return 0.0  # a function whose parameters changed: nothing says that they are different values
        tried = Around(tried=True)
        return max((self._leaf(a, b, lambda: tried).relative for a, b in zip(ours, theirs)), default=0.0)


class _Found:
    """What a call shows. moved: how far its inputs are apart."""

    def __init__(self, distance: Distance, moved: float = 0.0) -> None:
        self.distance = distance
        self.moved = moved
        self.what = distance.what
        self.noisy = 0
        self.by_status: dict[str, int] = {}

    def add(self, single: Distance, what: str) -> None:
        mine = self.distance
        status = worse(mine.status, single.status)
        if status != mine.status and single.changed:
            self.what = what
        self.by_status[single.status] = self.by_status.get(single.status, 0) + 1
        self.distance = Distance(
            status,
            self.what,
            mine.counts + single.counts,
            mine.unseen + single.unseen,
            max(mine.ulp, single.ulp),
            max(mine.relative, single.relative),
            mine.structural or single.structural,
            mine.retyped or (f"{what.split(' ')[0]} is {single.retyped}" if single.retyped else ""),
            mine.changed or single.changed,
            mine.settled or (single.settled and single.status == "differs"),
        )


class _Calls:
    """The same call in all runs."""

    def __init__(self, comparing: Comparing, one: Call, two: Call, repeated: Call | None, number: int) -> None:
        self.comparing = comparing
        self.one, self.two = one, two
        self.repeated = repeated if repeated is not None and not repeated["raised"] else None
        self.wide: tuple[Call, Call] | None = None
        runs = comparing.wide
        if runs is not None and runs[0] is not None and runs[1] is not None:
            found = [run.by_function.get(number, {}).get(one["index"]) for run in runs if run is not None]
            if found[0] is not None and found[1] is not None and not found[0]["raised"] and not found[1]["raised"]:
                self.wide = found[0], found[1]

    def sides(self) -> Iterator[tuple[str, list[Leaf], list[Leaf], list[Leaf] | None]]:
        """Results, what was left of the arguments if either call changed them, and settings that either did."""
        one, two, repeated = self.one, self.two, self.repeated
        yield "result", one["outputs"], two["outputs"], None if repeated is None else repeated["outputs"]
        if one["state"] or two["state"]:
            yield "argument", _state(one), _state(two), None if repeated is None else _state(repeated)
        if one["settings"] or two["settings"]:
            yield "settings", one["settings"], two["settings"], None if repeated is None else repeated["settings"]

    def around(self, name: str, place: int) -> Around:
        comparing = self.comparing
        scale = _scale(comparing.reference, self.one)
        if self.wide is None or comparing.wide is None:
            return Around(scale=scale, tried=comparing.wide is not None, allowed=comparing.allowed)
        runs = comparing.wide
        assert runs[0] is not None and runs[1] is not None
        parts = {"result": lambda call: call["outputs"], "settings": lambda call: call["settings"], "argument": _state}
        leaves = [parts[name](call) for call in self.wide]
        if any(place >= len(side) for side in leaves):
            return Around(scale=scale, tried=True, allowed=comparing.allowed)
        pair = runs[0].numbers(leaves[0][place]), runs[1].numbers(leaves[1][place])
        return Around(
            scale=scale,
            wide=None if pair[0] is None or pair[1] is None else pair,
            wide_scale=_scale(runs[0], self.wide[0]),
            tried=True,
            allowed=comparing.allowed,
            comparable=_comparable(comparing.reference, self.one["inputs"], runs[0], self.wide[0]["inputs"]),
        )


def _state(call: Call) -> list[Leaf]:
    found: list[Leaf] = call["state"] or call["inputs"]
    return found


def _scale(run: Captured, call: Call) -> float:
    """The largest finite number in the results of a call and in what went into it."""
    import numpy

    largest = 0.0
    for leaf in (*call["inputs"], *call["outputs"]):
        found = run.numbers(leaf)
        if found is not None and is_floating(found.dtype) and found.size:
            sizes = numpy.abs(found.astype(numpy.complex128 if numpy.iscomplexobj(found) else numpy.float64))
            largest = max(largest, float(sizes[numpy.isfinite(sizes)].max(initial=0.0)))
    return largest


def _comparable(run: Captured, ours: list[Leaf], wide: Captured, theirs: list[Leaf]) -> bool:
    """In float64 the call had the same inputs, as far as the digits of the other go."""
    import numpy

    if [leaf["path"] for leaf in ours] != [leaf["path"] for leaf in theirs]:
        return False
    for a, b in zip(ours, theirs):
        x, y = run.numbers(a), wide.numbers(b)
        if x is not None and y is not None:
            if x.shape != y.shape or not numpy.allclose(x, y, rtol=1e-6, atol=0.0, equal_nan=True):
                return False
    return True


def _raised(one: dict[str, Any] | None, two: dict[str, Any] | None) -> Distance:
    if one and two:
        if one["type"] == two["type"]:
            return Distance()
        what = f"it raises {two['type']} instead of {one['type']}: {two['message'][:120]}"
        return Distance("differs", what, structural=True, changed=True)
    raised = one or two
    assert raised is not None
    which = "raises" if two else "no longer raises"
    what = f"it {which} {raised['type']}: {raised['message'][:120]}"
    return Distance("differs", what, structural=True, changed=True)


def _place(name: str, path: str) -> str:
    """``result['w']``; of arguments, their number, or the name of one that was given by name; the name of a setting."""
    if name == "result":
        return f"result{path}"
    if name == "settings":
        return path
    if path.startswith("[0]["):
        number, _, rest = path[4:].partition("]")
        return f"argument {int(number) + 1}{rest}" if number.isdigit() else f"argument{path}"
    return f"argument {path.removeprefix('[1]')}"


def _add(total: dict[str, Any], found: _Found, call: Call) -> None:
    distance = found.distance
    total["calls"] += 1
    total["leaves"] += distance.counts
    total["unseen"] += distance.unseen
    total["noisy"] += found.noisy
    total["retyped"] = total["retyped"] or distance.retyped
    total["changed"] = total["changed"] or distance.changed
    total["structural"] = total["structural"] or found.what * distance.structural
    for status in ("rounding", "scaled"):
        total[status] += found.by_status.get(status, 0)
    if distance.status == "drift":
        total["drifted"] += 1
        total["drift"] = max(total["drift"], distance.relative)
    else:
        total["ulp"] = max(total["ulp"], distance.ulp)
        total["relative"] = max(total["relative"], distance.relative)
    if distance.status in ("differs", "unsure") and (
        total["first"] is None or (total["status"] == "unsure" and distance.status == "differs")
    ):
        total["first"] = {
            "call": call["index"], "place": call["place"], "what": found.what, "relative": min(distance.relative, 1e300),
        }  # fmt: skip
    total["status"] = worse(total["status"], distance.status)


def compare(
    reference: Captured,
    other: Captured,
    again: Captured | None,
    wide: Sequence[Captured | None] | None = None,
    allowed: Sequence[str] = (),
) -> dict[int, dict[str, Any]]:
    """What the comparison says of every function. wide: the two runs in float64, None where they were not tried."""
    pair = None if wide is None else (wide[0], wide[1])
    return Comparing(reference, other, again, pair, frozenset(allowed)).functions()
