"""Results whose shape depends on the data, in staged code."""

import jax
import jax.numpy as jnp
import numpy as np

STATIC_MASK = np.array([True, False, True])
CONCRETE = jnp.array([0.0, 1.0, 2.0])


@jax.jit
def masked(x):
    return jnp.sum(x[x > 0])  # expect: data-dependent-shape


# raises NonConcreteBooleanIndexError: masked(jnp.ones(3))


@jax.jit
def masked_rows(x):
    valid = jnp.isfinite(x).all(axis=1)
    return x[valid, 0].sum()  # expect: data-dependent-shape


# raises NonConcreteBooleanIndexError: masked_rows(jnp.ones((3, 2)))


@jax.jit
def masked_update(x):
    return x.at[x > 1].set(1.0)  # expect: data-dependent-shape


# raises NonConcreteBooleanIndexError: masked_update(jnp.ones(3))


@jax.jit
def masked_add(x):
    y = jnp.sin(x)
    return y.at[y < 0].add(1.0)  # expect: data-dependent-shape


# raises NonConcreteBooleanIndexError: masked_add(jnp.ones(3))


@jax.jit
def scalar_mask(x):
    return x[x.sum() > 0]  # expect: data-dependent-shape


# raises NonConcreteBooleanIndexError: scalar_mask(jnp.ones(3))


@jax.jit
def nonzero(x):
    return jnp.nonzero(x)  # expect: data-dependent-shape


# raises ConcretizationTypeError: nonzero(jnp.ones(3))


@jax.jit
def argwhere(x):
    return jnp.argwhere(x > 0)  # expect: data-dependent-shape


# raises ConcretizationTypeError: argwhere(jnp.ones(3))


@jax.jit
def flatnonzero(x):
    return jnp.flatnonzero(x)  # expect: data-dependent-shape


# raises ConcretizationTypeError: flatnonzero(jnp.ones(3))


@jax.jit
def unique(x):
    return jnp.unique(x)  # expect: data-dependent-shape


# raises ConcretizationTypeError: unique(jnp.ones(3))


@jax.jit
def one_armed_where(x):
    return jnp.where(x > 0)  # expect: data-dependent-shape


# raises ConcretizationTypeError: one_armed_where(jnp.ones(3))


@jax.jit
def extract(x):
    return jnp.extract(x > 0, x)  # expect: data-dependent-shape


# raises TracerBoolConversionError: extract(jnp.ones(3))


@jax.jit
def compress(x):
    return jnp.compress(x > 0, x)  # expect: data-dependent-shape


# raises TracerBoolConversionError: compress(jnp.ones(3))


@jax.jit
def union(x, y):
    return jnp.union1d(x, y)  # expect: data-dependent-shape


# raises ConcretizationTypeError: union(jnp.ones(3), jnp.ones(3))


@jax.jit
def repeat(x, n):
    return jnp.repeat(x, n)  # expect: data-dependent-shape


# raises ConcretizationTypeError: repeat(jnp.ones(3), jnp.array([1, 2, 3]))


@jax.jit
def captured():
    return jnp.nonzero(CONCRETE)  # expect: data-dependent-shape


# raises ConcretizationTypeError: captured()


# --- never flagged -------------------------------------------------------------


@jax.jit
def fixed(x, n):
    (where,) = jnp.nonzero(x > 0, size=2, fill_value=0)
    found = jnp.unique(x, size=3)
    rows = jnp.argwhere(x > 0, size=1)
    repeated = jnp.repeat(x, n, total_repeat_length=6)
    return where, found, rows, repeated, jnp.repeat(x, 2), jnp.where(x > 0, size=1)


# runs: fixed(jnp.ones(3), jnp.array([1, 2, 3]))


@jax.jit
def integers(x, i):
    order = jnp.argsort(x)
    return x[i] + x[order] + x.at[i].add(1.0) + x[STATIC_MASK].sum() + jnp.where(x > 0, x, 0.0) + x[None][0]


# runs: integers(jnp.ones(3), 1)


def eager(x):
    return x[x > 0], jnp.nonzero(x), jnp.unique(x), x.at[x > 0].set(0.0), jnp.where(x > 0)


# runs: eager(jnp.ones(3))


def differentiated(x):
    return x[x > 0].sum()


slope = jax.grad(differentiated)
# runs: slope(jnp.ones(3))


@jax.jit
def on_the_host(x):
    rows = np.nonzero(STATIC_MASK)[0]
    return x[rows] + x[np.flatnonzero(STATIC_MASK)]


# runs: on_the_host(jnp.ones(3))
