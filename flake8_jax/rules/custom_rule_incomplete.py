"""JAX707: derivative rules that are missing or do not fit. Not modelled: ``defjvps``, symbolic zeros."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._wording import located
from flake8_jax.semantics.events.events import RuleIncomplete


@rule("JAX707", "error")
def custom_rule_incomplete(event: RuleIncomplete) -> Report | None:
    """A `custom_vjp` or `custom_jvp` function has no derivative rule, or one of another form than JAX wants.

    Why it bites: a function under `jax.custom_vjp` cannot even be called before `defvjp` has been; its forward rule
    takes the arguments and returns `(output, residuals)`, its backward rule takes `(residuals, cotangent)`, after the
    arguments of `nondiff_argnums`, and returns a tuple with one cotangent for every other argument. Anything else
    raises when the function is differentiated, and not before
    (<https://docs.jax.dev/en/latest/notebooks/Custom_derivative_rules_for_Python_code.html>).

    Bad:

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

    In preview, as a warning: a rule that never reads its cotangents, or tangents, though what it returns is not zero. It is
    right as long as the function is differentiated by itself, and wrong as soon as anything is computed from its result.

    Bad:

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

    Good:

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

    Also good: rules set elsewhere, and `custom_jvp` in its several forms.

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

    Fix: none. What the derivative is only the author knows.

    Proof: calling the function raises `AttributeError` where no rule is set; differentiating it raises `TypeError` or
    `ValueError` where the rule does not fit.
    """
    if event.context.presumed or event.context.caught:
        return None
    message = located(event.context, event.at, event.problem)
    return Report(event.at, message, None if event.raises else "warning", preview=not event.raises)
