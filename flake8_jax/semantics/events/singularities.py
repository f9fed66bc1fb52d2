"""Where a gradient is NaN although a ``where`` hides the value, and which formulas overflow or lose their digits.

Vocabulary
----------
singular    a point where an operation, or its derivative, is not finite.
kept out    the condition of a ``where`` says that the branch is not taken there: its value is hidden, its gradient not.
instability a formula that a stable function of JAX replaces.

A point proves something only if condition and operand can be evaluated at it (see ``formulas``). Not modelled: masks
whose test is not in sight, ranges of arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import functions_of
from flake8_jax.semantics.domain.recipes import has_tangent
from flake8_jax.semantics.domain.values import SHAPED, Array, Recipe, Tree, Value
from flake8_jax.semantics.events.events import Computation
from flake8_jax.semantics.events.formulas import DEEPEST, evaluated, made_by, number, parts, recipe_of, same, written_as

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


def guarded_singularity(event: Computation) -> tuple[Recipe, Value, bool] | None:
    """The operation in a branch whose derivative is not finite at a point that the condition keeps out, its operand,
    and which branch it stands in."""
    condition = event.operands[0]
    pair = event.operands[1:3]
    for branch, other, taken_when in ((pair[0], pair[1], True), (pair[1], pair[0], False)):
        for _value, recipe in parts(event, branch):
            if recipe.name not in _AT_ZERO:
                continue
            for operand, others in _singular_operands(recipe):
                if not has_tangent(operand, event.tangents) and not any(has_tangent(o, event.tangents) for o in others):
                    continue
                if _is_kept_out(event, condition, recipe, operand, taken_when, other):
                    return recipe, operand, taken_when
    return None


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
            for point in _points(event, test, operand, variable):
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


def _points(event: Computation, test: Recipe, operand: Value, variable: Value) -> list[float]:
    """Where to look: around the number compared with, and where the operand of the operation is zero."""
    bounds = [n for n in (number(v) for v in test.operands[:2]) if n is not None]
    points = [0.0, *bounds]
    for bound in bounds or [0.0]:
        points += [bound - 1.0, bound + 1.0, bound - 0.5, bound + 0.5]
    at_zero, at_one = evaluated(event, operand, variable, 0.0), evaluated(event, operand, variable, 1.0)
    if at_zero is not None and at_one is not None and at_zero != at_one:
        points.append(-at_zero / (at_one - at_zero))
    return points


def _is_reached(event: Computation, variable: Value, point: float) -> bool:
    """Nothing of how the variable is computed keeps it from the point: ``exp(x)`` and ``1 / x`` are never zero."""
    recipe = recipe_of(event, variable)
    if recipe is None:
        return True
    if recipe.name in ("/", "reciprocal"):
        return point != 0.0 or (recipe.name == "/" and number(recipe.operands[0]) in (None, 0.0))
    low, high = _RANGES.get(recipe.name, (-math.inf, math.inf))
    return low < point < high


_BELOW_ZERO = math.nextafter(0.0, -1.0)
_RANGES = {
    "exp": (0.0, math.inf), "sigmoid": (0.0, 1.0), "softplus": (0.0, math.inf), "cosh": (0.0, math.inf),
    **dict.fromkeys(("abs", "square", "sqrt", "norm"), (_BELOW_ZERO, math.inf)),
}  # fmt: skip
"""Between which two numbers, which are left out, the results of an operation are."""


def _truth(event: Computation, test: Recipe, variable: Value, point: float) -> bool | None:
    values = [evaluated(event, operand, variable, point) for operand in test.operands[:2]]
    if len(values) != 2 or values[0] is None or values[1] is None:
        return None
    return bool(_COMPARISONS[test.name](values[0], values[1]))


def _is_singular(recipe: Recipe, value: float) -> bool:
    """The derivative of the operation is not finite, or not a number, where its operand is ``value``."""
    name = recipe.name
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


# --- formulas with a stable twin --------------------------------------------------------------------------

Finding = tuple[str, str]
"""What is wrong, and what to write."""


def instability(event: Computation) -> Finding | None:
    """What is wrong with a computation, if anything is."""
    if event.name == "log" and event.operands:
        return _of_logarithm(event, event.operands[0])
    if event.name == "-" and len(event.operands) == 2 and number(event.operands[1]) == 1.0:
        exponential = made_by(event, event.operands[0], "exp")
        if exponential is not None and _is_written_here(event, exponential) and not _undoes_log(event, exponential):
            return "`exp(x) - 1` loses all digits of a small x", "jnp.expm1"
    if event.name == "*" and len(event.operands) == 2:
        return _of_product(event, *event.operands)
    return None


def _undoes_log(event: Computation, exponential: Recipe) -> bool:
    """``exp(mean(log(1 + x))) - 1``, a mean of another kind; or ``log(exp(y) - 1)``, the inverse of ``softplus``, of which a
    small y makes no use."""
    mean = made_by(event, exponential.operands[0], "mean", "sum") if exponential.operands else None
    if mean is not None and mean.operands and made_by(event, mean.operands[0], "log", "log1p") is not None:
        return True
    return event.context.scope.text[: event.at.start].rstrip(" (").endswith("log")


def _of_logarithm(event: Computation, operand: Value) -> Finding | None:
    softmax = made_by(event, operand, "softmax")
    if _is_of_array(softmax) and _is_in_sight(event, softmax):
        return "`log(softmax(x))` is -inf for small probabilities", "jax.nn.log_softmax"
    if _is_of_array(made_by(event, operand, "sigmoid")):
        return "`log(sigmoid(x))` is -inf for very negative x", "jax.nn.log_sigmoid"
    total = made_by(event, operand, "sum")
    if total is not None and total.operands:
        terms = made_by(event, total.operands[0], "exp")
        if terms is not None and not _is_shifted(terms):
            return "`log(sum(exp(x)))` overflows for large x", "jax.scipy.special.logsumexp"
    one = made_by(event, operand, "+")
    if one is not None and _is_written_here(event, one) and 1.0 in (number(one.operands[0]), number(one.operands[1])):
        other = one.operands[1] if number(one.operands[0]) == 1.0 else one.operands[0]
        exponential = made_by(event, other, "exp")
        if exponential is not None and _is_written_here(event, exponential) and not _stays_low(exponential.operands[0]):
            return "`log(1 + exp(x))` overflows for large x and loses its digits for small ones", "jax.nn.softplus"
        if isinstance(other, Tree) or (isinstance(other, Array) and other.dtype not in ("int", "bool")):
            return "`log(1 + x)` loses all digits of a small x", "jnp.log1p"
    return None


def is_minor(event: Computation) -> bool:
    """The logarithm of a sigmoid that is no sum of products, as a learned number is: whether it ever is far from zero, nothing
    shows. What is written as ``log(sigmoid(x))`` counts all the same."""
    sigmoid = made_by(event, event.operands[0], "sigmoid") if event.name == "log" and event.operands else None
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


def _stays_low(value: Value, depth: int = DEEPEST) -> bool:
    """A value that is not above zero, or of a function whose results are bounded."""
    recipe = written_as(value)
    known = number(value)
    if known is not None or recipe is None or depth == 0:
        return known is not None and known <= _LOW
    first = recipe.operands[0] if recipe.operands else None
    if recipe.name in _BOUNDED_ABOVE:
        return True
    if recipe.name in ("minimum", "clip"):
        bounds = recipe.operands[:2] if recipe.name == "minimum" else recipe.operands[2:3]
        return any(_stays_low(bound, depth - 1) for bound in bounds)
    if recipe.name == "negative":
        return first is not None and _is_not_negative(first)
    if recipe.name in ("*", "/") and len(recipe.operands) == 2:
        factors = [(_is_not_negative(v), _is_not_positive(v)) for v in recipe.operands]
        return any(a[0] and b[1] for a, b in (factors, reversed(factors)))
    if recipe.name == "-" and len(recipe.operands) == 2:
        return number(recipe.operands[0]) is not None and _is_not_negative(recipe.operands[1])
    return False


def _is_not_negative(value: Value, depth: int = DEEPEST) -> bool:
    known, recipe = number(value), written_as(value)
    if known is not None or recipe is None or depth == 0:
        return known is not None and known >= 0.0
    if recipe.name in ("+", "*", "/", "maximum") and len(recipe.operands) == 2:
        found = [_is_not_negative(operand, depth - 1) for operand in recipe.operands]
        return any(found) if recipe.name == "maximum" else all(found)
    if recipe.name == "**":
        return len(recipe.operands) > 1 and number(recipe.operands[1]) == 2.0
    return recipe.name in _RANGES or recipe.name in _NOT_NEGATIVE


def _is_not_positive(value: Value) -> bool:
    known, recipe = number(value), written_as(value)
    if known is not None or recipe is None:
        return known is not None and known <= 0.0
    return recipe.name == "negative" and bool(recipe.operands) and _is_not_negative(recipe.operands[0])


_LOW = 20.0
_CONTRACTIONS = frozenset({"@", "matmul", "dot", "einsum", "tensordot", "vdot", "inner"})
_BOUNDED_ABOVE = frozenset({"tanh", "sigmoid", "cos", "sin", "log_sigmoid", "log_softmax", "softmax", "erf", "arctan"})
_NOT_NEGATIVE = frozenset({"softmax", "relu", "var", "std"})


def _is_of_array(recipe: Recipe | None) -> bool:
    """Such an operation gave the value, and not on a number that is known."""
    return recipe is not None and (not recipe.operands or number(recipe.operands[0]) is None)


def _is_in_sight(event: Computation, recipe: Recipe | None) -> bool:
    """The operation stands in the same file, so that a reader can tell what to write."""
    if recipe is None or recipe.function is None or recipe.function is event.context.inner:
        return True
    return any(function is recipe.function for function, _start, _first in functions_of(event.context.scope.tree))


def _is_written_here(event: Computation, recipe: Recipe) -> bool:
    """The operation stands inside the expression itself: a name for it may have other uses."""
    node = recipe.node
    return node is not None and event.at.start <= node.start and node.end <= event.at.end


def _is_shifted(exponential: Recipe) -> bool:
    """Something is subtracted from the exponents, such as their maximum, or they are bounded: as computed, or as written."""
    written = exponential.node.args if isinstance(exponential.node, ir.Call) else []
    return any(_subtracts(argument.value) for argument in written) or _is_bounded(exponential.operands[0])


def _is_bounded(value: Value, depth: int = DEEPEST) -> bool:
    """Something on the way to the value keeps it from growing, or may do so."""
    if number(value) is not None:
        return True
    recipe = written_as(value)
    if recipe is None or depth == 0:
        return False
    if recipe.name in _SHIFTS:
        return True
    operands = recipe.operands[1:] if recipe.name in ("where", "select") else recipe.operands
    return any(_is_bounded(v, depth - 1) for v in operands if number(v) is None)


def _subtracts(node: ir.Expr) -> bool:
    if isinstance(node, ir.BinOp):
        return node.op == "-" or _subtracts(node.left) or _subtracts(node.right)
    return isinstance(node, ir.UnaryOp) and _subtracts(node.operand)


_SHIFTS = frozenset({"-", "minimum", "clip", "log_softmax", "log_sigmoid", "negative", "tanh", "sigmoid", "softmax", "cos",
                     "sin"})  # fmt: skip


def _of_product(event: Computation, a: Value, b: Value) -> Finding | None:
    for factor, other in ((a, b), (b, a)):
        logarithm = made_by(event, other, "log")
        if logarithm is None or not logarithm.operands or not isinstance(factor, (Array, Tree)):
            continue
        softmax = made_by(event, factor, "softmax")
        underflows = softmax is not None and not _is_in_sight(event, softmax)
        if same(event, factor, logarithm.operands[0]) and (underflows or _may_be_zero(factor)):
            return "`x * log(x)` is NaN at zero", "jax.scipy.special.xlogy"
    return None


def _may_be_zero(value: Value, depth: int = DEEPEST) -> bool:
    """Nothing on the way to the value keeps it from zero."""
    recipe = written_as(value)
    if recipe is None or depth == 0:
        return number(value) in (None, 0.0)
    if recipe.name in _PRODUCTS:
        return any(_may_be_zero(v, depth - 1) for v in recipe.operands)
    return recipe.name not in _NONZERO and (
        recipe.name not in _ZERO_AT_ZERO or not recipe.operands or _may_be_zero(recipe.operands[0], depth - 1)
    )


_NONZERO = frozenset({"exp", "clip", "maximum", "max", "+", "softmax", "sigmoid", "softplus", "where", "select"})
"""Operations whose results are not zero, or on which the author has surely thought of it."""
_PRODUCTS = frozenset({"*", SHAPED})
_ZERO_AT_ZERO = frozenset({"/", "**", "sqrt", "abs", "square", "sum", "mean", "stop_gradient", "asarray"})
"""Operations that give zero, of what the rule is about, only where their first operand is zero."""
