"""JAX102: a Python loop whose condition is traced. Not modelled: loops that end by ``break`` alone."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote, speaks
from flake8_jax.semantics.domain.values import is_traced_array
from flake8_jax.semantics.events.events import TruthTest


@rule("JAX102", "error", fixable="sometimes", raises="tracer error")
def traced_while(event: TruthTest) -> Report | None:
    """A Python `while` loops on a traced condition.

    Why it bites: Python must know before each round whether to go on, and while JAX traces, the condition has no
    value: `TracerBoolConversionError`. A loop that depends on data belongs into the compiled program, as
    `jax.lax.while_loop` (<https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerBoolConversionError>).

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def newton_sqrt(a):
        x = a
        while jnp.abs(x * x - a) > 1e-4:  # expect: traced-while
            x = 0.5 * (x + a / x)
        return x


    def demonstrate():
        newton_sqrt(jnp.float32(2.0))  # raises: TracerBoolConversionError
    ```

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def newton_sqrt(a):
        return jax.lax.while_loop(lambda x: jnp.abs(x * x - a) > 1e-4, lambda x: 0.5 * (x + a / x), a)
    ```

    Also good: a counter that Python owns unrolls while JAX traces, and under `jax.grad` alone values are known.

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def power(a, v):
        k = 0
        while k < 4:
            v = a @ v
            k += 1
        return v


    def halve(x):
        while jnp.abs(x) > 1.0:
            x = 0.5 * x
        return x


    slope = jax.grad(halve)
    ```

    Fix: unsafe. A loop that only rebinds names that exist before it becomes `jax.lax.while_loop` over those names.

    Proof: calling the staged function raises `TracerBoolConversionError` at the marked line.
    """
    context = event.context
    if event.how != "while" or not speaks(context) or not is_traced_array(event.value):
        return None
    subject = quote(context, event.at)
    return Report(event.at, f"{subject} is traced, so `while` cannot test its value; use jax.lax.while_loop")
