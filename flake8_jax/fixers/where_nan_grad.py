"""JAX702: the second ``where``, around the operand.

Vocabulary
----------
upstream    an operation in an earlier statement that the branch was computed from, and whose own slope is infinite at the
            point that the condition keeps out. A mask after it turns its gradient into zero times infinity: NaN again.

Limitations: operands computed in an earlier statement.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import GUARDED, unsafe
from flake8_jax.fixers._source import Declined, FixSource, fixer
from flake8_jax.semantics.domain.recipes import has_tangent
from flake8_jax.semantics.domain.values import Recipe, Value
from flake8_jax.semantics.events.bounds import may_be_zero
from flake8_jax.semantics.events.events import Computation
from flake8_jax.semantics.events.formulas import parts
from flake8_jax.semantics.events.singularities import guarded_singularities

LONGEST_GUARD = 60
"""Characters of a condition that may be written twice."""


@fixer("where-nan-grad")
def fix(event: Computation, source: FixSource) -> Fix | None:
    if event.name not in ("where", "select"):
        return None
    found = list(guarded_singularities(event))
    call = event.at
    if not found or not isinstance(call, ir.Call) or any(a.star or a.keyword for a in call.args):
        return None
    taken_when = found[0][2]
    condition, branch = call.args[0].value, call.args[1 if taken_when else 2].value
    operands = _innermost([_operand_node(recipe.node) for recipe, _, when in found if when is taken_when], branch)
    guard = source.argument(condition)
    if not operands or not isinstance(condition, (ir.Name, ir.Compare)) or len(guard) > LONGEST_GUARD or "\n" in guard:
        return None
    upstream = _upstream(event, found, branch, operands)
    if upstream is not None:
        raise Declined(
            f"no automatic fix, because the gradient of `{source.slice(upstream)}` has the same problem; mask both"
        )
    edits = []
    for operand in operands:
        chosen = source.argument(operand)
        pair = f"{chosen}, 1.0" if taken_when else f"1.0, {chosen}"
        edits.append(Edit(operand.start, operand.end, f"{source.slice(call.func)}({guard}, {pair})"))
    return unsafe("Also mask the operand" if len(edits) == 1 else "Also mask the operands", GUARDED, edits)


_STEEP = frozenset({"sqrt", "norm", "arccos", "arcsin", "arccosh", "arctanh"})
"""Their slopes are infinite where their own results, or those of an operation on them, are zero."""


def _innermost(operands: list[ir.Expr | None], branch: ir.Expr) -> list[ir.Expr]:
    """The operands that stand in the branch and hold no other one: an operation on what is masked is finite itself. None where
    the first, which the finding is about, stands elsewhere."""
    first = operands[0]
    if first is None or not _holds(branch, first):
        return []
    there = {(one.start, one.end): one for one in operands if one is not None and _holds(branch, one)}
    return [
        one for one in there.values() if not any(other is not one and _holds(one, other) for other in there.values())
    ]


def _upstream(
    event: Computation, found: list[tuple[Recipe, Value, bool]], branch: ir.Expr, masked: list[ir.Expr]
) -> ir.Expr | None:
    """An operation upstream, as an expression of the same function."""
    for recipe in (recipe for recipe, _, _ in found):
        if isinstance(recipe.node, ir.Node) and not _holds(branch, recipe.node):
            return recipe.node  # type: ignore[return-value]
    spans = {(one.start, one.end) for one in masked}
    for recipe, operand, _ in found:
        node = _operand_node(recipe.node)
        if node is None or (node.start, node.end) not in spans:
            continue
        for _value, earlier in parts(event, operand):
            if earlier.name in _STEEP and isinstance(earlier.node, ir.Node) and not _holds(branch, earlier.node):
                if has_tangent(earlier.operands[0], event.tangents) and may_be_zero(earlier.operands[0]):
                    return earlier.node  # type: ignore[return-value]
    return None


def _holds(outer: ir.Expr, inner: ir.Node) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _operand_node(operation: ir.Node | None) -> ir.Expr | None:
    if isinstance(operation, ir.BinOp):
        return operation.right if operation.op == "/" else operation.left
    if isinstance(operation, ir.Call) and len(operation.args) >= 1 and not operation.args[0].star:
        return operation.args[0].value
    return None
