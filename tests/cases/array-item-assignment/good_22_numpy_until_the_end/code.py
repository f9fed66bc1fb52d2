import jax
import jax.numpy as jnp
import numpy as np


def stack(rows):
    width = max(len(row) for row in rows)
    out = np.zeros((len(rows), width), np.float32)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return jnp.asarray(out)


@jax.jit
def count(x, counts):
    return counts.at[x].add(1)


def histogram(x, n):
    counts = count(x, jnp.zeros(n, jnp.int32))
    host = np.array(counts)
    host[n - 1] += 0
    return host
