"""JAX410: an eager loop stages or differentiates a Python function anew in every iteration.

Not modelled: how much the function does, how many iterations there are.
"""

from __future__ import annotations

from flake8_jax.core.findings import Level
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._fresh import loop_of, made_of, short
from flake8_jax.rules._steps import report_gradients_first
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.events.events import Repetition


@rule("JAX410", "warning", settle=report_gradients_first)
def transform_in_loop(event: Repetition) -> Report | None:
    """An eager loop runs `scan` or its kin on a new function, or `grad` or `vmap` without `jit`, in every iteration.

    Why it bites: `scan`, `cond`, `while_loop` and `fori_loop` compile their bodies, and keep what they compiled by the
    identity of the body: with a new lambda or a local `def` they compile in every iteration. `grad` and `vmap` compile
    nothing: outside of `jit` every call runs the Python function again and sends its operations to the device one by
    one (<https://docs.jax.dev/en/latest/jit-compilation.html>). Jit the step of the loop as a whole.

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    def loss(w, x):
        return jnp.mean((x @ w - 1.0) ** 2)


    def train(w, batches):
        for x in batches:
            value, g = jax.value_and_grad(loss)(w, x)  # expect: transform-in-loop
            w = w - 0.1 * g
        return w


    def decay(w, rates):
        for rate in rates:
            w = jax.lax.fori_loop(0, 10, lambda i, w: w * rate, w)  # expect: transform-in-loop
        return w


    def demonstrate():
        compiled = []

        def listen(event, seconds, **details):
            if event.endswith("backend_compile_duration"):
                compiled.append(details.get("fun_name"))

        jax.monitoring.register_event_duration_secs_listener(listen)
        decay(jnp.ones(2), [0.1, 0.2, 0.3, 0.4])
        assert compiled.count("jit(scan)") == 4
        ran, original = [], loss

        def counted(w, x):
            ran.append(1)
            return original(w, x)

        globals()["loss"] = counted
        train(jnp.ones(2), [jnp.ones((3, 2))] * 5)
        globals()["loss"] = original
        assert len(ran) == 5
    ```

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    def loss(w, x):
        return jnp.mean((x @ w - 1.0) ** 2)


    @jax.jit
    def step(w, x):
        value, g = jax.value_and_grad(loss)(w, x)
        return jax.lax.fori_loop(0, 10, lambda i, w: w * 0.99, w - 0.1 * g)


    def train(w, batches):
        for x in batches:
            w = step(w, x)
        return w
    ```

    Also good: a body with a name of its own, and what runs once.

    ```python
    import jax
    import jax.numpy as jnp


    def body(total, x):
        return total + x, total


    def cumulative(arrays):
        return [jax.lax.scan(body, 0.0, x)[1] for x in arrays]


    def slope(x):
        return jax.grad(lambda x: jnp.sum(x**2))(x)
    ```

    What a loop differentiates, it trains: that is a warning. `vmap`, and new bodies of `scan` and its kin, are a note: such
    loops are often short.

    Fix: none. Where the step ends is the author's choice.

    Proof: the number of traces grows with the number of iterations.
    """
    if event.how == "compiled" or is_test(event.context):
        return None
    if event.how == "body":
        problem = f"`{short(event.name)}` gets {made_of(event.operand)} and compiles it"
        advice = "jit the whole step or define the body outside the loop"
        if event.name == "jax.lax.map":
            problem, advice = "`map` traces and compiles its function", "jit the whole step"
    else:
        function = callee(event.context, event.at, f"`{short(event.name)}`")
        made = "" if short(event.name) in function else f", made by `{short(event.name)}`,"
        problem, advice = f"{function}{made} traces its function again", "jit the whole step"
    when = "in every iteration" if event.own else f"in every iteration of {loop_of(event)}"
    level: Level | None = None if event.how != "body" and short(event.name) in _GRADIENTS else "info"
    return Report(event.at, f"{problem} {when}; {advice}", level, unless=event.unless)


_GRADIENTS = frozenset({"grad", "value_and_grad"})
"""A loop that differentiates trains something, and runs often. Of the others most run a few times: readers of unseen
repositories found four in five of these worth a minute, and one in five of the others."""
