import jax
import jax.numpy as jnp

read = []
kept = []
counts = {"elements": 0, "prints": 0}


@jax.jit
def step(x):
    read.append(x)  # error: captured-mutation
    kept.append(x)  # warning: captured-mutation
    counts["elements"] += x.size  # error: captured-mutation
    return x


def mean():
    print(counts["elements"])
    return jnp.stack(read).mean()


def record(losses, x):
    @jax.jit
    def step(x):
        losses.append(x)  # warning: captured-mutation
        return x

    return step(x)


def run(x):
    losses = []
    return record(losses, x), losses
