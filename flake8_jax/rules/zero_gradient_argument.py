"""JAX709: see the page of ``zero_gradient_argument``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.semantics.domain.code import statement_at
from flake8_jax.semantics.domain.derivative_flow import flow_from, unfold
from flake8_jax.semantics.domain.values import Const
from flake8_jax.semantics.events.events import TransformCall


@rule("JAX709", "error")
def zero_gradient_argument(event: TransformCall) -> Report | None:
    """`jax.grad` or a similar transform differentiates with respect to an argument whose gradient is always zero.

    The rule is on only with `--preview`, because it reports only 2 places in 282 public repositories, which is too
    few to judge the rule. Both are mistakes.

    ## Why is this bad?

    If the gradient with respect to an argument is zero for every input, the optimizer never improves this argument: it
    does not change the argument or, with weight decay (`optax.adamw`), only shrinks it. JAX raises no error. There are
    two causes:

    - The function does not use the argument at all, for example because it reads `self.weights` instead.
    - The function uses the argument only in `argmax`, `round`, a comparison or `stop_gradient`, whose derivatives are
      zero.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    class Linear:
        def __init__(self):
            self.weights = jnp.ones(3)

        def loss(self, weights, x, y):
            return jnp.mean((x @ self.weights - y) ** 2)

        def gradient(self, x, y):
            return jax.grad(self.loss)(self.weights, x, y)  # expect: zero-gradient-argument


    def demonstrate():
        assert (Linear().gradient(jnp.ones((2, 3)), jnp.zeros(2)) == 0).all()
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def error_rate(params, x, labels):
        return jnp.mean(jnp.argmax(x @ params, axis=-1) != labels)


    def train(params, x, labels):
        return params - 0.1 * jax.grad(error_rate)(params, x, labels)  # expect: zero-gradient-argument


    def demonstrate():
        params = jnp.ones((3, 4))
        assert (train(params, jnp.ones((8, 3)), jnp.zeros(8, int)) == params).all()
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    class Linear:
        def __init__(self):
            self.weights = jnp.ones(3)

        def loss(self, weights, x, y):
            return jnp.mean((x @ weights - y) ** 2)

        def gradient(self, x, y):
            return jax.grad(self.loss)(self.weights, x, y)
    ```

    ## Not reported

    jaxlint does not report an argument that affects the result through at least one differentiable operation, because
    its gradient is not always zero. It does not report a pytree if the function uses at least one of its arrays.

    ```python
    import jax
    import jax.numpy as jnp


    def quantized(w, x):
        rounded = w + jax.lax.stop_gradient(jnp.round(w) - w)
        return jnp.sum((x @ rounded) ** 2)


    def frozen(params, x):
        features = jax.lax.stop_gradient(jnp.tanh(x @ params["body"]))
        return jnp.sum(features @ params["head"])


    def picked(scores):
        return scores[jnp.argmax(scores)] + jnp.sort(scores)[0]


    def main(params, w, x):
        return jax.grad(quantized)(w, x), jax.grad(frozen)(params, x), jax.grad(picked)(w)
    ```

    ## Limitations

    The rule misses a pytree of which only some arrays are unused. It misses gradients of functions that
    `functools.partial` makes, such as `jax.grad(partial(loss, x=x))`, and the transforms of Equinox (`eqx.filter_grad`).

    ## Fix safety

    No fix. Only the author knows which value the function should use.

    ## How it is verified

    jaxlint cannot confirm the finding, because a run does not show the gradients, and a gradient may be zero for some
    inputs only.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX708 (`integer-grad`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/automatic-differentiation.html>
    """
    context, positions = event.context, event.differentiated
    if not positions or context.presumed or context.caught or is_test(context) or not event.sure:
        return None
    if event.name not in _GRADIENTS or any(not 0 <= p < len(event.args) for p in positions):
        return None
    function = unfold(event.operand)
    if function is None or _is_shown(event):
        return None
    aux = event.options.get("has_aux")
    flow = flow_from(function, positions, has_aux=isinstance(aux, Const) and bool(aux.value))
    if flow is None or flow.live or flow.constant:
        return None
    fn = function.value.fn
    names = [fn.params[position + function.taken].name for position in positions]
    if any(name.startswith("_") for name in names):
        return None
    what, name = f"`{'`, `'.join(names)}`", "The function" if fn.is_lambda else f"`{fn.name}`"
    if flow.dead_ends:
        ends = " and ".join([f"`{end}`" if " " not in end else end for end in list(flow.dead_ends)[:2]])
        return Report(
            event.at,
            f"{name} uses {what} only in {ends}, which has no gradient, so the result is zero; "
            "differentiate a smooth function of it",
            preview=True,
        )
    return Report(
        event.at,
        f"{name} never uses its argument {what}, so the gradient is zero; compute the result from {what}",
        preview=True,
    )


def _is_shown(event: TransformCall) -> bool:
    """A cell of a notebook shows the gradient: that it is zero is what the reader is to see."""
    scope, body = (
        event.context.scope,
        event.context.inner.body if event.context.inner else event.context.scope.tree.body,
    )
    return bool(scope.cells) and isinstance(statement_at(body, event.at), ir.ExprStmt)


_GRADIENTS = frozenset({"jax.grad", "jax.value_and_grad", "jax.jacfwd", "jax.jacrev", "jax.jacobian"})
