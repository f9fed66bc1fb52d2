"""Which repeated draws are errors: those that nobody can mean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rules.conftest import findings

MEANT = """import jax
import jax.numpy as jnp
import optax

FIXED = jax.random.split(jax.random.key(3), 2)


def start(size, key=jax.random.key(1)):
    return jax.random.normal(key, (size,))


def probe(scale):
    return scale * jax.random.normal(FIXED[0], (4,))


first = start(3)
second = start(3)  # info


def compare():
    return probe(1.0) - probe(2.0)  # info


def error(params, batch, key):
    return jnp.mean((batch["x"] * params["w"] + jax.random.normal(key, batch["x"].shape)) ** 2)


@jax.jit
def improve(params, state, batch, key):
    optimizer = optax.sgd(0.1)
    before, grads = jax.value_and_grad(error)(params, batch, key)
    updates, state = optimizer.update(grads, state)
    params = optax.apply_updates(params, updates)
    return params, state, before - error(params, batch, key)  # info


@jax.jit
def improve_closed(params, batch, key):
    def closed(p):
        return jnp.mean((batch * p + jax.random.normal(key, batch.shape)) ** 2)

    grads = jax.grad(closed)(params)
    return closed(params - 0.1 * grads)  # info


def moved(x, key, amount=1.0):
    return x + amount * jax.random.uniform(key, ())


def scaled(x, key):
    return x * jax.random.uniform(key, ())


def augmented(key, image, mask):
    k1, k2 = jax.random.split(key)
    image = moved(image, key=k1)
    image = scaled(image, k2)
    mask = moved(mask, key=k1)  # info
    mask = scaled(mask, k2)  # info
    return image, mask


def warm(key):
    sample = jax.jit(lambda k: jax.random.normal(k, (8,)))
    sample(key).block_until_ready()
    return sample(key)  # info
"""
"""Runs on a fixed key, one function on the same data before and after an update, a warm-up."""

COMPARED = """import time
from functools import partial

import jax
import jax.numpy as jnp

ANCHOR_KEY = jax.random.fold_in(jax.random.key(7), 3)


def gap(key, is_vertical, row, col):
    y = jax.random.randint(key, (), 0, 5)
    x = jax.random.randint(key, (), 0, 9)  # info
    gap_row = jnp.where(is_vertical, y, row)
    gap_col = jnp.where(is_vertical, col, x)
    return jnp.zeros((5, 9)).at[gap_row, gap_col].set(1)


def mixed_gap(key, is_vertical, row, col):
    y = jax.random.randint(key, (), 0, 5)
    x = jax.random.randint(key, (), 0, 9)  # error
    gap_row = jnp.where(is_vertical, y, row)
    is_vertical = jnp.logical_not(is_vertical)
    gap_col = jnp.where(is_vertical, col, x)
    return jnp.zeros((5, 9)).at[gap_row, gap_col].set(1)


def kept_beside(key, condition):
    y = jax.random.normal(key)
    x = jax.random.normal(key)  # error
    return jnp.where(condition, y, x), y


def shift(image, key):
    return jnp.roll(image, jax.random.randint(key, (), 0, 4))


def augment(key, frames, others):
    one_key, other_key = jax.random.split(key)
    move = partial(shift, key=one_key)
    moved = move(frames[0]), move(frames[1])  # info
    move = partial(shift, key=other_key)
    return moved, (move(others[0]), move(others[1]))  # info


def sample_loss(params, key):
    return jnp.mean((params["scale"] * jax.random.normal(key, (16,))) ** 2)


def evaluate(params, averaged, eval_key):
    loss = sample_loss(params, eval_key)
    return loss, sample_loss(averaged, eval_key)  # info


def anchors(n):
    row = jax.random.normal(ANCHOR_KEY, (n,))
    return jnp.stack([jax.random.normal(ANCHOR_KEY, (n,)), row])  # info


def bench(f):
    for _ in range(3):
        out = f()  # info
        if hasattr(out, "block_until_ready"):
            out.block_until_ready()
        elif isinstance(out, tuple):
            out[0].block_until_ready()
    times = []
    for _ in range(5):
        start = time.perf_counter()
        out = f()  # info
        if hasattr(out, "block_until_ready"):
            out.block_until_ready()
        times.append(time.perf_counter() - start)
    print(sum(times))


def spectra(key, phases):
    rows = []
    for phase in phases:
        # The same `key` is used deliberately, so that the trials differ in
        # their phases alone.
        rows.append(jax.random.normal(key, (4,)) * phase)  # info
    return rows


class Augmenter:
    def shift(self, x, key):
        return jnp.roll(x, jax.random.randint(key, (), 0, 5))

    def unshift(self, x, key):
        return jnp.roll(x, -jax.random.randint(key, (), 0, 5))  # info

    def load(self, x, key):
        self.previous_key = key
        return self.shift(x, key)

    def back(self, x):
        return self.unshift(x, self.previous_key)


def shifted(x, key):
    augmenter = Augmenter()
    x = augmenter.load(x, key)
    return augmenter.back(x)


def start_state(key, x):
    key, sub = jax.random.split(key)
    return {"key": key, "w": jax.random.normal(sub, x.shape)}


class Layer:
    def __init__(self, key, x):
        self.step = jax.jit(lambda state, x: dict(state, w=state["w"] - x))
        self.state = start_state(key, x)
        self.state = self.step(self.state, x)
        self.state = start_state(key, x)  # info


def main(key, x):
    noise = jax.jit(lambda key: x + jax.random.normal(key, x.shape))
    bench(lambda: noise(key))


main(jax.random.key(0), jnp.ones(3))
"""
"""Draws of which one is picked, augmentations and evaluations under one key, constants, and timings."""

CONSTANT = """import flax.linen as nn
import jax
import jax.numpy as jnp


def batch(n):
    key = jax.random.PRNGKey(0)
    images = jax.random.normal(key, (n, 28))
    return images, jax.random.randint(key, (n,), 0, 10)  # info


def fields(n):
    seed = 3
    key = jax.random.key(seed)
    made = {}
    for name in ("a", "b"):
        made[name] = jax.random.uniform(key, (n,))  # info
    return made


def timed(f, n):
    key = jax.random.key(0)
    for _ in range(n):
        noise = jax.random.normal(key, (2,))  # info
        f(noise).block_until_ready()


def walk(steps):
    key = jax.random.key(0)
    x = jnp.zeros(2)
    for _ in range(steps):
        noise = jax.random.normal(key, (2,))  # error
        x = x + noise
    return x


def path(steps):
    key = jax.random.key(0)
    path = [jnp.zeros(2)]
    for _ in range(steps):
        path.append(path[-1] + jax.random.normal(key, (2,)))  # error
    return path


def halves():
    a, b = jax.random.split(jax.random.key(0))
    return jax.random.normal(a), jax.random.normal(b), jax.random.normal(a)  # error


SEED = 73


def features(x):
    key = jax.random.key(SEED)
    return x * jax.random.normal(key, x.shape) + jax.random.uniform(key, x.shape)  # error


def seeded(seed=0):
    key = jax.random.key(seed)
    return jax.random.normal(key) + jax.random.uniform(key)  # error


def inner(key):
    return jax.random.normal(key) + jax.random.uniform(key)  # error


def outer():
    return inner(jax.random.key(0))


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, y, training):
        rng = self.make_rng("dropout")
        x = nn.Dropout(0.1)(x, deterministic=not training, rng=rng)
        return x + nn.Dropout(0.1)(y, deterministic=not training, rng=rng)  # info
"""
"""Keys that a function makes of a number of its own, for itself; and one mask for two layers."""

MISTAKEN = """import jax
import jax.numpy as jnp

FIXED = jax.random.key(3)


def layer(key, rows, columns):
    return jax.random.normal(key, (rows, columns))


def model(key):
    return layer(key, 3, 4), layer(key, 4, 5)  # error


@jax.jit
def views(x, key):
    def view(x, key):
        return x + jax.random.normal(key, x.shape)

    return view(x, key), view(x, key)  # error


def move(state, wind, key):
    return state + wind * jax.random.normal(key, state.shape)


@jax.jit
def two_steps(state, wind, key):
    middle = move(state, wind, key)
    return move(middle, wind, key)  # error


def fixed():
    a = jax.random.normal(FIXED, (3,))
    return a + jax.random.normal(FIXED, (3,))  # error


def dropped(x, key, rate):
    return x * jax.random.bernoulli(key, rate, x.shape)


def gated(x, key):
    return x * jax.random.uniform(key, ())


def only_one_of_two(key, query, value):
    k1, k2 = jax.random.split(key)
    query = dropped(query, k1, 0.5)
    value = dropped(value, k1, 0.5)  # error
    return query, gated(value, k2)


def one_for_all(key, query, value):
    query = dropped(query, key, 0.5)
    query = gated(query, key)  # error
    value = dropped(value, key, 0.5)
    return query, gated(value, key)


class Weights:
    def fill(self, key):
        self.w = jax.random.normal(key, (3,))

    def fill_both(self, key):
        self.fill(key)
        self.b = jax.random.normal(key, (3,))  # error
"""


TOGETHER = """import jax
import jax.numpy as jnp
from jax import random


def rotate(x, rng):
    return x * random.rademacher(rng, x.shape)


def inverse_rotate(x, rng):
    return x * random.rademacher(rng, x.shape)


def quantize(x, rng):
    return inverse_rotate(jnp.round(rotate(x, rng)), rng)  # info


def encode(x, rng):
    return x + random.normal(rng, x.shape)


def decode(x, rng):
    return x - random.normal(rng, x.shape)


def sent(x, rng):
    text = encode(x, rng)
    return decode(text, rng)  # info


def decode_wrongly(x, rng):
    return x + random.normal(rng, x.shape)


def sent_wrongly(x, rng):
    text = encode(x, rng)
    return decode_wrongly(text, rng)  # error


def features(key, x):
    return jnp.cos(x @ random.normal(key, (3, 8)))


def kernel(key, x, y):
    return features(key, x) @ features(key, y).T  # info


def named(key, x, y):
    left = features(key, x)
    right = features(key, y)  # info
    return jnp.dot(left, right.T)


def summed(key, x, y):
    return features(key, x) + features(key, y)  # error


def benchmark_ours(n, key):
    return random.normal(key, (n,)).sum()


def benchmark_theirs(n, key):
    return random.normal(key, (n,)).mean()


def race(key):
    ours = benchmark_ours(3, key=key)
    theirs = benchmark_theirs(3, key=key)  # error
    return ours, theirs


def permute(rng, *arrays):
    shuffled = []
    for array in arrays:
        shuffled.append(random.permutation(rng, array))  # info
    return shuffled


def permute_parts(key, x, parts):
    for part in parts:
        x = x.at[part].set(random.permutation(key, part))  # error
    return x


def epochs(key, x, n):
    orders = []
    for _ in range(n):
        orders.append(random.permutation(key, x))  # error
    return orders


def scores(table: jax.Array, key):
    def of_some(n):
        return table[:, random.randint(key, (n,), 0, 9)].max()

    pairs = {"two": of_some(2)}
    pairs["three"] = of_some(3)  # info
    return pairs


def parts(key, n):
    train = random.split(key, 100)[:n]
    test = random.split(key, 100)[n : 2 * n]  # info
    return train, test


def one_part(key, n):
    train = random.split(key, 100)[:n]
    test = random.split(key, 100)[:n]  # error
    return train, test


def layers(x: jax.Array, key):
    def layer(n):
        return random.normal(key, (x.shape[-1], n))

    return layer(3), layer(4)  # error


def crop(key, image):
    start = random.randint(key, (2,), 0, 4)
    return jax.lax.dynamic_slice(image, start, (4, 4))


def noisy(key, values):
    return values + random.normal(key, values.shape)


def aligned(key, views):
    views["rgb"] = crop(key, views["rgb"])
    views["depth"] = crop(key, views["depth"])  # info
    return views


def correlated(key, views):
    views["x"] = noisy(key, views["x"])
    views["y"] = noisy(key, views["y"])  # error
    return views


def gap(key):
    low, high = (random.normal(key) * volatility for volatility in (0.1, 0.2))  # info
    return high - low


def weights(key):
    w, b = (random.normal(key, (n,)) for n in (3, 4))  # error
    return w, b
"""

EVALUATED = """import jax
import jax.numpy as jnp
from jax import random


def loss(params, key):
    return jnp.sum(params * random.normal(key, (3,)))


def curve(params, key, n):
    losses = []
    for _ in range(n):
        params = params - 0.1
        losses.append(loss(params, key))  # info
    return losses


def later_curve(state, key, n):
    carry, found = (state, 0.0), []
    for _ in range(n):
        carry = (carry[0] * 0.9, carry[1])
        params = carry[0]
        found.append(float(loss(params, key)))  # info
    return found


def walk(params, key, n):
    for _ in range(n):
        params = params + loss(params, key)  # error
    return params


def initial(sizes, key):
    layers = []
    for size in sizes:
        layers.append(random.normal(key, (size,)))  # error
    return layers


def of_trials(trials, eval_key):
    found = []
    for trial in trials:
        found.append(loss(trial, eval_key))  # info
    return found


def stepped(state, eval_key):
    for _ in range(3):
        state = state * loss(state, eval_key)  # error
    return state


def overwritten(key, x):
    step: jax.Array = random.normal(key, x.shape)
    step = random.normal(key, x.shape) * 2  # info
    return x + step


def inner_overwritten(key, x, n):
    for _ in range(n):
        key, sub = random.split(key)
        noise = random.normal(sub, x.shape) * 2
        noise = random.uniform(sub, x.shape)  # info
        x = x + noise
    return x


def read_between(key, x):
    step = random.normal(key, x.shape)
    x = x + step
    step = random.normal(key, x.shape) * 2  # error
    return x + step


def one_step(state, key, deterministic):
    key, sub = random.split(key)
    return (state, key) if deterministic else (state + random.normal(sub), key)


def tried_and_trained(state, key):
    best, _ = one_step(state, key, deterministic=True)
    state, _ = one_step(state, key, deterministic=False)  # info
    return best, state


def compared(key, x):
    first = random.normal(key, x.shape)
    # The same noise for both, so that only the scale differs.
    second = random.normal(key, x.shape) * 2  # info
    return first, second


def said_elsewhere(key, x):
    # Never give both the same key!
    first = random.normal(key, x.shape)
    second = random.normal(key, x.shape) * 2  # error
    return first, second, "# the same key"


def trained_twice(state, key):
    best, _ = one_step(state, key, deterministic=False)
    state, _ = one_step(state, key, deterministic=False)  # error
    return best, state


def of_each(functions, params, key):
    found = []
    for function in functions:
        found.append(function(params, key))  # info
    return found


def gradients(params, key):
    parts = [loss, lambda params, key: jnp.sum(params * random.normal(key, (3,)))]
    return of_each(parts, params, key)


def through_layers(layers, x, key):
    for layer in (one_layer, other_layer):
        x = layer(x, key)  # error
    return x


def one_layer(x, key):
    return x * random.bernoulli(key, 0.5, x.shape)


def other_layer(x, key):
    return x + random.normal(key, x.shape)


def score(key, p):
    return random.normal(key, (8,)).sum() - p


def search(key, left, right):
    while right - left >= 3:
        low, high = left + (right - left) // 3, right - (right - left) // 3
        first = score(key, low)  # info
        second = score(key, high)  # info
        left, right = (left, high) if first < second else (low, right)
    return left


def timed(key, sizes, clock):
    angles = random.uniform(key, (4,))
    times = []
    for size in sizes:
        made = random.uniform(key, (size,))  # info
        _ = jax.jit(jnp.cumsum)(made)
        _.block_until_ready()
        start = clock()
        out = jax.jit(jnp.cumsum)(made)
        out.block_until_ready()
        times.append(clock() - start)
    return angles, times


def timed_and_kept(key, sizes, clock):
    angles = random.uniform(key, (4,))
    times = []
    for size in sizes:
        made = random.uniform(key, (size,))  # error
        start = clock()
        out = jax.jit(jnp.cumsum)(made)
        out.block_until_ready()
        times.append((clock() - start, out.sum()))
    return angles, times
"""


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


@pytest.mark.parametrize(
    "text",
    [MEANT, COMPARED, CONSTANT, MISTAKEN, TOGETHER, EVALUATED, MIRRORED, SEARCHED, STEPPED, SWEPT],
    ids=[
        "meant",
        "compared",
        "constant",
        "mistaken",
        "paired",
        "evaluated",
        "mirrored",
        "searched",
        "stepped",
        "swept",
    ],
)
def test_levels(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    rows = enumerate(text.splitlines(), 1)
    expected = {row: mark[1] for row, line in rows if (mark := re.search(r"# (info|warning|error)$", line))}
    found = findings(tmp_path, capsys, text)
    assert {item["location"]["row"]: item["severity"] for item in found} == expected
