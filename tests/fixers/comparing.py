"""What differs between a program and the same one after its fix, where only the fix should, or what it announces.

A case that raised because JAX has no such operation on a tracer or an immutable array may do anything now; one that
raised for another reason raises the same. All other cases show the same, to the last bit. Text that JAX printed of a
tracer (``JitTracer(float32[3])``) may become the text of its value.

After an unsafe fix a case may differ in the ways that the fix announces (``May``), and in no other. One that raised because it
was traced shows what it was meant to show: what it would without tracing, but for the dtype of numbers and their rounding.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flake8_jax.fixers._announced import May

_OF_TRACERS = (
    "Tracer", "Concretization", "NonConcrete", "JAX arrays are immutable", "not available on traced array", "CpuCallback",
    "Abstract tracer", "Shapes must be 1D sequences of concrete values", "grad requires real- or complex-valued inputs",
)  # fmt: skip
"""Of what JAX says where the mistake of a finding is made."""
_PRINTED_TRACER = re.compile(r"Tracer[<(]")


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """One line for each case that shows something else, by the observations of both programs."""
    names = [name for name in (*before, *after) if name.startswith(("case_", "import"))]
    names = list(dict.fromkeys(names))
    return [
        f"{name}: {before.get(name)} became {after.get(name)}"
        for name in names
        if not is_same(before.get(name, {}), after.get(name, {}))
    ]


def is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a case shows the same, or showed the mistake that was fixed."""
    if "raised" in one:
        of_tracer = any(word in f"{one['raised']}: {one.get('says')}" for word in _OF_TRACERS)
        return of_tracer or one["raised"] == other.get("raised")
    printed = _PRINTED_TRACER.search(one.get("printed", "")) or one.get("printed") == other.get("printed")
    return one.get("value") == other.get("value") and bool(printed)


def unannounced(before: Mapping[str, Any], after: Mapping[str, Any], announced: May) -> list[str]:
    """One line for each case that differs in a way that was not announced."""
    found = []
    for name in dict.fromkeys((*before, *after)):
        if name.startswith("meant_"):
            continue
        one, other = before.get(name, {}), after.get(name, {})
        allowed = announced | May.ROUNDING | May.OVERFLOW if May.VALUES in announced else announced
        if _is_of_tracer(one) and _is_of_tracer(other):
            continue  # as loud as it was
        if _is_of_tracer(one):
            one = before.get(name.replace("case_", "meant_"), {})
            allowed |= _OF_TRACING
            if "raised" in one or not one:
                continue  # nobody can say what it was meant to show
        kinds = changed(one, other)
        if kinds & ~allowed:
            found.append(f"{name}: {kinds} but {allowed} was announced: {one} became {other}")
    return found


_OF_TRACING = May.KIND | May.DTYPE | May.ROUNDING | May.PRINT
"""How what a program shows without tracing may differ from what it shows with it."""


def _is_of_tracer(one: Mapping[str, Any]) -> bool:
    return "raised" in one and any(word in f"{one['raised']}: {one.get('says')}" for word in _OF_TRACERS)


def changed(one: Mapping[str, Any], other: Mapping[str, Any]) -> May:
    """The kinds of difference between what a case shows before and after."""
    if "raised" in one or "raised" in other:
        return May.NOTHING if one.get("raised") == other.get("raised") else May.RAISE
    printed = _PRINTED_TRACER.search(one.get("printed", "")) or one.get("printed") == other.get("printed")
    kinds = _of_values(one.get("value"), other.get("value"))
    if May.VALUES in kinds and (_has_narrow_integers(one.get("value")) or _has_narrow_integers(other.get("value"))):
        kinds = kinds & ~May.VALUES | May.OVERFLOW
    return kinds if printed else kinds | May.PRINT


def _has_narrow_integers(shown: Any) -> bool:
    """Whether integers of 8 or 16 bits are among what a case shows, its argument included."""
    leaves = [] if shown is None else shown["leaves"]
    return any(leaf.get("dtype") in ("int8", "uint8", "int16", "uint16") for leaf in leaves)


Leaf = dict[str, Any]


@dataclass(frozen=True)
class _Part:
    """A leaf of ``Snapshots``, with what it holds, and with the numbers of an array as they are written in hexadecimal."""

    leaf: Leaf
    parts: tuple[_Part, ...]
    content: str

    @classmethod
    def read(cls, shown: Any) -> _Part | None:
        """The whole value; None where a case shows none, or one of too many parts."""
        leaves = iter([] if shown is None else shown["leaves"])

        def following() -> _Part:
            leaf = next(leaves)
            inside = tuple(following() for _ in leaf.get("parts", ()))
            return cls(leaf, inside, shown["contents"].get(leaf.get("at"), ""))

        try:
            return following()
        except (StopIteration, RuntimeError):
            return None

    @property
    def what(self) -> Leaf:
        """The leaf wherever it stands."""
        return {name: word for name, word in self.leaf.items() if name != "path"}

    @property
    def owner(self) -> str:
        """``jax``, ``numpy``, ``scalar`` or ``key`` for arrays, else the type's name for plain values."""
        return str(self.leaf.get("of") or self.leaf["type"])

    def entries(self) -> list[tuple[str, Any]]:
        """The parts of a container with their names. A key of a dict that is a number is a part as well: it may have been
        rounded."""
        return [pair for name, part in zip(self.leaf["parts"], self.parts, strict=True) for pair in _entry(name, part)]


_NUMBERS = {"jax", "numpy", "scalar", "float", "int", "bool", "complex"}


def _of_values(one: Any, other: Any) -> May:
    """The same of two values as ``observing.shown`` gives them."""
    if one == other:
        return May.NOTHING
    ours, theirs = _Part.read(one), _Part.read(other)
    return May.CONTAINER if ours is None or theirs is None else _of_parts(ours, theirs)


def _of_parts(one: _Part, other: _Part) -> May:
    if one.what == other.what and "parts" not in one.leaf:
        return May.NOTHING
    if one.owner in _NUMBERS and other.owner in _NUMBERS:
        return _of_numbers(_Number.read(one), _Number.read(other))
    if "key" in (one.owner, other.owner):
        if one.owner == other.owner:
            return May.VALUES
        same_data = one.content == other.content and one.leaf["shape"] == other.leaf["shape"]
        return May.KIND | May.DTYPE if same_data else May.CONTAINER
    if "parts" not in one.leaf or "parts" not in other.leaf or one.leaf["type"] != other.leaf["type"]:
        return May.CONTAINER
    parts, others = one.entries(), other.entries()
    if [name for name, _ in parts] != [name for name, _ in others]:
        return May.CONTAINER
    kinds = May.NOTHING
    for (_, a), (_, b) in zip(parts, others, strict=True):
        kinds |= _of_parts(a, b)
    return kinds


def _entry(name: str, part: _Part) -> list[tuple[str, _Part]]:
    """An item of a dict, whose name is its key in brackets."""
    key = name.strip("[]")
    try:
        float(key)
    except ValueError:
        return [(name, part)]
    kind = "float" if "." in key else "int"
    return [("key", _Part({"kind": "value", "type": kind, "value": key}, (), "")), ("item", part)]


@dataclass(frozen=True)
class _Number:
    """A number or an array of them. dtype: its name and whether it is weak; nothing for a number of Python."""

    kind: str
    dtype: tuple[str, ...]
    values: Any

    @classmethod
    def read(cls, part: _Part) -> _Number:
        import ml_dtypes
        import numpy as np

        leaf = part.leaf
        if leaf["kind"] == "value":
            text = str(leaf["value"])
            value = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}.get(text)
            return cls("python", (), np.asarray(ast.literal_eval(text) if value is None else value))
        name = leaf["dtype"]
        weak = (str(leaf["weak"]),) if part.owner == "jax" else ()
        dtype = np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)
        values = np.frombuffer(bytes.fromhex(part.content), dtype).reshape(leaf["shape"])
        return cls("jax" if part.owner == "jax" else "host", (name, *weak), values)

    def precision(self) -> float:
        """The largest relative error of one rounding."""
        import ml_dtypes
        import numpy as np

        if self.kind == "python" or self.values.dtype.kind in "biu":  # a number of Python was mostly computed by JAX
            return float(np.finfo(np.float32).eps)
        return float(ml_dtypes.finfo(self.values.dtype).eps)  # type: ignore[no-untyped-call]


def _of_numbers(one: _Number, other: _Number) -> May:
    import numpy as np

    kinds = May.NOTHING
    if one.kind != other.kind:
        kinds |= May.KIND
    if one.dtype != other.dtype:
        kinds |= May.DTYPE
    a, b = (np.asarray(n.values, complex if n.values.dtype.kind == "c" else float) for n in (one, other))
    if a.shape != b.shape:
        kinds |= May.SHAPE
        try:
            a, b = np.broadcast_arrays(a, b)
        except ValueError:
            return kinds
    if one.values.dtype == other.values.dtype and one.values.tobytes() == other.values.tobytes():
        return kinds
    if np.array_equal(a, b, equal_nan=True) and one.dtype != other.dtype:
        return kinds
    if {one.values.dtype.kind, other.values.dtype.kind} in ({"b", "i"}, {"b", "u"}) and np.array_equal(a != 0, b != 0):
        return kinds | May.OVERFLOW  # two times True is True, but two times 1 is 2
    error = 64 * max(one.precision(), other.precision())
    close = np.allclose(a, b, rtol=error, atol=error, equal_nan=True)
    return kinds | (May.ROUNDING if close else May.VALUES)


def lost_comments(before: str, after: str) -> list[str]:
    """The comments of a text that another one lacks."""
    return sorted((_comments(before) - _comments(after)).elements())


def _comments(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)
