"""Host containers indexed by traced values."""

import jax
import jax.numpy as jnp
import numpy as np

TABLE = np.linspace(0.0, 1.0, 5)
NAMES = ("a", "b", "c")


@jax.jit
def of_a_list(x, i):
    parts = [x, 2 * x]
    return parts[i]  # expect: traced-container-index


# raises TracerIntegerConversionError: of_a_list(1.0, 1)


@jax.jit
def of_a_tuple(i):
    return len(NAMES[i])  # expect: traced-container-index


# raises TracerIntegerConversionError: of_a_tuple(1)


@jax.jit
def of_a_string(x):
    return "xyz"[jnp.argmax(x)] == "x"  # expect: traced-container-index


# raises TracerIntegerConversionError: of_a_string(jnp.ones(3))


@jax.jit
def of_a_table(i):
    return TABLE[i]  # expect: traced-container-index


# raises TracerArrayConversionError: of_a_table(1)


@jax.jit
def of_a_shape(x, i):
    return x.shape[i]  # expect: traced-container-index


# raises TracerIntegerConversionError: of_a_shape(jnp.ones((2, 3)), 1)


def looped(x):
    scales = [0.5, 1.0, 2.0]
    return jax.lax.fori_loop(0, 3, lambda i, v: v * scales[i], x)  # expect: traced-container-index


# raises TracerIntegerConversionError: looped(1.0)


# --- never flagged -------------------------------------------------------------


@jax.jit
def arrays(x, i, tree):
    stacked = jnp.stack([x, 2 * x])
    total = stacked[i] + jnp.asarray(TABLE)[i]
    for k in range(len(NAMES)):
        total = total + TABLE[k] + len(NAMES[k])
    return total + tree["w"][i] + jax.tree.leaves(tree)[0].sum()


# runs: arrays(1.0, 1, {"w": jnp.ones(3)})


def differentiated(x):
    parts = [1.0, 2.0]
    return x * parts[x.astype(int)] * TABLE[x.astype(int)]


slope = jax.grad(differentiated)
# runs: slope(1.0)


def eager(i):
    index = jnp.asarray(i)
    return TABLE[index], NAMES[index]


# runs: eager(1)


@jax.jit
def whole_table(x):
    return TABLE == x, TABLE[None] + x


# runs: whole_table(0.5)
