import jax


def surely(key):
    a = jax.random.normal(key)
    return a + jax.random.normal(key)  # error: key-reuse


def perhaps(key, flag):
    a = 0.0
    if flag:
        a = jax.random.normal(key)
    return a + jax.random.normal(key)  # info: key-reuse


def picks(key, xs, ys):
    return jax.random.choice(key, xs), jax.random.choice(key, ys)  # warning: key-reuse
