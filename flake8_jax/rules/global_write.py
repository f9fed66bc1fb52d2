"""JAX501: staged code rebinds a variable of an outer scope.

Not modelled: a host value that does not depend on the old one (a flag, a configuration): it may be meant to be set once.
"""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._changes import LEAK, ONCE, counts, leaks
from flake8_jax.semantics.events.events import Mutation
from flake8_jax.semantics.events.facts import UNDONE


@rule("JAX501", "error")
def global_write(event: Mutation) -> Report | None:
    """Staged code rebinds a `global` or `nonlocal` variable that was there before the trace.

    Why it bites: Python runs a staged function only while JAX traces it. What it leaves in an outer variable is a
    tracer, which is of no use once the trace is over (`UnexpectedTracerError`), or it is a count that moves at the first
    call and never again. Return the value instead, or carry it through the loop.

    Bad:

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

    Good: the value is a result.

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

    Also good: a variable that belongs to the trace itself, one that is put back, and the target of a callback, which
    runs at every call.

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

    Fix: none. Where the value should go is a question of design.

    Proof: using the variable after the call raises `UnexpectedTracerError`, or a count does not follow the calls.
    """
    if event.target is not None or event.how not in ("global", "nonlocal", "attribute"):
        return None
    if leaks(event):
        return Report(event.at, f"This assignment to {event.how} `{event.name}` {LEAK}", unless=UNDONE)
    if counts(event):
        return Report(event.at, f"This update of {event.how} `{event.name}` {ONCE}", unless=UNDONE)
    return None
