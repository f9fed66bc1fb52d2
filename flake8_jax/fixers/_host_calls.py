"""Calls that need host values, and the text edits after which they take tracers.

Here the calls are judged from their spelling and the knowledge tables; the fixers proper have the interpreter's word.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource, Refused
from flake8_jax.knowledge import load

HOST_ONLY_KEYWORDS = frozenset(["out", "casting", "subok", "like", "extobj", "signature"])
TAKES_SEQUENCES = frozenset([
    "array", "asarray", "stack", "concatenate", "concat", "hstack", "vstack", "dstack", "column_stack", "row_stack",
    "block", "select", "lexsort", "einsum", "meshgrid", "multi_dot", "choose", "piecewise", "broadcast_arrays",
])  # fmt: skip
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


def twin_of(call: ir.Call, imports: Imports) -> str | None:
    """The JAX function that does on tracers what this NumPy, ``math`` or builtin function does on host values."""
    name = imports.resolve(call.func)
    if any(a.star or a.keyword in HOST_ONLY_KEYWORDS for a in call.args):
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
    return fact.twin if fact is not None and fact.host == "converts" else None


def _is_cast(call: ir.Call, imports: Imports) -> bool:
    named = isinstance(call.func, ir.Name) and call.func.id in _CASTS and imports.resolve(call.func) is None
    return named and len(call.args) == 1 and not call.args[0].star and not call.args[0].keyword


def _is_item(call: ir.Call) -> bool:
    return isinstance(call.func, ir.Attribute) and call.func.attr == "item" and not call.args


def is_host_call(call: ir.Call, imports: Imports) -> bool:
    """Whether ``edits_for`` knows the call."""
    return _is_cast(call, imports) or _is_item(call) or twin_of(call, imports) is not None


def edits_for(source: FixSource, call: ir.Call, imports: Imports) -> list[Edit]:
    """Edits around the arguments of a host call, which they leave alone.

    Raises:
        Refused: a comment is in the way, or the twin cannot be spelled.
    """
    twin = twin_of(call, imports)
    if twin is not None:
        return rename(source, call, twin, imports)
    if source.comments(call.start, call.end):
        raise Refused
    if _is_item(call):
        assert isinstance(call.func, ir.Attribute)
        return [Edit(call.func.attr_start - 1, call.end, "")]
    assert isinstance(call.func, ir.Name)
    value = call.args[0].value
    bare = source.atom(value) == source.slice(value)
    opening, closing = ("", "") if bare else ("(", ")")
    cast = f"{closing}.astype({call.func.id})"
    return [Edit(call.start, value.start, opening), Edit(value.end, call.end, cast)]


def rename(source: FixSource, call: ir.Call, twin: str, imports: Imports) -> list[Edit]:
    """Call the twin instead; a sequence of numbers becomes an array for it, which jax.numpy insists on."""
    if source.comments(call.func.start, call.func.end):
        raise Refused
    edits = [Edit(call.func.start, call.func.end, imports.spell(twin))]
    first = call.args[0].value if call.args else None
    if isinstance(first, (ir.List, ir.Tuple)) and twin.rpartition(".")[2] not in TAKES_SEQUENCES:
        opening = f"{imports.spell('jax.numpy.asarray')}("
        edits += [Edit(first.start, first.start, opening), Edit(first.end, first.end, ")")]
    return edits
