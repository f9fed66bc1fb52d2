"""Printing and logging of traced values."""

import logging
import warnings

import jax
import jax.numpy as jnp

log = logging.getLogger(__name__)
newton = log.getChild("newton")


@jax.jit
def to_a_child(x):
    newton.warning("residual %s", x)  # expect: print-in-staged
    return x


@jax.jit
def printed(x):
    print(jnp.sum(x))  # expect: print-in-staged
    print("sum", jnp.sum(x))  # expect: print-in-staged
    print(f"sum {jnp.sum(x)}")  # expect: print-in-staged
    print("sum %s" % jnp.sum(x))  # expect: print-in-staged
    print("sum {}".format(jnp.sum(x)))  # expect: print-in-staged
    print("sum " + str(jnp.sum(x)))  # expect: print-in-staged
    return x


# runs: printed(jnp.ones(2))


@jax.jit
def logged(x):
    log.info("sum %s", jnp.sum(x))  # expect: print-in-staged
    logging.warning("sum %s", jnp.sum(x))  # expect: print-in-staged
    warnings.warn(f"sum {jnp.sum(x)}")  # expect: print-in-staged
    return x


# runs: logged(jnp.ones(2))


@jax.jit
def containers(x):
    pair, parts = jnp.linalg.slogdet(x), {"x": x, "size": 2}
    print(f"{pair}")  # expect: print-in-staged
    print("parts", f"{parts!r}")  # expect: print-in-staged
    print(f"{(x.shape, x.dtype)}")
    return x


# runs: containers(jnp.ones((2, 2)))


# --- never flagged -------------------------------------------------------------


@jax.jit
def static(x):
    print("compiling for", x.shape, x.dtype, f"{x.ndim}")
    log.info("shape %s", x.shape)
    jax.debug.print("sum {s}", s=jnp.sum(x))
    if x.ndim != 1:
        raise ValueError(f"one axis, not {x}")
    return x


# runs: static(jnp.ones(2))


def eager(x):
    y = static(x)
    print(y, f"{jnp.sum(y)}")
    log.info("sum %s", jnp.sum(y))
    return y


# runs: eager(jnp.ones(2))


@jax.jit
def in_a_callback(x):
    jax.debug.callback(lambda v: print(v), x)
    return x


# runs: in_a_callback(1.0)
