"""JAX702: a guard that keeps the value finite but not the gradient. Not modelled: masks whose test is not in sight."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Level
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.values import Recipe
from flake8_jax.semantics.events.events import Computation
from flake8_jax.semantics.events.facts import STOPPED
from flake8_jax.semantics.events.singularities import (
    OVERFLOWING,
    guarded_singularity,
    hidden_singularity,
    masked_product,
)


@rule("JAX702", "error", fixable="sometimes", only=Subscription(where=frozenset({"staged"}), presumed=True))
def where_nan_grad(event: Computation) -> Report | None:
    """`jnp.where` hides a value that is not finite, but its gradient is NaN all the same.

    Why it bites: both branches of `where` are computed and differentiated, and the derivative of the branch not taken
    is multiplied by zero. For `sqrt`, `log` or a division at its singular point that is `0 * inf`, so the gradient is
    NaN though the value is right
    (<https://docs.jax.dev/en/latest/faq.html#gradients-contain-nan-where-using-where>). Guard the argument as well. A test of
    the result comes too late, too: `where(isnan(y), 0, y)`, `nan_to_num(y)` and `nansum(y)` hide the NaN of `sqrt(x)` or
    `0 / 0`, and the gradient keeps it. (The gradient of `log(x)` is finite where `x` is negative.) And `exp(x)` in the branch
    that is not taken has an infinite gradient where `x` is above 88, as in `where(x > 0, x, expm1(x))`: a warning.

    Tests of the result and overflow are in preview, because too few repositories have them to judge, and so are products with
    a logarithm, `where(p == 0, 0, p * log_q)`, and losses, activations and densities that nothing in the project
    differentiates.

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

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    def loss(w):
        y = jnp.sum(jnp.sqrt(w))
        return jnp.where(jnp.isnan(y), 0.0, y)  # expect: where-nan-grad


    def elu(w):
        return jnp.sum(jnp.where(w > 0, w, jnp.expm1(w)))  # expect: where-nan-grad


    def demonstrate():
        assert jnp.isnan(jax.grad(loss)(jnp.array([-1.0, 1.0]))).any()
        assert jnp.isnan(jax.grad(elu)(jnp.array([1.0, 100.0]))).any()
    ```

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    def elu(w):
        return jnp.sum(jnp.where(w > 0, w, jnp.expm1(jnp.minimum(w, 0.0))))


    slope = jax.grad(elu)


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
        soft = jnp.where(x > 0, x / (1.0 + jnp.exp(-x * x)), jnp.log1p(x * x))
        return jnp.sum(weight * soft) + jnp.sum(jnp.where(x > 0.1, jnp.log(jnp.maximum(x, 0.1)), 0.0))


    slope = jax.grad(gate)
    ```

    Fix: the operand of the branch gets a guard of its own, `jnp.where(guard, x, 1.0)`. Unsafe: elsewhere in the branch
    the operand may be used for other ends.

    Proof: the gradient is NaN at the guarded point, and finite beside it.
    """
    if not event.differentiated:
        return None
    if event.name in ("nan_to_num", "nansum", "nanmean"):
        return _report(event, hidden_singularity(event), "warning", preview=True)
    if event.name not in ("where", "select") or len(event.operands) < 3:
        return None
    found = guarded_singularity(event)
    if found is not None:
        overflows = found[0].name in OVERFLOWING
        return _report(event, found[0], "warning" if overflows else None, preview=overflows)
    masked = masked_product(event)
    if masked is not None:
        return _report(event, masked, "warning", preview=True)
    singular = hidden_singularity(event)
    is_meant = singular is not None and _is_meant(event, singular)
    return _report(event, singular, None if is_meant else "warning", preview=True)


def _is_meant(event: Computation, singular: Recipe) -> bool:
    """The test of the result is surely about this operation: it stands in the same function, and gives NaN, which no logarithm
    of a wrong sign does."""
    return singular.function is event.context.inner and not singular.name.startswith("log")


def _report(event: Computation, singular: Recipe | None, level: Level | None, *, preview: bool) -> Report | None:
    if singular is None:
        return None
    shown = {"/": "the division", "**": "the power", "*": "the product"}.get(singular.name, f"`{singular.name}`")
    if singular.function is event.context.inner and isinstance(singular.node, (ir.Call, ir.BinOp)):
        shown = quote(event.context, singular.node, shown)
    wrong = f"`{event.name}` masks {shown}, but its gradient is still NaN"
    return Report(event.at, f"{wrong}; also mask its operand", level, preview, unless=STOPPED)
