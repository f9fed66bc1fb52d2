"""jnp arithmetic on static shapes, done with ``math`` instead: the result is a Python number again.

``jnp.prod(jnp.array(x.shape))`` becomes ``math.prod(x.shape)``, ``jnp.ceil(n / 2)`` becomes ``math.ceil(n / 2)``.
Limitations: anything that reads more than shapes, constants and names.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import children
from flake8_jax.fixers._announced import ON_HOST, decided
from flake8_jax.fixers._conditions import runs_only_traced
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource, Refused

_EQUIVALENTS = {
    "jax.numpy.prod": "math.prod",
    "jax.numpy.ceil": "math.ceil",
    "jax.numpy.floor": "math.floor",
    "jax.numpy.sqrt": "math.sqrt",
    "jax.numpy.log2": "math.log2",
}
_WRAPPERS = ("jax.numpy.array", "jax.numpy.asarray")


def on_host(source: FixSource, node: ir.Node) -> Fix:
    """Replace the jnp calls in a size by their equivalents of ``math``.

    Raises:
        Refused: there are none, or others besides.
    """
    imports = Imports(source, node)
    edits: list[Edit] = []
    stack: list[object] = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, ir.Call):
            name = imports.resolve(current.func)
            if name in _EQUIVALENTS:
                stack.append(_argument(source, imports, current, edits, _EQUIVALENTS[name]))
                continue
            if not (isinstance(current.func, ir.Name) and current.func.id in ("int", "max", "min", "abs", "round")):
                raise Refused
        stack.extend(children(current))  # type: ignore[arg-type]
    if not edits:
        raise Refused
    fix = Fix("Compute the size with `math` in Python", "safe", (*edits, *imports.edits))
    return decided(fix, safe=runs_only_traced(source, node), otherwise=ON_HOST)


def reads_only_shapes(imports: Imports, node: ir.Expr) -> bool:
    """Whether all that the expression depends on is constants, ``x.shape``, ``x.ndim``, ``x.size`` and ``len(x)``."""
    stack: list[object] = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, ir.Name):
            return False
        if isinstance(current, ir.Attribute) and current.attr in ("shape", "ndim", "size"):
            continue
        if isinstance(current, ir.Call):
            if isinstance(current.func, ir.Name) and current.func.id == "len":
                continue
            if imports.resolve(current.func) not in (*_EQUIVALENTS, *_WRAPPERS):
                return False
            stack += [a.value for a in current.args]
            continue
        stack.extend(children(current))  # type: ignore[arg-type]
    return True


def _argument(source: FixSource, imports: Imports, call: ir.Call, edits: list[Edit], equivalent: str) -> ir.Expr:
    """Rewrite one call, wrappers around its argument dropped; gives the argument to look at next."""
    if len(call.args) != 1 or call.args[0].keyword or call.args[0].star:
        raise Refused
    edits.append(Edit(call.func.start, call.func.end, imports.spell(equivalent)))
    value = call.args[0].value
    if isinstance(value, ir.Call) and imports.resolve(value.func) in _WRAPPERS and len(value.args) == 1:
        inner = value.args[0].value
        if source.comments(value.start, value.end):
            raise Refused
        edits += [Edit(value.start, inner.start, ""), Edit(inner.end, value.end, "")]
        value = inner
    # ``math`` takes numbers, and the product alone takes a sequence of them.
    if _is_sequence(value) if equivalent != "math.prod" else _is_one_number(value):
        raise Refused
    return value


def _is_sequence(node: ir.Expr) -> bool:
    return isinstance(node, (ir.List, ir.Tuple)) or (isinstance(node, ir.Attribute) and node.attr == "shape")


def _is_one_number(node: ir.Expr) -> bool:
    if isinstance(node, ir.Subscript):
        shape = isinstance(node.value, ir.Attribute) and node.value.attr == "shape"
        return shape and not isinstance(node.index, ir.Slice)
    return isinstance(node, ir.Constant) or (isinstance(node, ir.Attribute) and node.attr in ("ndim", "size"))
