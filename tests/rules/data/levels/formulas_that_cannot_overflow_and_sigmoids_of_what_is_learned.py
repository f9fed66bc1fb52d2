import jax
import jax.numpy as jnp


def of_a_distance(x):
    return jnp.log(1 + jnp.exp(-jnp.abs(x)))  # info: unstable-expression


def of_a_square(x):
    return jnp.log(1 + jnp.exp(-0.5 * x**2))  # info: unstable-expression


def of_bounds(x):
    return jnp.log(1 + jnp.exp(jnp.clip(x, -5.0, 5.0)))  # info: unstable-expression


def of_the_smaller(x):
    return jnp.log(jnp.exp(jnp.minimum(x, 0.0)) + 1.0)  # info: unstable-expression


def of_wide_bounds(x):
    return jnp.log(1 + jnp.exp(jnp.clip(x, -5.0, 500.0)))  # warning: unstable-expression


def of_the_distance_itself(x):
    return jnp.log(1 + jnp.exp(jnp.abs(x)))  # warning: unstable-expression


def of_either_sign(x, y):
    return jnp.log(1 + jnp.exp(-x * jnp.abs(y)))  # warning: unstable-expression


def written(x):
    return jnp.log(jax.nn.sigmoid(x))  # warning: unstable-expression


def of_logits(w, x):
    p = jax.nn.sigmoid(x @ w)
    return jnp.log(p)  # warning: unstable-expression


def of_a_schedule(gamma):
    variance = jax.nn.sigmoid(gamma)
    return variance - jnp.log(variance)  # info: unstable-expression
