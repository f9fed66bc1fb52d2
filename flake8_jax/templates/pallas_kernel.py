"""Pallas kernel: a grid of blocks, tested against `jax.numpy` in interpreter mode.

The kernel reads and writes references to blocks; `BlockSpec` says which block each point of the grid gets.
`interpret=True` runs it on any backend, so a test needs no accelerator. Write the same function in plain
`jax.numpy` first: it is the test, and often XLA fuses it well enough that no kernel is needed.
"""

import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS = 8  # of one block


def reference(x, bias):
    return jax.nn.gelu(x + bias)


def kernel(x_ref, bias_ref, out_ref):
    """The references hold one block: x of shape (ROWS, columns), bias of shape (1, columns)."""
    out_ref[...] = jax.nn.gelu(x_ref[...] + bias_ref[...])


@functools.partial(jax.jit, static_argnames="interpret")
def bias_gelu(x, bias, *, interpret):
    rows, columns = x.shape
    if rows % ROWS:
        raise ValueError(f"{rows} rows are no multiple of {ROWS}")  # a shape is static, so this is ordinary Python
    return pl.pallas_call(
        kernel,
        grid=(rows // ROWS,),
        in_specs=[
            pl.BlockSpec(block_shape=(ROWS, columns), index_map=lambda i: (i, 0)),
            pl.BlockSpec(block_shape=(1, columns), index_map=lambda i: (0, 0)),
        ],
        out_specs=pl.BlockSpec(block_shape=(ROWS, columns), index_map=lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=interpret,
    )(x, bias[None, :])


def main():
    x_key, bias_key = jax.random.split(jax.random.key(0))
    x = jax.random.normal(x_key, (64, 128))
    bias = jax.random.normal(bias_key, (128,))
    on_accelerator = jax.default_backend() in ("gpu", "tpu")
    result = bias_gelu(x, bias, interpret=not on_accelerator)
    error = float(jnp.max(jnp.abs(result - reference(x, bias))))
    print(f"{jax.default_backend()}, interpret={not on_accelerator}: largest difference from jax.numpy {error:.1e}")
    assert error < 1e-5


if __name__ == "__main__":
    main()
