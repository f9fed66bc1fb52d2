import jax
import jax.numpy as jnp


@jax.jit
def digits(x):
    return jnp.log(1 + jnp.sin(x))  # info: unstable-expression


def value(x):
    return jnp.log(jax.nn.softmax(x))  # warning: unstable-expression


def by_hand(logits):
    return jnp.exp(logits) / jnp.exp(logits).sum()  # warning: unstable-expression


def renormalized(log_probs):
    return jnp.exp(log_probs) / jnp.exp(log_probs).sum()  # info: unstable-expression
