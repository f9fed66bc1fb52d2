"""JAX705: see the page of ``control_flow_signature``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.semantics.events.events import SignatureMismatch


@rule("JAX705", "error", raises="another error")
def control_flow_signature(event: SignatureMismatch) -> Report | None:
    """A function passed to `lax.scan`, `fori_loop`, `while_loop`, `cond` or `switch` has the wrong signature.

    ## Why is this bad?

    JAX calls each of these functions with fixed arguments and needs a result of a fixed form. If the function does not
    fit, JAX raises `TypeError` at trace time. The body of `scan` takes `(carry, x)` and returns `(carry, y)`. The body
    of `fori_loop` takes `(i, carry)` and returns the carry. The carry of a loop must keep its pytree structure. The
    branches of `cond` take the operands of the call and return the same pytree structure.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def body(carry, x):
        return carry + x


    @jax.jit
    def total(xs):
        return jax.lax.scan(body, 0.0, xs)  # expect: control-flow-signature


    def demonstrate():
        total(jnp.ones(3))  # raises: TypeError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    def body(carry, x):
        return carry + x, carry


    @jax.jit
    def total(xs):
        return jax.lax.scan(body, 0.0, xs)
    ```

    ## Not reported

    jaxlint does not report a function with extra parameters if `functools.partial` already binds them, as in
    `jax.lax.scan(partial(step, params), carry, xs)`. It does not report branches of `cond` that return the same pytree
    structure.

    ```python
    from functools import partial

    import jax


    def shrink(rate, i, x):
        return x * (1.0 - rate / (i + 1))


    @jax.jit
    def relaxed(x, flag):
        x = jax.lax.fori_loop(0, 3, partial(shrink, 0.1), x)
        return jax.lax.cond(flag, lambda v: (v, v), lambda v: (v, 2 * v), x)
    ```

    ## Limitations

    The rule checks the number of arguments and the pytree structure of the results. If a loop returns a carry of the
    same structure with another shape or dtype, the rule does not report it, although JAX raises an error.

    ## Fix safety

    No fix. If the function and the call do not fit, only the author knows which of the two is wrong.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if JAX raises an error such as
    `TypeError` when it traces the function.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX510 (`generator-in-jit`), JAX706 (`transform-argument-mismatch`), JAX707 (`custom-rule-incomplete`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/control-flow.html#structured-control-flow-primitives>
    """
    if event.context.presumed or event.context.caught:
        return None
    return Report(event.at, event.problem)
