import jax


def surely(key):
    a, b = jax.random.split(key)
    return jax.random.normal(a) + jax.random.normal(b) + jax.random.normal(key)  # error: key-used-after-split


def perhaps(key, flag):
    a = 0.0
    if flag:
        sub, own = jax.random.split(key)
        a = jax.random.normal(sub) + jax.random.normal(own)
    return a + jax.random.normal(key)  # info: key-used-after-split
