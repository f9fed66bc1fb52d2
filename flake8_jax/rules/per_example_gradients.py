"""JAX423: see the page of ``per_example_gradients``."""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._averaged import is_only_averaged
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.values import Const, FunctionValue, TransformedValue, TupleValue, Value, known_elements
from flake8_jax.semantics.events.events import TransformCall

_MAPS = frozenset({"jax.vmap", "equinox.filter_vmap"})
_GRADIENTS = {
    "jax.grad": False,
    "jax.value_and_grad": True,
    "equinox.filter_grad": False,
    "equinox.filter_value_and_grad": True,
}
_KEEPING = frozenset({"jax.jit", "equinox.filter_jit"})


@rule("JAX423", "info")
def per_example_gradients(event: TransformCall) -> Report | None:
    """Code computes the gradient of each example, but only uses the mean or the sum of these gradients.

    The rule is on only with `--preview`, because the code gives the right result and only takes more time and memory.

    ## Why is this bad?

    `jax.vmap(jax.grad(loss))` makes one gradient for each example: for a batch of 64, 64 copies of all parameters. The
    mean of the gradients equals the gradient of the mean loss, which needs one copy. For two layers with 22,000 weights
    and 64 examples, JAX 0.10.2 on a CPU took six times as long with one gradient for each example.

    Map the loss with `vmap`, take the mean of the result, and differentiate that function.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def loss(params, x, y):
        return (jnp.tanh(x @ params["w"]) @ params["v"] - y) ** 2


    @jax.jit
    def step(params, xs, ys):
        grads = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(params, xs, ys)  # expect: per-example-gradients
        grads = jax.tree.map(lambda g: jnp.mean(g, axis=0), grads)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


    def demonstrate():
        params = {"w": jnp.ones((5, 3)), "v": jnp.ones(3)}
        xs, ys = jnp.ones((8, 5)), jnp.zeros(8)
        each = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(params, xs, ys)
        assert each["w"].shape == (8, 5, 3)
        once = jax.grad(lambda p: jnp.mean(jax.vmap(loss, in_axes=(None, 0, 0))(p, xs, ys)))(params)
        assert jnp.allclose(each["w"].mean(axis=0), once["w"])
        step(params, xs, ys)
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    def loss(params, x, y):
        return (jnp.tanh(x @ params["w"]) @ params["v"] - y) ** 2


    def mean_loss(params, xs, ys):
        return jnp.mean(jax.vmap(loss, in_axes=(None, 0, 0))(params, xs, ys))


    @jax.jit
    def step(params, xs, ys):
        grads = jax.grad(mean_loss)(params, xs, ys)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    ```

    ## Not reported

    jaxlint does not report gradients that the code uses in another way, too. For example, differentially private training
    clips the gradient of each example before the mean.

    ```python
    import jax
    import jax.numpy as jnp


    def loss(params, x):
        return jnp.sum(jnp.tanh(x @ params) ** 2)


    @jax.jit
    def private_step(params, xs, bound):
        grads = jax.vmap(jax.grad(loss), in_axes=(None, 0))(params, xs)
        norms = jnp.linalg.norm(grads.reshape(len(grads), -1), axis=1)
        clipped = grads * jnp.minimum(1.0, bound / norms)[:, None, None]
        return params - 0.1 * jnp.mean(clipped, axis=0)
    ```

    ## Limitations

    The rule follows the gradients through the functions of one file. It does not follow gradients that an object or a list
    stores.

    ## Fix safety

    No fix. The loss function and its callers change.

    ## How it is verified

    jaxlint cannot confirm the finding, because a run does not show how the gradients could be computed.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX410 (`transform-in-loop`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/notebooks/autodiff_cookbook.html>
    """
    context = event.context
    if is_test(context) or context.presumed or not isinstance(event.at, ir.Call):
        return None
    mapped = _mapped(event)
    if mapped is None:
        return None
    gradient, in_axes = mapped
    if gradient.name not in _GRADIENTS or not _shares_parameters(gradient, in_axes):
        return None
    if not is_only_averaged(context, event.at, with_value=_GRADIENTS[gradient.name]):
        return None
    loss = gradient.operand.fn.name if isinstance(gradient.operand, FunctionValue) else ""
    name = f"`{loss}`" if loss.isidentifier() else "the loss"
    problem = (
        f"{quote(context, event.at, 'this')} computes a gradient for each example, but only their mean or sum is used"
    )
    return Report(event.at, f"{problem}; differentiate the mean or sum of `jax.vmap` of {name}", preview=True)


def _mapped(event: TransformCall) -> tuple[TransformedValue, Value | None] | None:
    """The gradient that ``vmap`` maps, and the ``in_axes``."""
    name, options = event.name, event.options
    operand: Any = event.operand
    while name in _KEEPING and isinstance(operand, TransformedValue):
        name, options, operand = operand.name, operand.options, operand.operand
    while isinstance(operand, TransformedValue) and operand.name in _KEEPING:
        operand = operand.operand
    if name not in _MAPS or not isinstance(operand, TransformedValue):
        return None
    return operand, options.get("in_axes")


def _shares_parameters(gradient: TransformedValue, in_axes: Value | None) -> bool:
    """The arguments by which the function is differentiated are the same for all examples."""
    axes = known_elements(in_axes) if in_axes is not None else None
    if axes is None:
        return False
    positions = gradient.options.get("argnums")
    numbers = _numbers(positions) if positions is not None else [0]
    if not numbers:
        return False
    taken = [axes[n] if 0 <= n < len(axes) else None for n in numbers]
    return all(isinstance(axis, Const) and axis.value is None for axis in taken)


def _numbers(value: Value) -> list[int]:
    found: list[int] = []
    for part in value.elts if isinstance(value, TupleValue) else (value,):
        number: Any = part.value if isinstance(part, Const) else None
        found += [number] if type(number) is int else []
    return found
