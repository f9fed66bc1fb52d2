"""What is known of the range of a value, from how it was computed.

Vocabulary
----------
bounded     something on the way to the value keeps it from growing, or may do so.
whole       an integer, or a float that holds one: zero, or at least one.
low         not far above zero: an exponential of it does not overflow.
range       the two numbers, which are left out, that the results of an operation lie between.

All of it is there to be silent: what came in from a caller, or through a staging boundary, counts too (``written_as``). Not
modeled: ranges of sums and differences.
"""

from __future__ import annotations

import math

from flake8_jax.core import ir
from flake8_jax.semantics.domain.values import SHAPED, Array, Recipe, Static, Value
from flake8_jax.semantics.events.formulas import DEEPEST, number, written_as

_BELOW_ZERO = math.nextafter(0.0, -1.0)
RANGES = {
    "exp": (0.0, math.inf), "sigmoid": (0.0, 1.0), "softplus": (0.0, math.inf), "cosh": (0.0, math.inf),
    **dict.fromkeys(("abs", "square", "sqrt", "norm"), (_BELOW_ZERO, math.inf)),
}  # fmt: skip
"""Between which two numbers, which are left out, the results of an operation are."""
_LOW = 20.0
_BOUNDED_ABOVE = frozenset({"tanh", "sigmoid", "cos", "sin", "log_sigmoid", "log_softmax", "softmax", "erf", "arctan"})
_PRODUCT_SUMS = frozenset({"matmul", "dot", "einsum", "tensordot", "vdot", "inner"})
"""What was subtracted before one of these does not bound its result."""
_NOT_NEGATIVE = frozenset({"softmax", "relu", "var", "std"})
_SHIFTS = frozenset({"-", "minimum", "clip", "log_softmax", "log_sigmoid", "negative", "tanh", "sigmoid", "softmax", "cos",
                     "sin"})  # fmt: skip
_NONZERO = frozenset({"exp", "clip", "maximum", "max", "+", "softmax", "sigmoid", "softplus", "where", "select"})
"""Operations whose results are not zero, or on which the author has surely thought of it."""
_PRODUCTS = frozenset({"*", SHAPED})
_ZERO_AT_ZERO = frozenset({"/", "**", "sqrt", "abs", "square", "sum", "mean", "stop_gradient", "asarray"})
"""Operations that give zero, of what the rule is about, only where their first operand is zero."""


def is_shifted(exponential: Recipe) -> bool:
    """Something is subtracted from the exponents, such as their maximum, or they are bounded: as computed, or as written."""
    written = exponential.node.args if isinstance(exponential.node, ir.Call) else []
    return any(_subtracts(argument.value) for argument in written) or is_bounded(exponential.operands[0])


def is_bounded(value: Value, depth: int = DEEPEST) -> bool:
    """Something on the way to the value keeps it from growing, or may do so."""
    if number(value) is not None:
        return True
    recipe = written_as(value)
    if recipe is None or depth == 0 or recipe.name in _PRODUCT_SUMS:
        return False
    if recipe.name in _SHIFTS:
        return True
    operands = recipe.operands[1:] if recipe.name in ("where", "select") else recipe.operands
    return any(is_bounded(v, depth - 1) for v in operands if number(v) is None)


def _subtracts(node: ir.Expr) -> bool:
    if isinstance(node, ir.BinOp):
        return node.op == "-" or _subtracts(node.left) or _subtracts(node.right)
    return isinstance(node, ir.UnaryOp) and _subtracts(node.operand)


def stays_low(value: Value, depth: int = DEEPEST) -> bool:
    """A value that is not above zero, or of a function whose results are bounded."""
    recipe = written_as(value)
    known = number(value)
    if known is not None or recipe is None or depth == 0:
        return known is not None and known <= _LOW
    if recipe.name in _BOUNDED_ABOVE:
        return True
    if recipe.name in ("minimum", "clip"):
        bounds = recipe.operands[:2] if recipe.name == "minimum" else recipe.operands[2:3]
        return any(stays_low(bound, depth - 1) for bound in bounds)
    if is_not_positive(value):
        return True
    if recipe.name == "-" and len(recipe.operands) == 2:
        return number(recipe.operands[0]) is not None and is_not_negative(recipe.operands[1])
    return False


def is_not_negative(value: Value, depth: int = DEEPEST) -> bool:
    """No value that is below zero can come out of what computed it."""
    known, recipe = number(value), written_as(value)
    if known is not None or recipe is None or depth == 0:
        return known is not None and known >= 0.0
    if recipe.name in ("+", "*", "/", "maximum") and len(recipe.operands) == 2:
        found = [is_not_negative(operand, depth - 1) for operand in recipe.operands]
        return any(found) if recipe.name == "maximum" else all(found)
    if recipe.name == "**":
        return len(recipe.operands) > 1 and number(recipe.operands[1]) == 2.0
    return recipe.name in RANGES or recipe.name in _NOT_NEGATIVE


def is_not_positive(value: Value, depth: int = DEEPEST) -> bool:
    """No value that is above zero can come out of what computed it."""
    known, recipe = number(value), written_as(value)
    if known is not None or recipe is None or depth == 0:
        return known is not None and known <= 0.0
    if recipe.name in ("*", "/") and len(recipe.operands) == 2:
        sides = (recipe.node.left, recipe.node.right) if isinstance(recipe.node, ir.BinOp) else (None, None)
        factors = [
            (is_not_negative(v, depth - 1) or _is_square(side), is_not_positive(v, depth - 1))
            for v, side in zip(recipe.operands, sides, strict=True)
        ]
        return any(a[0] and b[1] for a, b in (factors, reversed(factors)))
    return recipe.name == "negative" and bool(recipe.operands) and is_not_negative(recipe.operands[0])


def _is_square(node: ir.Expr | None) -> bool:
    """``sigma**2``, of whatever number."""
    return (
        isinstance(node, ir.BinOp) and node.op == "**" and isinstance(node.right, ir.Constant) and node.right.value == 2
    )


def may_be_zero(value: Value, depth: int = DEEPEST) -> bool:
    """Nothing on the way to the value keeps it from zero."""
    recipe = written_as(value)
    if recipe is None or depth == 0:
        return number(value) in (None, 0.0)
    if recipe.name in _PRODUCTS:
        return any(may_be_zero(v, depth - 1) for v in recipe.operands)
    return recipe.name not in _NONZERO and (
        recipe.name not in _ZERO_AT_ZERO or not recipe.operands or may_be_zero(recipe.operands[0], depth - 1)
    )


_WHOLE = frozenset({"arange", "floor", "ceil", "rint", "trunc", "count_nonzero"})
"""Operations that give whole numbers; ``arange`` is recorded only if its steps are whole."""
_KEEPS_WHOLE = frozenset({"+", "-", "*", "**", "abs", "negative", "square", "maximum", "minimum", "//"})
_GATHERING = frozenset({"sum", "prod", "max", "min", "asarray", SHAPED})


def is_whole(value: Value, depth: int = DEEPEST) -> bool:
    """Every element is a whole number: a count, a length, an index, or a sum or a product of such."""
    known, recipe = number(value), written_as(value)
    if known is not None:
        return known.is_integer()
    if isinstance(value, Static):
        return value.kind in ("int", "bool")
    if isinstance(value, Array) and value.dtype in ("int", "bool"):
        return True
    if recipe is None or depth == 0 or not recipe.operands:
        return False
    if recipe.name in _WHOLE:
        return True
    if recipe.name in ("where", "select"):
        return all(is_whole(operand, depth - 1) for operand in recipe.operands[1:])
    operands = recipe.operands[:1] if recipe.name in _GATHERING else recipe.operands
    named = recipe.name in _GATHERING or recipe.name in _KEEPS_WHOLE
    return named and all(is_whole(operand, depth - 1) for operand in operands)
