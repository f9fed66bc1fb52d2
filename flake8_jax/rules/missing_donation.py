"""JAX412: see the page of ``missing_donation``."""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._keys import at_place, is_near
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._wording import listed
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.events.events import UndonatedStep


@rule("JAX412", "info", fixable="sometimes", opt_in=True)
def missing_donation(event: UndonatedStep) -> Report | None:
    """In a loop, the result of a compiled function replaces one of its arguments, which the function does not donate.

    The rule is off by default, because donation saves little memory if the argument is small, and jaxlint does not know
    how large it is. With `--preview`, the rule is on for the training steps of large networks. jaxlint takes a network
    for large if the file with the loop, the file with the step, or a file that they import names convolutions,
    embeddings, attention, LSTM cells or transformers. It takes a compiled function for a training step if it calls
    `jax.grad`, `jax.value_and_grad`, `optax.apply_updates` or `apply_gradients`, or if it gets gradients as an
    argument.

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

    With `--preview`, jaxlint reports a training step of a large network:

    ```python
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import optax

    model = nn.Embed(num_embeddings=1000, features=64)
    optimizer = optax.adam(1e-3)


    @jax.jit
    def train_step(params, opt_state, tokens):
        grads = jax.grad(lambda params: jnp.mean(model.apply(params, tokens) ** 2))(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state


    def train(params, batches):
        opt_state = optimizer.init(params)
        for tokens in batches:
            params, opt_state = train_step(params, opt_state, tokens)  # expect: missing-donation
        return params


    def demonstrate():
        tokens = jnp.arange(8)
        params = model.init(jax.random.key(0), tokens)
        lowered = train_step.lower(params, optimizer.init(params), tokens)
        assert lowered.compile().memory_analysis().alias_size_in_bytes == 0
        train(params, [tokens] * 2)
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

    jaxlint does not report an argument that the function returns unchanged. It does not report an argument whose old
    value the code reads after the call or keeps elsewhere, because a donated array is deleted. It does not report an
    argument that the loop does not replace by the result of the call, such as the batch.

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

    There is also no fix if the project allows a JAX before 0.4.14, whose `jit` has no `donate_argnames`.

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
    them = "them" if len(event.names) > 1 else "it"
    made = "" if is_near(event.site, context, event.at) else f" where {step} is jitted, {at_place(event.site, context)}"
    return Report(
        event.at,
        f"The result of {step} replaces {replaced} in every iteration, but old and new arrays both use memory; "
        f"donate {them} (donate_argnames){made}",
        also_in_preview=event.large and _trains(event),
        unless=event.fact,
    )


def _trains(event: UndonatedStep) -> bool:
    """The compiled function makes new parameters of old ones: those, and what an optimizer gathers, are most of the memory."""
    if event.function is None:
        return False
    nodes = [node for statement in event.function.body for node in walk(statement)]
    called = {last_name(node.func) for node in nodes if isinstance(node, ir.Call)}
    called |= {
        last_name(node.func.func) for node in nodes if isinstance(node, ir.Call) and isinstance(node.func, ir.Call)
    }
    gets_gradients = any(_GRADIENTS.fullmatch(p.name) for p in event.function.params)
    return gets_gradients or not _TRAINING.isdisjoint(called)


_TRAINING = frozenset(
    {"apply_gradients", "apply_updates", "filter_grad", "filter_value_and_grad", "grad", "opt_update", "value_and_grad"}
)
_GRADIENTS = re.compile(r"(?:.*_)?(?:grads?|gradients?)")
