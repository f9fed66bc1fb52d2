# %%
import jax
import jax.numpy as jnp
import numpy as np

scale = 2.0
key = jax.random.key(0)


@jax.jit
def scaled(x):
    return x * scale  # info: stale-global


@jax.jit
def noisy(x):
    return x + jax.random.normal(key, x.shape)  # warning: stale-global


def softplus(x):
    return jnp.log(1 + jnp.exp(x))  # info: unstable-expression


# %%
a = scaled(jnp.ones(3)) + noisy(jnp.ones(3))

# %%
scale = 3.0
key = jax.random.key(1)
b = scaled(jnp.ones(3)) + noisy(jnp.ones(3))


def total(numbers):
    return jax.lax.fori_loop(0, 5, lambda i, value: value + next(numbers), 0)  # info: impure-call


print(total(iter(np.arange(5))))
