"""Casts of traced values to Python numbers."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

SCALE = jnp.float32(2.0)


@jax.jit
def to_float(x):
    return float(jnp.sum(x))  # expect: host-cast


# raises ConcretizationTypeError: to_float(jnp.ones(2))


@jax.jit
def to_int(x):
    return int(x[0]) + 1  # expect: host-cast


# raises ConcretizationTypeError: to_int(jnp.ones(2))


@jax.jit
def to_bool(x):
    return bool(jnp.any(x))  # expect: host-cast


# raises TracerBoolConversionError: to_bool(jnp.ones(2))


@jax.jit
def to_complex(x):
    return complex(jnp.sum(x))  # expect: host-cast


# raises ConcretizationTypeError: to_complex(jnp.ones(2))


@jax.jit
def argument(n):
    return float(n) * 2  # expect: host-cast


# raises ConcretizationTypeError: argument(3)


def differentiated(x):
    return x * float(x)  # expect: host-cast


slope = jax.grad(differentiated)
# raises ConcretizationTypeError: slope(1.0)


@jax.jit
@jax.grad
def doubly(x):
    return x * int(x)  # expect: host-cast


# raises ConcretizationTypeError: doubly(1.0)


# --- never flagged -------------------------------------------------------------


@partial(jax.jit, static_argnums=1)
def static(x, fraction):
    k = int(fraction * x.shape[0]) + int(x.ndim) + int(np.prod(x.shape))
    return x * float(k) * float("1.5") * bool(x.size) * float(SCALE)


# runs: static(jnp.ones(2), 0.5)


def eager(x):
    return float(jnp.sum(x)), int(x[0]), bool(jnp.any(x)), complex(x[0])


# runs: eager(jnp.ones(2))


def concrete(x):
    return x * int(x) * bool(x)


concrete_slope = jax.grad(concrete)
# runs: concrete_slope(1.0)


@jax.jit
def attempted(x):
    try:
        n = int(x)
    except jax.errors.ConcretizationTypeError:
        n = 1
    return x * n


# runs: attempted(1.0)


@jax.jit
def in_a_callback(x):
    jax.debug.callback(lambda v: float(v), x)
    return x


# runs: in_a_callback(1.0)
