import jax
import jax.numpy as jnp


def rooted(w):
    y = jnp.sum(jnp.sqrt(w))
    return jnp.where(jnp.isnan(y), 0.0, y)  # error: where-nan-grad


def replaced(w):
    return jnp.sum(jnp.nan_to_num(w / jnp.sum(w)))  # warning: where-nan-grad


def elu(w):
    return jnp.sum(jnp.where(w > 0, w, jnp.expm1(w)))  # warning: where-nan-grad


slopes = jax.grad(rooted)(jnp.ones(3)), jax.grad(replaced)(jnp.ones(3)), jax.grad(elu)(jnp.ones(3))
