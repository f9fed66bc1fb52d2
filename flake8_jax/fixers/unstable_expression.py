"""JAX703: the stable function in place of the formula. Not modelled: formulas spread over several statements."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource, repair
from flake8_jax.semantics.events.events import Computation
from flake8_jax.semantics.events.singularities import instability


@repair("unstable-expression")
def fix(event: Computation, source: FixSource) -> Fix | None:
    found = instability(event)
    if found is None:
        return None
    _wrong, better = found
    whole = event.at
    kept = _arguments(whole, better)
    if kept is None or source.lost_comments(whole.start, whole.end, kept):
        return None
    imports = Imports(source, whole)
    called = imports.spell(better.replace("jnp.", "jax.numpy.", 1) if better.startswith("jnp.") else better)
    texts = ", ".join(source.text[start:end] for start, end in kept)
    return Fix(f"Use `{better}`", "unsafe", (Edit(whole.start, whole.end, f"{called}({texts})"), *imports.edits))


def _arguments(whole: ir.Node, better: str) -> list[tuple[int, int]] | None:
    """Spans of the arguments of the stable function, where the formula is written in one piece."""
    if better == "jnp.expm1":
        return _call_arguments(whole.left, 1) if isinstance(whole, ir.BinOp) else None
    if better == "jax.scipy.special.xlogy":
        if not isinstance(whole, ir.BinOp):
            return None
        for factor, other in ((whole.left, whole.right), (whole.right, whole.left)):
            inner = _call_arguments(other, 1)
            if inner is not None and not isinstance(factor, (ir.BinOp, ir.Call)):
                return [(factor.start, factor.end), *inner]
        return None
    if not isinstance(whole, ir.Call) or len(whole.args) != 1:
        return None
    operand = whole.args[0].value
    if better == "jnp.log1p":
        if not isinstance(operand, ir.BinOp) or operand.op != "+":
            return None
        other = operand.right if isinstance(operand.left, ir.Constant) else operand.left
        return [(other.start, other.end)]
    if better == "jax.nn.softplus":
        if not isinstance(operand, ir.BinOp) or operand.op != "+":
            return None
        return _call_arguments(operand.right if isinstance(operand.left, ir.Constant) else operand.left, 1)
    if better == "jax.scipy.special.logsumexp":
        return _of_sum(operand)
    return _call_arguments(operand, None)


def _of_sum(operand: ir.Expr) -> list[tuple[int, int]] | None:
    """``sum(exp(x), axis=0)`` or ``exp(x).sum(axis=0)``: x and the options."""
    if not isinstance(operand, ir.Call):
        return None
    options = operand.args
    if isinstance(operand.func, ir.Attribute) and isinstance(operand.func.value, ir.Call):
        exponent: ir.Expr = operand.func.value
    elif operand.args and not operand.args[0].star and operand.args[0].keyword is None:
        exponent, options = operand.args[0].value, operand.args[1:]
    else:
        return None
    inner = _call_arguments(exponent, 1)
    if inner is None or any(
        o.star or (o.keyword is not None and o.keyword not in ("axis", "keepdims")) for o in options
    ):
        return None
    return [*inner, *((o.start, o.end) for o in options)]


def _call_arguments(node: ir.Expr, count: int | None) -> list[tuple[int, int]] | None:
    if not isinstance(node, ir.Call) or not node.args or (count is not None and len(node.args) != count):
        return None
    if any(a.star for a in node.args) or isinstance(node.args[0].value, ir.Generator):
        return None
    return [(a.start, a.end) for a in node.args]
