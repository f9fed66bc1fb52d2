"""JAX204: see the page of ``sync_in_staged``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Candidate, Report, Subscription, rule
from flake8_jax.rules._host_use import is_converted
from flake8_jax.rules._merging import first_of_each, place_of
from flake8_jax.rules._tracers import contains_tracer, quote
from flake8_jax.rules._wording import spelled
from flake8_jax.semantics.domain.values import is_tracer
from flake8_jax.semantics.events.events import LibraryCall, MethodCall

_SYNCHRONISING = frozenset({"block_until_ready", "copy_to_host_async"})
_WAITING = _SYNCHRONISING | {"device_get"}


def _once_in_a_function(candidates: list[Candidate]) -> list[Candidate]:
    """A function that waits for each of its steps does so for one reason."""
    return first_of_each(candidates, lambda c: (place_of(c.event.context, c.start), type(c.event)))


@rule(
    "JAX204",
    "warning",
    fixable="sometimes",
    only=Subscription(where=frozenset({"staged"}), arrays=True),
    settle=_once_in_a_function,
)
def sync_in_staged(event: LibraryCall | MethodCall) -> Report | None:
    """`jax.device_get`, `block_until_ready` or `copy_to_host_async` is used on a traced value.

    The finding is a note for the functions `jax.device_get` and `jax.block_until_ready`, which have no
    effect on a tracer. It is a warning for the methods `x.block_until_ready()` and `x.copy_to_host_async()`, which
    raise an error.

    ## Why is this bad?

    At trace time there is no computation to wait for, and no value to copy. `jax.device_get(x)` and
    `jax.block_until_ready(x)` return the tracer unchanged, so the code seems to wait, but does not. The methods
    `x.block_until_ready()` and `x.copy_to_host_async()` do not exist on tracers and raise `AttributeError`.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def step(x):
        y = jnp.sin(x)
        host = jax.device_get(y)  # expect: sync-in-staged
        return host + 1.0


    @jax.jit
    def push(x):
        y = jnp.cos(x)
        y.copy_to_host_async()  # expect: sync-in-staged
        return y


    def demonstrate():
        assert "sin" in str(jax.make_jaxpr(step)(1.0)) and step(1.0) > 1.0
        push(1.0)  # raises: AttributeError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def step(x):
        return jnp.sin(x) + 1.0


    def run(x):
        y = step(x)
        y.copy_to_host_async()
        jax.block_until_ready(y)
        return jax.device_get(y)
    ```

    ## Not reported

    jaxlint does not report these calls in a callback (a function that `jax.debug.callback` or a similar function calls
    on the host), or on a value that is known at trace time, because the value is not a tracer there. It does not
    report a call whose result goes directly to `np.asarray`, `float` or `.item()`, because JAX203 (`numpy-on-tracer`),
    JAX201 (`host-cast`) or JAX202 (`host-item`) reports it.

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def stream(x):
        y = jnp.cumsum(x)
        jax.debug.callback(lambda v: jax.device_get(v), y)
        return y + np.asarray([1.0, 2.0])
    ```

    ## Limitations

    The rule misses a call if jaxlint does not know whether the value is traced, for example because a library of which
    jaxlint knows nothing returned it.

    ## Fix safety

    jaxlint removes the call: `jax.device_get(x)` becomes `x`. The fix is safe if every call of the function is traced.
    Otherwise it is unsafe, because a caller outside tracing may need the NumPy array, or may need the function to wait
    for the result.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the call runs while JAX traces.

    ## Since

    0.2.0.

    ## Related rules

    JAX201 (`host-cast`), JAX202 (`host-item`), JAX203 (`numpy-on-tracer`), JAX206 (`sync-in-loop`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/async_dispatch.html>
    """
    context = event.context
    if context.presumed or not context.staged:
        return None
    if isinstance(event, MethodCall):
        if event.method not in _SYNCHRONISING or context.caught or not is_tracer(event.value):
            return None
        owner = event.at.func.value if isinstance(event.at.func, ir.Attribute) else None
        subject = quote(context, owner, "the array")
        return Report(event.at, f"{subject} is traced, so it has no .{event.method}(); {_ADVICE}")
    if event.fact is None or event.fact.sync not in _WAITING or not event.args or not contains_tracer(event.args[0]):
        return None
    if is_converted(context.scope, event.at):
        return None  # this raises for a tracer: other rules say so, and where they do not, nothing is traced here
    function, subject = (
        spelled(context, event.at, event.name),
        quote(context, event.nodes[0] if event.nodes else None, "its argument"),
    )
    # Nothing goes wrong: readers of unseen repositories found 2 of 7 of these worth a minute.
    return Report(event.at, f"{function}() has no effect on {subject}, which is traced; {_REMOVE}", "info")


_ADVICE = "call it on the result of the jitted function"
_REMOVE = "remove it, or call it on what the jitted function returns"
