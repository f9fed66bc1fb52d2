import jax.numpy as jnp


def weights(x, sigma):
    density = jnp.exp(-0.5 * (x**2 + 1.0) / sigma**2)
    return density / jnp.sum(density)  # info: unstable-expression


def probabilities(x, sigma):
    density = jnp.exp(0.5 * x / sigma)
    return density / jnp.sum(density)  # warning: unstable-expression


weights(jnp.ones(3), 2.0), probabilities(jnp.ones(3), 2.0)
