import jax
import jax.numpy as jnp


def shifted(key, x):
    return x + jax.random.normal(key, x.shape)


def scaled(key, x):
    return x * jax.random.uniform(key, x.shape)


def fallback(key, x):
    try:
        y = shifted(key, x)
    except ValueError:
        y = scaled(key, x)
    return y


def retry(key, x):
    while True:
        try:
            return jnp.linalg.cholesky(x) @ jax.random.normal(key, (3,))
        except ValueError:
            x = x + jnp.eye(3)


def first_that_works(key, x, shapes):
    for shape in shapes:
        try:
            x = jnp.reshape(x, shape)
            y = shifted(key, x)
            break
        except TypeError:
            continue
    return y


def careful(key, x):
    for _ in range(10):
        try:
            x = shifted(key, x)  # error: key-reuse-in-loop
        except ValueError:
            print("once more")
    return x


def behind(key, x):
    try:
        x = shifted(key, x)
    except ValueError:
        print("without noise")
    return scaled(key, x)  # error: key-reuse
