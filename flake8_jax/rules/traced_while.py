"""JAX102: see the page of ``traced_while``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import is_reportable, quote
from flake8_jax.semantics.domain.values import is_traced_array
from flake8_jax.semantics.events.events import TruthTest


@rule("JAX102", "error", fixable="sometimes", raises="tracer error")
def traced_while(event: TruthTest) -> Report | None:
    """A Python `while` loop has a traced condition.

    ## Why is this bad?

    Python tests the condition of a `while` loop before each iteration, but a traced condition has no value at trace
    time, so the test raises `TracerBoolConversionError`. Write a loop whose length depends on data as
    `jax.lax.while_loop`, which is part of the compiled program.

    ## Example

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

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def newton_sqrt(a):
        return jax.lax.while_loop(lambda x: jnp.abs(x * x - a) > 1e-4, lambda x: 0.5 * (x + a / x), a)
    ```

    ## Not reported

    jaxlint does not report a `while` loop over a Python counter (`while i < 3`), because Python knows the counter at
    trace time. It does not report a loop under `jax.grad` without `jit`, because the value is known there.

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

    ## Limitations

    The rule misses a `while True` loop with a `break`. JAX101 (`traced-branch`) reports the `if` around this `break`,
    if its condition is traced.

    ## Fix safety

    Unsafe. A loop that only assigns existing variables becomes `jax.lax.while_loop` over these variables. They then
    hold arrays of fixed shape and dtype, and JAX cannot compute a reverse-mode gradient of the loop.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the condition raises
    `TracerBoolConversionError`.

    ## Since

    0.2.0.

    ## Related rules

    JAX101 (`traced-branch`), JAX111 (`builtin-on-tracer`), JAX112 (`where-on-static`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerBoolConversionError>
    """
    context = event.context
    if event.how != "while" or not is_reportable(context) or not is_traced_array(event.value):
        return None
    subject = quote(context, event.at)
    return Report(event.at, f"{subject} is traced, so `while` cannot test its value; use jax.lax.while_loop")
