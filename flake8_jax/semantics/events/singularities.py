"""Where a gradient is NaN although a ``where`` hides the value.

Vocabulary
----------
singular    a point where an operation, or its derivative, is not finite.
kept out    the condition of a ``where`` says that the branch is not taken there: its value is hidden, its gradient not.
hidden      a value that is replaced where it is NaN, or infinite: by ``where(isnan(x), …)``, ``nan_to_num``, ``nansum``.
overflow    the operation is infinite, and its derivative too, where its operand is large.

A point proves something only if condition and operand can be evaluated at it (see ``formulas``). Limitations: masks
whose test is not in sight, ranges of arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from flake8_jax.core import ir
from flake8_jax.semantics.domain.code import spelled
from flake8_jax.semantics.domain.recipes import has_tangent
from flake8_jax.semantics.domain.values import SHAPED, Array, Recipe, Tree, Value
from flake8_jax.semantics.events.bounds import RANGES, is_bounded, is_not_negative, may_be_zero, stays_low
from flake8_jax.semantics.events.events import Computation
from flake8_jax.semantics.events.formulas import evaluated, number, parts, recipe_of, same, written_as

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
_AT_ZERO = frozenset({"sqrt", "log", "log2", "log10", "rsqrt", "reciprocal", "norm", "/", "**", "log1p", "arccos",
                      "arcsin", "arccosh", "arctanh"})  # fmt: skip
OVERFLOWING = frozenset({"exp", "expm1", "cosh", "sinh"})
_LARGE = 1000.0
_LARGEST_EXPONENT = 88.0
"""An exponential of more is infinite in ``float32``."""


def guarded_singularity(event: Computation) -> tuple[Recipe, Value, bool] | None:
    """The first of ``guarded_singularities``."""
    return next(guarded_singularities(event), None)


def guarded_singularities(event: Computation) -> Iterator[tuple[Recipe, Value, bool]]:
    """The operations in a branch whose derivative is not finite at a point that the condition keeps out, their operands,
    and which branch they stand in."""
    condition = event.operands[0]
    pair = event.operands[1:3]
    for branch, other, taken_when in ((pair[0], pair[1], True), (pair[1], pair[0], False)):
        for _value, recipe in parts(event, branch):
            if recipe.name not in _AT_ZERO and recipe.name not in OVERFLOWING:
                continue
            for operand, others in _singular_operands(recipe):
                if not has_tangent(operand, event.tangents) and not any(has_tangent(o, event.tangents) for o in others):
                    continue
                if _is_kept_out(event, condition, recipe, operand, taken_when, other):
                    yield recipe, operand, taken_when


def _singular_operands(recipe: Recipe) -> Iterator[tuple[Value, tuple[Value, ...]]]:
    """The operand on which the operation has a singular point, and those whose derivative passes through it too."""
    if recipe.name == "/":
        if len(recipe.operands) > 1:
            yield recipe.operands[1], (recipe.operands[0],)
    elif recipe.name == "**":
        exponent = number(recipe.operands[1]) if len(recipe.operands) > 1 else None
        if exponent is not None and (exponent < 0 or exponent != int(exponent)):
            yield recipe.operands[0], ()
    elif recipe.operands:
        yield recipe.operands[0], ()


def _is_kept_out(
    event: Computation, condition: Value, recipe: Recipe, operand: Value, taken_when: bool, other: Value
) -> bool:
    """At some point the operation is singular, the condition says that this branch is not taken, and the other one is
    not singular itself."""
    for test, negated in _tests(event, condition):
        for variable in _variables(event, test):
            for point in _points(event, test, recipe, operand, variable):
                if not _is_reached(event, variable, point):
                    continue
                truth = _truth(event, test, variable, point)
                if truth is None or (truth != negated) is taken_when:
                    continue
                value = evaluated(event, operand, variable, point)
                if value is not None and _is_singular(recipe, value) and _is_regular(event, other, variable, point):
                    return True
    return False


def _is_regular(event: Computation, branch: Value, variable: Value, point: float) -> bool:
    """Nothing in the branch is singular at the point, as far as can be told."""
    for _value, recipe in parts(event, branch):
        if recipe.name not in _AT_ZERO:
            continue
        for operand, _others in _singular_operands(recipe):
            if number(operand) is not None:
                continue
            value = evaluated(event, operand, variable, point)
            if value is None or _is_singular(recipe, value):
                return False
    return True


def _tests(event: Computation, condition: Value, depth: int = 4) -> Iterator[tuple[Recipe, bool]]:
    """The comparisons that alone can keep a point out: those of a conjunction, or one that is negated."""
    recipe = recipe_of(event, condition)
    if recipe is None or depth == 0:
        return
    if recipe.name in _COMPARISONS:
        yield recipe, False
    elif recipe.name == "logical_not":
        for test, negated in _tests(event, recipe.operands[0], depth - 1):
            yield test, not negated
    elif recipe.name in ("logical_and", "&"):
        for operand in recipe.operands:
            yield from _tests(event, operand, depth - 1)


def _variables(event: Computation, test: Recipe) -> list[Value]:
    """What the comparison is about: its operands that are no numbers, and what those were computed from."""
    found: list[Value] = []
    for operand in test.operands[:2]:
        if number(operand) is not None:
            continue
        found.append(operand)
        for _value, recipe in parts(event, operand):
            found += [v for v in recipe.operands if number(v) is None]
    return found[:8]


_LARGEST_FLOOR = 1e-3


def _points(event: Computation, test: Recipe, recipe: Recipe, operand: Value, variable: Value) -> list[float]:
    """Where to look: around the number compared with, and where the operand of the operation is zero, or large."""
    bounds = [n for n in (number(v) for v in test.operands[:2]) if n is not None]
    if recipe.name in OVERFLOWING:
        if is_bounded(variable) or stays_low(operand):
            return []
        return [sign * _LARGE + bound for bound in bounds or [0.0] for sign in (1.0, -1.0)]
    points = [0.0, *bounds]
    for bound in bounds or [0.0]:
        points += [bound - 1.0, bound + 1.0, bound - 0.5, bound + 0.5]
    at_zero, at_one = evaluated(event, operand, variable, 0.0), evaluated(event, operand, variable, 1.0)
    if at_zero is not None and at_one is not None and at_zero != at_one:
        root = -at_zero / (at_one - at_zero)
        if (
            not 0.0 < -root <= _LARGEST_FLOOR
        ):  # ``total + 1e-12``: who adds a floor means ``total`` to be no less than zero
            points.append(root)
    return points


def _is_reached(event: Computation, variable: Value, point: float) -> bool:
    """Nothing of how the variable is computed keeps it from the point: ``exp(x)``, ``1 / x`` and ``maximum(eps, x)`` are never
    zero."""
    recipe = recipe_of(event, variable)
    if recipe is None:
        return True
    if recipe.name in ("maximum", "clip"):
        lower = recipe.operands[:2] if recipe.name == "maximum" else recipe.operands[1:2]
        return not any(_is_below(point, bound) for bound in lower)
    if recipe.name in ("/", "reciprocal"):
        return point != 0.0 or (recipe.name == "/" and number(recipe.operands[0]) in (None, 0.0))
    low, high = RANGES.get(recipe.name, (-math.inf, math.inf))
    return low < point < high


def _is_below(point: float, bound: Value) -> bool:
    """A bound that is no known number, such as ``finfo.eps``, is taken to be above zero."""
    known = number(bound)
    return point < known if known is not None else not isinstance(bound, (Array, Tree)) and point <= 0.0


def _truth(event: Computation, test: Recipe, variable: Value, point: float) -> bool | None:
    values = [evaluated(event, operand, variable, point) for operand in test.operands[:2]]
    if len(values) != 2 or values[0] is None or values[1] is None:
        return None
    return bool(_COMPARISONS[test.name](values[0], values[1]))


def _is_singular(recipe: Recipe, value: float) -> bool:
    """The derivative of the operation is not finite, or not a number, where its operand is ``value``."""
    name = recipe.name
    if name in OVERFLOWING:
        return (abs(value) if name in ("cosh", "sinh") else value) > _LARGEST_EXPONENT
    if name in ("/", "reciprocal", "norm"):
        return value == 0.0
    if name == "**":
        exponent = number(recipe.operands[1])
        if exponent is None:
            return False
        return (value == 0.0 and exponent < 1) or (value < 0.0 and exponent != int(exponent))
    if name in ("sqrt", "log", "log2", "log10", "rsqrt"):
        return value <= 0.0 if name in ("sqrt", "rsqrt") else value == 0.0
    if name == "log1p":
        return value == -1.0
    if name == "arccosh":
        return value <= 1.0
    return abs(value) == 1.0 if name == "arctanh" else abs(value) >= 1.0  # arcsin, arccos


# --- values that are replaced where they are NaN or infinite ---------------------------------------------

Kinds = frozenset[str]
"""What is hidden: ``nan``, ``inf``."""
_NAN, _INF = frozenset({"nan"}), frozenset({"inf"})
_FINITE_SLOPES = frozenset({"log", "log2", "log10", "log1p", "arctanh"})
"""Operations that are NaN outside of their domains, but whose derivatives are finite there."""
_REJECTED = 1e3
"""A placeholder for an unwanted result, such as infinity, has no gradient that counts."""
_REPLACING = {"nan_to_num": _NAN | _INF, "nansum": _NAN, "nanmean": _NAN}


def masked_product(event: Computation) -> Recipe | None:
    """``where(p == 0, 0, p * log_q)``: the test says that the logarithm may be infinite there, and the gradient of the product
    is NaN."""
    condition, pair = event.operands[0], event.operands[1:3]
    for branch, taken_when in ((pair[0], True), (pair[1], False)):
        for _value, recipe in parts(event, branch):
            if recipe.name != "*" or len(recipe.operands) != 2:
                continue
            for factor, other in (recipe.operands, recipe.operands[::-1]):
                kept_out = _is_zero_kept_out(event, condition, factor, taken_when) or _is_so_written(
                    event, recipe, taken_when
                )
                if kept_out and _is_logarithm(event, other):
                    if has_tangent(other, event.tangents) or has_tangent(factor, event.tangents):
                        return recipe
    return None


def _is_logarithm(event: Computation, value: Value) -> bool:
    """A logarithm, or sums of some: it is infinite where the probability is zero."""
    recipe = recipe_of(event, value)
    if recipe is None or recipe.name in _LOGARITHMS:
        return recipe is not None
    return recipe.name in ("+", "-") and any(_is_logarithm(event, operand) for operand in recipe.operands)


_LOGARITHMS = frozenset({"log", "log2", "log10", "log_softmax", "log_sigmoid"})


def _is_zero_kept_out(event: Computation, condition: Value, factor: Value, taken_when: bool) -> bool:
    """The condition compares the factor with zero, and does not take the branch where it is."""
    for test, negated in _tests(event, condition):
        if len(test.operands) == 2 and same(event, test.operands[0], factor) and number(test.operands[1]) == 0.0:
            truth = bool(_COMPARISONS[test.name](0.0, 0.0))
            if (truth != negated) is not taken_when:
                return True
    return False


def _is_so_written(event: Computation, product: Recipe, taken_when: bool) -> bool:
    """The same of a factor of which nothing is known but its name: ``where(p == 0, 0, p * log_q)``."""
    call, made = event.at, product.node
    if not (isinstance(call, ir.Call) and len(call.args) == 3 and isinstance(made, ir.BinOp)):
        return False
    test = call.args[0].value
    if not isinstance(test, ir.Compare) or len(test.ops) != 1 or not isinstance(test.comparators[0], ir.Constant):
        return False
    text, known = event.context.scope.text, test.comparators[0].value
    compares = _COMPARISONS.get(test.ops[0])
    if compares is None or type(known) not in (int, float) or known != 0 or compares(0.0, 0.0) is taken_when:
        return False
    return call.start <= made.start < call.end and any(
        spelled(test.left, text) == spelled(factor, text) for factor in (made.left, made.right)
    )


def hidden_singularity(event: Computation) -> Recipe | None:
    """The operation that makes a value NaN, or infinite, which is hidden where it is so, and whose derivative is NaN or
    infinite there as well."""
    for value, kinds in _hidden(event):
        made = list(parts(event, value))
        if kinds == _NAN and any(recipe.name in _FINITE_SLOPES for _value, recipe in made):
            continue
        for _value, recipe in made:
            if recipe.operands and _breaks_with_slope(event, recipe, kinds):
                return recipe
    return None


def _hidden(event: Computation) -> Iterator[tuple[Value, Kinds]]:
    """The values that are replaced."""
    if event.name in _REPLACING:
        yield event.operands[0], _REPLACING[event.name]
        return
    for tested, kinds, when in _tests_of_kind(event, event.operands[0]):
        kept, put = event.operands[2 if when else 1], number(event.operands[1 if when else 2])
        if put is not None and not abs(put) < _REJECTED:
            continue
        if same(event, kept, tested) or any(same(event, value, tested) for value, _recipe in parts(event, kept)):
            yield tested, kinds


def _tests_of_kind(event: Computation, condition: Value, depth: int = 4) -> Iterator[tuple[Value, Kinds, bool]]:
    """What is tested, for what, and whether the condition is true if it is so."""
    recipe = recipe_of(event, condition)
    if recipe is None or depth == 0 or not recipe.operands:
        return
    if recipe.name in ("isnan", "isinf"):
        yield recipe.operands[0], _NAN if recipe.name == "isnan" else _INF, True
    elif recipe.name == "isfinite":
        yield recipe.operands[0], _NAN | _INF, False
    elif recipe.name == "logical_not":
        for value, kinds, when in _tests_of_kind(event, recipe.operands[0], depth - 1):
            yield value, kinds, not when
    elif recipe.name in ("logical_or", "|", "logical_and", "&"):
        either = recipe.name in ("logical_or", "|")
        for operand in recipe.operands[:2]:
            yield from (test for test in _tests_of_kind(event, operand, depth - 1) if test[2] is either)


def _breaks_with_slope(event: Computation, recipe: Recipe, kinds: Kinds) -> bool:
    """The operation may give such a value where its derivative is not finite, and it is differentiated."""
    if not any(has_tangent(operand, event.tangents) for operand in recipe.operands[:2]):
        return False
    name, first = recipe.name, recipe.operands[0]
    if name == "/":
        return len(recipe.operands) > 1 and _may_divide_by_zero(first, recipe.operands[1], kinds)
    if not has_tangent(first, event.tangents):
        return False
    if name == "**":
        exponent = number(recipe.operands[1]) if len(recipe.operands) > 1 else None
        if exponent is None or exponent == int(exponent) > 0:
            return False
        return _is_outside(first, kinds) or ("inf" in kinds and exponent < 0 and may_be_zero(first))
    if name == "sqrt":
        return _is_outside(first, kinds)
    if name in ("rsqrt", "reciprocal", "log", "log2", "log10"):
        return ("inf" in kinds and may_be_zero(first)) or (name == "rsqrt" and _is_outside(first, kinds))
    return name in ("arccos", "arcsin", "arccosh") and "nan" in kinds and not is_bounded(first)


def _may_divide_by_zero(numerator: Value, denominator: Value, kinds: Kinds) -> bool:
    if not isinstance(denominator, (Array, Tree)) or not (may_be_zero(denominator) or _is_chosen_zero(denominator)):
        return False
    return "inf" in kinds or number(numerator) in (None, 0.0)


def _is_chosen_zero(value: Value) -> bool:
    """A ``where`` puts zero there."""
    recipe = written_as(value)
    while recipe is not None and recipe.name == SHAPED and recipe.operands:
        recipe = written_as(recipe.operands[0])
    chosen = recipe.operands[1:] if recipe is not None and recipe.name in ("where", "select") else ()
    return any(number(v) == 0.0 for v in chosen)


def _is_outside(value: Value, kinds: Kinds) -> bool:
    """The value may be negative, where a root is NaN, and so is its slope."""
    recipe = written_as(value)
    while recipe is not None and recipe.name in _GATHERING and recipe.operands and not is_not_negative(value):
        value = recipe.operands[0]
        recipe = written_as(value)
    return "nan" in kinds and not is_not_negative(value)


_GATHERING = frozenset({"sum", "mean", "max", "min", SHAPED})
"""Operations whose results are not negative if no element is."""
