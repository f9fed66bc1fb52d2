"""JAX501: see the page of ``global_write``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._changes import ONCE, counts, leak, leaks, level_of_count
from flake8_jax.semantics.events.events import Mutation
from flake8_jax.semantics.events.facts import UNDONE


@rule("JAX501", "error")
def global_write(event: Mutation) -> Report | None:
    """Traced code assigns to a `global` or `nonlocal` variable that exists before the trace begins.

    The finding is a note if the code adds a number to the variable (`n_traces += 1`), because programs
    count their traces like this on purpose.

    ## Why is this bad?

    Python runs a traced function only while JAX traces it. An assignment to a `global` or `nonlocal` variable leaves a
    tracer in the variable, which is invalid after tracing (`UnexpectedTracerError`). A counter in such a variable
    increases in the first call, but not in later calls. Return the value instead. In the body of a loop such as
    `fori_loop`, make the value a part of the carry.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp

    last_loss = None
    n_updates = 0


    def loss_fn(w, x):
        global last_loss
        value = jnp.mean((x @ w) ** 2)
        last_loss = value  # expect: global-write
        return value


    @jax.jit
    def update(w, x):
        global n_updates
        n_updates += 1  # expect: global-write
        return w - 0.1 * jax.grad(loss_fn)(w, x)


    def demonstrate():
        w = jnp.ones(2)
        for _ in range(5):
            w = update(w, jnp.ones((3, 2)))
        assert n_updates == 1
        try:
            last_loss + 1
        except jax.errors.UnexpectedTracerError:
            return
        raise AssertionError
    ```

    ## Use instead

    Return the value, and let the caller store it.

    ```python
    import jax
    import jax.numpy as jnp


    def loss_fn(w, x):
        return jnp.mean((x @ w) ** 2)


    @jax.jit
    def update(w, x):
        value, grads = jax.value_and_grad(loss_fn)(w, x)
        return w - 0.1 * grads, value


    def fit(w, batches):
        n_updates, last_loss = 0, None
        for x in batches:
            w, last_loss = update(w, x)
            n_updates += 1
        return w, n_updates, last_loss
    ```

    ## Not reported

    jaxlint does not report a variable that the traced function itself makes, or a variable to which the function
    assigns its old value again before it returns. It does not report a variable that a callback sets (a function that
    `jax.debug.callback` calls), because a callback runs in every call.

    ```python
    import jax
    import jax.numpy as jnp

    calls = 0
    depth = 0


    def on_step(x):
        global calls
        calls += 1


    @jax.jit
    def forward(x, layers):
        global depth
        n_layers = 0

        def layer(x, w):
            nonlocal n_layers
            n_layers += 1
            return jnp.tanh(x @ w)

        outer = depth
        depth = outer + 1
        for w in layers:
            x = layer(x, w)
        depth = outer
        jax.debug.callback(on_step, x)
        return x / n_layers
    ```

    ## Limitations

    The rule does not report an assignment of a static value that does not depend on the old value, such as a flag
    (`ready = True`), because the program may set it once on purpose.

    ## Fix safety

    No fix. The function has to return the value, so the author has to change the function and its callers.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the assignment runs while JAX traces.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX502 (`captured-mutation`), JAX503 (`self-write`), JAX508 (`cached-tracer`), JAX511 (`stale-static-self`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#pure-functions>
    """
    if event.target is not None or event.how not in ("global", "nonlocal", "attribute"):
        return None
    if leaks(event):
        subject = f"This assignment to {event.how} `{event.name}`"
        return Report(event.at, f"{subject} {leak(event.context, f'`{event.name}`')}", unless=UNDONE)
    if counts(event):
        subject = f"This update of {event.how} `{event.name}`"
        return Report(event.at, f"{subject} {ONCE}", level_of_count(event), unless=UNDONE)
    return None
