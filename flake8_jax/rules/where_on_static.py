"""JAX112: see the page of ``where_on_static``."""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.code import last_name, path_of
from flake8_jax.semantics.domain.host_tests import CHOOSING, is_host_test
from flake8_jax.semantics.domain.values import Const, Value
from flake8_jax.semantics.events.events import LibraryCall
from flake8_jax.semantics.events.facts import CHOSEN_BY_DATA


@rule("JAX112", "warning", fixable="sometimes")
def where_on_static(event: LibraryCall) -> Report | None:
    """`jnp.where` has a condition that is a Python bool at trace time.

    The rule is on only with `--preview`, because it reports only 5 places in 282 public repositories. All 5 findings
    are right: Python computes a value that the program does not need.

    ## Why is this bad?

    A condition such as `scale is None`, a flag or a comparison of strings is a Python bool. Python computes both
    values before it calls `where`, and if the gradient of the value that is not chosen is NaN or infinite, the gradient of the
    whole call is NaN. The result has a dtype and a shape that fit both values (`where` promotes and broadcasts them).
    If one value is None, the call raises `TypeError`. A Python `if` computes only the value that it chooses.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def normalize(x):
        return jnp.where(x.ndim == 1, jnp.log(x), x)  # expect: where-on-static


    def demonstrate():
        gradient = jax.grad(lambda x: normalize(x).sum())(jnp.zeros((2, 2)))
        assert jnp.isnan(gradient).all()
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def attend(x, mask=None):
        return jnp.where(mask is None, x, x * mask)  # expect: where-on-static


    def demonstrate():
        attend(jnp.ones(3))  # raises: TypeError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def normalize(x, mask=None):
        x = jnp.log(x) if x.ndim == 1 else x
        return x if mask is None else x * mask
    ```

    ## Not reported

    jaxlint does not report values that cost nothing to compute (`jnp.where(train, 0.9, 1.0)`). It does not report a
    condition that is computed from the elements of an array, or a condition that is a NumPy array of booleans,
    because a Python `if` cannot choose single elements.

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np

    CHECKER = np.indices((4, 4)).sum(0) % 2 == 0


    def forward(x, train):
        keep = jnp.where(train, 0.9, 1.0)
        x = jnp.where(CHECKER, jnp.sin(x), jnp.cos(x))
        return jnp.where(x > 0, jnp.log1p(jnp.abs(x)), x) * keep


    fast = jax.jit(forward, static_argnames="train")
    slow = jax.jit(lambda x, flag: jnp.where(flag, jnp.sin(x), x))


    def main():
        return fast(jnp.ones((4, 4)), train=True), slow(jnp.ones(3), True)
    ```

    ## Limitations

    The rule does not report a value that an earlier statement computes, as in `y = f(x)` before
    `jnp.where(flag, y, x)`. It also misses a condition that compares a parameter with a number (`n > 0`), because a
    caller may pass an array for `n`.

    ## Fix safety

    Unsafe. `jnp.where(condition, a, b)` becomes `a if condition else b`. The dtype and the shape of the result may
    change, because Python returns one of the values as it is.

    ## How it is verified

    `jaxlint verify` runs the program that you name. It confirms the finding if the call of `jnp.where` runs, because
    Python computes both values before the call, or if the call raises `TypeError`.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX101 (`traced-branch`), JAX102 (`traced-while`), JAX111 (`builtin-on-tracer`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.numpy.where.html>
    """
    parameters = CHOOSING.get(event.name)
    context = event.context
    if parameters is None or context.presumed or context.caught or is_test(context):
        return None
    condition, *values = parameters
    node = event.bound_nodes.get(condition)
    if node is None or not is_host_test(event.bound.get(condition), node, context.inner):
        return None
    branches = [event.bound_nodes[name] for name in values if name in event.bound_nodes]
    if _is_broken(event, node, branches):
        return Report(
            event.at,
            f"{quote(context, node, 'the condition')} is a Python bool, but `{last_name(event.at.func)}` computes both values, "
            "and None is not an array; use a Python `if`",
            level="error",
            preview=True,
            unless=CHOSEN_BY_DATA,
        )
    if not any(_computes(branch) for branch in branches):
        return None
    return Report(
        event.at,
        f"{quote(context, node, 'the condition')} is a Python bool, but `{last_name(event.at.func)}` computes both values; "
        "use a Python `if`",
        preview=True,
        unless=CHOSEN_BY_DATA,
    )


def _is_broken(event: LibraryCall, test: ir.Expr, branches: list[ir.Expr]) -> bool:
    """A value is None, or computes with what the condition finds to be None."""
    given = [event.bound.get(name) for name in CHOOSING[event.name][1:]]
    if event.name != "jax.numpy.select" and any(_is_none(value) for value in given):
        return True
    if not isinstance(test, ir.Compare) or test.ops not in (["is"], ["is not"]):
        return False
    path = path_of(test.left)
    nothing = isinstance(test.comparators[0], ir.Constant) and test.comparators[0].kind == "none"
    condition = event.bound.get(CHOOSING[event.name][0])
    if isinstance(condition, Const) and condition.value is not (test.ops == ["is"]):
        return False  # it is given
    is_none = isinstance(condition, Const) or _may_be_omitted(event.context.inner, path)
    return bool(path) and nothing and is_none and any(_needs(branch, path) for branch in branches)


def _may_be_omitted(function: ir.Function | None, name: str) -> bool:
    """A parameter whose default is None."""
    defaults = [p.default for p in function.params if p.name == name] if function is not None else []
    return any(isinstance(default, ir.Constant) and default.kind == "none" for default in defaults)


def _is_none(value: Value | None) -> bool:
    return isinstance(value, Const) and value.value is None


def _needs(branch: ir.Expr, path: str) -> bool:
    """The expression computes with the value of a path, which is None."""
    for node in walk(branch):
        used: list[Any] = []
        if isinstance(node, ir.BinOp):
            used = [node.left, node.right]
        elif isinstance(node, ir.UnaryOp) and node.op != "not":
            used = [node.operand]
        elif isinstance(node, (ir.Attribute, ir.Subscript)):
            used = [node.value]
        if any(path_of(operand) == path for operand in used):
            return True
    return False


_CHEAP = frozenset({
    "zeros", "ones", "full", "empty", "zeros_like", "ones_like", "full_like", "array", "asarray", "astype", "reshape", "float",
    "int", "bool", "len", "float32", "int32", "bfloat16", "squeeze", "expand_dims", "broadcast_to", "ravel", "get", "transpose",
    "swapaxes", "shape", "ndim", "size", "finfo", "iinfo", "abs", "arange", "stop_gradient",
})  # fmt: skip
"""Calls that cost next to nothing and have no gradient to spoil."""


def _computes(branch: ir.Expr) -> bool:
    """The expression calls a function that does some work."""
    return any(isinstance(node, ir.Call) and last_name(node.func) not in _CHEAP for node in walk(branch))
