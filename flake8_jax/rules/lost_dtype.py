"""JAX716: see the page of ``lost_dtype``."""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._units import library_name
from flake8_jax.rules._wording import spelled
from flake8_jax.semantics.domain.code import last_name, nodes_around
from flake8_jax.semantics.domain.host_tests import written_as
from flake8_jax.semantics.domain.values import Const, External, UnionValue, Value
from flake8_jax.semantics.events.context import Context
from flake8_jax.semantics.events.events import LibraryCall

_LOW = frozenset({"bfloat16", "float16", "half"})
_MAKERS = ("jax.random.", "jax.numpy.")


@rule("JAX716", "warning")
def lost_dtype(event: LibraryCall) -> Report | None:
    """An array of low precision becomes float32, because the code multiplies or adds it with a float32 value.

    The rule is on only with `--preview`, because too few public repositories have such code to judge the rule.

    ## Why is this bad?

    If the code asks for `bfloat16` weights and then scales them by a float32 array, JAX promotes the result to float32.
    The model then uses twice the memory, and all later computations with these weights are in float32, too. JAX raises
    no error.

    Python numbers do not change the dtype of an array, but arrays do, even if they hold one number. The results of
    `np.sqrt(n)`, `jnp.float32(x)` and `jnp.array(n, jnp.float32)` all count as arrays. Use `math.sqrt(n)` or
    `n ** -0.5` for the factor, or cast the result with `.astype(dtype)`.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    def init(key, features):
        weights = jax.random.normal(key, (features, features), jnp.bfloat16) / np.sqrt(features)  # expect: lost-dtype
        bias = 0.1 * jnp.ones((features,), dtype=jnp.bfloat16) * jnp.float32(0.5)  # expect: lost-dtype
        return weights, bias


    def demonstrate():
        weights, bias = init(jax.random.key(0), 4)
        assert weights.dtype == bias.dtype == jnp.float32
    ```

    ## Use instead

    ```python
    import math

    import jax
    import jax.numpy as jnp


    def init(key, features):
        weights = jax.random.normal(key, (features, features), jnp.bfloat16) / math.sqrt(features)
        bias = 0.1 * jnp.ones((features,), dtype=jnp.bfloat16) * 0.5
        return weights, bias
    ```

    ## Not reported

    jaxlint does not report an expression that the code casts, such as `(x * scale).astype(dtype)`, or whose dtype it does
    not know.

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    def init(key, features, dtype=None):
        weights = (jax.random.normal(key, (features,), jnp.bfloat16) / np.sqrt(features)).astype(jnp.bfloat16)
        return weights, jnp.ones((features,), dtype) / np.sqrt(features)
    ```

    ## Limitations

    The rule knows the dtype `config.dtype` only by the default of this field, and only if an annotation of the same file
    names the class of `config`.

    The rule looks only at the expression around the call that makes the array. It follows a variable for the other operand,
    if one assignment of the function sets it.

    ## Fix safety

    No fix. The author has to decide which precision the result should have.

    ## How it is verified

    jaxlint cannot confirm the finding, because the call runs without an error.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX701 (`x64-disabled`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/type_promotion.html>
    """
    if not event.name.startswith(_MAKERS) or "dtype" not in event.bound_nodes or event.context.inner is None:
        return None
    if is_test(event.context):
        return None
    path = list(nodes_around(event.context.scope.tree.body, event.at.start, event.at.end))
    while path and path[-1] is not event.at:
        path.pop()
    dtype = _low_precision(event.bound.get("dtype")) or _default_of_field(event, path)
    if not dtype:
        return None
    factor, whole = _strong_operand(event.context, path)
    if factor is None or whole is None or _is_cast(event.context, whole, path):
        return None
    function = f"`{spelled(event.context, event.at, event.name)}`"
    problem = (
        f"{quote(event.context, factor)} is a float32 array, so the result is not the {dtype} that {function} gives"
    )
    return Report(factor, f"{problem}, but float32; use a Python number, or cast the result with .astype", preview=True)


def _low_precision(value: Value | None) -> str:
    """The name of a dtype of two bytes; empty for any other, or if it is not known."""
    if isinstance(value, UnionValue):
        names = {_low_precision(member) for member in value.members}
        return names.pop() if len(names) == 1 else ""
    name = value.name.rpartition(".")[2] if isinstance(value, External) else ""
    name = value.value if isinstance(value, Const) and isinstance(value.value, str) else name
    return name if name in _LOW else ""


def _default_of_field(event: LibraryCall, path: list[Any]) -> str:
    """The dtype of two bytes that is the default of ``config.dtype``, if an annotation says of which class the object is."""
    node = event.bound_nodes.get("dtype")
    if not isinstance(node, ir.Attribute) or not isinstance(node.value, ir.Name):
        return ""
    owner = node.value.id
    parameters = [p for around in path if isinstance(around, ir.FunctionDef) for p in around.function.params]
    said = [p.annotation.id for p in parameters if p.name == owner and isinstance(p.annotation, ir.Name)]
    fields = [
        field
        for cls in event.context.scope.tree.body
        if isinstance(cls, ir.ClassDef) and cls.name in said[-1:]
        for field in cls.body
        if isinstance(field, ir.AnnAssign) and isinstance(field.target, ir.Name) and field.target.id == node.attr
    ]
    name = last_name(fields[0].value) if fields and fields[0].value is not None else ""
    return name if name in _LOW else ""


def _strong_operand(context: Context, path: list[Any]) -> tuple[ir.Expr | None, ir.Expr | None]:
    """The float32 operand of the arithmetic around the last node of a path, and all of that arithmetic."""
    found: ir.Expr | None = None
    whole = path[-1] if path else None
    for node in reversed(path[:-1]):
        if not isinstance(node, ir.BinOp) or node.op not in ("+", "-", "*", "/"):
            break
        other = node.left if node.right is whole else node.right
        found = other if found is None and _is_strong(context, other) else found
        whole = node
    return found, whole


_FLOATS = frozenset({"float32", "float64", "single", "double"})
_OF_NUMPY = frozenset({"sqrt", "exp", "log", "cbrt"}) | _FLOATS
_ELEMENTWISE = frozenset({"sqrt", "rsqrt", "exp", "log", "square", "reciprocal", "abs"})
_ARRAYS = frozenset({"array", "asarray"})


def _is_strong(context: Context, node: Any, depth: int = 4) -> bool:
    """The value is a float32 or float64 array, or a scalar of NumPy, which JAX promotes by."""
    node = written_as(node, context.inner)
    if depth == 0:
        return False
    if isinstance(node, (ir.BinOp, ir.UnaryOp)):
        operands = [node.left, node.right] if isinstance(node, ir.BinOp) else [node.operand]
        return any(_is_strong(context, operand, depth - 1) for operand in operands)
    if not isinstance(node, ir.Call) or not node.args:
        return False
    library, _, name = library_name(node.func, context.scope).rpartition(".")
    given = [argument.value for argument in node.args if argument.keyword in (None, "dtype")]
    if library == "numpy":
        return name in _OF_NUMPY
    if library not in ("jax.numpy", "jax.lax"):
        return False
    if name in _ELEMENTWISE:
        return _is_strong(context, node.args[0].value, depth - 1)
    return name in _FLOATS or (name in _ARRAYS and any(last_name(one) in _FLOATS for one in given[1:]))


def _is_cast(context: Context, whole: ir.Expr, path: list[Any]) -> bool:
    """The code casts the result, or passes it on, so that it may be cast there."""
    around = [node for node in path if node.start <= whole.start and whole.end <= node.end and node is not whole]
    parent = around[-1] if around else None
    if not isinstance(parent, (ir.Assign, ir.AnnAssign, ir.Return, ir.Tuple, ir.List, ir.Dict)):
        return True
    inner, body = context.inner, context.scope.tree.body
    names = {target.id for target in getattr(parent, "targets", []) if isinstance(target, ir.Name)}
    here = _cast_in(inner.body) if inner is not None else []
    return any(isinstance(cast, ir.Name) and cast.id in names for cast in here) or any(
        isinstance(cast, ir.Call) and inner is not None and last_name(cast.func) == inner.name
        for cast in _cast_in(body)
    )


def _cast_in(body: list[ir.Stmt]) -> list[ir.Expr]:
    """What a body calls ``astype`` of."""
    nodes = (node for statement in body for node in walk(statement))
    return [node.value for node in nodes if isinstance(node, ir.Attribute) and node.attr == "astype"]
