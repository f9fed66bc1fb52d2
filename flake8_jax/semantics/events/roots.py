"""Square roots and norms that are differentiated where they may be zero.

Vocabulary
----------
clamped  a value that the code keeps at zero or above: ``maximum(x, 0)``, ``relu(x)``.
pairs    the differences of all pairs of points: ``x[:, None] - x[None]``. Those on the diagonal are zero.

Limitations: the values that arguments have, lengths that are zero only where two arguments agree in part.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import all_statements, last_name, path_of
from flake8_jax.semantics.domain.recipes import has_tangent
from flake8_jax.semantics.domain.values import Array, Opaque, Recipe, UnionValue, Unknown, Value, canonical_key
from flake8_jax.semantics.events.events import Computation
from flake8_jax.semantics.events.formulas import DEEPEST, elements_as_written, number, written_as

_IN_ROOT = "use `where` to choose a positive operand, or add a small number inside the root"
_SUM = "write the sum of squares without the root"


class Root(NamedTuple):
    """What is wrong, in words, and what to do. certain: the code makes the operand zero itself."""

    wrong: str
    remedy: str
    certain: bool = False


def root_at_zero(event: Computation) -> Root | None:
    """The root or norm whose gradient is not finite at a value that its operand takes."""
    if not event.differentiated or not event.operands:
        return None
    if event.name == "**":
        return _of_square(event)
    if event.name == "sqrt" and not has_tangent(event.operands[0], event.tangents):
        return _of_kept_state(event)
    if event.name == "sqrt":
        return _of_clamped(event.operands[0]) or _of_length(event, _squares_in(event.operands[0]))
    if event.name == "norm" and has_tangent(event.operands[0], event.tangents) and _is_euclidean(event.at):
        return _of_length(event, event.operands[0])
    return None


def _is_euclidean(node: ir.Node) -> bool:
    """No other order is given."""
    if not isinstance(node, ir.Call):
        return False
    orders = [a.value for i, a in enumerate(node.args) if a.keyword == "ord" or (i == 1 and a.keyword is None)]
    return all(isinstance(order, ir.Constant) and order.value in (None, 2) for order in orders)


def _of_clamped(value: Value, depth: int = DEEPEST) -> Root | None:
    """``sqrt(maximum(x, 0))``, also times a number."""
    if isinstance(value, UnionValue):
        return next((found for member in value.members if (found := _of_clamped(member, depth - 1))), None)
    recipe = written_as(elements_as_written(value))
    if recipe is None or depth == 0:
        return None
    if _is_clamp(recipe):
        return Root("has a NaN gradient where its operand is clamped to 0", _IN_ROOT, certain=True)
    if recipe.name == "*" and len(recipe.operands) == 2:
        others = [v for v in recipe.operands if number(v) is None]
        return _of_clamped(others[0], depth - 1) if len(others) == 1 else None
    return None


def _of_kept_state(event: Computation) -> Root | None:
    """``sqrt(2 * g * self.height)`` in a step that ends with ``self.height = jnp.maximum(self.height, 0)``."""
    function, node = event.context.inner, event.at
    if function is None or not isinstance(node, ir.Call) or not isinstance(event.operands[0], (Unknown, Array)):
        return None
    read = {path_of(n) for argument in node.args for n in walk(argument.value) if isinstance(n, ir.Attribute)}
    for statement in all_statements(function.body):
        if isinstance(statement, ir.Assign) and path_of(statement.targets[0]) in read - {""}:
            if _clamps_at_zero(statement.value):
                return Root("has a NaN gradient where this function has clamped the operand to 0", _IN_ROOT)
    return None


def _clamps_at_zero(node: ir.Expr) -> bool:
    if not isinstance(node, ir.Call) or last_name(node.func) not in ("maximum", "clip", "relu", "max"):
        return False
    return last_name(node.func) == "relu" or any(
        isinstance(argument.value, ir.Constant) and argument.value.value == 0 for argument in node.args[:2]
    )


def _is_clamp(recipe: Recipe) -> bool:
    if recipe.name == "relu":
        return True
    bounds = recipe.operands[1:2] if recipe.name == "clip" else recipe.operands if recipe.name == "maximum" else ()
    return any(number(bound) == 0.0 for bound in bounds)


def _squares_in(value: Value) -> Value | None:
    """``x`` of ``sum(x**2)``, also times or divided by a number or a size."""
    recipe = written_as(elements_as_written(value))
    for _ in range(2):
        if recipe is not None and recipe.name in ("/", "*") and len(recipe.operands) == 2:
            recipe = written_as(elements_as_written(recipe.operands[0]))
    if recipe is None or recipe.name != "sum" or not recipe.operands:
        return None
    squared = written_as(recipe.operands[0])
    if squared is None or not squared.operands:
        return None
    if squared.name == "square" or (squared.name == "**" and number(squared.operands[1]) == 2.0):
        return squared.operands[0]
    if squared.name == "*" and canonical_key(squared.operands[0]) is canonical_key(squared.operands[1]):
        return squared.operands[0]
    return None


def _of_length(event: Computation, vector: Value | None) -> Root | None:
    """The length of a difference, or of an argument by which the code differentiates."""
    if vector is None:
        return None
    recipe = written_as(elements_as_written(vector))
    if recipe is not None and recipe.name == "-" and len(recipe.operands) == 2:
        if _is_of_pairs(event, recipe):
            wrong = "has NaN gradients, because the distance of each point to itself is 0"
            return Root(wrong, _IN_ROOT, certain=True)
        if any(number(operand) is not None for operand in recipe.operands):
            return None
        return Root("has a NaN gradient if both vectors are equal", _IN_ROOT)
    if recipe is None and _is_argument(vector):
        return Root("has a NaN gradient if the vector is 0", _IN_ROOT)
    return None


def _is_of_pairs(event: Computation, difference: Recipe) -> bool:
    """``x[:, None] - x[None]``, where the function writes it out."""
    node, text = difference.node, event.context.scope.text
    if not isinstance(node, ir.BinOp) or difference.function is not event.context.inner:
        return False
    left, right = node.left, node.right
    if not isinstance(left, ir.Subscript) or not isinstance(right, ir.Subscript):
        return False
    first, second = (text[side.start : side.end] for side in (left, right))
    bases = [text[side.value.start : side.value.end] for side in (left, right)]
    return bases[0] == bases[1] and first != second and all(_NEW_AXIS.search(one) for one in (first, second))


_NEW_AXIS = re.compile(r"\bNone\b|\bnewaxis\b")


def _is_argument(value: Value) -> bool:
    return isinstance(value, (Array, Opaque))


def _of_square(event: Computation) -> Root | None:
    """``norm(w)**2``."""
    node = event.at
    if not isinstance(node, ir.BinOp) or len(event.operands) != 2 or number(event.operands[1]) != 2.0:
        return None
    recipe = written_as(event.operands[0])
    if recipe is None or recipe.name != "norm" or not recipe.operands:
        return None
    if not has_tangent(recipe.operands[0], event.tangents):
        return None
    return Root("has a NaN gradient if the vector is 0, although its own gradient would be 0", _SUM)
