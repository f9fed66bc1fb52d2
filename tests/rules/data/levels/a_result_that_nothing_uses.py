import jax.numpy as jnp

jnp.zeros(3)  # starts JAX


def shifted(x):
    jnp.sort(x)  # warning: discarded-result
    return x - x[0]


def test_shifted():
    x = jnp.arange(3)
    jnp.sort(x)  # info: discarded-result
    return shifted(x)


def centered(x):
    x.mean()  # info: discarded-result
    x.astype(int)  # warning: discarded-result
    jnp.random.shuffle(x)  # error: removed-api
    return x


if __name__ == "__main__":
    jnp.square(shifted(jnp.arange(3)))  # info: discarded-result
    jnp.sort(centered(jnp.arange(3)))  # warning: discarded-result
