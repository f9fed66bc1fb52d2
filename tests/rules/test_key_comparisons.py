"""Equal draws that are meant, as what the code does with both results shows; beside each the mistake that looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.conftest import check_levels

MIRRORED = """import jax
import jax.numpy as jnp
from jax import random


def antithetic(key, shape):
    return random.normal(key, shape), -random.normal(key, shape)  # info


def both_sides(key, x, scale):
    up = x + scale * random.normal(key, x.shape)
    noise = random.normal(key, x.shape)  # info
    return up, x - scale * noise


def one_side(key, x, scale):
    up = x + scale * random.normal(key, x.shape)
    noise = random.normal(key, x.shape)  # error
    return up, x + scale * noise


def canceled(key, x):
    return x + random.normal(key, x.shape) - random.normal(key, x.shape)  # error


def canceled_later(key, x):
    up = random.normal(key, x.shape)
    down = random.normal(key, x.shape)  # error
    return x + up - down


def interval(key, x):
    return x - random.uniform(key, x.shape), x + random.uniform(key, x.shape)  # error


def other_shape(key, x, y):
    return x + random.normal(key, x.shape), y - random.normal(key, (2, *y.shape))  # error


def rotate(key, x):
    return x * random.rademacher(key, x.shape).astype(x.dtype)


def scale(key, x):
    return x * random.normal(key, x.shape)


def send(key, x):
    return rotate(key, x).astype(jnp.float16)


def receive(key, x):
    return rotate(key, x.astype(jnp.float32))


def channel(key, x):
    sent = send(key, x)
    return receive(key, sent)  # info


def scale_first(key, x):
    return scale(key, x).astype(jnp.float16)


def scale_again(key, x):
    return scale(key, x.astype(jnp.float32))


def scaled_twice(key, x):
    return scale_again(key, scale_first(key, x))  # error


def rotated_twice(key, x):
    return rotate(key, rotate(key, x))  # error


def perturb(params, key, scale):
    keys = random.split(key, len(params))
    return [p + scale * random.normal(k, p.shape) for p, k in zip(params, keys)]


def mezo(loss, params, key, eps=1e-3):
    params = perturb(params, key, eps)
    up = loss(params)
    params = perturb(params, key, -2 * eps)  # info
    down = loss(params)
    params = perturb(params, key, eps)
    return params, up - down


def perturbed_twice(params, key, eps):
    params = perturb(params, key, eps)
    return perturb(params, key, 2 * eps)  # error


def noised(x, a, key):
    return jnp.sqrt(a) * x + jnp.sqrt(1 - a) * random.normal(key, x.shape)


def target(x, key):
    return random.normal(key, x.shape)


def diffusion(net, x, a, key):
    return jnp.mean((net(noised(x, a, key)) - target(x, key)) ** 2)  # info


def diffusion_at_random(net, x, key):
    noise = random.normal(key, x.shape)
    t = random.uniform(key, x.shape)  # error
    return jnp.mean((net(x + noise) - t) ** 2)


def regularized(net, x, a, key):
    return jnp.mean((net(noised(x, a, key)) + target(x, key)) ** 2)  # error


def folds(key, data, k):
    found = []
    for i in range(k):
        order = random.permutation(key, data.shape[0])  # info
        found.append((data[jnp.setdiff1d(order, order[i::k])], data[order[i::k]]))
    return found


def epochs(key, data, n):
    found = []
    for _ in range(n):
        order = random.permutation(key, data.shape[0])  # error
        for i in range(4):
            found.append(data[order[i::4]])
    return found


def layer(key, size):
    key, sub = random.split(key)
    return random.normal(sub, (size,))


class Agent:
    def __init__(self, key):
        online = layer(key, 3)
        target = layer(key, 3)  # info
        self.nets = online, target

    def reset(self, key):
        first = layer(key, 3)
        target = layer(key, 3)  # error
        self.nets = first, target
"""
"""Draws of which one undoes, mirrors or predicts what was made with the other."""

SEARCHED = """import jax
import jax.numpy as jnp
from jax import random


def f(theta, key):
    k1, k2 = random.split(key)
    return jnp.mean((theta - random.normal(k1, (64, 2))) ** 2) + random.normal(k2)


def armijo(theta, key, slope=1e-4):
    f0, g = jax.value_and_grad(f)(theta, key)
    t = 2.0
    for _ in range(20):
        candidate = theta - t * g
        if f(candidate, key) <= f0 - slope * t * (g @ g):  # info
            return candidate
        t *= 0.5
    return theta


def armijo_while(theta, key):
    f0, g = jax.value_and_grad(f)(theta, key)

    def cond(t):
        return (f(theta - t * g, key) > f0 - t * (g @ g)) & (t > 1e-6)

    return theta - jax.lax.while_loop(cond, lambda t: 0.5 * t, 8.0) * g  # info


def trained(theta, batch, others, key):
    loss, g = jax.value_and_grad(f)(theta + batch, key)
    theta = theta - g
    return loss, f(theta + others, key).block_until_ready()  # error


def pairs(theta, eps, key):
    keys = random.split(key, eps.shape[0])
    up = jax.vmap(lambda e, k: f(theta + e, k))(eps, keys)
    down = jax.vmap(lambda e, k: f(theta - e, k))(eps, keys)  # info
    return ((up - down)[:, None] * eps).mean(0)


def sums(theta, eps, key):
    up = jax.vmap(lambda e: f(theta + e, key))(eps)
    down = jax.vmap(lambda e: f(theta - e, key))(eps)  # error
    return (up + down)[:, None] * eps


def differences(theta, key):
    found = []
    for i in range(3):
        d = jnp.zeros_like(theta).at[i].set(0.1)
        change = (
            f(theta + d, key)  # info
            - f(theta - d, key)  # info
        )
        found.append(change / 0.2)
    return jnp.stack(found)


def noises(theta, other, key, extra):
    found = []
    for i in range(3):
        found.append(f(theta + i, key) - f(other - i, extra))  # error
    return jnp.stack(found)
"""
"""What a line search and finite differences compare under one key."""

STEPPED = """import jax
import jax.numpy as jnp
from jax import random


def f(theta, key):
    k1, k2 = random.split(key)
    return jnp.mean((theta - random.normal(k1, (64, 2))) ** 2) + random.normal(k2)


def descended(theta, key, n, d):
    for _ in range(n):
        theta = theta - d * (
            f(theta + d, key)  # error
            - f(theta - d, key)  # info
        )
    return theta


def descended_later(theta, key, n, d):
    for i in range(n):
        change = (
            f(theta + i, key)  # error
            - f(theta - i, key)  # info
        )
        theta = theta - d * change
    return theta
"""
"""The difference of two calls, by which a loop takes its next step."""

SWEPT = """import jax
import jax.numpy as jnp
from jax import random


def f(theta, key):
    k1, k2 = random.split(key)
    return jnp.mean((theta - random.normal(k1, (64, 2))) ** 2) + random.normal(k2)


def grid_search(key, grid):
    best, found = jnp.inf, None
    for theta in grid:
        value = f(theta, key)  # info
        if value < best:
            best, found = value, theta
    return found


def noisy(theta, key):
    return theta + random.normal(key, (2,))


def random_search(key, n):
    best, found = jnp.inf, None
    for _ in range(n):
        theta = noisy(0.0, key)  # error
        value = jnp.sum(theta**2)
        if value < best:
            best, found = value, theta
    return found


def step(theta, batch):
    return theta - batch, jnp.sum(theta * batch)


def early_stopped(theta, key, scales):
    best = jnp.inf
    for scale in scales:
        batch = noisy(scale, key)  # error
        theta, loss = step(theta, batch)
        if loss < best:
            best = loss
    return theta


def tune(key, rates):
    scores = {rate: float(f(rate, key)) for rate in rates}  # info
    return min(scores, key=scores.get)


def search(key, grid):
    return grid[int(jnp.argmin(jnp.stack([f(theta, key) for theta in grid])))]  # info


def network(key, sizes):
    return apply([noisy(size, key) for size in sizes])  # error


def apply(layers):
    return layers[0] @ layers[1]


def sweep(key, rates):
    found = []
    for rate in rates:
        found.append(f(rate, key))  # info
    return jnp.diff(jnp.stack(found))


def mean(key, rates):
    found = []
    for rate in rates:
        found.append(f(rate, key))  # error
    return jnp.mean(jnp.stack(found))


def dropped(x, key):
    return jnp.where(random.bernoulli(key, 0.5, x.shape), x, 0.0)


def check(key, x):
    mask = jax.grad(lambda x: dropped(x, key).sum())(x)
    assert (mask == dropped(jnp.ones_like(x), key)).all()  # info


def resampled(key, x):
    k1, k2 = random.split(key)
    return x[random.randint(k1, (8,), 0, 8)] * random.rademacher(k2, (8,))


def slope(key, x, y):
    xs = resampled(key, x)
    ys = resampled(key, y)  # info
    return jnp.polyfit(xs, ys, 1)[0]


def of_noise(key, x, y):
    xs = resampled(key, x)
    ys = 3 * xs + resampled(key, y)  # error
    return jnp.polyfit(xs, ys, 1)[0]


def distance(key, x):
    one = jnp.tanh(noisy(x, key))
    other = jnp.tanh(noisy(x, key))  # error
    return jnp.mean((one - other) ** 2)


def two_layers(key, x):
    w = noisy(2.0, key)
    v = noisy(3.0, key)  # error
    hidden = x @ w
    return jnp.max(hidden @ v)


def residual(key, x):
    hidden = noisy(x, key)
    out = noisy(jnp.tanh(hidden), key)  # error
    total = jnp.sum(out)
    return total - jnp.sum(hidden)


def main(theta, key):
    keys = random.split(key, 5)
    grid = [theta, theta + 1]
    found = [grid_search(keys[0], grid), search(keys[1], grid)]
    return found, tune(keys[2], [0.1, 1.0]), sweep(keys[3], grid), mean(keys[4], grid)


main(jnp.zeros(2), random.key(0))
"""
"""What a search, a sweep and checks compare under one key."""


@pytest.mark.parametrize("text", [MIRRORED, SEARCHED, STEPPED, SWEPT], ids=["mirrored", "searched", "stepped", "swept"])
def test_levels(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    check_levels(tmp_path, capsys, text)
