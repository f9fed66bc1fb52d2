import jax
import jax.numpy as jnp


@jax.jit
def digits(x):
    return jnp.log(1 + jnp.sin(x))  # info: unstable-expression


def value(x):
    return jnp.log(jax.nn.softmax(x))  # info: unstable-expression


def by_hand(logits):
    return jnp.exp(logits) / jnp.exp(logits).sum()  # info: unstable-expression


def loss(logits, labels):
    return -(labels * jnp.log(jax.nn.softmax(logits))).sum()  # warning: unstable-expression


jax.grad(loss)(jnp.ones(3), jnp.ones(3))


def renormalized(log_probs):
    return jnp.exp(log_probs) / jnp.exp(log_probs).sum()  # info: unstable-expression
