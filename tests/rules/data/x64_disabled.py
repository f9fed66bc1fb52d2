"""64-bit dtypes where nothing enables them."""

import jax
import jax.numpy as jnp
import numpy as np

REAL = np.float64


def made():
    a = jnp.zeros(3, dtype=jnp.float64)  # expect: x64-disabled
    b = jnp.asarray([1, 2], dtype="int64")  # expect: x64-disabled
    c = jnp.ones((2,), REAL)  # expect: x64-disabled
    d = jnp.float64(2.0)  # expect: x64-disabled
    d = d + jnp.zeros((), dtype="f8") + jnp.ones((), "<i8")  # expect: x64-disabled, x64-disabled
    d = d + jnp.zeros((), dtype="f4")
    return a, b, c, d


@jax.jit
def cast(x):
    return x.astype(jnp.float64) + jax.lax.convert_element_type(x, np.complex128)  # expect: x64-disabled, x64-disabled


# runs: made(), cast(jnp.ones(2))


# --- never flagged -------------------------------------------------------------


def follows(x):
    table = np.zeros(4, dtype=np.float64)
    wide = np.asarray(x).astype(np.float64)
    return jnp.asarray(table), wide, jnp.zeros(x.shape, x.dtype), jnp.zeros(3, dtype=float), jnp.finfo(jnp.float64).eps


def described():
    return jax.ShapeDtypeStruct((3,), np.float32), jnp.dtype("float64"), jnp.issubdtype(jnp.float32, jnp.float64)


# runs: follows(jnp.ones(2)), described()
