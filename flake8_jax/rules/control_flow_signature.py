"""JAX705: a function that does not fit ``scan``, ``cond`` and their kin. Not modelled: shapes and dtypes of carries."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.semantics.events.events import SignatureMismatch


@rule("JAX705", "error", raises="another error")
def control_flow_signature(event: SignatureMismatch) -> Report | None:
    """A function that `lax.scan`, `fori_loop`, `while_loop`, `cond` or `switch` calls does not fit.

    Why it bites: each has a fixed form. A `scan` body takes `(carry, x)` and returns `(carry, y)`; a `fori_loop` body
    takes `(i, carry)` and returns the carry; the branches of `cond` take the operands and return one structure; what a
    loop carries keeps its structure from iteration to iteration. Anything else raises `TypeError` when it is traced
    (<https://docs.jax.dev/en/latest/control-flow.html#structured-control-flow-primitives>).

    Bad:

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

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    def body(carry, x):
        return carry + x, carry


    @jax.jit
    def total(xs):
        return jax.lax.scan(body, 0.0, xs)
    ```

    Also good: arguments bound beforehand, and branches that agree.

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

    Fix: none. Which side is wrong is the author's choice.

    Proof: tracing raises `TypeError`.
    """
    if event.context.presumed or event.context.caught:
        return None
    return Report(event.at, event.problem)
