"""Which repeated draws are errors: those that nobody can mean."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.conftest import check_levels

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


def two_layers(key, same_init: bool):
    first, second = jax.random.split(key)
    weights = jax.random.normal(first, (3,))
    if same_init:
        return weights, jax.random.normal(first, (3,))  # info
    return weights, jax.random.normal(second, (3,))


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


@pytest.mark.parametrize(
    "text",
    [MEANT, COMPARED, CONSTANT, MISTAKEN, TOGETHER, EVALUATED],
    ids=["meant", "compared", "constant", "mistaken", "paired", "evaluated"],
)
def test_levels(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    check_levels(tmp_path, capsys, text)
