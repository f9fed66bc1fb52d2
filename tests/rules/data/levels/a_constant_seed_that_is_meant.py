import jax


@jax.jit
def example():
    q = jax.random.normal(jax.random.key(42), (8, 8))  # info: constant-key
    return q @ q.T


@jax.jit
def shuffled_each_time_alike(x):
    return jax.random.permutation(jax.random.key(0), x)  # warning: constant-key


@jax.jit
def shuffled(x):
    key = jax.random.key(0)  # deterministic, for reproducibility  # info: constant-key
    return jax.random.permutation(key, x)
