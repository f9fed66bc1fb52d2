"""JAX706: a transform that does not fit its function or its use. Not modelled: sizes of mapped axes."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._wording import located
from flake8_jax.semantics.events.events import TransformMismatch


@rule("JAX706", "error", raises="another error")
def transform_argument_mismatch(event: TransformMismatch) -> Report | None:
    """`argnums`, `in_axes`, `has_aux` and the like do not fit the function, or the result is unpacked wrongly.

    Why it bites: `jax.grad(f, argnums=2)` needs a third positional argument, `jax.vmap(f, in_axes=(0, None))` is called
    with two, `has_aux=True` is for functions that return a pair, and `jax.value_and_grad(f, has_aux=True)` then gives
    `((value, aux), gradients)`. Whatever does not fit raises when the function is called
    (<https://docs.jax.dev/en/latest/_autosummary/jax.value_and_grad.html>,
    <https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html>).

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    def loss(w, x, y):
        predicted = x @ w
        return jnp.mean((predicted - y) ** 2), predicted


    def update(w, x, y):
        value, predicted, grads = jax.value_and_grad(loss, has_aux=True)(w, x, y)  # expect: transform-argument-mismatch
        return w - 0.1 * grads, value, predicted


    def demonstrate():
        update(jnp.ones(2), jnp.ones((3, 2)), jnp.ones(3))  # raises: ValueError
    ```

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    def loss(w, x, y):
        predicted = x @ w
        return jnp.mean((predicted - y) ** 2), predicted


    def update(w, x, y):
        (value, predicted), grads = jax.value_and_grad(loss, has_aux=True)(w, x, y)
        return w - 0.1 * grads, value, predicted
    ```

    Also good: axes for a part of a pytree, and keyword arguments, which `vmap` maps over their first axis.

    ```python
    import jax


    def apply(params, x, scale=1.0):
        return scale * (params["w"] * x + params["b"])


    def ensemble(params, x, scales):
        each = jax.vmap(apply, in_axes=({"w": 0, "b": None}, None))
        return each(params, x), each(params, x, scale=scales)
    ```

    Fix: none. Which side is wrong is the author's choice.

    Proof: the call, or the assignment that unpacks, raises `TypeError` or `ValueError`.
    """
    if event.context.presumed or event.context.caught:
        return None
    return Report(event.at, located(event.context, event.at, event.problem))
