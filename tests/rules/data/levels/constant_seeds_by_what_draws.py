import jax
import jax.numpy as jnp
from jax import random


def start(key, n):
    return random.normal(key, (n,))


@jax.jit
def noisy(x):
    return x + jax.random.normal(jax.random.PRNGKey(0), x.shape)  # info: constant-key


@jax.jit
def dropped(x):
    key = random.fold_in(random.key(0), 3)  # warning: constant-key
    mask_key, _ = random.split(key)
    return x * jax.random.bernoulli(mask_key, 0.5, x.shape)


@jax.jit
def split(x):
    key = random.key(0)  # info: constant-key
    first, second = random.split(key)
    return x + random.normal(first, x.shape) * random.normal(second, x.shape)


@jax.jit
def power(a):
    return a @ start(random.key(0), 3)  # info: constant-key


@jax.jit
def ignoring(a, seed):
    return a @ start(random.key(0), 3)  # warning: constant-key


def layer(key, width):
    first, second = random.split(key)
    return random.normal(first, (width,)), random.normal(second, (width,))


def layers(key, count):
    keys = random.split(key, count + 1)
    made, at = [layer(keys[0], 2)], 1
    for _ in range(count):
        made.append(layer(keys[at], 2))
        at += 1
    return made


def load(count):
    made = layers(random.key(42), count)
    jax.effects_barrier()
    return made


if __name__ == "__main__":
    load(30)
