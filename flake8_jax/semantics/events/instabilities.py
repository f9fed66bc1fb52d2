"""Which formulas overflow, or lose their digits, where another one for the same does not.

Vocabulary
----------
instability a formula that a stable one replaces.
equivalent  the stable function, or the stable formula as text.
angle       ``arccos`` or ``arcsin`` of a dot product of vectors that were divided by their lengths.

Limitations: ranges of arguments, beyond what ``bounds`` knows; what a function in another file gave, unless that is in sight.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import functions_of
from flake8_jax.semantics.domain.recipes import has_tangent
from flake8_jax.semantics.domain.values import SHAPED, Array, Recipe, Tree, Unknown, Value, contents_of
from flake8_jax.semantics.events.bounds import is_shifted, is_whole, may_be_zero, stays_low
from flake8_jax.semantics.events.events import Computation
from flake8_jax.semantics.events.floors import Probability, floored, loses_gradient
from flake8_jax.semantics.events.formulas import (
    DEEPEST,
    arithmetic_of,
    constant,
    made_by,
    number,
    recipe_of,
    same,
    written_as,
)


class Finding(NamedTuple):
    """wrong: what happens, in words. better: the equivalent. minor: nothing shows that it ever happens. gradient: the value is
    finite, but its gradient vanishes. preview: the form is seldom."""

    wrong: str
    better: str
    minor: bool = False
    gradient: bool = False
    preview: bool = False


_FEW_FACTORS = 3
"""A product of so many numbers hardly leaves the range of a float."""

LOG_SOFTMAX = "jax.nn.log_softmax"
LOG_SIGMOID = "jax.nn.log_sigmoid"
LOGSUMEXP = "jax.scipy.special.logsumexp"
SOFTPLUS = "jax.nn.softplus"
SOFTMAX = "jax.nn.softmax"
SIGMOID = "jax.nn.sigmoid"
TANH = "jnp.tanh"
LOG1P = "jnp.log1p"
EXPM1 = "jnp.expm1"
XLOGY = "jax.scipy.special.xlogy"
REL_ENTR = "jax.scipy.special.rel_entr"
XLOGX = "jax.scipy.special.xlogy(x, x)"
VAR = "jnp.var"
LOG_MINUS_SIGMOID = "jax.nn.log_sigmoid(-x)"
SUM_OF_LOGS = "jnp.sum(jnp.log(x))"
SUM_OF_SQUARES = "2 * jnp.sum(jnp.log(jnp.abs(x)))"
LOG_SECH2 = "2 * (jnp.log(2.0) - x - jax.nn.softplus(-2 * x))"
MEAN_OF_EXP = "jax.scipy.special.logsumexp(x) - jnp.log(n)"
LOG1MEXP = "jnp.log(-jnp.expm1(x))"
LOG_COSH = "jnp.logaddexp(x, -x) - jnp.log(2.0)"
LOG_2COSH = "jnp.logaddexp(x, -x)"
CHOSEN_SIGMOID = "jax.nn.log_sigmoid(jnp.where(c, x, -x))"
LENGTH = "jnp.sqrt(jnp.sum(x**2) + eps)"
CLIPPED = "jnp.clip(x, -1.0, 1.0)"
CLIPPED_INSIDE = "jnp.clip(x, -1.0 + 1e-6, 1.0 - 1e-6)"
ROOT_OF_POSITIVE = "jnp.sqrt(jnp.maximum(x, 0.0))"

FINAL_OPERATIONS = frozenset({"log", "log1p", "sum", "mean", "-", "*", "/", "arccos", "arcsin", "sqrt"})
"""Operations that may be the last one of such a formula."""


def instability(event: Computation) -> Finding | None:
    """What is wrong with a computation, if anything is."""
    if event.name in _OF_ONE and event.operands:
        return _OF_ONE[event.name](event, event.operands[0])
    if event.name in ("-", "*", "/") and len(event.operands) == 2:
        return _OF_TWO[event.name](event, *event.operands)
    return None


def _elements_of(event: Computation, value: Value) -> Value:
    """What the elements of the value were taken from: ``x`` of ``x[i]`` and ``x.reshape(-1)``."""
    for _ in range(DEEPEST):
        recipe = recipe_of(event, value)
        if recipe is None or recipe.name != SHAPED or len(recipe.operands) != 1:
            break
        value = recipe.operands[0]
    return value


# --- logarithms -------------------------------------------------------------------------------------------


def _of_logarithm(event: Computation, operand: Value) -> Finding | None:
    operand = _elements_of(event, operand)
    softmax = made_by(event, operand, "softmax")
    if _is_of_array(event, softmax) and _is_in_sight(event, softmax):
        return Finding("computes log(softmax(x)), which is -inf for small probabilities", LOG_SOFTMAX)
    sigmoid = made_by(event, operand, "sigmoid")
    if _is_of_array(event, sigmoid):
        return Finding(
            "computes log(sigmoid(x)), which is -inf for very negative x", LOG_SIGMOID, _is_minor(event, sigmoid)
        )
    recipe = recipe_of(event, operand)
    known = _OF_OPERATION.get(recipe.name) if recipe is not None else None
    found = known(event, recipe) if known is not None and recipe is not None and recipe.operands else None
    return found or _of_floored(event, operand)


def _of_floored(event: Computation, operand: Value) -> Finding | None:
    """``log(softmax(x) + eps)`` and the like."""
    found = floored(event, operand)
    if found is None or not _is_in_sight(event, found.made) or not loses_gradient(event, found):
        return None
    return of_probability(found)


def of_probability(found: Probability) -> Finding:
    """What is wrong with the logarithm of a probability that was made of logits."""
    shown = {"+": f"{found.kind}(x) + eps", "clip": f"clip({found.kind}(x), eps)"}.get(found.floor, f"{found.kind}(x)")
    better = CHOSEN_SIGMOID if found.chosen and found.kind != "softmax" else _EQUIVALENTS[found.kind]
    where = {"softmax": "for small probabilities", "sigmoid": "for very negative x"}.get(found.kind, "for x above 17")
    if not found.floor:
        return Finding(f"computes log({shown}), which is -inf {where}", better, preview=True)
    return Finding(f"computes log({shown}), whose gradient vanishes {where}", better, gradient=True)


_EQUIVALENTS = {"softmax": LOG_SOFTMAX, "sigmoid": LOG_SIGMOID, "1 - sigmoid": LOG_MINUS_SIGMOID}


def _of_sum(event: Computation, total: Recipe) -> Finding | None:
    terms = made_by(event, total.operands[0], "exp")
    if terms is None or is_shifted(terms):
        return None
    if total.name == "mean":
        return Finding("computes log(mean(exp(x))), which overflows for large x", MEAN_OF_EXP)
    return Finding("computes log(sum(exp(x))), which overflows for large x", LOGSUMEXP)


def _of_one_plus(event: Computation, one: Recipe) -> Finding | None:
    if not _is_written_here(event, one) or 1.0 not in (number(one.operands[0]), number(one.operands[1])):
        return None
    other = one.operands[1] if number(one.operands[0]) == 1.0 else one.operands[0]
    if constant(event, other) is not None:
        return None
    exponential = made_by(event, other, "exp")
    if exponential is not None and _is_written_here(event, exponential) and not stays_low(exponential.operands[0]):
        return Finding("computes log(1 + exp(x)), which overflows for large x and loses digits for small x", SOFTPLUS)
    if isinstance(other, (Array, Tree)) and not is_whole(other) and not _is_called_a_count(one):
        return Finding("adds 1 before the log, which loses all digits of a small number", LOG1P, minor=True)
    return None


def _is_called_a_count(one: Recipe) -> bool:
    """``counts`` of ``1 + counts``: a whole number, whatever its dtype is. Nothing but the name says so."""
    if not isinstance(one.node, ir.BinOp):
        return False
    other = one.node.right if isinstance(one.node.left, ir.Constant) else one.node.left
    while isinstance(other, ir.Subscript):
        other = other.value
    name = other.id if isinstance(other, ir.Name) else other.attr if isinstance(other, ir.Attribute) else ""
    return _COUNTS.search(name) is not None


_COUNTS = re.compile(
    r"(?i)(?:^|_)(?:n|num|(?:count|degree|deg|visit|length|step|epoch|ind(?:ex|ice)|rank|iteration)s?)(?:_|$)"
)


def _of_one_minus(event: Computation, rest: Recipe) -> Finding | None:
    if number(rest.operands[0]) != 1.0 or len(rest.operands) != 2:
        return None
    return _of_rest(event, rest.operands[1])


def _of_rest(event: Computation, taken: Value) -> Finding | None:
    """The logarithm of 1 minus the value."""
    sigmoid = made_by(event, _elements_of(event, taken), "sigmoid")
    if _is_of_array(event, sigmoid) and _is_in_sight(event, sigmoid):
        return Finding(
            "computes log(1 - sigmoid(x)), which is -inf for x above 17", LOG_MINUS_SIGMOID, _is_minor(event, sigmoid)
        )
    exponential = made_by(event, taken, "exp") if event.name == "log" else None
    if exponential is not None and _is_of_array(event, exponential) and _is_in_sight(event, exponential):
        return Finding("computes log(1 - exp(x)), which is -inf for x just below zero", LOG1MEXP)
    squared = _squared(event, taken)
    tanh = made_by(event, squared, "tanh") if squared is not None else None
    if _is_of_array(event, tanh):
        return Finding("computes log(1 - tanh(x)**2), which is -inf for x above 9", LOG_SECH2)
    return None


def _of_product_of_all(event: Computation, product: Recipe) -> Finding | None:
    factors = product.operands[0]
    if not isinstance(factors, (Array, Tree, Unknown)) or getattr(factors, "dtype", "") in ("int", "bool"):
        return None
    if _has_few_factors(product, factors):
        return None
    return Finding("computes log(prod(x)), which is infinite if the product underflows or overflows", SUM_OF_LOGS)


def _has_few_factors(product: Recipe, factors: Value) -> bool:
    """An array that is known to be short, or ``box[:3]``."""
    if isinstance(factors, Array) and factors.ndim == 1 and factors.length is not None:
        return factors.length <= _FEW_FACTORS
    written = product.node.args[0].value if isinstance(product.node, ir.Call) and product.node.args else None
    end = written.index.upper if isinstance(written, ir.Subscript) and isinstance(written.index, ir.Slice) else None
    return isinstance(end, ir.Constant) and type(end.value) is int and 0 <= end.value <= _FEW_FACTORS


def _of_squared_product(event: Computation, square: Recipe) -> Finding | None:
    """``log(prod(x) ** 2)``, as the logarithm of a determinant is written for the diagonal of a Cholesky factor."""
    if square.name == "**" and number(square.operands[1]) != 2.0:
        return None
    product = made_by(event, square.operands[0], "prod")
    if product is None or _of_product_of_all(event, product) is None:
        return None
    problem = "computes log(prod(x)**2), which is infinite if the product underflows or overflows"
    return Finding(problem, SUM_OF_SQUARES)


def _of_cosh(event: Computation, cosh: Recipe, better: str = LOG_COSH) -> Finding | None:
    argument = cosh.operands[0]
    if not _is_of_array(event, cosh) or not _is_in_sight(event, cosh) or stays_low(argument):
        return None
    return Finding("computes the logarithm of cosh(x), which overflows for an x above 89 or below -89", better)


def _of_twice_cosh(event: Computation, product: Recipe) -> Finding | None:
    """``log(2 * cosh(x))``."""
    for factor, other in (product.operands, product.operands[::-1]) if len(product.operands) == 2 else ():
        cosh = made_by(event, other, "cosh")
        if number(factor) == 2.0 and cosh is not None and cosh.operands:
            return _of_cosh(event, cosh, LOG_2COSH)
    return None


def _of_log1p(event: Computation, operand: Value) -> Finding | None:
    negated = made_by(event, operand, "negative")
    return _of_rest(event, negated.operands[0]) if negated is not None else None


def _squared(event: Computation, value: Value) -> Value | None:
    """``x`` where the value is its square."""
    recipe = arithmetic_of(event, value)
    if recipe is None or not recipe.operands:
        return None
    if recipe.name == "square" or (recipe.name == "**" and number(recipe.operands[1]) == 2.0):
        return recipe.operands[0]
    if recipe.name == "*" and same(event, recipe.operands[0], recipe.operands[1]):
        return recipe.operands[0]
    return None


def _is_minor(event: Computation, sigmoid: Recipe | None) -> bool:
    """The logarithm of a sigmoid that is no sum of products, as a learned number is: whether it ever is far from zero, nothing
    shows. What is written as ``log(sigmoid(x))`` counts all the same."""
    if sigmoid is None or _is_written_here(event, sigmoid):
        return False
    written = sigmoid.node.args if isinstance(sigmoid.node, ir.Call) else []
    in_place = any(isinstance(n, ir.BinOp) and n.op == "@" for argument in written for n in walk(argument.value))
    return not in_place and not _is_contraction(sigmoid.operands[0])


def _is_contraction(value: Value, depth: int = DEEPEST) -> bool:
    """A sum of products, or what was computed of one."""
    recipe = written_as(value)
    if recipe is None or depth == 0:
        return False
    return recipe.name in _CONTRACTIONS or any(_is_contraction(operand, depth - 1) for operand in recipe.operands)


_CONTRACTIONS = frozenset({"@", "matmul", "dot", "einsum", "tensordot", "vdot", "inner"})


def _is_of_array(event: Computation, recipe: Recipe | None) -> bool:
    """Such an operation gave the value, and not on a number that is known."""
    return recipe is not None and (not recipe.operands or constant(event, recipe.operands[0]) is None)


def _is_in_sight(event: Computation, recipe: Recipe | None) -> bool:
    """The operation stands in the same file, so that a reader can tell what to write."""
    if recipe is None or recipe.function is None or recipe.function is event.context.inner:
        return True
    return any(function is recipe.function for function, _start, _first in functions_of(event.context.scope.tree))


def _is_written_here(event: Computation, recipe: Recipe) -> bool:
    """The operation stands inside the expression itself: a name for it may have other uses."""
    node = recipe.node
    return node is not None and event.at.start <= node.start and node.end <= event.at.end


# --- differences, products and quotients ------------------------------------------------------------------


def _of_difference(event: Computation, a: Value, b: Value) -> Finding | None:
    if number(b) == 1.0:
        exponential = made_by(event, a, "exp")
        if exponential is not None and _is_of_array(event, exponential) and _is_written_here(event, exponential):
            if not _undoes_log(event, exponential):
                return Finding("computes exp(x) - 1, which loses all digits of a small x", EXPM1)
    squares, square = made_by(event, a, "mean"), _squared(event, b)
    mean = made_by(event, square, "mean") if square is not None else None
    if squares is None or mean is None:
        return None
    squared = _squared(event, squares.operands[0])
    if squared is not None and same(event, squared, mean.operands[0]):
        return Finding("computes mean(x**2) - mean(x)**2, which loses digits if the mean is far from zero", VAR)
    return None


def _undoes_log(event: Computation, exponential: Recipe) -> bool:
    """``exp(mean(log(1 + x))) - 1``, a mean of another kind; or ``log(exp(y) - 1)``, the inverse of ``softplus``, of which a
    small y makes no use."""
    mean = made_by(event, exponential.operands[0], "mean", "sum") if exponential.operands else None
    if mean is not None and mean.operands and made_by(event, mean.operands[0], "log", "log1p") is not None:
        return True
    return event.context.scope.text[: event.at.start].rstrip(" (").endswith("log")


def _of_product(event: Computation, a: Value, b: Value) -> Finding | None:
    for factor, other in ((a, b), (b, a)):
        if not isinstance(factor, (Array, Tree)):
            continue
        logarithm = made_by(event, other, "log")
        if logarithm is not None and logarithm.operands and same(event, factor, logarithm.operands[0]):
            if _is_zero_at_times(event, factor):
                return Finding("computes x * log(x), which is NaN at zero", XLOGY)
        if _is_log_of_ratio(event, factor, other) and _is_zero_at_times(event, factor):
            return Finding("computes x * (log(x) - log(y)), which is NaN at zero", REL_ENTR)
        difference = made_by(event, other, "-")
        logarithm = made_by(event, difference.operands[0], "log") if difference is not None else None
        if logarithm is not None and logarithm.operands and same(event, factor, logarithm.operands[0]):
            if _is_zero_at_times(event, factor):
                return Finding("computes x * (log(x) - y), which is NaN at zero", XLOGX)
    return None


_NEVER_ZERO = re.compile(r"non_?zero|positive", re.IGNORECASE)
"""In the name of a variable from which its author has taken the zeros out."""


def _is_zero_at_times(event: Computation, factor: Value) -> bool:
    if _NEVER_ZERO.search(event.context.scope.text[event.at.start : event.at.end]):
        return False
    softmax = made_by(event, factor, "softmax")
    underflows = softmax is not None and not _is_in_sight(event, softmax)
    return underflows or _is_element_of_softmax(event, factor) or may_be_zero(factor)


def _is_element_of_softmax(event: Computation, value: Value) -> bool:
    """What ``vmap`` or ``scan`` takes out of a softmax of another function: the rule of ``log(softmax(x))`` misses it."""
    recipe = value.recipe if isinstance(value, Array) else None
    if recipe is None or recipe.name != SHAPED:
        return False
    while recipe is not None and recipe.name == SHAPED and len(recipe.operands) == 1:
        inner = recipe.operands[0]
        recipe = inner.recipe if isinstance(inner, Array) else None
    return recipe is not None and recipe.name == "softmax" and recipe.function is not event.context.inner


def _is_log_of_ratio(event: Computation, factor: Value, value: Value) -> bool:
    """The value is ``log(factor) - log(y)``, or ``log(factor / y)``."""
    difference, logarithm = made_by(event, value, "-"), made_by(event, value, "log")
    if difference is not None and len(difference.operands) == 2:
        first = made_by(event, difference.operands[0], "log")
        second = made_by(event, difference.operands[1], "log")
        return first is not None and second is not None and same(event, factor, first.operands[0])
    if logarithm is None:
        return False
    ratio = arithmetic_of(event, logarithm.operands[0])
    return ratio is not None and ratio.name == "/" and same(event, factor, ratio.operands[0])


def _of_quotient(event: Computation, a: Value, b: Value) -> Finding | None:
    total = recipe_of(event, _elements_of(event, b))
    if total is None or not total.operands:
        return None
    exponential = made_by(event, a, "exp")
    if total.name == "sum" and exponential is not None and same(event, a, total.operands[0]):
        if not is_shifted(exponential):
            return Finding(
                "computes exp(x) / sum(exp(x)), which is NaN for large x",
                SOFTMAX,
                minor=_is_of_probabilities(event, exponential) or stays_low(exponential.operands[0]),
            )
    if total.name == "+" and 1.0 in (number(v) for v in total.operands):
        added = total.operands[1] if number(total.operands[0]) == 1.0 else total.operands[0]
        return _of_logistic(event, a, added)
    if total.name != "+":
        return None
    return _of_tangent(event, a, total) or _of_length(event, total)


def _of_tangent(event: Computation, a: Value, total: Recipe) -> Finding | None:
    """``(exp(x) - exp(-x)) / (exp(x) + exp(-x))``."""
    difference = made_by(event, a, "-")
    if difference is None or len(difference.operands) != 2 or len(total.operands) != 2:
        return None
    exponentials = [made_by(event, value, "exp") for value in difference.operands]
    pairs = (total.operands, total.operands[::-1])
    if any(one is None or not _is_of_array(event, one) or stays_low(one.operands[0]) for one in exponentials):
        return None
    if not any(all(same(event, p, q) for p, q in zip(difference.operands, pair)) for pair in pairs):
        return None
    return Finding("computes tanh from exponentials, which is NaN for an x above 89 or below -89", TANH)


def _of_length(event: Computation, total: Recipe) -> Finding | None:
    """``a / (length + epsilon)``: the epsilon says that the length may be zero, where it has no gradient."""
    for length, epsilon in (total.operands, total.operands[::-1]):
        known = number(epsilon)
        if known is None or not 0.0 < known <= _LARGEST_EPSILON or not _is_length(event, length):
            continue
        if event.differentiated and has_tangent(length, event.tangents):
            wrong = "adds the epsilon after the square root, so its gradient is NaN for a zero vector"
            return Finding(wrong, LENGTH, preview=True)
    return None


_LARGEST_EPSILON = 1e-2
"""A larger number beside a length is part of the formula."""


_PROBABILITIES = re.compile(r"log\w*(?:prob|poster|prior)|\blogp|\bprobs?\b", re.IGNORECASE)


def _is_of_probabilities(event: Computation, exponential: Recipe) -> bool:
    """The exponent is called the logarithm of probabilities, which is never large: what is divided out is rounding."""
    node, text = exponential.node, event.context.scope.text
    if node is None or exponential.function is not event.context.inner:
        return False
    return bool(_PROBABILITIES.search(text[node.start : node.end]))


def _of_logistic(event: Computation, a: Value, added: Value) -> Finding | None:
    """``a / (1 + added)``."""
    exponential = made_by(event, added, "exp")
    if exponential is None or stays_low(exponential.operands[0]):
        return None
    if same(event, a, added):
        return Finding("computes exp(x) / (1 + exp(x)), which is NaN for large x", SIGMOID)
    hangs = event.context.presumed or has_tangent(exponential.operands[0], event.tangents)
    if number(a) == 1.0 and event.differentiated and hangs:
        return Finding("computes 1 / (1 + exp(-x)), whose gradient is NaN for very negative x", SIGMOID)
    return None


# --- angles -----------------------------------------------------------------------------------------------


def _of_angle(event: Computation, operand: Value) -> Finding | None:
    clipped = made_by(event, operand, "clip")
    if clipped is None:
        if not _is_cosine(event, operand):
            return None
        wrong = "is NaN if rounding makes the cosine larger than 1"
        if event.differentiated and has_tangent(operand, event.tangents):
            wrong = "or its gradient is not finite if rounding makes the cosine 1 or larger"
            return Finding(wrong, CLIPPED_INSIDE)
        return Finding(wrong, CLIPPED)
    if not event.differentiated or not has_tangent(operand, event.tangents) or len(clipped.operands) < 3:
        return None
    if [number(v) for v in clipped.operands[1:3]] == [-1.0, 1.0] and _is_cosine(event, clipped.operands[0]):
        return Finding("has an infinite gradient at the bounds of `clip`", CLIPPED_INSIDE)
    return None


def _is_cosine(event: Computation, value: Value) -> bool:
    """The value is a sum of products, divided by lengths: all of it is a product or a quotient. A remainder such as an epsilon
    may keep it inside."""
    names = [recipe for _value, recipe in _factors(event, value)]
    summed = any(recipe.name in _CONTRACTIONS or recipe.name == "sum" for recipe in names)
    return summed and any(recipe.name == "/" and _is_length(event, recipe.operands[1]) for recipe in names)


def _factors(event: Computation, value: Value, depth: int = DEEPEST) -> Iterator[tuple[Value, Recipe]]:
    """What the value was made of by products, quotients and their sums."""
    recipe = recipe_of(event, value)
    if recipe is None or depth == 0 or recipe.name not in _COSINES:
        return
    yield value, recipe
    for operand in recipe.operands[:1] if recipe.name == "/" else recipe.operands:
        for part in contents_of(operand) or (operand,):
            yield from _factors(event, part, depth - 1)


_COSINES = _CONTRACTIONS | {"*", "/", "sum", "negative", SHAPED}


def _is_length(event: Computation, value: Value, depth: int = DEEPEST) -> bool:
    """The value is the length of a vector, or a product of lengths."""
    recipe = recipe_of(event, _elements_of(event, value))
    if recipe is None or depth == 0 or not recipe.operands:
        return False
    if recipe.name == "*":
        return all(_is_length(event, operand, depth - 1) for operand in recipe.operands)
    if recipe.name == "sqrt":
        inner = recipe_of(event, _elements_of(event, recipe.operands[0]))
        return inner is not None and (inner.name == "sum" or inner.name in _CONTRACTIONS or _is_product_of_sums(inner))
    return recipe.name == "norm"


def _is_product_of_sums(recipe: Recipe) -> bool:
    return recipe.name == "*" and all(
        (inner := written_as(operand)) is not None and (inner.name == "sum" or inner.name in _CONTRACTIONS)
        for operand in recipe.operands
    )


# --- distances --------------------------------------------------------------------------------------------


def _of_root(event: Computation, operand: Value) -> Finding | None:
    """``sqrt(sum(a**2) + sum(b**2) - 2 * a @ b.T)``."""
    terms = list(_terms(event, operand, 1.0))
    crossed = [value for sign, value in terms if sign * _times_contraction(event, value) == -2.0]
    others = [value for sign, value in terms if sign > 0 and value not in crossed]
    if len(terms) != 3 or len(crossed) != 1 or len(others) != 2:
        return None
    if not any(_is_sum_of_squares(event, value) for value in others):
        return None
    wrong = "computes a distance from a**2 + b**2 - 2ab, so it is NaN if rounding makes this sum negative"
    return Finding(wrong, ROOT_OF_POSITIVE, preview=True)


def _terms(event: Computation, value: Value, sign: float, depth: int = DEEPEST) -> Iterator[tuple[float, Value]]:
    """The terms of a sum with their signs."""
    recipe = recipe_of(event, value)
    if depth and recipe is not None and recipe.name in ("+", "-") and len(recipe.operands) == 2:
        yield from _terms(event, recipe.operands[0], sign, depth - 1)
        yield from _terms(event, recipe.operands[1], sign if recipe.name == "+" else -sign, depth - 1)
    elif depth and recipe is not None and recipe.name == "negative":
        yield from _terms(event, recipe.operands[0], -sign, depth - 1)
    else:
        yield sign, value


def _times_contraction(event: Computation, value: Value) -> float:
    """The number by which a sum of products is multiplied; 0 of anything else."""
    recipe = recipe_of(event, _elements_of(event, value))
    if recipe is None:
        return 0.0
    if recipe.name == "*" and len(recipe.operands) == 2:
        for factor, other in (recipe.operands, recipe.operands[::-1]):
            known, inner = number(factor), recipe_of(event, _elements_of(event, other))
            if known is not None and inner is not None and inner.name in _CONTRACTIONS:
                return known
    if recipe.name in _CONTRACTIONS and recipe.operands:
        scaled = made_by(event, recipe.operands[0], "*")
        return next((known for v in scaled.operands if (known := number(v)) is not None), 0.0) if scaled else 0.0
    return 0.0


def _is_sum_of_squares(event: Computation, value: Value) -> bool:
    total = made_by(event, _elements_of(event, value), "sum")
    return total is not None and bool(total.operands) and _squared(event, total.operands[0]) is not None


_OF_ONE = {"log": _of_logarithm, "log1p": _of_log1p, "arccos": _of_angle, "arcsin": _of_angle, "sqrt": _of_root}
_OF_TWO = {"-": _of_difference, "*": _of_product, "/": _of_quotient}
_OF_OPERATION = {
    "sum": _of_sum, "mean": _of_sum, "+": _of_one_plus, "-": _of_one_minus, "prod": _of_product_of_all, "cosh": _of_cosh,
    "*": _of_twice_cosh, "**": _of_squared_product, "square": _of_squared_product,
}  # fmt: skip
"""Logarithms, by what gave their operand."""
