"""Loops that compute each step from the one before, in functions that nothing in view calls."""

import jax
import jax.numpy as jnp
import numpy as np


def explicit(rhs, y, steps, h):
    for i in range(steps):  # expect: eager-step
        k1 = rhs(i * h, y)
        k2 = rhs(i * h + h, y + h * k1)
        y = y + 0.5 * h * jnp.add(k1, k2)
    return y


def rollout(dynamics, x, controls):
    xs = [x]
    for u in controls:  # expect: eager-step
        xs.append(dynamics(xs[-1], u))
    return jnp.stack(xs)


def fixed_point(g, x):
    error = 1.0
    while error > 1e-6:  # expect: eager-step
        new = g(x)
        error = jnp.max(jnp.abs(new - x))
        x = new
    return x


def kernel(x, length):
    n = x.shape[0]
    table = jnp.zeros((n, n))
    for i in range(n):
        for j in range(n):  # expect: eager-step
            table = table.at[i, j].set(jnp.exp(-jnp.sum((x[i] - x[j]) ** 2) / length))
    return table


def over_layers(params, x):
    for w, b in params:
        x = jnp.tanh(x @ w + b) * 2.0 + x
    return x


def over_layers_by_number(layers, x):
    for i in range(len(layers)):
        x = jnp.tanh(x @ layers[i]["w"] + layers[i]["b"]) * 2.0 + x
    return x


def few(g, x):
    for _ in range(8):
        x = x - 0.1 * jnp.tanh(g(x)) / 3.0
    return x


def on_the_host(x, steps):
    for _ in range(steps):
        x = x - 0.1 * np.tanh(x) / 3.0 + np.sin(x)
    return x


def numbers(rate, steps):
    rate = float(rate)
    for _ in range(steps):
        rate = 0.5 * rate + 0.1 * rate * rate - 0.2
    return jnp.asarray(rate)


def training(loader, params, train_step):
    total = 0.0
    for batch in loader:
        params, loss = train_step(params, batch)
        total += 0.5 * loss - 1.0
    return params, total


def sums(xs, f):
    total = 0.0
    for x in xs:
        total += f(x) * 2.0 - jnp.sum(x) / 3.0
    return total


@jax.jit
def compiled(x):
    return over_layers([(jnp.ones((2, 2)), jnp.ones(2))], x)


def parts(data, n, rebuild):
    found = []
    for j in range(n):
        if j == 0:
            kept = tuple(jnp.zeros_like(d) * 1.0 for d in data)
        else:
            kept = tuple(d + 0.0 if i == j else jnp.zeros_like(d) - 0.0 for i, d in enumerate(data))
        found.append(rebuild(kept) * 2.0 - 1.0)
    return found


def dilated(x, level, build):
    for j in range(level):
        width = 2**j
        x = jnp.convolve(x, build(width))[width : width + 8] * 0.5 - jnp.tanh(x[:8]) / 3.0
    return x
