"""JAX602: a collective over an axis that nothing binds. Not modelled: axes bound by code outside the project."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._wording import listed
from flake8_jax.semantics.events.events import UnboundAxis
from flake8_jax.semantics.events.facts import bound_note


@rule("JAX602", "error", raises="another error")
def unbound_axis_name(event: UnboundAxis) -> Report | None:
    """A collective (`psum`, `pmean`, `axis_index` …) runs over an axis name that no transform around it binds.

    Why it bites: `jax.lax.pmean(x, "batch")` needs a `vmap`, `pmap` or `shard_map` around it that gives that name to an
    axis. Under `jit` alone there is none, and tracing raises `NameError: unbound axis name`. With `jax.jit` over
    sharded arrays no collective is needed at all: the compiler inserts it.

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def train_step(w, x):
        g = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return w - 0.1 * jax.lax.pmean(g, "batch")  # expect: unbound-axis-name


    def demonstrate():
        train_step(jnp.ones(2), jnp.ones((3, 2)))  # raises: NameError
    ```

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    def train_step(w, x):
        g = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return w - 0.1 * jax.lax.pmean(g, "batch")


    parallel_step = jax.jit(jax.vmap(train_step, in_axes=(None, 0), axis_name="batch"))
    ```

    Also good: a name that the caller gives, and helpers that nobody here stages.

    ```python
    import jax


    def normalise(x, axis_name=None):
        mean = x.mean(axis=0)
        if axis_name is not None:
            mean = jax.lax.pmean(mean, axis_name)
        return x - mean


    def rank():
        return jax.lax.axis_index("replica")


    single = jax.jit(normalise)
    ```

    Fix: none. Which transform should bind the axis is the author's choice.

    Proof: tracing raises `NameError: unbound axis name`.
    """
    context = event.context
    if context.presumed or context.caught or not context.staged:
        return None
    advice = f"the bound axes are {listed(event.bound)}" if event.bound else "pass axis_name to the transform"
    return Report(
        event.at,
        f"No enclosing vmap, pmap or shard_map binds axis `{event.axis}`; {advice}",
        unless=bound_note(event.axis),
    )
