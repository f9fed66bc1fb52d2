"""JAX103: ``range`` with a traced bound. Not modelled: ``itertools.repeat`` and other counters."""

from __future__ import annotations

from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._tracers import quote, speaks
from flake8_jax.rules._wording import it_or_name
from flake8_jax.semantics.domain.values import holds_tracer
from flake8_jax.semantics.events.events import LibraryCall


@rule(
    "JAX103",
    "error",
    fixable="sometimes",
    raises="tracer error",
    only=Subscription(where=frozenset({"staged"}), arrays=True),
)
def traced_range(event: LibraryCall) -> Report | None:
    """`range()` gets a traced bound.

    Why it bites: `range` needs Python integers, and a tracer has none to give: `TracerIntegerConversionError`
    (<https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerIntegerConversionError>). Every argument of a jitted
    function is traced, plain Python integers included, unless it is declared static.

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def power_sum(x, n):
        total = jnp.zeros_like(x)
        for k in range(n):  # expect: traced-range
            total = total + x**k
        return total


    def demonstrate():
        power_sum(jnp.ones(3), 4)  # raises: TracerIntegerConversionError
    ```

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def power_sum(x, n):
        return jax.lax.fori_loop(0, n, lambda k, total: total + x**k, jnp.zeros_like(x))
    ```

    Also good: bounds that are known while JAX traces.

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    @partial(jax.jit, static_argnames="n")
    def power_sum(x, n):
        total = jnp.zeros_like(x)
        for k in range(n):
            total = total + x**k
        return total


    @jax.jit
    def diagonal(x):
        return jnp.stack([x[i, i] for i in range(min(x.shape))])
    ```

    Fix: unsafe. A body that only rebinds names becomes `jax.lax.fori_loop`; a bound that is a parameter of a function
    jitted in the same file is added to its `static_argnames`, which compiles anew for every value.

    Proof: calling the staged function raises `TracerIntegerConversionError` at the marked line.
    """
    context = event.context
    if event.name != "builtins.range" or not speaks(context):
        return None
    for value, node in zip(event.args, event.nodes, strict=False):
        if holds_tracer(value):
            subject = quote(context, node, "a bound")
            advice = f"use jax.lax.fori_loop or make {it_or_name(node)} static"
            return Report(event.at, f"range() needs a Python int, but {subject} is traced; {advice}")
    return None
