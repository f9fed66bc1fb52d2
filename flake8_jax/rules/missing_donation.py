"""JAX412: a loop replaces an argument by the result and keeps both in memory. Not modelled: how large it is."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._wording import listed
from flake8_jax.semantics.events.events import UndonatedStep


@rule("JAX412", "warning", fixable="sometimes", opt_in=True)
def missing_donation(event: UndonatedStep) -> Report | None:
    """A compiled step in a loop replaces its argument by its result and does not donate the argument.

    Why it bites: while `state = step(state, batch)` runs, the old state and the new one are both in memory: with
    parameters and optimiser state that is the larger half of a device's. `jax.jit(step, donate_argnames=("state",))`
    (of `pmap`: `donate_argnums=0`) lets XLA write the results over the arguments
    (<https://docs.jax.dev/en/latest/buffer_donation.html>). The old array is deleted by the call, so nobody may look
    at it afterwards, the caller who passed it in before the loop included.

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def step(w, x):
        return w - 0.1 * x.T @ (x @ w)


    def fit(w, batches):
        for x in batches:
            w = step(w, x)  # expect: missing-donation
        return w


    def demonstrate():
        compiled = step.lower(jnp.ones(256), jnp.ones((4, 256))).compile()
        assert compiled.memory_analysis().alias_size_in_bytes == 0
        fit(jnp.ones(256), [jnp.ones((4, 256))] * 2)
    ```

    Good:

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    @partial(jax.jit, donate_argnames=("w",))
    def step(w, x):
        return w - 0.1 * x.T @ (x @ w)


    def fit(w, batches):
        for x in batches:
            w = step(w, x)
        return w
    ```

    Also good: the old value is looked at after the call, is kept elsewhere, or is none that the loop carries.

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def step(x, a):
        return jnp.cos(a @ x)


    def converge(x, a, n):
        change = []
        for _ in range(n):
            new = step(x, a)
            change.append(jnp.abs(new - x).max())
            x = new
        return x, change


    def path(x, a, n):
        found = []
        for _ in range(n):
            found.append(x)
            x = step(x, a)
        return found


    def each(xs, a):
        found = []
        for x in xs:
            x = step(x, a)
            found.append(x)
        return found
    ```

    Fix: unsafe. `donate_argnames`, or `donate_argnums` of `pmap`, is added where the function is compiled, if each of
    its callers passes a value that it made itself and knows by one name. There is no fix for a parameter of the
    caller, an attribute, or an array that a list, an object or a reshaped copy may share.

    Proof: `alias_size_in_bytes` of the compiled function's `memory_analysis()`.
    """
    context = event.context
    if context.staged or context.presumed or is_test(context):
        return None
    step = quote(context, event.at.func, "the step")
    replaced = listed(event.names) if event.names else "its argument"
    return Report(
        event.at,
        f"The result of {step} replaces {replaced} in every iteration, but both use memory; donate {replaced}",
        unless=event.fact,
    )
