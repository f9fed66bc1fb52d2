import jax
import jax.numpy as jnp


def cost(a, x, key):
    key, subkey = jax.random.split(key)
    noise = jax.random.normal(subkey, x.shape)
    return jnp.mean((a * x + noise) ** 2)


def curve(x, key):
    costs = []
    for a in jnp.arange(1.0, 2.0, 0.1):
        costs.append(cost(a, x, key))  # info: key-reuse-in-loop
    return costs


def curve_over_named_values(x, key):
    rates = [0.1, 0.5, 0.9]
    costs = {}
    for rate in rates:
        costs[rate] = cost(rate, x, key)  # info: key-reuse-in-loop
    return costs


def rows(x, key):
    costs = []
    for i in jnp.arange(10):
        costs.append(cost(1.0, x[i], key))  # error: key-reuse-in-loop
    return sum(costs)


def annealed(x, key):
    for rate in jnp.linspace(1.0, 0.0, 10):
        x = x - cost(rate, x, key)  # error: key-reuse-in-loop
    return x
