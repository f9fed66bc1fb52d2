"""64-bit dtypes where nothing enables them."""

import jax
import jax.numpy as jnp
import numpy as np

REAL = np.float64


def made():
    return jnp.zeros(3, dtype=jnp.float64)  # expect: x64-disabled


def by_name(ids):
    return jnp.asarray(ids, dtype="int64")  # expect: x64-disabled


def by_variable():
    return jnp.ones((2,), REAL)  # expect: x64-disabled


def of_a_number():
    return jnp.float64(2.1)  # expect: x64-disabled


def by_code():
    return jnp.zeros((), dtype="f8") + jnp.zeros((), dtype="f4")  # expect: x64-disabled


def several(x, y, z):
    a = jnp.array(x, dtype=jnp.float64)  # expect: x64-disabled
    b = jnp.array(y, dtype=jnp.float64)
    c = jnp.array(z, dtype=jnp.float64)
    return a + b + c


@jax.jit
def cast(x):
    return x.astype(jnp.float64)  # expect: x64-disabled


def converted(x):
    return jax.lax.convert_element_type(x, np.complex128)  # expect: x64-disabled


def by_other_names():
    return jnp.zeros(3, dtype=jnp.complex_)  # expect: x64-disabled


def by_string():
    return jnp.ones(3, dtype="float")  # expect: x64-disabled


def by_numpys_name(x):
    return jnp.asarray(x, dtype="complex")  # expect: x64-disabled


# runs: by_other_names(), by_string(), by_numpys_name([1.5])
# runs: made(), by_name([1]), by_variable(), of_a_number(), by_code(), several(1, 2, 3), cast(jnp.ones(2)), converted(jnp.ones(2))


# --- never flagged -------------------------------------------------------------


def follows(x):
    table = np.zeros(4, dtype=np.float64)
    wide = np.asarray(x).astype(np.float64)
    plain = jnp.zeros(3, dtype=float), jnp.asarray(x, int), x.astype(complex), x.astype("int"), x.astype(jnp.int_), x.astype(jnp.float_)
    return jnp.asarray(table), wide, jnp.zeros(x.shape, x.dtype), plain, jnp.finfo(jnp.float64).eps


def described():
    return jax.ShapeDtypeStruct((3,), np.float32), jnp.dtype("float64"), jnp.issubdtype(jnp.float32, jnp.float64)


# runs: follows(jnp.ones(2)), described()


def small_integers(n, x):
    return jnp.arange(n, dtype=jnp.int64), jnp.zeros(n, jnp.int64), jax.lax.iota(jnp.int64, 4), jnp.ones_like(x, "int64")


def exact_numbers():
    return jnp.array(0.0, dtype=jnp.float64), jnp.float64(2.0), jnp.asarray(1, "int64")  # expect: x64-disabled


def averaged(x):
    return jnp.mean(x, axis=0, dtype=jnp.float64)


def looked_at(key):
    x = jax.random.uniform(key, (3,), dtype=jnp.float64)
    print(x.dtype)
    return x


# runs: small_integers(3, jnp.ones(2)), exact_numbers(), averaged(jnp.ones(2)), looked_at(jax.random.key(0))
