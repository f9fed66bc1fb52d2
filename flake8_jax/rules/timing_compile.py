"""JAX902: see the page of ``timing_compile``."""

from __future__ import annotations

import re

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._keys import place
from flake8_jax.rules._timed_walk import compiling, without_known
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.events.events import ColdCall, Context, FileRead, Timed
from flake8_jax.semantics.events.facts import WARM


@rule("JAX902", "info", settle=without_known)
def timing_compile(event: Timed | FileRead) -> list[Report] | None:
    """A timer includes the first call of a jitted function, which also compiles the function.

    The findings are notes: none of 6 findings in public repositories was worth a change. The timers in these
    programs measured one long run, or the compilation itself.

    With `--preview`, the rule also reports a timer at the top level of a script or in a cell that starts before the first call
    of a jitted function, for example around a loop that calls it. It reports none around more than 40 lines or a loop of a
    thousand iterations.

    ## Why is this bad?

    `jit` traces and compiles a function at its first call with arguments of some shape, which takes about a thousand
    times as long as a later call. A timer around the first call therefore measures the compiler. If a timer covers
    the first call and a few later ones, their mean is still mostly compile time. Call the function once before you
    start the timer.

    ## Example

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

    ## Use instead

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

    ## Not reported

    jaxlint does not report a timer that measures the compilation on purpose. In this case, the name of the result says
    so (`compile_time`), or the timer stops after the first call and the program also times later calls, as in `compare`
    below.

    jaxlint does not report a timer around a long training run, because compiling once is a small part of it. It reports
    a timer at the top level of a script or notebook only with `--preview`, because such code often runs only once.

    jaxlint does not report a timer that stops before the work is done, because JAX901 (`async-timing`) reports it.

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

    ## Limitations

    The rule does not know whether JAX's compilation cache on disk already contains the function, or whether code
    outside the project has called the function before. In both cases the call does not compile, but the rule may
    report it.

    ## Fix safety

    No fix. Only the author knows which arguments a call before the timer should get.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if JAX compiles something during a run of
    the function that contains the timer.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX901 (`async-timing`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/benchmarking.html>
    """
    if isinstance(event, FileRead):
        return compiling(event)
    context = event.context
    if context.staged or context.presumed:
        return None
    is_top = context.inner is None and not context.loop
    if event.pending is not None and not event.fed:
        return None
    return [
        Report(
            cold.at,
            f"Timing {quote(context, cold.at)} includes compiling {_subject(context, cold)} "
            f"once before the timer starts{_start(event)}",
            preview=is_top,
            unless="" if cold.always else WARM,
        )
        for cold in event.cold
        if cold.scope is context.scope
    ]


def _start(event: Timed) -> str:
    """`` (line 12)``"""
    return f" ({place(event.started, event.context)})" if event.started is not None else ""


def _subject(context: Context, cold: ColdCall) -> str:
    """The compiled function, and what to do; if the finding does not spell the function, that it is called there."""
    if not cold.what:
        return "the jitted function; call it"
    is_spelled = re.search(rf"(?<!\w){re.escape(cold.what)}(?!\w)", context.scope.text[cold.at.start : cold.at.end])
    return f"`{cold.what}`; call it" if is_spelled else f"`{cold.what}`, which it calls; make this call"
