"""JAX409: a large array becomes a constant of the compiled program. See ``semantics.captures`` for what is not modelled."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.events.events import CapturedConstant

MIB = 1 << 20


@rule("JAX409", "warning")
def captured_constant(event: CapturedConstant) -> Report | None:
    """A compiled function closes over an array of a MiB or more, which becomes a constant of the program.

    Why it bites: what a jitted function does not get as an argument is written into the program that is compiled: the
    compiler reads it, tries to compute with it ahead of time, and keeps it, once for every function and every shape that
    is compiled. Compilation takes long and the memory is taken twice. Pass the array as an argument.

    Bad:

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np

    EMBEDDINGS = np.random.default_rng(0).normal(size=(4096, 128)).astype(np.float32)


    @jax.jit
    def embed(tokens):
        return jnp.asarray(EMBEDDINGS)[tokens]  # expect: captured-constant


    def demonstrate():
        assert len(embed.lower(jnp.arange(3)).as_text()) > 2**20
    ```

    Good:

    ```python
    import jax
    import numpy as np

    EMBEDDINGS = np.random.default_rng(0).normal(size=(4096, 128)).astype(np.float32)


    @jax.jit
    def embed(table, tokens):
        return table[tokens]


    def lookup(tokens):
        return embed(EMBEDDINGS, tokens)
    ```

    Also good: the shape alone, an array that is made while JAX traces, one that holds one value throughout, what fits
    into a program, and a loop of JAX that no compiled function is around.

    ```python
    import jax
    import jax.numpy as jnp

    DATA = jax.random.normal(jax.random.key(0), (4096, 128))
    BLANK = jnp.zeros((1024, 1024))
    STENCIL = jnp.array([1.0, -2.0, 1.0])


    @jax.jit
    def start(key):
        noise = jax.random.normal(key, DATA.shape) + jnp.arange(DATA.shape[0] * 128.0).reshape(DATA.shape)
        return noise, BLANK + noise[0, 0]


    @jax.jit
    def smooth(x):
        return jnp.convolve(x, STENCIL, mode="same")


    def descend(w):
        def body_fun(_, w):
            return w - 0.1 * DATA.T @ (DATA @ w) / DATA.shape[0]

        return jax.lax.fori_loop(0, 10, body_fun, w)
    ```

    Fix: none. The array has to become an argument, through every caller.

    Proof: the text of the lowered module is as long as the array.
    """
    subject = quote(event.context, event.at)
    return Report(
        event.at,
        f"jit compiles the captured {subject} (at least {event.bytes // MIB} MiB) into a constant; pass it as an argument",
    )
