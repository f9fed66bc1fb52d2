"""Operators on abstract values: arithmetic, comparison, truth.

Under omnistaging, an operation on a concrete JAX array inside ``jit`` returns a tracer, too. An operation on NumPy or
Python values does not (https://docs.jax.dev/en/latest/notebooks/How_JAX_primitives_work.html).

Vocabulary
----------
truth       the result of ``bool(value)``; None if that is not certain.
awaited     a value that a running loop computes on the device: testing it waits for the device.
subject     the left operand of ``in``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.boundary import moved_key
from flake8_jax.semantics.domain.dispatching import dispatched_in
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.sequences import combined
from flake8_jax.semantics.domain.sizes import joint_size, shape_source
from flake8_jax.semantics.domain.tracer_tests import (
    NOT_UNTRACED,
    TRACED,
    is_answer,
    is_known_tracer,
    negated_answer,
    untraced_of_all,
)
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    CONCRETE,
    FALSE,
    GRAD,
    MAYBE,
    OMITTED,
    TRUE,
    UNKNOWN_RANK,
    Array,
    BuiltinValue,
    ClassValue,
    Const,
    DictValue,
    External,
    ExternalInstance,
    FunctionValue,
    HostArray,
    Instance,
    Level,
    ListValue,
    ModuleValue,
    Opaque,
    Recipe,
    SliceValue,
    Static,
    StaticKind,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    hashes_tracer,
    holds_tracer,
    is_traced_array,
    known_elements,
    level_of,
)
from flake8_jax.semantics.events.events import Formatting, Hashing, NanComparison, TestKind, TruthTest
from flake8_jax.semantics.events.refused import SequenceOperation
from flake8_jax.semantics.interpreter.operations import call_operator
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.buffers import read
from flake8_jax.semantics.trackers.captures import Captures, embed
from flake8_jax.semantics.trackers.clocks import (
    DeviceWork,
    emit_difference,
    scaled,
    track_comparison,
    track_computed,
    track_truth,
)
from flake8_jax.semantics.trackers.eager_steps import EagerSteps, track_operation
from flake8_jax.semantics.trackers.effects import may_wait
from flake8_jax.semantics.trackers.freshness import track_needs_python
from flake8_jax.semantics.trackers.host_buffers import HostBuffers, track_waited
from flake8_jax.semantics.trackers.readiness import track_read
from flake8_jax.semantics.trackers.reads import Reads
from flake8_jax.semantics.trackers.recipes import pass_tangent, track_operator
from flake8_jax.semantics.trackers.unrolling import LoopNests, track_variety

_FOLD: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne, "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip
COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
_NUMBERS = (bool, int, float, complex)
BIG = 1 << 53


def result_level(m: Machine, values: Iterable[Value], *, library: bool = False) -> Level:
    """The level of an array computed from ``values``. library: computed by JAX itself, even from host values alone."""
    level, has_array, unknown = CONCRETE, library, False
    for value in values:
        for member in joining.members_of(value):
            if isinstance(member, (Array, Tree)):
                has_array = has_array or isinstance(member, Tree) or not member.declared
                if member.level == MAYBE:
                    unknown = True
                else:
                    level = max(level, member.level)
            elif isinstance(member, (Unknown, Instance, ExternalInstance)):
                unknown = True
            elif isinstance(member, (TupleValue, ListValue, DictValue)):
                inner = level_of(member)
                if inner == MAYBE:
                    unknown = True
                else:
                    level = max(level, inner)
    if has_array and m.path.mode.ambient:
        m.trackers[LoopNests].work += 1
        return ABSTRACT
    if level == ABSTRACT:
        m.trackers[LoopNests].work += 1
        return ABSTRACT
    if level == GRAD:
        m.trackers[LoopNests].work += 1
        return GRAD
    return MAYBE if unknown else CONCRETE


def dispatched_from(m: Machine, values: Iterable[Value]) -> int:
    """``Array.dispatched`` of what is computed from ``values``: it is ready no sooner than they are."""
    if m.path.mode.staged:
        return 0
    found = {dispatched_in(v) for value in values for v in joining.members_of(value)}
    if any(dispatched > 0 for dispatched in found):
        return next((id(loop) for loop in reversed(m.path.loops) if id(loop) in found), 1)
    return next((-id(loop) for loop in reversed(m.path.loops) if -id(loop) in found), min(found, default=0) and -1)


def _any_element(value: TupleValue | ListValue) -> Value:
    """What stands for all elements where their number is not known."""
    element = value.slots.get("*") if isinstance(value, ListValue) else None
    return element if element is not None else Unknown()


def _is_extent(value: Value) -> bool:
    """``x.shape[0]`` of whatever x is: a number that Python knows."""
    shape = value.parent if isinstance(value, Unknown) and value.step.startswith("[") else None
    return isinstance(shape, Unknown) and shape.step == ".shape"


def derived_from(values: Iterable[Value], depth: int = 6) -> str:
    """``Array.derived`` of what is computed from ``values``: the reason, where all of them are shapes and numbers."""
    found = ""
    if depth == 0:
        return found
    for value in values:
        if isinstance(value, Array) and value.derived:
            found = value.derived
        elif (isinstance(value, Static) and value.kind in ("int", "float", "shape")) or _is_extent(value):
            found = found or "static"
        elif isinstance(value, (TupleValue, ListValue)):
            inner = derived_from(known_elements(value) or (_any_element(value),), depth - 1)
            if not inner:
                return ""
            found = inner
        elif isinstance(value, Static) and value.kind == "dtype":
            continue
        elif not isinstance(value, (Const, External, BuiltinValue)):
            return ""
    return found


def _rank(values: Iterable[Value]) -> int | None:
    """The rank that broadcasting gives; None where any rank is unknown."""
    best = 0
    for value in values:
        if isinstance(value, (Const, Static)):
            continue
        ndim = getattr(value, "ndim", None)
        if ndim is None:
            return None
        best = max(best, ndim)
    return best


def is_declared(values: Iterable[Value]) -> bool:
    """No value is known to be an array of JAX, for all that annotations say."""
    return all(v.declared if isinstance(v, Array) else not isinstance(v, Tree) for v in values)


def _common_shape(values: Iterable[Value]) -> Value | None:
    """The value outside whose shape broadcasting gives: that of all operands that are no numbers."""
    sources = {shape_source(v) for v in values if not isinstance(v, (Const, Static)) and getattr(v, "ndim", None) != 0}
    return sources.pop() if len(sources) == 1 else None


def _matrix_rank(left: Value, right: Value) -> int | None:
    """The rank of ``left @ right``."""
    a, b = getattr(left, "ndim", None), getattr(right, "ndim", None)
    if not a or not b:
        return None
    return max(a, b) if min(a, b) > 1 else max(a, b) - 1 if max(a, b) > 1 else 0


def _joint_length(values: Sequence[Value], ndim: int | None) -> int | None:
    """The leading length that broadcasting gives, where all operands of the full rank agree."""
    lengths = {v.length for v in values if isinstance(v, Array) and v.ndim == ndim} if ndim else {None}
    return lengths.pop() if len(lengths) == 1 and not any(isinstance(v, HostArray) for v in values) else None


def binary(m: Machine, frame: Frame, node: Any, left: Value, op: str, right: Value) -> Value:
    """``left op right``."""
    if isinstance(left, UnionValue) or isinstance(right, UnionValue):
        results = [
            binary(m, frame, node, a, op, b) for a in joining.members_of(left) for b in joining.members_of(right)
        ]
        return joining.union_of(results)
    if m.trackers[Reads].matter:
        read(m, frame, node, left, depth=0)
        read(m, frame, node, right, depth=0)
    if op in ("%", "+") and _is_text(left):
        text = _text_binary(m, frame, node, left, op, right)
        if text is not None:
            return text
    kinds = (type(left), type(right))
    if Array in kinds or Tree in kinds:
        if m.trackers[DeviceWork].timing:
            track_computed(m, frame, node)
        _emit_sequence(m, frame, node, left, right)
        given = _array_binary(m, frame, node, left, op, right)
        if m.trackers[EagerSteps].wanted:
            track_operation(m, frame, node, given)
        return given
    if isinstance(left, Const) and isinstance(right, Const):
        return _fold(left.value, op, right.value)
    if Instance in kinds:
        found = call_operator(m, frame, node, left, op, right)
        return found if found is not None else Unknown("operator")
    made = combined(left, op, right, m.path.mode.trace)
    return made if made is not None else _host_binary(m, frame, node, left, op, right)


def _emit_sequence(m: Machine, frame: Frame, node: Any, left: Value, right: Value) -> None:
    """``[1, 2] + x``: an array of JAX takes part in no operation with a list or a tuple."""
    array, sequence = (left, right) if isinstance(left, Array) else (right, left)
    if type(sequence) not in (ListValue, TupleValue) or not isinstance(array, Array) or array.declared:
        return
    if (isinstance(sequence, TupleValue) and sequence.names) or known_elements(sequence) is None:
        return
    if isinstance(node, ir.BinOp) and m.bus.wants(SequenceOperation) and not frame.scope.converts_lists:
        written = node.right if sequence is right else node.left
        is_list = isinstance(sequence, ListValue) and not sequence.is_tuple
        m.bus.emit(SequenceOperation(m.path.context(frame.scope), node, written, is_list))


def _text_binary(m: Machine, frame: Frame, node: Any, left: Value, op: str, right: Value) -> Value | None:
    """``"%s" % x``, or one string after another where they are known to hold values; None for other strings."""
    if op == "%":
        _percent_format(m, frame, node, left, right)
        shown = right.elts if isinstance(right, TupleValue) else (right,)
        if m.path.loops and m.path.mode.compiled and any(type(v) is Static for v in shown):
            track_variety(m)
        return Static("str", tuple(v for v in shown if isinstance(v, (Array, Tree))))
    held = (*getattr(left, "holds", ()), *getattr(right, "holds", ())) if _is_text(right) else ()
    return Static("str", held) if held else None


def _host_length(left: Value, right: Value) -> int | None:
    """The length that an array of NumPy has after an operation with a number."""
    array, other = (left, right) if isinstance(left, HostArray) else (right, left)
    return array.length if isinstance(array, HostArray) and isinstance(other, Const) else None


def _host_binary(m: Machine, frame: Frame, node: Any, left: Value, op: str, right: Value) -> Value:
    """An operation on NumPy arrays, numbers and what is not known."""
    timing = m.trackers[DeviceWork].timing
    if timing and op in COMPARISONS:
        track_comparison(m, frame, node)
    kinds = (type(left), type(right))
    if HostArray in kinds and Unknown not in kinds:
        if timing and isinstance(left, HostArray) and left.readings:
            if op == "-" and isinstance(right, HostArray):
                emit_difference(m, frame, node, left, right)
            reading = scaled(m, left, right, op)
            if reading is not None:
                return reading
        dtype = "bool" if op in COMPARISONS else _joint_dtype(left, right)
        size = joint_size((left, right)) // (4 if op in COMPARISONS else 1)
        declared = not any(isinstance(v, HostArray) and not v.declared for v in (left, right))
        array = HostArray(dtype, _rank((left, right)), size, declared=declared)
        array.length = _host_length(left, right)
        return array
    if _is_static(left) and _is_static(right):
        return _static_binary(left, op, right)
    made = Unknown("operator", host_test=is_answer(left) or is_answer(right))
    if op in ("|", "&"):
        made.untraced = untraced_of_all((left, right), settling=op == "|")
    if op in _FORMULAS:
        made.formula = Recipe(op, (left, right), node, m.path.stack[-1].fn if m.path.stack else None)
    return made


_FORMULAS = frozenset({"+", "-", "*", "/", "**"})
"""Arithmetic that values of which nothing else is known remember."""


def _is_text(value: Value) -> bool:
    return (isinstance(value, Const) and isinstance(value.value, (str, bytes))) or (
        isinstance(value, Static) and value.kind == "str"
    )


def _is_static(value: Value) -> bool:
    return isinstance(value, (Const, Static))


def _static_binary(left: Value, op: str, right: Value) -> Value:
    if op in COMPARISONS:
        ranks = [v for v in (left, right) if isinstance(v, Static) and v.kind == "int" and v.rank is not None]
        return Unknown("rank", host_test=True) if ranks else Static("bool")
    ka, kb = _kind(left), _kind(right)
    if op == "/" and ka in ("int", "float") and kb in ("int", "float"):
        return Static("float")
    if "float" in (ka, kb):
        return Static("float")
    if op == "+" and ka == kb == "str":
        return Static("str", (*getattr(left, "holds", ()), *getattr(right, "holds", ())))
    return Static(ka if ka == kb else "shape" if "shape" in (ka, kb) else "")


def _kind(value: Value) -> StaticKind:
    if isinstance(value, Const):
        return joining.const_kind(value.value)
    return value.kind if isinstance(value, Static) else ""


def _joint_dtype(left: Value, right: Value) -> str:
    """The dtype class of an arithmetic result where it is certain."""
    a = _kind(left) if _is_static(left) else getattr(left, "dtype", "")
    b = _kind(right) if _is_static(right) else getattr(right, "dtype", "")
    if a == b:
        return a if a in ("bool", "int", "float", "complex") else ""
    for dtype in ("complex", "float", "int"):
        if dtype in (a, b) and a and b:
            return dtype
    return "float" if "float" in (a, b) else ""


def _array_binary(m: Machine, frame: Frame, node: Any, left: Value, op: str, right: Value) -> Value:
    if op in ("==", "!="):
        plain = _equality_of_python(left, right)
        if plain is not None:
            return plain
    if op == "+" and _extends_tree(left, right):
        return Unknown("sequence")
    if op == "|" and DictValue in (type(left), type(right)):
        return Tree(result_level(m, (left, right)))  # no array takes a dict: both are mappings
    key = moved_key(left, op, right) if Const in (type(left), type(right)) else None
    if key is not None:
        return key
    level = result_level(m, (left, right))
    if m.trackers[Captures].constants:
        embed(m, (left, right))
    size = joint_size((left, right)) if op != "@" else 0  # a product has other axes than its factors
    if op in COMPARISONS:
        # Booleans have no tangent: under ``grad`` alone they are concrete arrays.
        level = CONCRETE if level == GRAD else level
        dispatched = dispatched_from(m, (left, right))
        declared = is_declared((left, right)) and level <= MAYBE
        rank = _rank((left, right))
        truth = Array(level, "bool", rank, dispatched=dispatched, size=abs(size) // 4, declared=declared)
        truth.recipe = Recipe(op, (left, right), node, m.path.stack[-1].fn if m.path.stack else None)
        return truth
    dtype = _joint_dtype(left, right)
    if op == "/" and dtype in ("int", "bool"):
        dtype = "float"
    dispatched, derived = dispatched_from(m, (left, right)), derived_from((left, right))
    operands = (left, right)
    ndim = _rank(operands) if op != "@" else _matrix_rank(left, right)
    matrices = op == "@" and ndim == 2 and isinstance(left, Array)
    length = _joint_length(operands if op != "@" else (left,), ndim) if op != "@" or matrices else None
    result = Array(level, dtype, ndim, length, dispatched=dispatched, derived=derived, size=size)
    result.resized = op != "@" and any(isinstance(v, Array) and v.resized for v in operands)
    result.declared = is_declared(operands)
    if op != "@":
        result.shaped = _common_shape(operands)
    track_operator(m, frame, node, op, result, (left, right))
    return result


def _equality_of_python(left: Value, right: Value) -> Value | None:
    """What ``==`` gives where an array meets something that is none, or a pytree another one; None for two arrays.

    ``jax.Array.__eq__`` leaves all but numbers and arrays to the other operand (``_defer_to_unrecognized_arg`` in
    jax/_src/numpy/array_methods.py), so that Python compares identities and gives a bool, or the operand's own ``__eq__``
    runs; lists, tuples, dicts and sets raise TypeError.
    """
    for value in (left, right):
        if isinstance(value, Const) and not isinstance(value.value, _NUMBERS):
            return Static("bool")
        if not isinstance(value, (Const, Static, Array, HostArray, Opaque)):
            return Unknown("comparison")
        if isinstance(value, Static) and value.kind in ("str", "dtype", "shape", ""):
            return Static("bool") if value.kind else Unknown("comparison")
    return Unknown("comparison") if isinstance(left, Tree) and isinstance(right, Tree) else None


def _extends_tree(left: Value, right: Value) -> bool:
    """A pytree that a sequence is added to is a sequence as well."""
    if isinstance(left, (ListValue, TupleValue)):
        return isinstance(right, Tree)
    return isinstance(right, (ListValue, TupleValue)) and isinstance(left, Tree)


def _fold(a: Any, op: str, b: Any) -> Value:
    f = _FOLD.get(op)
    if f is None or a is None or b is None or isinstance(a, (complex, bytes)) or isinstance(b, (complex, bytes)):
        if op in ("==", "!="):
            return TRUE if (a == b) == (op == "==") else FALSE
        return Static(joining.const_kind(a))
    try:
        value = f(a, b)
    except (TypeError, ZeroDivisionError, OverflowError, ValueError):
        return Unknown("operator")
    if (isinstance(value, int) and abs(value) > BIG) or (isinstance(value, str) and len(value) > 200):
        return Static(joining.const_kind(value))
    return Const(value)


def _percent_format(m: Machine, frame: Frame, node: Any, left: Value, right: Value) -> None:
    """``"%.2f" % x``: every conversion but ``%s`` and ``%r`` needs the value."""
    if not m.bus.wants(Formatting):
        return
    values = right.elts if isinstance(right, TupleValue) else (right,)
    specs = _percent_specs(left.value) if isinstance(left, Const) and isinstance(left.value, str) else None
    if specs is None:
        return
    for spec, value in zip(specs, values, strict=False):
        if spec[-1] not in "sra" and (holds_tracer(value, GRAD) or is_awaited(m, value)):
            m.bus.emit(Formatting(m.path.context(frame.scope), node, value, "percent", spec))
            track_read(m, (value,))


def _percent_specs(text: str) -> list[str] | None:
    """The conversions of a ``%`` format in order (``%%`` left out); None for a mapping format."""
    specs: list[str] = []
    i = 0
    while (i := text.find("%", i)) >= 0:
        j = i + 1
        while j < len(text) and text[j] in "0123456789.+- #lhL*":
            j += 1
        if j >= len(text) or text[j] == "(":
            return None
        if text[j] != "%":
            specs.append(text[i : j + 1])
        i = j + 1
    return specs


def unary(m: Machine, value: Value, op: str) -> Value:
    """``-x``, ``+x``, ``~x`` (``not`` is a truth test: see ``expressions``)."""
    if isinstance(value, UnionValue):
        return joining.union_of([unary(m, v, op) for v in value.members])
    if isinstance(value, Array):
        return _array_unary(m, value, op)
    if isinstance(value, Tree):
        return _remember(m, Array(result_level(m, (value,))), value, op)
    if isinstance(value, Const) and type(value.value) in (int, float) and op in "-+":
        return Const(-value.value if op == "-" else value.value)
    if isinstance(value, Const) and type(value.value) is int and op == "~":
        return Const(~value.value)
    if isinstance(value, (Static, HostArray)):
        return value
    made = Unknown("operator")
    if op == "-" and isinstance(value, Unknown):
        made.formula = Recipe("negative", (value,), None, m.path.stack[-1].fn if m.path.stack else None)
    return made


def _array_unary(m: Machine, value: Array, op: str) -> Value:
    result = Array(
        result_level(m, (value,)),
        value.dtype,
        value.ndim,
        value.length,
        dispatched=dispatched_from(m, (value,)),
        derived=value.derived,
        size=value.size,
        declared=value.declared,
    )
    if m.trackers[Captures].constants:
        embed(m, (value,))
    return _remember(m, result, value, op)


def _remember(m: Machine, result: Array, value: Value, op: str) -> Array:
    """An operator with one operand gave ``result``."""
    if op in "-~":
        name = "negative" if op == "-" else "logical_not"
        result.recipe = Recipe(name, (value,), None, m.path.stack[-1].fn if m.path.stack else None)
        pass_tangent(m, result, (value,))
    return result


def truth_of(value: Value) -> bool | None:
    """The truth of a value where it is known for sure."""
    truth = _TRUTHS.get(type(value))
    return truth(value) if truth is not None else None


def _truth_of_list(value: ListValue) -> bool | None:
    known = value.slots["n"]
    return None if known is None else bool(known)


def _truth_of_dict(value: DictValue) -> bool | None:
    if any(type(k) is tuple for k in value.slots):
        return True if not value.slots["open"] else None
    return False if value.is_closed() else None


def _truth_of_union(value: UnionValue) -> bool | None:
    truths = {truth_of(v) for v in value.members}
    return truths.pop() if len(truths) == 1 else None


_TRUTHS: dict[type, Callable[[Any], bool | None]] = {
    Const: lambda value: bool(value.value),
    TupleValue: lambda value: bool(value.elts) if value.cls is None else None,
    ListValue: _truth_of_list,
    DictValue: _truth_of_dict,
    UnionValue: _truth_of_union,
    **dict.fromkeys((FunctionValue, ClassValue, ModuleValue, TransformedValue, BuiltinValue), lambda value: True),
}
"""The truth of a value by its type; that of one of another type is not known."""


def is_awaited(m: Machine, value: Value) -> bool:
    """A result that a loop still running has dispatched: reading it waits for the device."""
    dispatched = dispatched_from(m, (value,))
    return dispatched != 0 and any(id(loop) == dispatched for loop in m.path.loops)


def _is_in_eager_loop(m: Machine, value: Value) -> bool:
    """An array that no transform traces, in a loop of Python."""
    return type(value) is Array and value.level < GRAD and bool(m.path.loops) and not m.path.mode.staged


def _is_under_grad(m: Machine, value: Value) -> bool:
    """``grad`` alone traces what the value was computed from."""
    return m.path.mode.staged and not m.path.mode.ambient and is_known_tracer(value)


def test_truth(m: Machine, frame: Frame, value: Value, how: TestKind, at: Any, whole: Any) -> None:
    """Tell the rules that the truth of a traced value is asked for, or of one that a loop waits for."""
    if m.path.mode.staged and not m.path.mode.ambient and isinstance(value, Array):
        track_needs_python(m)
    if m.trackers[DeviceWork].timing:
        track_truth(m, frame, at, value, asserted=how == "assert")
    if m.trackers[HostBuffers].given and may_wait(value):
        track_waited(m)
    if m.trackers[Reads].matter and isinstance(value, Array):
        read(m, frame, at, value)
    if m.bus.wants(TruthTest) and (
        is_traced_array(value) or is_awaited(m, value) or _is_in_eager_loop(m, value) or _is_under_grad(m, value)
    ):
        m.bus.emit(TruthTest(m.path.context(frame.scope), at, value, how, whole))
    if m.path.loops:
        track_read(m, (value,))


def surely_not_none(value: Value) -> bool:
    """No path on which the value is None."""
    if isinstance(value, Const):
        return value.value is not None
    if isinstance(value, Static):
        return value.kind != ""
    if isinstance(value, UnionValue):
        return all(surely_not_none(v) for v in value.members)
    return not isinstance(value, (Unknown, External))


def identical(left: Value, right: Value) -> Value:
    """``left is right``."""
    for a, b in ((left, right), (right, left)):
        if isinstance(a, Const) and a.value is None:
            return _is_none(b)
        if isinstance(a, Const) and type(a.value) is bool and isinstance(b, (Array, Tree, HostArray)):
            return FALSE
    same = _same_object(left, right)
    return Static("bool") if same is None else TRUE if same else FALSE


def _same_object(left: Value, right: Value) -> bool | None:
    """Neither is None: whether they are one object, where that is certain."""
    if isinstance(left, Const) and isinstance(right, Const):
        booleans = type(left.value) is bool and type(right.value) is bool
        return bool(left.value == right.value) if booleans else None
    if left is right and not isinstance(left, (Unknown, Static)):
        return True
    if isinstance(left, External) and isinstance(right, External):
        return True if left.name == right.name else None
    return False if isinstance(left, ClassValue) and isinstance(right, ClassValue) else None


def _is_none(value: Value) -> Value:
    if isinstance(value, Const):
        return TRUE if value.value is None else FALSE
    if surely_not_none(value):
        return FALSE
    if isinstance(value, Unknown):
        return Unknown("is None", host_test=value.host_test, doubt=True)
    return Unknown("is None", doubt=True) if isinstance(value, (Static, External)) else Static("bool")


def contains(m: Machine, frame: Frame, node: Any, item: Value, container: Value) -> Value:
    """``item in container``."""
    if _is_optional_key(item, container):
        return Unknown("in", host_test=True)
    if isinstance(item, Const) and isinstance(container, Const) and type(item.value) is type(container.value) is str:
        return TRUE if item.value in container.value else FALSE
    search = _SEARCHES.get(type(container))
    return search(m, frame, node, item, container) if search is not None else Static("bool")


def _is_optional_key(item: Value, container: Value) -> bool:
    """``"mask" in batch``: the caller decides which keys an unknown mapping has, as ``hasattr`` and ``is None`` do."""
    if not isinstance(item, Const) or not isinstance(item.value, str):
        return False
    if isinstance(container, DictValue):
        return bool(container.slots["open"])
    return isinstance(container, (Tree, Unknown))


def _in_union(m: Machine, frame: Frame, node: Any, item: Value, container: UnionValue) -> Value:
    return joining.union_of([contains(m, frame, node, item, c) for c in container.members])


def _in_dict(m: Machine, frame: Frame, node: Any, item: Value, container: DictValue) -> Value:
    _emit_hashed(m, frame, node, item)
    if isinstance(item, Const):
        try:
            if ("k", item.value) in container.slots:
                return Static("bool") if container.slots["open"] else TRUE
        except TypeError:
            return Static("bool")
        if container.is_closed():
            return FALSE
    return Static("bool")


def _emit_hashed(m: Machine, frame: Frame, node: Any, item: Value) -> None:
    if hashes_tracer(item, GRAD) and m.bus.wants(Hashing):
        m.bus.emit(Hashing(m.path.context(frame.scope), node, item, "membership"))


def _in_static(m: Machine, frame: Frame, node: Any, item: Value, container: Static) -> Value:
    if container.kind == "set":
        _emit_hashed(m, frame, node, item)
    elif container.kind not in ("str", "", "dtype"):
        _in_host_array(m, frame, node, item, container)
    return Static("bool")


def _in_host_array(m: Machine, frame: Frame, node: Any, item: Value, container: Value) -> Value:
    if _is_traced_subject(item, container):
        test_truth(m, frame, item, "in", node, node)
    return Static("bool")


def _in_array(m: Machine, frame: Frame, node: Any, item: Value, container: Array) -> Value:
    if container.level == ABSTRACT and not _never_equal(item):
        test_truth(m, frame, container, "in", node, node)
    return Static("bool")


def _in_sequence(m: Machine, frame: Frame, node: Any, item: Value, container: TupleValue | ListValue) -> Value:
    elements = known_elements(container)
    if elements is not None:
        return _among(m, frame, node, item, elements, traced=_is_traced_subject(item, container))
    assert isinstance(container, ListValue)
    if _is_traced_subject(item, container) and isinstance(joining.any_element(container), (Const, Static)):
        test_truth(m, frame, item, "in", node, node)
    return Static("bool")


def _among(m: Machine, frame: Frame, node: Any, item: Value, elements: tuple[Value, ...], *, traced: bool) -> Value:
    """``item in (a, b)``. traced: the item is a tracer."""
    if traced:
        # ``==`` is not asked of the element that is the item itself: identity comes first.
        if elements and elements[0] is not item and any(e is not item and not _never_equal(e) for e in elements):
            test_truth(m, frame, as_array(item), "in", node, node)
        return Static("bool")
    if not isinstance(item, (Array, Tree, Unknown)):
        tracer = next((e for e in elements if is_traced_array(e)), None)
        if tracer is not None and not _never_equal(item):
            test_truth(m, frame, tracer, "in", node, node)
            return Static("bool")
    return _among_constants(item, elements)


def _among_constants(item: Value, elements: tuple[Value, ...]) -> Value:
    if isinstance(item, Static) and item.kind == "int" and item.rank is not None:
        return Unknown("rank", host_test=True)
    if not isinstance(item, Const):
        return Static("bool")
    constants = [e.value for e in elements if isinstance(e, Const)]
    if len(constants) < len(elements):
        return Static("bool")
    if any(joining.same_const(item.value, value) for value in constants):
        return TRUE
    return FALSE if all(type(item.value) is type(value) for value in constants) else Static("bool")


_SEARCHES: dict[type, Callable[[Machine, Frame, Any, Value, Any], Value]] = {
    UnionValue: _in_union,
    DictValue: _in_dict,
    Static: _in_static,
    TupleValue: _in_sequence,
    ListValue: _in_sequence,
    Array: _in_array,
    HostArray: _in_host_array,
    Unknown: lambda m, frame, node, item, container: Unknown("in", host_test=container.host_test),
}
"""``item in container`` by the type of the container; of one of another type nothing is known."""


def _is_traced_subject(item: Value, container: Value) -> bool:
    """What is looked for is a tracer."""
    return is_traced_array(item) or _numeric_subject(item, container)


def as_array(value: Value) -> Value:
    """A traced pytree that is used as a number must be a lone array."""
    return Array(value.level) if isinstance(value, Tree) else value


def _numeric_subject(item: Value, container: Value) -> bool:
    """A traced pytree looked for among numbers: it would be pointless for anything but a lone array."""
    if not (isinstance(item, Tree) and item.level == ABSTRACT):
        return False
    elements = known_elements(container)
    return bool(elements) and all(
        (isinstance(e, Const) and type(e.value) in (int, float))
        or (isinstance(e, Static) and e.kind in ("int", "float"))
        for e in elements or ()
    )


def _never_equal(value: Value) -> bool:
    """Comparing this with an array gives a plain False: None, strings, slices."""
    return isinstance(value, SliceValue) or (isinstance(value, Const) and not isinstance(value.value, _NUMBERS))


def compare(m: Machine, frame: Frame, node: Any, left: Value, op: str, right: Value) -> Value:
    """One comparison of a (chain of) comparison(s)."""
    if op in ("is", "is not"):
        result = _none_or_vague(left, right) or _over_members(left, lambda v: identical(v, right))
        return negated(result) if op == "is not" else result
    if op in ("in", "not in"):
        if any(is_nan(v) for v in known_elements(right) or ()):
            _emit_nan(m, frame, node, op, left, at_left=True)
        result = contains(m, frame, node, left, right)
        return negated(result) if op == "not in" else result
    if op in ("==", "!="):
        if is_nan(left) or is_nan(right):
            _emit_nan(m, frame, node, op, right if is_nan(left) else left, at_left=not is_nan(left))
        if isinstance(left, (TupleValue, ListValue)) and isinstance(right, (TupleValue, ListValue)):
            return _equality_of_sequences(m, frame, node, left, op, right)
        if isinstance(left, External) and isinstance(right, External):
            return TRUE if (left.name == right.name) == (op == "==") else FALSE
        rank = _rank_test(left, right) or _rank_test(right, left)
        if rank is not None:
            return negated(rank) if op == "!=" else rank
    return binary(m, frame, node, left, op, right)


def _rank_test(shape: Value, other: Value) -> Value | None:
    """``x.shape == ()``: a test of the rank of x alone, or one that its rank decides."""
    if (
        not isinstance(shape, Static)
        or shape.kind != "shape"
        or shape.rank is None
        or not isinstance(other, TupleValue)
    ):
        return None
    if shape.rank == UNKNOWN_RANK:
        return None if other.elts else Unknown("rank", host_test=True)
    return FALSE if shape.rank != len(other.elts) else None if other.elts else TRUE


def _none_or_vague(left: Value, right: Value) -> Value | None:
    """``x is None`` where x is None or something of which only the annotation is known, or what an unknown caller
    leaves out: it may or may not be None on the way here."""
    if not isinstance(left, UnionValue) or not (isinstance(right, Const) and right.value is None):
        return None
    others = [v for v in left.members if not (isinstance(v, Const) and v.value is None)]
    if len(others) == len(left.members):
        return None
    if not all(_is_vague(v) for v in others) and not any(v is OMITTED for v in left.members):
        return None
    return Unknown("is None", doubt=True)


def _is_vague(value: Value) -> bool:
    """No code of the project was seen to make the value."""
    if isinstance(value, Array):
        return value.level == MAYBE
    return isinstance(value, (Unknown, Static)) or (isinstance(value, Instance) and not value.exact)


def _equality_of_sequences(m: Machine, frame: Frame, node: Any, left: Value, op: str, right: Value) -> Value:
    """``==`` asks for the truth of each pair of elements in turn."""
    a, b = known_elements(left), known_elements(right)
    if a is None or b is None or len(a) != len(b):
        return Static("bool")
    for x, y in zip(a, b, strict=True):
        traced = x if is_traced_array(x) else y if is_traced_array(y) else None
        if x is not y and traced is not None and not (_never_equal(x) or _never_equal(y)):
            test_truth(m, frame, traced, "compare", node, node)
            break
    if not all(isinstance(v, Const) for v in (*a, *b)):
        return Static("bool")
    equal = all(x.value == y.value for x, y in zip(a, b, strict=True))  # type: ignore[attr-defined]
    return TRUE if equal == (op == "==") else FALSE


def is_nan(value: Value) -> bool:
    """The value is NaN for sure."""
    return isinstance(value, Const) and type(value.value) is float and value.value != value.value


def _emit_nan(m: Machine, frame: Frame, node: Any, op: str, value: Value, *, at_left: bool) -> None:
    if m.bus.wants(NanComparison):
        alone = type(node) is ir.Compare and len(node.ops) == 1
        value_node = (node.left if at_left else node.comparators[0]) if alone else None
        m.bus.emit(NanComparison(m.path.context(frame.scope), node, op, value, value_node))


def _over_members(value: Value, f: Callable[[Value], Value]) -> Value:
    if isinstance(value, UnionValue):
        return joining.join_all([f(v) for v in value.members])
    return f(value)


def negated(value: Value) -> Value:
    """``not value`` for a value whose truth raises nothing."""
    if value is TRACED or value is NOT_UNTRACED:
        return TRACED if value is NOT_UNTRACED else NOT_UNTRACED
    truth = truth_of(value)
    if truth is not None:
        return FALSE if truth else TRUE
    if isinstance(value, Unknown):
        return negated_answer(value)
    return Static("bool")
