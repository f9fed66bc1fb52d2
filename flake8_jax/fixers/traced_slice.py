"""JAX107: a slice of fixed length becomes ``jax.lax.dynamic_slice_in_dim``; an update through it, index arithmetic.

Limitations: lengths that depend on data, steps, arrays among the other indices.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import CLAMPS, WRAPS, unsafe
from flake8_jax.fixers._expressions import Effect, effect
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource, Refused, fixer
from flake8_jax.semantics.domain.values import Array, Tree
from flake8_jax.semantics.events.events import Slicing


@fixer("traced-slice")
def fix(event: Slicing, source: FixSource) -> Fix | None:
    part = event.slice
    if part.step is not None or not isinstance(event.base, (Array, Tree)):
        return None
    imports = Imports(source, event.at)
    if effect(event.at.index, imports) is not Effect.PURE:
        return None
    if event.mode == "at":
        return _update(source, imports, event.at, part, event)
    start, length = _start_and_length(source, part)
    axis, rest = _axis(source, event.at, part)
    base = source.argument(event.at.value)
    where = f", axis={axis}" if axis else ""
    if source.lost_comments(event.at.start, event.at.end, [(event.at.value.start, event.at.value.end)]):
        return None
    text = f"{imports.spell('jax.lax.dynamic_slice_in_dim')}({base}, {start}, {length}{where}){rest}"
    edit = Edit(event.at.start, event.at.end, text)
    return unsafe("Slice with `jax.lax.dynamic_slice_in_dim`", CLAMPS, (edit, *imports.edits))


def _start_and_length(source: FixSource, part: ir.Slice) -> tuple[str, str]:
    """``i:i+n`` → i, n; ``i-n:i`` → i - n, n; ``i*n:(i+1)*n`` → i*n, n."""
    if part.lower is None or part.upper is None:
        raise Refused
    start = source.argument(part.lower)
    step = _step(source, part.lower, part.upper)
    if step is not None:
        return start, source.argument(step)
    low, high = part.lower, part.upper
    if isinstance(low, ir.BinOp) and isinstance(high, ir.BinOp) and (low.op, high.op) == ("-", "+"):
        if source.slice(low.left) == source.slice(high.left):
            return start, _sum(source, low.right, high.right)
    raise Refused


def _sum(source: FixSource, one: ir.Expr, other: ir.Expr) -> str:
    """The sum of two expressions; of two numbers that are written out, the number."""
    values = [e.value for e in (one, other) if isinstance(e, ir.Constant) and e.kind == "int"]
    if len(values) == 2 and all(isinstance(value, int) for value in values):
        return str(sum(value for value in values if isinstance(value, int)))
    return f"{source.operand(one)} + {source.operand(other)}"


def _step(source: FixSource, low: ir.Expr, high: ir.Expr) -> ir.Expr | None:
    """The n of ``i:i+n``, ``i:n+i``, ``i-n:i`` and ``i*n:(i+1)*n``."""
    if isinstance(high, ir.BinOp) and high.op == "+":
        for base, step in ((high.left, high.right), (high.right, high.left)):
            if source.slice(base) == source.slice(low):
                return step
    if isinstance(low, ir.BinOp) and low.op == "-" and source.slice(low.left) == source.slice(high):
        return low.right
    if isinstance(low, ir.BinOp) and isinstance(high, ir.BinOp) and low.op == high.op == "*":
        return _block(source, low, high)
    return None


def _block(source: FixSource, low: ir.BinOp, high: ir.BinOp) -> ir.Expr | None:
    """The n of ``i*n`` and ``(i+1)*n``, factors in any order."""
    for index, step in ((low.left, low.right), (low.right, low.left)):
        for other, count in ((high.left, high.right), (high.right, high.left)):
            if source.slice(other) != source.slice(step) or not isinstance(count, ir.BinOp) or count.op != "+":
                continue
            if _is_one(count.right) and source.slice(count.left) == source.slice(index):
                return step
    return None


def _is_one(node: ir.Expr) -> bool:
    return isinstance(node, ir.Constant) and node.kind == "int" and node.value == 1


def _axis(source: FixSource, at: ir.Subscript, part: ir.Slice) -> tuple[int, str]:
    """The axis that the slice stands for, and what is left to index."""
    if not isinstance(at.index, ir.Tuple):
        return 0, ""
    elements = at.index.elts
    position = next(i for i, e in enumerate(elements) if e is part)
    for element in elements:
        constant = isinstance(element, ir.Constant) and element.kind == "int"
        if not isinstance(element, ir.Slice) and not constant:
            raise Refused
    if all(isinstance(e, ir.Slice) and e.lower is e.upper is e.step is None for e in elements if e is not part):
        return position, ""
    rest = ", ".join(":" if e is part else source.slice(e) for e in elements)
    return position, f"[{rest}]"


def _subtracts(node: ir.Expr) -> bool:
    """The value may be below zero although its operands are not."""
    return any(isinstance(n, (ir.UnaryOp, ir.BinOp)) and n.op == "-" for n in walk(node))


def _update(source: FixSource, imports: Imports, at: ir.Subscript, part: ir.Slice, event: Slicing) -> Fix:
    """``x.at[i:i+n]`` → ``x.at[i + jnp.arange(n)]``: same elements, and those outside are dropped as well."""
    others = at.index.elts if isinstance(at.index, ir.Tuple) else []
    if any(not isinstance(e, ir.Slice) for e in others):
        raise Refused
    if source.comments(part.start, part.end):
        raise Refused
    _, length = _start_and_length(source, part)
    if part.lower is None or _subtracts(part.lower):
        raise Refused  # a slice that starts below zero is empty, or starts at the end
    text = f"{source.atom(part.lower)} + {imports.spell('jax.numpy.arange')}({length})"
    edit = Edit(part.start, part.end, text)
    return unsafe("Update with an array of indices", WRAPS, (edit, *imports.edits))
