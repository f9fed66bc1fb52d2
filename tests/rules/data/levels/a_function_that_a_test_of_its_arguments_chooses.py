import jax
import jax.numpy as jnp
from datasets import make_batches  # (x, y), or (x, y, w)


def total_loss(params, batches, loss):
    total = 0.0
    for batch in batches:
        if len(batch) == 2:
            total += loss(params, batch[0], batch[1])
        else:
            total += loss(params, batch[0], batch[1], batch[2])
    return total


def wrong_loss(params, batch, loss):
    return loss(params, batch[0], batch[1], batch[2])  # error: transform-argument-mismatch


@jax.jit
def plain(params, x, y):
    return jnp.mean((x @ params - y) ** 2)


total_loss(jnp.ones(2), make_batches(8), plain)
wrong_loss(jnp.ones(2), next(make_batches(8)), plain)
