"""Logarithms of probabilities that a floor keeps from zero.

Vocabulary
----------
floor        what keeps the operand of a logarithm away from zero: a small number that is added, or a bound.
probability  a softmax or a sigmoid of logits, or 1 minus the latter, also written with ``exp`` or ``tanh``.

With a floor the logarithm is finite, but the probability of an outcome that the logits rule out is far below the floor, so
that its gradient vanishes (checked on JAX 0.10.2 in ``float32``: at logits that differ by 40, ``log(softmax(x) + 1e-7)``
has a gradient of 4e-11 instead of 1).

Limitations: floors that are not known numbers, 1 minus a softmax.
"""

from __future__ import annotations

from typing import NamedTuple

from flake8_jax.semantics.domain.recipes import has_tangent
from flake8_jax.semantics.domain.values import SHAPED, Array, Recipe, Value
from flake8_jax.semantics.events.events import Computation
from flake8_jax.semantics.events.formulas import DEEPEST, made_by, number, recipe_of, same, written_as

_LARGEST_FLOOR = 1e-3
_COMPARISONS = frozenset({">", ">=", "<", "<=", "==", "!="})


class Probability(NamedTuple):
    """kind: ``softmax``, ``sigmoid``, or ``1 - sigmoid``. made: the operation that gave it. logits: of which it was made.
    floor: how a floor was set, ``+`` or ``clip``; empty for none. chosen: a ``where`` chose it."""

    kind: str
    made: Recipe
    logits: Value
    floor: str = ""
    chosen: bool = False


def floored(event: Computation, value: Value, depth: int = DEEPEST) -> Probability | None:
    """The probability that the value holds, perhaps above a floor, and perhaps where a condition chooses it."""
    recipe = _recipe_of(event, value)
    if recipe is None or depth == 0 or not recipe.operands:
        return None
    if recipe.name == SHAPED and len(recipe.operands) == 1:
        return floored(event, recipe.operands[0], depth - 1)
    if recipe.name in ("where", "select"):
        return _chosen(event, recipe, depth)
    found = _behind_floor(event, recipe, depth)
    if found is not None:
        return found
    if recipe.name == "-" and len(recipe.operands) == 2 and number(recipe.operands[0]) == 1.0:
        taken = floored(event, recipe.operands[1], depth - 1)
        return taken._replace(kind="1 - sigmoid") if taken is not None and taken.kind == "sigmoid" else None
    return _plain(event, recipe)


def _recipe_of(event: Computation, value: Value) -> Recipe | None:
    """How the value was made, inside of a staged function or before it was called."""
    recipe = recipe_of(event, value)
    while recipe is None and isinstance(value, Array) and isinstance(value.origin, Array):
        value = value.origin
        recipe = recipe_of(event, value)
    return recipe


def _chosen(event: Computation, choice: Recipe, depth: int) -> Probability | None:
    """A ``where`` that chooses among probabilities; not one that looks at the probability itself."""
    for branch in choice.operands[1:3]:
        found = floored(event, branch, depth - 1)
        if found is not None and not _looks_at(event, choice.operands[0], branch):
            return found._replace(chosen=True)
    return None


def _looks_at(event: Computation, condition: Value, branch: Value) -> bool:
    test = written_as(condition)
    return test is not None and test.name in _COMPARISONS and any(same(event, v, branch) for v in test.operands)


def _behind_floor(event: Computation, recipe: Recipe, depth: int) -> Probability | None:
    first, *others = recipe.operands
    if recipe.name == "+" and len(others) == 1:
        for added, value in ((first, others[0]), (others[0], first)):
            found = floored(event, value, depth - 1) if _is_floor(added) else None
            if found is not None:
                return found._replace(floor="+")
    if recipe.name == "maximum" and len(others) == 1:
        for bound, value in ((first, others[0]), (others[0], first)):
            found = floored(event, value, depth - 1) if _is_floor(bound) else None
            if found is not None:
                return found._replace(floor="clip")
    if recipe.name == "clip" and others and _is_floor(others[0]):
        found = floored(event, first, depth - 1)
        return found._replace(floor="clip") if found is not None else None
    return None


def _is_floor(value: Value) -> bool:
    known = number(value)
    return known is not None and 0.0 < known <= _LARGEST_FLOOR


def _plain(event: Computation, recipe: Recipe) -> Probability | None:
    """A softmax or a sigmoid, of a function of JAX or as people write them."""
    if recipe.name in ("softmax", "sigmoid"):
        return Probability(recipe.name, recipe, recipe.operands[0])
    if recipe.name == "/" and len(recipe.operands) == 2:
        return _quotient(event, recipe)
    if recipe.name == "*" and len(recipe.operands) == 2:
        for factor, rest in (recipe.operands, recipe.operands[::-1]):
            added = made_by(event, rest, "+") if number(factor) == 0.5 else None
            tanh = _beside(event, added, 1.0, "tanh") if added is not None else None
            if tanh is not None:
                return Probability("sigmoid", recipe, tanh.operands[0])
    return None


def _quotient(event: Computation, recipe: Recipe) -> Probability | None:
    """``exp(x) / sum(exp(x))`` and ``1 / (1 + exp(-x))``."""
    above, below = recipe.operands
    total = recipe_of(event, below)
    while total is not None and total.name == SHAPED and len(total.operands) == 1:
        total = recipe_of(event, total.operands[0])
    if total is None:
        return None
    exponential = made_by(event, above, "exp")
    if total.name == "sum" and exponential is not None and same(event, above, total.operands[0]):
        return Probability("softmax", recipe, exponential.operands[0])
    if total.name == "+" and number(above) == 1.0:
        inner = _beside(event, total, 1.0, "exp")
        if inner is not None and made_by(event, inner.operands[0], "negative") is not None:
            return Probability("sigmoid", recipe, inner.operands[0])
    return None


def _beside(event: Computation, total: Recipe, known: float, name: str) -> Recipe | None:
    """The operation that is added to the known number."""
    if len(total.operands) != 2:
        return None
    for one, other in (total.operands, total.operands[::-1]):
        if number(one) == known:
            return made_by(event, other, name)
    return None


def loses_gradient(event: Computation, found: Probability) -> bool:
    """A derivative flows through the logits."""
    return event.differentiated and has_tangent(found.logits, event.tangents)
