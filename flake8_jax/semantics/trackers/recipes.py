"""How an array was computed, as far back as rules about numbers need to see.

Vocabulary
----------
recipe      the operation that made an array, with its operands: ``Recipe("log", (x,))``, ``Recipe("-", (a, b))``. Only
            operations that such rules ask about leave one (``RECORDED`` and arithmetic).
tangent     a value that hangs on an argument by which an enclosing ``grad`` differentiates.
foreign     a recipe recorded by a function that is still running further out: a summary of the run of the inner
            function would see it for other callers too, so it proves nothing inside.

shaped      what rearranges the elements of an array: its result remembers only that.

Limitations: what library functions outside ``RECORDED`` compute, loops (a carried value has no
recipe), tangents of what a loop carries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from flake8_jax.semantics.domain.code import is_only_read_in
from flake8_jax.semantics.domain.recipes import has_tangent
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import (
    SHAPED,
    Array,
    Const,
    External,
    Opaque,
    Recipe,
    Room,
    Tree,
    TupleValue,
    Unknown,
    Value,
    contents_of,
)
from flake8_jax.semantics.events.bounds import is_whole
from flake8_jax.semantics.events.events import Computation, WideDtype
from flake8_jax.semantics.events.facts import GUARDED, STOPPED, TEMPERED
from flake8_jax.semantics.events.formulas import alike, number
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.tracker import Replay, Tracker

RECORDED = frozenset({
    "abs", "absolute", "acos", "acosh", "add", "arccos", "arccosh", "arcsin", "arctanh", "asin", "atanh", "clip",
    "divide", "equal", "exp", "expit", "expm1", "fabs", "float_power", "greater", "greater_equal", "isfinite", "isinf",
    "isnan", "less", "less_equal", "log", "log10", "log1p", "log2", "log_sigmoid", "log_softmax", "logical_and",
    "logical_not", "logical_or", "logsumexp", "maximum", "mean", "minimum", "multiply", "negative", "norm",
    "not_equal", "pow", "power", "reciprocal", "relu", "rsqrt", "select", "sigmoid", "logistic", "softmax", "softplus",
    "sqrt", "square", "stop_gradient", "subtract", "sum", "true_divide", "where", "max", "amax", "cos", "sin",
    "asarray", "tanh", "sub", "mul", "div", "prod", "dot", "vdot", "matmul", "inner", "tensordot", "einsum", "nan_to_num",
    "nansum", "nanmean", "cosh", "sinh", "std", "var", "arange", "floor", "ceil", "rint", "trunc", "count_nonzero", "tril",
    "triu", "cumprod",
})  # fmt: skip
"""Functions of JAX, by the last part of their names, whose results remember how they were made."""

REARRANGING = frozenset({
    "reshape", "squeeze", "expand_dims", "transpose", "swapaxes", "moveaxis", "ravel", "flatten", "broadcast_to", "atleast_1d",
    "atleast_2d", "concatenate", "stack", "hstack", "vstack", "take", "take_along_axis", "pad", "tile", "repeat", "astype",
    "array", "roll", "flip", "dynamic_slice", "dynamic_slice_in_dim", "convert_element_type", "sort", "float32", "float64",
    "float16", "bfloat16",
})  # fmt: skip
"""Functions and methods that rearrange the elements of their first argument."""

NO_TANGENT = frozenset({"jax.lax.stop_gradient", "jax.numpy.round", "jax.numpy.floor", "jax.numpy.ceil", "jax.numpy.sign",
                        "jax.numpy.zeros_like", "jax.numpy.ones_like", "jax.numpy.rint", "jax.numpy.trunc",
                        "jax.numpy.full_like", "jax.numpy.around", "jax.numpy.fix", "jax.lax.floor", "jax.lax.ceil",
                        "jax.lax.round", "jax.lax.sign"})  # fmt: skip
"""Under ``grad`` alone their results carry no tangent, so they are concrete arrays (checked on JAX 0.10)."""

NAMESPACES = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.special.")
EMITTED_OPERATIONS = frozenset({
    "log", "where", "select", "sum", "mean", "-", "*", "/", "log1p", "arccos", "arcsin", "nan_to_num", "nansum", "nanmean",
    "softmax", "log_softmax", "sqrt", "norm", "**",
})  # fmt: skip
"""Of the recorded operations, those whose events rules get."""
_SYNONYMS = {
    "subtract": "-", "multiply": "*", "divide": "/", "true_divide": "/", "add": "+", "power": "**", "pow": "**",
    "float_power": "**", "greater": ">", "greater_equal": ">=", "less": "<", "less_equal": "<=", "equal": "==",
    "not_equal": "!=", "absolute": "abs", "fabs": "abs", "expit": "sigmoid", "logistic": "sigmoid", "amax": "max",
    "sub": "-", "mul": "*", "div": "/", "acos": "arccos", "asin": "arcsin", "atanh": "arctanh", "acosh": "arccosh",
}  # fmt: skip


class Tangents(Tracker):
    """marked: arrays that hang on an argument that is differentiated by."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.marked: set[Value] = set()

    def replayed(self, record: None, replay: Replay, result: Value) -> None:
        repeat_tangents(self.m, replay.remembered, result, replay.inputs)


def track_call(m: Machine, frame: Frame, node: Any, name: str, result: Value, bound: dict[str, Value]) -> None:
    """A function of JAX gave ``result``: remember how."""
    if m.path.mode.differentiated and name not in NO_TANGENT:
        pass_tangent(m, result, list(bound.values())[1:] if name.endswith((".where", ".select")) else bound.values())
    last = name.rpartition(".")[2]
    if last in ("stop_gradient", "categorical") and m.path.mode.differentiated:
        _track_ends(m, frame, node, last, _values_of(bound))
    if last == "arange" and not is_whole(bound.get("step", Const(1))):
        return
    if name == "jax.random.uniform" and type(result) is Array:
        bounds = tuple(bound[each] for each in ("minval",) if each in bound)
        result.recipe = _recipe(m, node, last, bounds)
    if last in REARRANGING and name.startswith(NAMESPACES):
        track_shaped(m, result, tuple(bound.values())[:1])
    if last not in RECORDED or not (name.startswith(NAMESPACES) or name == "jax.numpy.linalg.norm"):
        return
    values = tuple(bound.values())
    if last in ("where", "select", "nan_to_num"):
        for value in values[1:] if last != "nan_to_num" else values[:1]:
            _track_guarded(m, frame, value)
    last = _SYNONYMS.get(last, last)
    _track(m, frame, result, _recipe(m, node, last, values), emit=last in EMITTED_OPERATIONS)


def _logarithms(value: Value, depth: int = 4) -> Iterator[Recipe]:
    """The logarithms that the value is, or is a sum of."""
    recipe = _formula(value)
    if recipe is None or depth == 0:
        return
    if recipe.name == "log":
        yield recipe
    elif recipe.name in _LINEAR:
        for operand in recipe.operands:
            yield from _logarithms(operand, depth - 1)


_LINEAR = frozenset(
    {"+", "-", "negative", "*", "/", SHAPED, "where", "select", "asarray", "clip", "maximum", "minimum"}
)


def _track_tempered(m: Machine, frame: Frame, logarithm: Recipe) -> None:
    if logarithm.node is not None:
        m.bus.record_fact(TEMPERED, frame.scope, logarithm.node.start)


def _track_weighted(m: Machine, frame: Frame, operands: tuple[Value, ...]) -> None:
    """``p * log(p + eps)``: where the probability is small, so is its part."""
    for factor, other in ((operands[0], operands[1]), (operands[1], operands[0])):
        for logarithm in _logarithms(other):
            inside = list(_floored(logarithm.operands[0])) if logarithm.operands else []
            if any(alike(part, value) for part in _factors(factor) for value in inside):
                _track_tempered(m, frame, logarithm)


def _factors(value: Value, depth: int = 4) -> Iterator[Value]:
    """The value and the factors that it is a product of."""
    yield value
    recipe = _formula(value)
    if recipe is not None and depth and recipe.name in ("*", "negative", "/", "stop_gradient", SHAPED):
        for operand in recipe.operands:
            yield from _factors(operand, depth - 1)


def _floored(value: Value, depth: int = 4) -> Iterator[Value]:
    """The value and, where something keeps it from zero, what that is."""
    yield value
    recipe = _formula(value)
    if recipe is not None and depth and recipe.name in ("+", "clip", "maximum", "where", "select", SHAPED):
        for operand in recipe.operands:
            if number(operand) is None:
                yield from _floored(operand, depth - 1)


def _values_of(bound: dict[str, Value]) -> list[Value]:
    """What a function was given, and what sequences among that hold."""
    return [part for value in bound.values() for part in (contents_of(value) or (value,))]


def _track_ends(m: Machine, frame: Frame, node: Any, name: str, values: list[Value]) -> None:
    """No gradient flows back from what a function gives."""
    for value in values:
        if name == "stop_gradient":
            _track_stopped(m, frame, node, value)
        for logarithm in _logarithms(value):
            _track_tempered(m, frame, logarithm)


def _track_stopped(m: Machine, frame: Frame, node: Any, value: Value, depth: int = 6) -> None:
    """No gradient flows through what the value was computed from, as far as nothing else uses that."""
    recipe = value.recipe if isinstance(value, Array) else None
    if recipe is None or depth == 0:
        return
    made, inner = recipe.node, m.path.stack[-1].fn if m.path.stack else None
    if recipe.name in ("where", "select") and made is not None and inner is not None and recipe.function is inner:
        if node.start <= made.start < node.end or is_only_read_in(inner, made, node):
            m.bus.record_fact(STOPPED, frame.scope, made.start)
    for operand in recipe.operands:
        _track_stopped(m, frame, node, operand, depth - 1)


def _track_guarded(m: Machine, frame: Frame, value: Value, depth: int = 4) -> None:
    """What a ``where`` chooses among is looked after, as far as its value goes."""
    recipe = value.recipe if isinstance(value, Array) else None
    if recipe is None or depth == 0:
        return
    if recipe.node is not None:
        m.bus.record_fact(GUARDED, frame.scope, recipe.node.start)
    for operand in recipe.operands:
        _track_guarded(m, frame, operand, depth - 1)


def track_method(m: Machine, frame: Frame, node: Any, name: str, result: Value, operands: tuple[Value, ...]) -> None:
    """A method of an array, the first operand, gave ``result``."""
    pass_tangent(m, result, operands[:1])
    if name in REARRANGING:
        track_shaped(m, result, operands[:1])
    if name in _METHODS:
        _track(m, frame, result, _recipe(m, node, name, operands[: _METHODS[name]]), emit=name in EMITTED_OPERATIONS)


_METHODS = {"sum": 1, "mean": 1, "max": 1, "prod": 1, "std": 1, "var": 1, "dot": 2}
"""Methods whose results remember how they were made, with the number of operands that count."""


def track_shaped(m: Machine, result: Value, operands: tuple[Value, ...]) -> None:
    """``result`` holds elements of the operands, or of what a sequence among them holds."""
    if type(result) is Array and result.recipe is None:
        held = [part for value in operands for part in (contents_of(value) or (value,))][:8]
        if any(_formula(value) is not None or is_whole(value) for value in held):
            result.recipe = _recipe(m, None, SHAPED, tuple(held))


def _formula(value: Value) -> Recipe | None:
    if isinstance(value, Unknown):
        return value.formula
    return value.recipe if isinstance(value, Array) else None


def track_operator(m: Machine, frame: Frame, node: Any, op: str, result: Value, operands: tuple[Value, ...]) -> None:
    """An operator on arrays gave ``result``."""
    pass_tangent(m, result, operands)
    _track(m, frame, result, _recipe(m, node, op, operands), emit=op in EMITTED_OPERATIONS)


_PRODUCTS = frozenset({"*", "@", "dot", "vdot", "matmul", "inner"})


def _recipe(m: Machine, node: Any, name: str, operands: tuple[Value, ...]) -> Recipe:
    """The recipe of what is computed now."""
    return Recipe(name, operands, node, m.path.stack[-1].fn if m.path.stack else None)


def _track(m: Machine, frame: Frame, result: Value, recipe: Recipe, *, emit: bool) -> None:
    """Remember how an array was computed. emit: rules hear of it if an operand has a recipe as well, or of a logarithm."""
    if type(result) is not Array:
        return
    result.recipe = recipe
    if recipe.name in _PRODUCTS and m.path.mode.differentiated and len(recipe.operands) > 1:
        _track_weighted(m, frame, recipe.operands[-2:])
    operands, inner = recipe.operands, recipe.function
    always = recipe.name == "log" or (recipe.name == "sqrt" and m.path.mode.differentiated)
    told = always or any(type(v) is Array and v.recipe is not None for v in operands)
    if emit and told and m.bus.wants(Computation):
        foreign = frozenset([id(link.fn) for link in m.path.stack if link.fn is not None and link.fn is not inner])
        marked, context = m.trackers[Tangents].marked, m.path.context(frame.scope)
        m.bus.emit(
            Computation(
                context, recipe.node, recipe.name, operands, result, foreign, m.path.mode.differentiated, marked
            )
        )


class Asked(NamedTuple):
    """A dtype that a function was asked for. function: the last part of its name; values: its arguments."""

    dtype: Value | None
    function: str
    values: Sequence[Value]


def emit_wide_dtype(m: Machine, frame: Frame, node: Any, asked: Asked, result: Value) -> None:
    """A 64-bit dtype was asked for; without ``jax_enable_x64`` JAX gives one of 32 bits."""
    dtype, function, values = asked
    if dtype is None or type(result) is not Array or not m.bus.wants(WideDtype):
        return
    name, written = _named(dtype)
    if name in WIDE and not m.program.mentions_x64():
        first = values[0] if values and (result.ndim == 0 or function in WIDE) else None
        given = first.value if isinstance(first, Const) and type(first.value) in (int, float, bool) else None
        number = float(given) if isinstance(given, (int, float)) else None
        m.bus.emit(WideDtype(m.path.context(frame.scope), node, name, function, number, written))


def _named(dtype: Value) -> tuple[str, str]:
    """The name of a dtype, and how it is written where that is another one."""
    if isinstance(dtype, External) and dtype.name.startswith(("jax.numpy.", "numpy.")):
        written = dtype.name.rpartition(".")[2]
        return _ALIASES.get(written, written) if written.endswith("_") else written, written
    if isinstance(dtype, Const) and isinstance(dtype.value, str):
        written = dtype.value
        return _CODES.get(written.lstrip("<>=|")) or _ALIASES.get(written, written), f'"{written}"'
    return "", ""


_CODES = {"f8": "float64", "d": "double", "i8": "int64", "u8": "uint64", "c16": "complex128"}
"""NumPy's short names: a letter and the number of bytes."""
_ALIASES = {"float": "float64", "complex": "complex128", "complex_": "complex128"}
"""Other names of 64-bit dtypes (run on JAX 0.10.2): NumPy's, with an underscore, and strings. The Python types ``float`` and
``complex`` ask for the default of JAX, and ``"int"``, ``int_`` and ``float_`` are mostly meant so."""
WIDE = frozenset({"float64", "int64", "uint64", "complex128", "double", "longlong", "ulonglong", "cdouble"})


def mark_tangents(m: Machine, value: Value, depth: int = 4, room: Room | None = None) -> None:
    """``grad`` differentiates by the arrays in ``value``."""
    room = room if room is not None else Room()
    if isinstance(value, (Array, Opaque)):
        m.trackers[Tangents].marked.add(value)
    elif depth and room.enter(value):
        parts = contents_of(value)
        if parts is None:
            parts = tuple(v for v in getattr(value, "slots", {}).values() if isinstance(v, Value))
        for part in parts:
            mark_tangents(m, part, depth - 1, room)


def pass_tangent(m: Machine, result: Value, operands: Iterable[Value]) -> None:
    """``result`` was computed from ``operands``: it hangs on what they hang on."""
    mode, marked = m.path.mode, m.trackers[Tangents].marked
    if not mode.differentiated or not isinstance(result, (Array, Tree)):
        return
    # Something unknown in code that is there to be differentiated, such as an attribute of a distribution, counts too.
    if any(has_tangent(v, marked) or (mode.presumed and isinstance(v, Unknown) and not v.host_test) for v in operands):
        marked.add(result)


def repeat_tangents(m: Machine, remembered: Value, result: Value, inputs: Iterable[Value]) -> None:
    """A remembered run is done again to other inputs: what hung on a tangent then does so now, if an input does."""
    if not m.path.mode.differentiated:
        return
    old = remembered.elts if isinstance(remembered, TupleValue) else (remembered,)
    new = result.elts if isinstance(result, TupleValue) else (result,)
    if any(v in m.trackers[Tangents].marked for v in old) and any(
        has_tangent(v, m.trackers[Tangents].marked) for v in inputs
    ):
        m.trackers[Tangents].marked.update(n for o, n in zip(old, new) if o in m.trackers[Tangents].marked)
