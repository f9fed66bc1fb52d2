"""JAX707: see the page of ``custom_rule_incomplete``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._wording import located
from flake8_jax.semantics.events.events import RuleIncomplete


@rule("JAX707", "error")
def custom_rule_incomplete(event: RuleIncomplete) -> Report | None:
    """A `custom_vjp` or `custom_jvp` function has no derivative rule, or a rule of the wrong form.

    With `--preview`, jaxlint also warns about a derivative rule that does not use the cotangent (or the tangents) that
    JAX passes to it. Such a derivative rule gives the right gradient of `f(x)`, but a wrong gradient of everything
    that the caller computes from the result, such as `2 * f(x)`. jaxlint does not warn about a derivative rule that
    returns zero.

    ## Why is this bad?

    A `jax.custom_vjp` function cannot be called before `f.defvjp(forward, backward)`. The forward rule takes the
    arguments of the function and returns `(output, residuals)`. The backward rule takes the arguments that
    `nondiff_argnums` names, then `(residuals, cotangent)`, and returns a tuple with one cotangent for each other
    argument. A derivative rule of another form raises only when JAX differentiates the function.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.custom_vjp
    def clip_gradient(x, limit):
        return x


    def forward(x, limit):
        return x, limit


    def backward(limit, g):
        return (jnp.clip(g, -limit, limit),)


    clip_gradient.defvjp(forward, backward)  # expect: custom-rule-incomplete


    def demonstrate():
        try:
            jax.grad(lambda x: clip_gradient(x, 1.0))(3.0)
        except TypeError as error:
            assert "bwd rule must produce" in str(error)
        else:
            raise AssertionError
    ```

    With `--preview`, jaxlint also reports a backward rule that ignores its gradient `g`:

    ```python
    import jax


    @jax.custom_vjp
    def square(x):
        return x**2


    def forward(x):
        return x**2, x


    def backward(x, g):
        return (2 * x,)


    square.defvjp(forward, backward)  # expect: custom-rule-incomplete


    def demonstrate():
        assert jax.grad(square)(3.0) == 6.0
        assert jax.grad(lambda x: 10 * square(x))(3.0) == 6.0  # not 60
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.custom_vjp
    def clip_gradient(x, limit):
        return x


    def forward(x, limit):
        return x, limit


    def backward(limit, g):
        return jnp.clip(g, -limit, limit), None


    clip_gradient.defvjp(forward, backward)
    ```

    ## Not reported

    jaxlint does not report a function whose derivative rule is set by other code, for example in another module. For
    a `custom_jvp` function, it accepts both ways to set a derivative rule: `defjvp` and `defjvps`.

    ```python
    import jax
    import jax.numpy as jnp


    @jax.custom_jvp
    def log1pexp(x):
        return jnp.logaddexp(x, 0.0)


    log1pexp.defjvps(lambda t, answer, x: jax.nn.sigmoid(x) * t)


    def with_rule(function, forward, backward):
        wrapped = jax.custom_vjp(function)
        wrapped.defvjp(forward, backward)
        return wrapped
    ```

    ## Limitations

    jaxlint does not check the form of derivative rules that are set with `f.defjvps(…)`, or with the option
    `symbolic_zeros=True`, which passes other arguments to them.

    ## Fix safety

    No fix. Only the author knows the derivative.

    ## How it is verified

    `jaxlint verify` runs the program that you name. It confirms the finding if a call of the function raises
    `AttributeError` because no derivative rule is set, or if differentiating the function raises `TypeError` or
    `ValueError` because the derivative rule takes or returns the wrong number of values.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX705 (`control-flow-signature`), JAX706 (`transform-argument-mismatch`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/notebooks/Custom_derivative_rules_for_Python_code.html>
    """
    if event.context.presumed or event.context.caught:
        return None
    message = located(event.context, event.at, event.problem)
    return Report(event.at, message, None if event.raises else "warning", preview=not event.raises)
