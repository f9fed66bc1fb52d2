"""JAX412: see the page of ``missing_donation``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._wording import listed
from flake8_jax.semantics.events.events import UndonatedStep


@rule("JAX412", "warning", fixable="sometimes", opt_in=True)
def missing_donation(event: UndonatedStep) -> Report | None:
    """In a loop, the result of a compiled function replaces one of its arguments, which the function does not donate.

    ## Why is this bad?

    While `state = step(state, batch)` runs, the old and the new state both use memory. If the state holds parameters
    and optimizer state, the two copies can fill most of the device memory. With donation, XLA writes the results over
    the old arrays: `jax.jit(step, donate_argnames=("state",))`, or `donate_argnums=0` for `pmap`. The call deletes the
    old arrays, so no code may use them afterwards. If the first `state` is an argument of the function that contains
    the loop, the caller of this function may not use it afterwards either.

    ## Example

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

    ## Use instead

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

    ## Not reported

    jaxlint does not report an argument whose old value the code reads after the call or keeps elsewhere, because a
    donated array is deleted. It does not report an argument that the loop does not replace by the result of the call,
    such as the batch.

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

    ## Limitations

    The rule does not know how large the argument is. It also reports small arguments, although donation saves little
    memory for them.

    ## Fix safety

    Unsafe. jaxlint adds `donate_argnames` (or `donate_argnums` for `pmap`) where the function is compiled. JAX then
    deletes the donated array, so a later use raises an error. jaxlint therefore offers the fix only if no other code
    can use the array:

    - Every call of the compiled function passes a variable. An attribute such as `self.state` has no fix.
    - The function that contains the call makes the array itself. The example above has no fix, because `w` is a
      parameter of `fit`.
    - Only this variable refers to the array. There is no fix if a list, an object or a reshaped array may also refer to
      it.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the old array is still in memory after
    the loop has replaced it by a new array of the same size. To see how much memory a compiled step reuses, read
    `step.lower(state, batch).compile().memory_analysis().alias_size_in_bytes`.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX411 (`donated-reuse`), JAX516 (`overwritten-host-buffer`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/buffer_donation.html>
    """
    context = event.context
    if context.staged or context.presumed or is_test(context):
        return None
    step = quote(context, event.at.func, "the step")
    replaced = listed(event.names) if event.names else "its argument"
    return Report(
        event.at,
        f"The result of {step} replaces {replaced} in every iteration, but JAX keeps the old arrays during the call, "
        f"which takes twice the memory; donate {replaced} (donate_argnames)",
        unless=event.fact,
    )
