"""What ``+``, ``*`` and ``|`` make of lists, tuples and dicts.

Limitations: a sequence that is added to something unknown is taken for one, but not for certain: NumPy would make an array of
both.
"""

from __future__ import annotations

from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.values import (
    Const,
    DictValue,
    HostArray,
    ListValue,
    Static,
    TupleValue,
    Unknown,
    Value,
    known_elements,
)

MAX_ELEMENTS = 256
"""So many elements of a sum of sequences, or items of merged dicts, are known one by one."""
MAX_REPEATED = 64
"""So many elements of a sequence that is repeated are known one by one."""


def combined(left: Value, op: str, right: Value, made_in: int) -> Value | None:
    """``+`` and ``*`` of sequences, ``|`` of dicts; None for anything else."""
    if op == "|" and isinstance(left, DictValue) and isinstance(right, DictValue):
        return _merged(left, right, made_in)
    if op not in ("+", "*"):
        return None
    if op == "+" and isinstance(left, TupleValue) and isinstance(right, TupleValue):
        return _tuple_of(left.elts + right.elts)
    kinds = {type(left), type(right)}
    if HostArray in kinds or kinds.isdisjoint((ListValue, TupleValue)):
        return None  # NumPy makes an array of both
    made = _added(left, op, right, made_in)
    if Unknown in kinds and isinstance(made, ListValue):
        made.slots["declared"] = True  # the other one may be an array
    return made


def _added(left: Value, op: str, right: Value, made_in: int) -> Value:
    sequence, other = (left, right) if isinstance(left, (ListValue, TupleValue)) else (right, left)
    if op == "*":
        return _repeated(sequence, other, made_in)
    elements = known_elements(sequence)
    if (
        isinstance(other, Static)
        and other.kind == "shape"
        and elements is not None
        and all(isinstance(element, (Const, Static)) for element in elements)
    ):
        return other
    more = known_elements(other)
    if elements is None or more is None:
        return ListValue(None, _any(sequence, other), is_tuple=_is_tuple(sequence), made_in=made_in)
    joined = elements + more if sequence is left else more + elements
    if len(joined) > MAX_ELEMENTS:
        return ListValue(None, joining.join_all(joined), is_tuple=_is_tuple(sequence), made_in=made_in)
    return TupleValue(joined) if _is_tuple(sequence) else ListValue(joined, made_in=made_in)


def _repeated(sequence: Value, times: Value, made_in: int) -> Value:
    """``[x] * n``: element by element where that is not too many."""
    elements = known_elements(sequence)
    if isinstance(times, Const) and isinstance(times.value, int) and elements is not None:
        if times.value >= 0 and times.value * len(elements) <= MAX_REPEATED:
            repeated = elements * times.value
            return TupleValue(repeated) if _is_tuple(sequence) else ListValue(repeated, made_in=made_in)
    any_element = joining.join_all(elements) if elements else None
    return ListValue(None, any_element, is_tuple=_is_tuple(sequence), made_in=made_in)


def _is_tuple(sequence: Value) -> bool:
    return isinstance(sequence, TupleValue) or (isinstance(sequence, ListValue) and sequence.is_tuple)


def _tuple_of(elements: tuple[Value, ...]) -> Value:
    """A tuple; of very many elements it is only known what they may be."""
    if len(elements) <= MAX_ELEMENTS:
        return TupleValue(elements)
    return ListValue(None, joining.join_all(elements), is_tuple=True)


def _any(a: Value, b: Value) -> Value | None:
    found = [joining.join_all(e) for e in (known_elements(a), known_elements(b)) if e]
    unknown = [v for v in (a, b) if known_elements(v) is None]
    return Unknown("element") if unknown else joining.join_all(found) if found else None


def _merged(left: DictValue, right: DictValue, made_in: int) -> DictValue:
    items = {**dict(left.items()), **dict(right.items())}
    rests = [v for v in (left.slots.get("*"), right.slots.get("*")) if v is not None]
    if len(items) > MAX_ELEMENTS:
        return DictValue({}, joining.join_all([*items.values(), *rests]), is_open=True, made_in=made_in)
    return DictValue(
        items,
        joining.join_all(rests) if rests else None,
        is_open=left.slots["open"] or right.slots["open"],
        made_in=made_in,
    )
