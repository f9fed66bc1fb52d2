from functools import partial as bind
from time import perf_counter as now

import jax
import jax.numpy as jnp
from jax.numpy import where as pick


def shift(x, key):
    return jnp.roll(x, jax.random.randint(key, (), 0, 4))


def augment(obs, later, key):
    move = bind(shift, key=key)
    return move(obs), move(later)  # info: key-reuse


def proposal(key, mu, nu):
    poisson = jax.random.poisson(key, mu)
    u = jax.random.uniform(key)  # info: key-reuse
    geometric = jnp.floor(jnp.log(u))  # info: unstable-expression
    return pick(nu >= 1, poisson, geometric), pick(nu >= 1, poisson * jnp.log(mu), geometric * 2)


@jax.jit
def update(params, key):
    return params + jax.random.normal(key, params.shape)


def seconds_of(params, key):
    start = now()
    for _ in range(5):
        params = update(params, key)  # info: key-reuse-in-loop
        jax.block_until_ready(params)
    return (now() - start) / 5
