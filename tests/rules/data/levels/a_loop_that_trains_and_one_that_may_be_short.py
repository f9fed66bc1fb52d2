import jax
import jax.numpy as jnp


def loss(w, x):
    return jnp.mean((x @ w) ** 2)


def train(w, batches):
    for x in batches:
        w = w - 0.1 * jax.grad(loss)(w, x)  # warning: transform-in-loop
    return w


def decay(w, rates):
    for rate in rates:
        w = jax.lax.fori_loop(0, 10, lambda i, w: w * rate, w)  # info: transform-in-loop
    return w
