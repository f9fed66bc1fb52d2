"""Questions about how numbers were computed, for rules on numerics.

Vocabulary
----------
recipe        see ``trackers.recipes``: the operation that made an array, and its operands.
formula       a value as a function of one other value (*variable*), evaluated with plain floats at sample points.
singular      a point where an operation, or its derivative, is not finite.

A formula is evaluated only where every other operand is a known number. Limitations: broadcasting, reductions (a
sum is a variable of its own), complex numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from flake8_jax.semantics.domain.values import SHAPED, Array, Const, Opaque, Recipe, Unknown, Value, canonical_key
from flake8_jax.semantics.events.events import Computation

DEEPEST = 10


def recipe_of(event: Computation, value: Value) -> Recipe | None:
    """How ``value`` was made, where that holds for every caller of the function that asks."""
    recipe = value.recipe if isinstance(value, Array) else None
    if recipe is None or (recipe.function is not None and id(recipe.function) in event.foreign):
        return None
    return recipe


def arithmetic_of(event: Computation, value: Value) -> Recipe | None:
    """The same, or the operator that gave a value of which nothing else is known."""
    recipe = value.formula if isinstance(value, Unknown) else recipe_of(event, value)
    if recipe is None or (recipe.function is not None and id(recipe.function) in event.foreign):
        return None
    return recipe


def written_as(value: Value) -> Recipe | None:
    """How ``value`` was computed on this path, arithmetic on what is not known and what came in through a staging boundary
    included: enough to be silent, not to report something."""
    for _ in range(DEEPEST):
        recipe = value.formula if isinstance(value, Unknown) else value.recipe if isinstance(value, Array) else None
        outer = value.origin if isinstance(value, (Array, Opaque)) else None
        if outer is None and isinstance(value, Opaque):
            outer = value.parent
        if recipe is not None or outer is None:
            return recipe
        value = outer
    return None


def made_by(event: Computation, value: Value, *names: str) -> Recipe | None:
    """The recipe of ``value`` if it is one of those operations."""
    recipe = recipe_of(event, value)
    return recipe if recipe is not None and recipe.name in names else None


def number(value: Value) -> float | None:
    """A known real number."""
    if isinstance(value, Const) and type(value.value) in (int, float):
        return float(value.value)
    return None


def same(event: Computation, a: Value, b: Value, depth: int = 4) -> bool:
    """Both hold the same numbers: one value, or the same operations on the same values."""
    if a is b or canonical_key(a) is canonical_key(b):
        return True
    if isinstance(a, Const) and isinstance(b, Const):
        return type(a.value) is type(b.value) and bool(a.value == b.value)
    x, y = arithmetic_of(event, a), arithmetic_of(event, b)
    if x is None or y is None or not depth or x.name != y.name or len(x.operands) != len(y.operands):
        return False
    return all(same(event, p, q, depth - 1) for p, q in zip(x.operands, y.operands))


def alike(a: Value, b: Value, depth: int = 4) -> bool:
    """As ``same``, of what was written on this path: enough to be silent."""
    if a is b or canonical_key(a) is canonical_key(b):
        return True
    known = number(a)
    if known is not None and known == number(b):
        return True
    x, y = written_as(a), written_as(b)
    if x is None or y is None or not depth or x.name != y.name or len(x.operands) != len(y.operands):
        return False
    return all(alike(p, q, depth - 1) for p, q in zip(x.operands, y.operands))


def parts(event: Computation, value: Value, depth: int = DEEPEST) -> Iterator[tuple[Value, Recipe]]:
    """The value and everything that it was computed from, each with its recipe; not what ``stop_gradient`` hides, and
    not what another ``where`` chose."""
    recipe = recipe_of(event, value)
    if recipe is None or recipe.name in ("stop_gradient", "where", "select") or depth == 0:
        return
    yield value, recipe
    for operand in recipe.operands:
        yield from parts(event, operand, depth - 1)


def elements_as_written(value: Value) -> Value:
    """What the elements of the value were taken from: ``x`` of ``x[i]`` and ``x.reshape(-1)``, also from a caller."""
    for _ in range(DEEPEST):
        recipe = written_as(value)
        if recipe is None or recipe.name != SHAPED or len(recipe.operands) != 1:
            break
        value = recipe.operands[0]
    return value


def constant(event: Computation, value: Value) -> float | None:
    """The number that ``value`` always is, such as ``jnp.sqrt(2)``; None if that is not known, or not finite."""
    return evaluated(event, value, None, 0.0)


def evaluated(
    event: Computation, value: Value, variable: Value | None, at: float, depth: int = DEEPEST
) -> float | None:
    """``value`` where ``variable`` is ``at``; None where that is not known, or not finite."""
    if variable is not None and same(event, value, variable):
        return at
    known = number(value)
    if known is not None:
        return known
    recipe = recipe_of(event, value)
    if recipe is None or depth == 0 or recipe.name not in _PLAIN:
        return None
    found: list[float] = []
    for operand in recipe.operands:
        inner = evaluated(event, operand, variable, at, depth - 1)
        if inner is None:
            return None
        found.append(inner)
    try:
        result = _PLAIN[recipe.name](found)
    except (ArithmeticError, ValueError, IndexError):
        return None
    return result if isinstance(result, float) and math.isfinite(result) else None


def _power(v: list[float]) -> float:
    result = v[0] ** v[1]
    if isinstance(result, complex):
        raise ValueError("complex")
    return float(result)


_PLAIN: dict[str, Callable[[list[float]], float]] = {
    "+": lambda v: v[0] + v[1],
    "-": lambda v: v[0] - v[1],
    "*": lambda v: v[0] * v[1],
    "/": lambda v: v[0] / v[1],
    "**": _power,
    "negative": lambda v: -v[0],
    "abs": lambda v: abs(v[0]),
    "square": lambda v: v[0] * v[0],
    "sqrt": lambda v: math.sqrt(v[0]),
    "exp": lambda v: math.exp(v[0]),
    "expm1": lambda v: math.expm1(v[0]),
    "log1p": lambda v: math.log1p(v[0]),
    "tanh": lambda v: math.tanh(v[0]),
    "log": lambda v: math.log(v[0]),
    "sin": lambda v: math.sin(v[0]),
    "cos": lambda v: math.cos(v[0]),
    "maximum": lambda v: max(v[0], v[1]),
    "minimum": lambda v: min(v[0], v[1]),
    "clip": lambda v: min(max(v[0], v[1]), v[2]),
    "asarray": lambda v: v[0],
}
"""Operations that act on each element by itself, on floats. Those that fail at a point have no value there."""
