import jax
import jax.numpy as jnp


def weights(x, sigma):
    density = jnp.exp(-0.5 * (x**2 + 1.0) / sigma**2)
    return density / jnp.sum(density)  # info: unstable-expression


def probabilities(x, sigma):
    density = jnp.exp(0.5 * x / sigma)
    return density / jnp.sum(density)  # info: unstable-expression


def attention(scores, values):
    density = jnp.exp(scores)
    return values @ (density / jnp.sum(density))  # warning: unstable-expression


jax.grad(attention)(jnp.ones(3), jnp.ones(3))


weights(jnp.ones(3), 2.0), probabilities(jnp.ones(3), 2.0)
