"""JAX702: see the page of ``where_nan_grad``."""

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
    """`jnp.where` masks a value that is not finite, but the gradient of the result is still NaN.

    With `--preview`, the rule also reports code that few public repositories contain:

    - With `--preview`, the rule reports code that replaces a NaN in the result, such as `where(isnan(y), 0, y)`,
      because the gradient of `y` is still NaN.
    - With `--preview`, the rule warns about a masked value that may overflow. For example, `expm1(x)` in
      `where(x > 0, x, expm1(x))` is infinite for a large `x`.
    - With `--preview`, the rule reports a product with a logarithm, such as `where(p == 0, 0, p * log_q)`: if `log_q`
      is `-inf` where `p` is zero, the gradient with respect to `p` is `0 * -inf` there.
    - With `--preview`, the rule also reports losses, activations and densities that the project does not
      differentiate, because its users probably will. jaxlint recognizes such functions by their names, such as
      `mse_loss`, `gelu` or `log_prob`.

    ## Why is this bad?

    JAX computes and differentiates both values of `where` for every element. The value that `where` does not choose
    gets the derivative zero, which JAX multiplies by the derivative of `sqrt`, `log` or the division in this value.
    If that one is infinite, the gradient is zero times infinity, which is NaN, although the result is right. Give the
    inner function a harmless operand for these elements: `jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1.0)), 0)`.

    Code that replaces a NaN in the result does not help. `where(isnan(y), 0, y)`, `nan_to_num(y)` and `nansum(y)` hide
    the NaN of `sqrt(x)` or `0 / 0`, but the gradient is still NaN.

    A value that is not chosen may also overflow: the gradient of `where(x > 0, x, expm1(x))` is NaN for an `x` above
    88, because `exp(x)` is infinite there.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def length(r2):
        return jnp.where(r2 > 0, jnp.sqrt(r2), 0.0)  # expect: where-nan-grad


    force = jax.grad(length)


    def demonstrate():
        assert jnp.isnan(force(0.0)) and jnp.isfinite(force(4.0))
    ```

    With `--preview`, jaxlint also reports code that replaces a NaN in the result, and a masked value that may overflow:

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

    ## Use instead

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

    ## Not reported

    jaxlint does not report operations that are finite for every argument (`1 / (1 + x * x)`). It does not report an
    operand that a bound keeps away from values without a finite derivative (`jnp.log(jnp.maximum(x, 0.1))`). Without
    `--preview`, it does not report code that the project does not differentiate, because only the gradient is wrong.

    ```python
    import jax
    import jax.numpy as jnp


    def gate(x, degree):
        weight = jnp.where(degree > 0, 1.0 / degree, 0.0)
        soft = jnp.where(x > 0, x / (1.0 + jnp.exp(-x * x)), jnp.log1p(x * x))
        return jnp.sum(weight * soft) + jnp.sum(jnp.where(x > 0.1, jnp.log(jnp.maximum(x, 0.1)), 0.0))


    slope = jax.grad(gate)
    ```

    ## Limitations

    The rule misses a `where` whose mask is an argument of the function, because jaxlint does not see the test that
    makes the mask.

    ## Fix safety

    Unsafe. jaxlint also masks the operand: `jnp.where(guard, jnp.sqrt(x), 0)` becomes
    `jnp.where(guard, jnp.sqrt(jnp.where(guard, x, 1.0)), 0)`. Gradients that were NaN become finite, so training gives
    other results. jaxlint offers no fix if an earlier statement computes the operand by a function with the same
    problem, as in `r = jnp.sqrt(x)` before `jnp.where(r > 0, 1 / r, 0)`: both statements need a mask.

    ## How it is verified

    `jaxlint verify` runs the program that you name with JAX's option `jax_debug_nans`, and confirms the finding if JAX
    finds a NaN in a result or a gradient.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX703 (`unstable-expression`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/faq.html#gradients-contain-nan-where-using-where>
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
    wrong = f"`{event.name}` masks {shown}, but the gradient there is still NaN (0 times inf or NaN)"
    what = "divisor" if singular.name == "/" else "operand"
    remedy = f"first replace the {what} of those elements with another `where`"
    return Report(event.at, f"{wrong}; {remedy}", level, preview, unless=STOPPED)
