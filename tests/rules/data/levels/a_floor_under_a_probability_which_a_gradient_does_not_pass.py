import jax
import jax.numpy as jnp


def loss(logits, label):
    p = jax.nn.softmax(logits)
    return -jnp.log(p + 1e-7)[label]  # warning: unstable-expression


slope = jax.grad(loss)(jnp.array([0.0, 40.0]), 0)  # -4e-11, but -1 with log_softmax
