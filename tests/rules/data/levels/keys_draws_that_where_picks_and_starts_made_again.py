import time

import jax
import jax.numpy as jnp


class Model:
    def initialize(self, key, scale=0.1):
        return scale * jax.random.normal(key, (3,))

    def ll(self, params, xs):
        return jnp.sum(xs @ params)


def fit(key, model, xs, n):
    params = model.initialize(key, scale=0.2)
    return params - n * jax.grad(model.ll)(params, xs)


def compare(xs, key, other):
    model = Model()
    print(model.ll(model.initialize(key, scale=0.2), xs))
    print(model.ll(model.initialize(other, scale=0.3), xs))
    first = fit(key, model, xs, 10)  # info: key-reuse
    return first, fit(other, model, xs, 10)  # error: key-reuse


def proposal(key, mu, nu):
    poisson = jax.random.poisson(key, mu)
    u = jax.random.uniform(key)  # info: key-reuse
    geometric = jnp.floor(jnp.log(u))  # info: unstable-expression
    y = jnp.where(nu >= 1, poisson, geometric)
    log_alpha = jnp.where(nu >= 1, poisson * jnp.log(mu), geometric * 2)
    return y, log_alpha


def both(key, mu, nu):
    poisson = jax.random.poisson(key, mu)
    u = jax.random.uniform(key)  # error: key-reuse
    return jnp.where(nu >= 1, poisson, u) * poisson


def agents(seed, n):
    key = jax.random.key(seed)
    parameters = jax.random.uniform(key, (n, 3))
    _, key = jax.random.split(key)  # info: key-reuse
    return parameters * 2


def timed(key, x, n):
    run = jax.jit(lambda k, x: x + jax.random.normal(k, x.shape))
    result = run(key, x)
    jax.tree.map(lambda leaf: leaf.block_until_ready(), result)
    times = []
    for _ in range(n):
        start = time.perf_counter()
        result = run(key, x)  # info: key-reuse
        jax.tree.map(lambda leaf: leaf.block_until_ready(), result)
        times.append(time.perf_counter() - start)
    return times


def eval_model(key, params, data):
    losses = []
    for x in data:
        order = jax.random.permutation(key, x.shape[0])  # info: key-reuse-in-loop
        losses.append(jnp.mean(x[order] @ params))
    return losses
