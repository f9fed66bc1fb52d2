"""JAX702: the second ``where``, around the operand. Limitations: operands computed in an earlier statement."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import GUARDED, unsafe
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.semantics.events.events import Computation
from flake8_jax.semantics.events.singularities import guarded_singularity

LONGEST_GUARD = 60
"""Characters of a condition that may be written twice."""


@fixer("where-nan-grad")
def fix(event: Computation, source: FixSource) -> Fix | None:
    if event.name not in ("where", "select"):
        return None
    found = guarded_singularity(event)
    call = event.at
    if found is None or not isinstance(call, ir.Call) or any(a.star or a.keyword for a in call.args):
        return None
    recipe, _operand, taken_when = found
    condition = call.args[0].value
    branch = call.args[1 if taken_when else 2].value
    operand = _operand_node(recipe.node)
    if operand is None or not (branch.start <= operand.start and operand.end <= branch.end):
        return None
    guard = source.argument(condition)
    if not isinstance(condition, (ir.Name, ir.Compare)) or len(guard) > LONGEST_GUARD or "\n" in guard:
        return None
    chosen = source.argument(operand)
    pair = f"{chosen}, 1.0" if taken_when else f"1.0, {chosen}"
    text = f"{source.slice(call.func)}({guard}, {pair})"
    return unsafe("Also mask the operand", GUARDED, (Edit(operand.start, operand.end, text),))


def _operand_node(operation: ir.Node | None) -> ir.Expr | None:
    if isinstance(operation, ir.BinOp):
        return operation.right if operation.op == "/" else operation.left
    if isinstance(operation, ir.Call) and len(operation.args) >= 1 and not operation.args[0].star:
        return operation.args[0].value
    return None
