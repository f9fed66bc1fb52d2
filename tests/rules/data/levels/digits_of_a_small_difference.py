import jax.numpy as jnp


def symexp(x):
    return jnp.sign(x) * (jnp.exp(jnp.abs(x)) - 1)  # info: unstable-expression


def normalizer(x):
    return jnp.log(jnp.sum(jnp.exp(x)))  # warning: unstable-expression


def angle(x, y):
    return jnp.arccos(jnp.dot(x, y) / (jnp.linalg.norm(x) * jnp.linalg.norm(y)))  # info: unstable-expression


x = jnp.ones(3)
print(symexp(x), normalizer(x), angle(x, x))
