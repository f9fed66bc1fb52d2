"""JAX902: what is timed includes a compilation. Not modelled: the compilation cache on disk, callers out of sight."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.events.events import Timed
from flake8_jax.semantics.events.facts import WARM


@rule("JAX902", "info")
def timing_compile(event: Timed) -> list[Report] | None:
    """The first call of a jitted function is timed, and so is its compilation.

    Why it bites: `jit` traces and compiles when a function is called for the first time with arguments of some shape,
    which takes a thousand times as long as a call. A timer around that call tells of the compiler, and a mean over a few
    calls does as well. Call the function once before the clock is started.

    Bad:

    ```python
    import time
    import timeit

    import jax
    import jax.numpy as jnp


    @jax.jit
    def attention(q, k, v):
        s = jax.nn.softmax(q @ k.T / q.shape[-1] ** 0.5)
        return s @ v


    def benchmark(n):
        q = jnp.ones((n, 32))
        start = time.perf_counter()
        attention(q, q, q).block_until_ready()  # expect: timing-compile
        return time.perf_counter() - start


    def demonstrate():
        first = benchmark(64)
        q = jnp.ones((64, 32))
        assert first > 5 * timeit.timeit(lambda: attention(q, q, q).block_until_ready(), number=1)
    ```

    Good:

    ```python
    import time

    import jax
    import jax.numpy as jnp


    @jax.jit
    def attention(q, k, v):
        s = jax.nn.softmax(q @ k.T / q.shape[-1] ** 0.5)
        return s @ v


    def benchmark(n):
        q = jnp.ones((n, 32))
        attention(q, q, q).block_until_ready()
        start = time.perf_counter()
        attention(q, q, q).block_until_ready()
        return time.perf_counter() - start
    ```

    Also good: the first call told apart from the others, a time that the program calls that of compiling, and a program that
    compiles once in a long run.

    ```python
    import time

    import jax
    import jax.numpy as jnp


    @jax.jit
    def forward(w, x):
        return jnp.tanh(x @ w)


    @jax.jit
    def train_step(w, x):
        return w - 0.05 * x.T @ (x @ w)


    def compare(w, x):
        start = time.perf_counter()
        forward(w, x).block_until_ready()
        first = time.perf_counter() - start
        start = time.perf_counter()
        forward(w, x).block_until_ready()
        return first, time.perf_counter() - start


    def fit(w, batches):
        start = time.time()
        for x in batches:
            w = train_step(w, x)
        w.block_until_ready()
        return w, time.time() - start
    ```

    At the top level of a script or notebook, where a program that runs once tells how long it took, jaxlint reports nothing,
    nor where async-timing reports the same timer.

    The level is a note: in none of 6 places of other projects the finding was worth a change. The others timed one long run
    each, or the compilation itself.

    Fix: none. What a call to warm up may be given is the author's to say.

    Proof: the first measurement is many times the second.
    """
    context = event.context
    if context.staged or context.presumed or (context.inner is None and not context.loop) or event.pending is not None:
        return None
    return [
        Report(
            cold.at,
            f"Timing {quote(context, cold.at)} includes compiling {_subject(cold.what)}; call it once before the timer starts",
            unless="" if cold.always else WARM,
        )
        for cold in event.cold
        if cold.scope is context.scope
    ]


def _subject(name: str) -> str:
    return f"`{name}`" if name else "the jitted function"
