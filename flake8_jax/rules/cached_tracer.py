"""JAX508: a function that remembers its results is called from staged code.

Not modelled: caches of one's own, results that hide arrays in objects that are no pytrees.
"""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import contains_tracer, quote, speaks
from flake8_jax.semantics.events.events import CachedCall, Hashing


@rule("JAX508", "error")
def cached_tracer(event: CachedCall | Hashing) -> Report | None:
    """Staged code calls an `lru_cache`d function with a traced value, or one whose result holds JAX arrays.

    Why it bites: a traced argument cannot be looked up (`TypeError: unhashable type`). And a cached function that builds
    `jnp` arrays from static arguments builds tracers if it is first called while JAX traces: the cache keeps them, and
    the next trace or an eager call gets the tracer of a trace that is over (`UnexpectedTracerError`). Build such tables
    with NumPy, or under `jax.ensure_compile_time_eval()`.

    Bad:

    ```python
    import functools

    import jax
    import jax.numpy as jnp


    @functools.lru_cache
    def positions(n):
        return jnp.arange(n) / n


    @jax.jit
    def encode(x):
        return x + positions(x.shape[0])  # expect: cached-tracer


    @jax.jit
    def decode(x):
        return x - positions(x.shape[0])  # expect: cached-tracer


    def demonstrate():
        try:
            decode(encode(jnp.ones(3)))
        except jax.errors.UnexpectedTracerError:
            return
        raise AssertionError
    ```

    Good: a table of the host.

    ```python
    import functools

    import jax
    import numpy as np


    @functools.lru_cache
    def positions(n):
        return np.arange(n) / n


    @jax.jit
    def encode(x):
        return x + positions(x.shape[0])
    ```

    Also good: arrays made outside of the trace, and results that hold none.

    ```python
    import functools
    import math

    import jax
    import jax.numpy as jnp


    @functools.cache
    def positions(n):
        with jax.ensure_compile_time_eval():
            return jnp.arange(n) / n


    @functools.cache
    def scale(n):
        return 1.0 / math.sqrt(n)


    @functools.cache
    def compiled(power):
        return jax.jit(lambda x: x**power)


    @jax.jit
    def encode(x):
        return compiled(2)(x + positions(x.shape[0])) * scale(x.shape[0])
    ```

    Fix: none. Whether NumPy will do depends on what is computed.

    Proof: the second trace raises `UnexpectedTracerError`; with a traced argument, the first raises `TypeError`.
    """
    if not speaks(event.context):
        return None
    if isinstance(event, Hashing):
        if event.how != "cache":
            return None
        subject = quote(event.context, event.at, "This argument")
        return Report(event.at, f"{subject} is traced, but a cached function must hash its arguments; remove the cache")
    if not contains_tracer(event.result):
        return None
    advice = "return a NumPy array or remove the cache"
    return Report(
        event.at, f"The cache of `{event.name}` stores a tracer, so a later call raises UnexpectedTracerError; {advice}"
    )
