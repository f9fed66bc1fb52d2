"""JAX702: a guard that keeps the value finite but not the gradient. Not modelled: masks whose test is not in sight."""

from __future__ import annotations

from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.semantics.events.events import Computation
from flake8_jax.semantics.events.facts import STOPPED
from flake8_jax.semantics.events.singularities import guarded_singularity


@rule("JAX702", "error", fixable="sometimes", only=Subscription(where=frozenset({"staged"})))
def where_nan_grad(event: Computation) -> Report | None:
    """`jnp.where` hides a value that is not finite, but its gradient is NaN all the same.

    Why it bites: both branches of `where` are computed and differentiated, and the derivative of the branch not taken
    is multiplied by zero. For `sqrt`, `log` or a division at its singular point that is `0 * inf`, so the gradient is
    NaN though the value is right
    (<https://docs.jax.dev/en/latest/faq.html#gradients-contain-nan-where-using-where>). Guard the argument as well.

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    def length(r2):
        return jnp.where(r2 > 0, jnp.sqrt(r2), 0.0)  # expect: where-nan-grad


    force = jax.grad(length)


    def demonstrate():
        assert jnp.isnan(force(0.0)) and jnp.isfinite(force(4.0))
    ```

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    def length(r2):
        positive = r2 > 0
        return jnp.where(positive, jnp.sqrt(jnp.where(positive, r2, 1.0)), 0.0)


    force = jax.grad(length)
    ```

    Also good: what is never singular, what is not differentiated, and what a bound keeps away from the point.

    ```python
    import jax
    import jax.numpy as jnp


    def gate(x, degree):
        weight = jnp.where(degree > 0, 1.0 / degree, 0.0)
        soft = jnp.where(x > 0, x / (1.0 + jnp.exp(-x)), jnp.log1p(x * x))
        return jnp.sum(weight * soft) + jnp.sum(jnp.where(x > 0.1, jnp.log(jnp.maximum(x, 0.1)), 0.0))


    slope = jax.grad(gate)
    ```

    Fix: the operand of the branch gets a guard of its own, `jnp.where(guard, x, 1.0)`. Unsafe: elsewhere in the branch
    the operand may be used for other ends.

    Proof: the gradient is NaN at the guarded point, and finite beside it.
    """
    if event.name not in ("where", "select") or len(event.operands) < 3 or not event.differentiated:
        return None
    if event.context.presumed:
        return None
    found = guarded_singularity(event)
    if found is None:
        return None
    singular, _operand, _when = found
    shown = {"/": "the division", "**": "the power"}.get(singular.name, f"`{singular.name}`")
    return Report(
        event.at,
        f"the gradient of {shown} is NaN where this `where` hides its value; guard its operand as well",
        unless=STOPPED,
    )
