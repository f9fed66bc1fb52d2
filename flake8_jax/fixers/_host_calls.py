"""Calls that need host values, and the text edits after which they take tracers.

Here the calls are judged from their spelling and the knowledge tables; the fixers proper have the interpreter's word.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.fixers._equivalents import equivalent_call
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource, Refused
from flake8_jax.knowledge import load
from flake8_jax.semantics.domain.values import ABSTRACT, Array, Value

_CASTS = frozenset(["float", "int", "bool", "complex"])
_RENAMED = {"acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2", "pow": "power", "fabs": "abs"}
SAME_IN_MATH = frozenset([
    "cbrt", "copysign", "cos", "cosh", "degrees", "exp", "exp2", "expm1", "fmod", "hypot", "isfinite", "isinf",
    "isnan", "log", "log10", "log1p", "log2", "radians", "sin", "sinh", "sqrt", "tan", "tanh",
])  # fmt: skip
MATH = {
    **_RENAMED,
    **{name: name for name in SAME_IN_MATH},
    **{name: f"arc{name[1:]}" for name in ("acosh", "asinh", "atanh")},
}
_PAIRWISE = {"max": "jax.numpy.maximum", "min": "jax.numpy.minimum"}
_WHOLE = {
    "max": "jax.numpy.max",
    "min": "jax.numpy.min",
    "any": "jax.numpy.any",
    "all": "jax.numpy.all",
    "sorted": "jax.numpy.sort",
}


def equivalent_of(call: ir.Call, imports: Imports) -> str | None:
    """The JAX function that does on tracers what this NumPy, ``math`` or builtin function does on host values."""
    name = imports.resolve(call.func)
    if any(a.star for a in call.args):
        return None
    if name is None:
        if not isinstance(call.func, ir.Name) or any(a.keyword for a in call.args):
            return None
        return {1: _WHOLE, 2: _PAIRWISE}.get(len(call.args), {}).get(call.func.id)
    if name.startswith("math."):
        short = MATH.get(name.removeprefix("math."))
        return f"jax.numpy.{short}" if short else None
    if not name.startswith("numpy."):
        return None
    knowledge = load()
    fact = knowledge.function(knowledge.canonical(name))
    return fact.equivalent if fact is not None and fact.host == "converts" else None


def _is_cast(call: ir.Call, imports: Imports) -> bool:
    named = isinstance(call.func, ir.Name) and call.func.id in _CASTS and imports.resolve(call.func) is None
    return named and len(call.args) == 1 and not call.args[0].star and not call.args[0].keyword


def _is_item(call: ir.Call) -> bool:
    return isinstance(call.func, ir.Attribute) and call.func.attr == "item" and not call.args


def is_host_call(call: ir.Call, imports: Imports) -> bool:
    """Whether ``edits_for`` knows the call."""
    return _is_cast(call, imports) or _is_item(call) or equivalent_of(call, imports) is not None


def edits_for(source: FixSource, call: ir.Call, imports: Imports) -> tuple[list[Edit], bool]:
    """Edits around the arguments of a host call, which they leave alone; and whether the result surely takes them.

    Raises:
        Refused: a comment is in the way, or the equivalent cannot be spelled or would raise.
    """
    equivalent = equivalent_of(call, imports)
    if equivalent is not None:
        return _renamed(source, call, equivalent, imports)
    if source.comments(call.start, call.end):
        raise Refused
    if _is_item(call):
        assert isinstance(call.func, ir.Attribute)
        return [Edit(call.func.attr_start - 1, call.end, "")], False
    assert isinstance(call.func, ir.Name)
    value = call.args[0].value
    bare = source.atom(value) == source.slice(value)
    opening, closing = ("", "") if bare else ("(", ")")
    cast = f"{closing}.astype({call.func.id})"
    return [Edit(call.start, value.start, opening), Edit(value.end, call.end, cast)], False


def _renamed(source: FixSource, call: ir.Call, equivalent: str, imports: Imports) -> tuple[list[Edit], bool]:
    """Call the equivalent instead."""
    name = load().canonical(imports.resolve(call.func) or "")
    data = [a.value for a in call.args if not isinstance(a.value, (ir.Constant, ir.List, ir.Tuple))]
    # The tracer that leads here is in one of the arguments; where there is one, it is that.
    values: dict[int, Value] = {id(data[0]): Array(ABSTRACT)} if len(data) == 1 else {}
    made = equivalent_call(source, call, imports, name, equivalent, values)
    return made.edits, made.fits and made.takes_empty and name.startswith("numpy.")
