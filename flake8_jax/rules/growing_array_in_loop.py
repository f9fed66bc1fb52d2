"""JAX415: see the page of ``growing_array_in_loop``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._variation import report_compilations
from flake8_jax.semantics.events.events import LoopCopy


@rule("JAX415", "warning", settle=report_compilations)
def growing_array_in_loop(event: LoopCopy) -> Report | None:
    """A loop outside tracing makes an array longer, or changes a few of its elements, in every iteration.

    The rule is on only with `--preview`: of 10 findings in public repositories, 5 were worth a change. The other
    findings were loops with few iterations, or small arrays that a program fills once.

    ## Why is this bad?

    JAX arrays are immutable, so outside `jit` each `jnp.append`, `jnp.concatenate` and `x.at[i].set(v)` copies the
    whole array. A growing array also has a new shape in every iteration, and JAX compiles each operation for each
    shape. In a measurement, 200 calls of `jnp.append` took 12.5 s in the first run, but 200 calls of `list.append`
    took 0.3 ms.

    Collect the parts in a list and stack the list once after the loop. To change elements of an array, use a NumPy
    array, or update the JAX array in a jitted function that donates it.

    ## Example

    ```python
    import jax.numpy as jnp


    def discounted(rewards, gamma=0.99):
        total, out = 0.0, jnp.zeros(0)
        for reward in reversed(rewards):
            total = reward + gamma * total
            out = jnp.append(out, total)  # expect: growing-array-in-loop
        return out[::-1]


    def mosaic(tiles, columns, side=28):
        canvas = jnp.zeros((len(tiles) // columns * side, columns * side))
        for k, tile in enumerate(tiles):
            y, x = divmod(k, columns)
            canvas = canvas.at[y * side : (y + 1) * side, x * side : (x + 1) * side].set(tile)  # expect: growing-array-in-loop
        return canvas


    def demonstrate():
        import jax

        compiled = []

        def listen(event, seconds, **details):
            if event.endswith("backend_compile_duration"):
                compiled.append(event)

        assert mosaic([jnp.ones((28, 28))] * 20, 5).sum() == 20 * 28 * 28
        discounted([1.0] * 3)
        jax.monitoring.register_event_duration_secs_listener(listen)
        discounted([1.0] * 23)
        assert len(compiled) >= 20
    ```

    ## Use instead

    ```python
    import jax.numpy as jnp
    import numpy as np


    def discounted(rewards, gamma=0.99):
        total, out = 0.0, []
        for reward in reversed(rewards):
            total = reward + gamma * total
            out.append(total)
        return jnp.array(out[::-1])


    def mosaic(tiles, columns, side=28):
        canvas = np.zeros((len(tiles) // columns * side, columns * side))
        for k, tile in enumerate(tiles):
            y, x = divmod(k, columns)
            canvas[y * side : (y + 1) * side, x * side : (x + 1) * side] = tile
        return jnp.asarray(canvas)
    ```

    ## Not reported

    jaxlint does not report an update in a jitted function that donates the array, because XLA then writes into the
    same memory. It does not report a loop that is known to have fewer than 16 iterations, because such a loop costs
    little. It does not report an array that each iteration makes from scratch, because this array does not grow from
    one iteration to the next.

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    @partial(jax.jit, donate_argnames="buffer")
    def store(buffer, i, row):
        return buffer.at[i].set(row)


    def fill(rows):
        buffer = jnp.zeros((len(rows), 3))
        for i, row in enumerate(rows):
            pair = jnp.concatenate([row, -row])
            buffer = store(buffer, i, pair[:3])
        return buffer


    def powers(x):
        features = x
        for power in range(2, 5):
            features = jnp.concatenate([features, x**power])
        return features
    ```

    ## Limitations

    If no code of the project calls the function with the loop, the users of a library may jit the function. The rule then
    reports the loop only if it goes over data, or if a model gets the growing array in each iteration, as in a loop that
    generates text. The rule does not know how large the array is. It also reports arrays that are cheap to copy because
    they are small.

    ## Fix safety

    No fix. The author has to decide which parts the loop collects, and where the code stacks them.

    ## How it is verified

    `jaxlint verify` runs the program that you name. It confirms the finding if JAX compiles the reported operation
    again for a new length, or if this operation runs at least 16 times outside tracing.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX407 (`varying-shape-in-loop`), JAX106 (`data-dependent-shape`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/buffer_donation.html>
    """
    context = event.context
    if context.staged or context.presumed or is_test(context):
        return None
    subject = quote(context, event.at, "this")
    if event.how == "updated":
        message = (
            f"{subject} copies the whole array in every iteration, because JAX arrays are immutable; fill a NumPy array, "
            "or jit the loop"
        )
    elif event.how == "listed":
        message = (
            f"{subject} converts a list that grows in every iteration, so JAX compiles for each length; "
            "convert it once after the loop"
        )
    else:
        advice = "collect the parts in a list and join them after the loop"
        if event.fed:
            advice = "pad the array to its final length before the loop"
        message = f"{subject} makes a longer array in every iteration, so JAX compiles for each length; {advice}"
    return Report(event.at, message, unless=event.unless, preview=True)
