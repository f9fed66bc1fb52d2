"""JAX508: see the page of ``cached_tracer``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import contains_tracer, is_reportable, quote
from flake8_jax.semantics.events.events import CachedCall, Hashing


@rule("JAX508", "error")
def cached_tracer(event: CachedCall | Hashing) -> Report | None:
    """Traced code calls a cached function (`lru_cache`) that gets a traced argument or makes JAX arrays.

    ## Why is this bad?

    A cache must hash the arguments of the function, and a tracer has no hash (`TypeError: unhashable type`). If a
    cached function makes `jnp` arrays from static arguments and its first call happens at trace time, the arrays are
    tracers. The cache keeps them, so the next trace, or a call outside tracing, gets an invalid tracer
    (`UnexpectedTracerError`). Make such arrays with NumPy or under `jax.ensure_compile_time_eval()`.

    ## Example

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

    ## Use instead

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

    ## Not reported

    jaxlint does not report a cached function that makes its arrays under `jax.ensure_compile_time_eval()`, or that is
    first called outside tracing, because the arrays are then not tracers. It does not report a cached function whose
    result contains no JAX arrays, such as a number or a jitted function.

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

    ## Limitations

    The rule knows only the caches of Python's `functools` (`lru_cache`, `cache`). It misses a cache that the project
    implements itself, and a cached function whose result is an object that contains arrays but is not a pytree.

    ## Fix safety

    No fix. Only the author knows whether NumPy can compute the result, or whether to remove the cache.

    ## How it is verified

    `jaxlint verify` runs the program that you name. It confirms the finding in three cases: a traced argument raises
    `TypeError`, a tracer from the cache raises `UnexpectedTracerError` in a later call, or the cached function is
    called at trace time, so that the cache keeps a tracer.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX501 (`global-write`), JAX502 (`captured-mutation`), JAX503 (`self-write`), JAX511 (`stale-static-self`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/errors.html#jax.errors.UnexpectedTracerError>
    """
    if not is_reportable(event.context):
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
