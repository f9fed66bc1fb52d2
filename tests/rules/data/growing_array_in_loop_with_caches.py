"""Caches that a model makes longer for each token, and lists that each step adds up again."""

import jax
import jax.numpy as jnp


def update_cache(cache, k, v):
    keys = jnp.concatenate([cache["k"], k], axis=1)  # expect: growing-array-in-loop
    values = jnp.concatenate((cache["v"], v), axis=1)  # expect: growing-array-in-loop
    return {"k": keys, "v": values}


# runs: update_cache({"k": jnp.ones((1, 2, 3)), "v": jnp.ones((1, 2, 3))}, jnp.ones((1, 1, 3)), jnp.ones((1, 1, 3)))


def attend(x, past_k):
    past_k = jnp.concatenate([past_k, x], axis=0)  # expect: growing-array-in-loop
    return jax.nn.softmax(past_k @ x.T), past_k


# runs: attend(jnp.ones((1, 3)), jnp.ones((2, 3)))


def joined(cache, x, index):
    cache = jax.lax.dynamic_update_slice(cache, x, (index, 0))
    return jnp.concatenate([x, cache]), jnp.concatenate([x, x, x]), jnp.concatenate([cache + 1, x])


# runs: joined(jnp.ones((4, 3)), jnp.ones((1, 3)), 2)


class Controller:
    def __init__(self):
        self.errors = []

    def control(self, params, error):
        self.errors.append(error)
        return params[0] * error + params[1] * sum(self.errors)  # expect: growing-array-in-loop


def simulate(params, steps):
    controller, y = Controller(), 0.0
    for _ in range(steps):
        y = y + 0.1 * controller.control(params, params[2] - y)
    return y


def slopes(params, steps):
    return jax.grad(simulate)(params, steps)


# runs: slopes(jnp.ones(3), 5)


def accumulate(x, steps):
    errors, total = [], 0.0
    for _ in range(steps):
        x = jnp.sin(x)
        errors.append(x)
        total = total + sum(errors)  # expect: growing-array-in-loop
    return total, sum(errors)


# runs: accumulate(jnp.ones(3), 5)


def window(cache, x):
    return jnp.concatenate([cache[:, 1:], x], axis=1), jnp.concatenate([cache["k"][:, 1:], x], axis=1)


def summed_for_each_epoch(w, data, n):
    for _ in range(n):
        errors = []
        for x in data:
            errors.append(jnp.sum(w - x))
        w = w - 0.1 * sum(errors)
    return w


def summed_now_and_then(w, data):
    errors = []
    for i, x in enumerate(data):
        errors.append(jnp.sum(w - x))
        if i % 100 == 99:
            print(float(sum(errors)))
            errors.clear()
    return errors
