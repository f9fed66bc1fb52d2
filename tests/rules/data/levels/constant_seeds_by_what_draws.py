import jax
import jax.numpy as jnp
from jax import random


def start(key, n):
    return random.normal(key, (n,))


@jax.jit
def noisy(x):
    return x + jax.random.normal(jax.random.PRNGKey(0), x.shape)  # warning: constant-key


@jax.jit
def split(x):
    key = random.key(0)  # warning: constant-key
    first, second = random.split(key)
    return x + random.normal(first, x.shape) * random.normal(second, x.shape)


@jax.jit
def power(a):
    return a @ start(random.key(0), 3)  # info: constant-key


@jax.jit
def ignoring(a, seed):
    return a @ start(random.key(0), 3)  # warning: constant-key
