"""NumPy and SciPy on traced values."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

TABLE = np.linspace(0.0, 1.0, 5)
CONCRETE = jnp.arange(3.0)


@jax.jit
def ufunc(x):
    return np.sin(x)  # expect: numpy-on-tracer


# raises TracerArrayConversionError: ufunc(1.0)


@jax.jit
def second_argument(x):
    return np.maximum(0.0, x)  # expect: numpy-on-tracer


# raises TracerArrayConversionError: second_argument(1.0)


@jax.jit
def converted(x):
    return np.asarray(x)  # expect: numpy-on-tracer


# raises TracerArrayConversionError: converted(1.0)


@jax.jit
def stacked(x):
    y = jnp.sin(x)
    return np.stack([y, y])  # expect: numpy-on-tracer


# raises TracerArrayConversionError: stacked(1.0)


@jax.jit
def chosen(x):
    return np.where(x > 0, x, 0.0)  # expect: numpy-on-tracer


# raises TracerArrayConversionError: chosen(1.0)


@jax.jit
def scalar_type(x):
    return np.float32(x)  # expect: numpy-on-tracer


# raises TracerArrayConversionError: scalar_type(1.0)


@jax.jit
def looked_up(x):
    return np.searchsorted(TABLE, x)  # expect: numpy-on-tracer


# raises TracerArrayConversionError: looked_up(0.5)


@jax.jit
def in_a_submodule(x):
    return np.linalg.norm(x)  # expect: numpy-on-tracer


# raises TracerArrayConversionError: in_a_submodule(jnp.ones(2))


def differentiated(x):
    return jnp.sum(x * np.tanh(x))  # expect: numpy-on-tracer


slope = jax.grad(differentiated)
# raises TracerArrayConversionError: slope(jnp.ones(2))


# --- never flagged -------------------------------------------------------------


@jax.jit
def dispatched(x):
    a = np.mean(x) + np.sum(x) + np.max(x) + np.min(x) + np.std(x) + np.var(x) + np.prod(x)
    b = np.cumsum(x) + np.argmax(x) + np.any(x) + np.all(x) + np.round(x) + np.real(x) + np.imag(x)
    c = np.reshape(x, (3, 1)), np.transpose(x), np.squeeze(x), np.repeat(x, 2), np.searchsorted(x, 0.5)
    return a, b, c, np.amax(x), np.amin(x), np.shape(x), np.ndim(x), np.size(x)


# runs: dispatched(jnp.ones(3))


@partial(jax.jit, static_argnames="n")
def static(x, n):
    scale = np.sqrt(n) * np.log(x.shape[0]) * np.pi + np.float32(x.ndim)
    if np.issubdtype(x.dtype, np.floating) and np.isscalar(scale) and np.result_type(x) == x.dtype:
        x = x.astype(np.float32) + jnp.zeros(3, dtype=np.float32)
    return x * scale + np.arange(3) + TABLE[:3] + np.asarray(TABLE)[0] + np.cos(TABLE).sum()


# runs: static(jnp.ones(3), 4)


@jax.jit
def captured(x):
    return x + np.asarray(CONCRETE)


# runs: captured(jnp.ones(3))


def stopped(x):
    return x * np.asarray(jax.lax.stop_gradient(x)).sum()


stopped_slope = jax.grad(stopped)
# runs: stopped_slope(1.0)


def eager(x):
    return np.asarray(x), np.sin(jnp.sin(x)), np.float32(jnp.sum(x))


# runs: eager(jnp.ones(3))


@jax.jit
def in_a_callback(x):
    return jax.pure_callback(lambda v: np.sin(v), jax.ShapeDtypeStruct(x.shape, x.dtype), x)


# runs: in_a_callback(jnp.ones(3))
