import jax
import jax.numpy as jnp

from report import summary


def loss(params, batch):
    x, y = batch
    residual = x @ params["w"] + params["b"] - y
    value = jnp.mean(residual**2)
    return value, summary(residual, value)


def train(params, batches):
    history = []
    for batch in batches:
        (value, info), grads = jax.value_and_grad(loss, has_aux=True)(params, batch)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
        history.append(info)
    return params, history
