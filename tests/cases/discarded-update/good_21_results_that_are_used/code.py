import jax
import jax.numpy as jnp


@jax.jit
def reset(x, i):
    return x.at[i].set(0.0)


def total(x):
    (y := x.at[0].add(1.0)).block_until_ready()
    return y.sum()


def several(x):
    rows = []
    rows.append(x.at[0].set(2.0))
    rows.append(x.at[0].get())
    return rows
