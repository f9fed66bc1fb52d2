"""Jitted calls in loops, with shapes that depend on the loop and with others."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def mean(x):
    return jax.tree.map(jnp.mean, x)


@jax.jit
def model(tokens):
    return jnp.sum(tokens, axis=-1)


def prefixes(x, n):
    for i in range(n):
        mean(x[: i + 1])  # expect: varying-shape-in-loop


def suffixes(x):
    for i in range(len(x)):
        mean(x[i:])  # expect: varying-shape-in-loop


def last_few(x, n):
    return [mean(x[-k:]) for k in range(1, n)]  # expect: varying-shape-in-loop


def columns(x, n):
    for i in range(n):
        mean(x[:, : i + 1] * 2.0)  # expect: varying-shape-in-loop


def strides(x, n):
    for i in range(n):
        mean(x[:: i + 1])  # expect: varying-shape-in-loop


def on_the_host(n):
    x = np.ones(100)
    for i in range(n):
        mean(np.asarray(x[: i + 1]))  # expect: varying-shape-in-loop


def made(n):
    for i in range(n):
        mean(jnp.zeros(i + 1))  # expect: varying-shape-in-loop
        mean({"x": jnp.ones((i + 1, 3))})  # expect: varying-shape-in-loop
        mean(jnp.arange(i + 1))  # expect: varying-shape-in-loop


def sampled(key, n):
    for i in range(n):
        mean(jax.random.normal(jax.random.fold_in(key, i), (i + 1, 2)))  # expect: varying-shape-in-loop


def generated(tokens, steps):
    for _ in range(steps):
        best = model(tokens)  # expect: varying-shape-in-loop
        tokens = jnp.concatenate([tokens, best[:, None]], axis=1)
    return tokens


def appended(x, rows):
    for row in rows:
        x = jnp.append(x, row)
        mean(x)  # expect: varying-shape-in-loop
    return x


def history(rows):
    seen = []
    for row in rows:
        seen.append(row)
        mean(jnp.stack(seen))  # expect: varying-shape-in-loop
        mean(seen)  # expect: varying-shape-in-loop


def tokens_as_list(ids, steps):
    ids = list(ids)
    for _ in range(steps):
        best = model(jnp.array([ids]))  # expect: varying-shape-in-loop
        ids.append(int(best[0]))
    return ids


def masked(x, labels, n):
    labels = jnp.asarray(labels)
    for c in range(n):
        mean(x[labels == c])  # expect: varying-shape-in-loop


def growing(x, n):
    size = 1
    while size < n:
        mean(x[:size])  # expect: varying-shape-in-loop
        size += 1


def batches():
    x = jnp.zeros((1000, 2))
    for i in range(0, 1000, 128):
        mean(x[i : i + 128])  # expect: varying-shape-in-loop


def one(x, end):
    return mean(x[:end])  # expect: varying-shape-in-loop


def through_a_function(x, n):
    for i in range(1, n):
        one(x, i)


def rows_of_the_host():
    data = np.ones((100, 8))
    for i in range(0, len(data), 32):
        mean(data[i : i + 32])  # expect: varying-shape-in-loop
    for i in range(0, data.shape[0], 32):
        batch = jnp.asarray(data[i : i + 32])
        mean(batch)  # expect: varying-shape-in-loop


def of_size(n):
    return mean(jnp.ones((n, 8)))  # expect: varying-shape-in-loop


def what_is_left():
    n, size = 100, 32
    for i in range(0, n, size):
        of_size(min(n - i, size))


def rows_from(data, i, size):
    return data[i : i + size]


def cut_by_a_function():
    data = jnp.ones((1000, 2))
    for i in range(0, 1000, 128):
        mean(rows_from(data, i, 128))  # expect: varying-shape-in-loop


class Recorder:
    def __init__(self):
        self.seen = []
        self.w = jnp.ones(3)

    @staticmethod
    @jax.jit
    def loss(w, rows):
        return (rows @ w).sum()

    def train(self):
        rows = jnp.array(self.seen)
        return jax.value_and_grad(self.loss)(self.w, rows)  # expect: varying-shape-in-loop

    def learn(self, n):
        for _ in range(n):
            self.seen.append([1.0, 2.0, 3.0])
            self.train()


@jax.jit
def extended(cache, x):
    return jnp.concatenate([cache, x[None]])


def lengthen(cache, x):
    return jnp.vstack([cache, x]).astype(jnp.float32)


@jax.jit
def logged(state, x):
    return {"log": lengthen(state["log"], x), "n": state["n"] + 1}, x.sum()


class Model:
    def __init__(self):
        self.cache = jnp.zeros((0, 3))

    def push(self, x):
        self.cache = extended(self.cache, x)  # expect: varying-shape-in-loop


def through_compiled_code(xs):
    cache = jnp.zeros((0, 3))
    state = {"log": jnp.zeros((0, 3)), "n": 0}
    model = Model()
    for x in xs:
        cache = extended(cache, x)  # expect: varying-shape-in-loop
        state, total = logged(state, x)  # expect: varying-shape-in-loop
        model.push(x)
    return cache, state, model


def lengthened(cache, x):
    return jnp.append(cache, x)


def through_a_function_too(xs):
    cache = jnp.zeros((0, 3))
    for x in xs:
        cache = lengthened(cache, x)
        mean(cache)  # expect: varying-shape-in-loop


def by_a_mask(x, n):
    x = jnp.asarray(x)
    for c in range(n):
        sure = jnp.logical_and(x > c, x > 0)
        print(jnp.sum(x[sure]))  # expect: varying-shape-in-loop


# runs: rows_of_the_host()
# runs: what_is_left()
# runs: cut_by_a_function()
# runs: Recorder().learn(6)
# runs: through_compiled_code(jnp.ones((6, 3)))
# runs: through_a_function_too(jnp.ones((6, 3)))
# runs: by_a_mask([1.0, 2.0, 3.0], 6)
# runs: prefixes(jnp.ones(9), 9)
# runs: suffixes(jnp.ones(9))
# runs: last_few(jnp.ones(9), 9)
# runs: columns(jnp.ones((9, 9)), 9)
# runs: strides(jnp.ones(9), 9)
# runs: on_the_host(9)
# runs: made(3)
# runs: sampled(jax.random.key(0), 3)
# runs: generated(jnp.ones((2, 3)), 3)
# runs: appended(jnp.ones(2), [1.0, 2.0])
# runs: history([jnp.ones(2), jnp.ones(2)])
# runs: tokens_as_list([1, 2], 2)
# runs: masked(jnp.ones(3), [0, 0, 1], 2)
# runs: growing(jnp.ones(9), 5)
# runs: batches()
# runs: through_a_function(jnp.ones(9), 4)


# --- never flagged -------------------------------------------------------------


def windows(x, n, width=4):
    for i in range(n):
        mean(x[i : i + width])
        mean(jax.lax.dynamic_slice_in_dim(x, i, width))
        mean(x[i])
        mean(x[:width])
        mean(x.at[:i].set(0.0))
        mean(jnp.pad(x[:i], (0, n - i)))
        mean(jnp.concatenate([x[:i], jnp.zeros(n - i)]))
        mean(jnp.where(jnp.arange(n) < i, x, 0.0))
        mean(jnp.sum(x[:i]))
        mean(x[: i % 2])


def dropped_remainder(n=1000):
    x = jnp.zeros((1000, 2))
    for i in range(0, 1000 - 128 + 1, 128):
        mean(x[i : i + 128])
    for i in range(0, 1000, 125):
        mean(x[i : i + 125])
    for i in range(0, 1000, 128):
        batch = x[i : i + 128]
        if len(batch) < 128:
            break
        mean(batch)


def looked_after(n=1000):
    x = jnp.zeros((1000, 2))
    for i in range(0, 1000, 128):
        if i + 128 > 1000:
            break
        mean(x[i : i + 128])


def chunks(x, n, offsets, width=4):
    for i in range(0, n, width):
        end = min(i + width, n)
        mean(x[i:end])
        mean(x[i : i + width if i + width < n else n])
        mean(x[i : offsets[i]])
        mean(x[i : after(i, width)])


def after(i, width):
    return i + width


def few(x):
    for size in (8, 16, 32, 64, 128):
        mean(x[:size])
    for i in range(3):
        mean(x[: i + 1])


def buffered(rows, size=4):
    buffer = []
    for row in rows:
        buffer.append(row)
        if len(buffer) == size:
            mean(jnp.stack(buffer))
            buffer.clear()
    chunk = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == size:
            mean(jnp.stack(chunk))
            chunk = []


def bounded(x, rows, size=4):
    window = []
    for row in rows:
        window = [*window, row][-size:]
        mean(jnp.stack([row, row]))
        pair = []
        pair.append(row)
        pair.append(row)
        mean(jnp.stack(pair))
        x = jnp.concatenate([x[1:], row[:1]])
        mean(x)


def sliding(tokens, steps, width=3):
    for _ in range(steps):
        best = model(tokens[:, -width:])
        tokens = jnp.concatenate([tokens, best[:, None]], axis=1)
    return tokens


def afterwards(x, rows):
    seen = []
    for row in rows:
        seen.append(row)
        x = jnp.append(x, row)
    mean(jnp.stack(seen))
    for _ in rows:
        mean(seen)
        mean(x)


@jax.jit
def unrolled(x):
    return [mean(x[: i + 1]) for i in range(6)]


def eager(x, n):
    return [jnp.mean(x[: i + 1]) for i in range(n)]


@jax.jit
def shifted(cache, x):
    return jnp.concatenate([cache, x[None]])[-8:]


@jax.jit
def optional(cache, x, grow=False):
    if grow:
        return jnp.concatenate([cache, x[None]])
    return cache + x


def of_one_size(xs):
    cache = other = jnp.zeros((8, 3))
    for x in xs:
        cache = shifted(cache, x)
        other = optional(other, x)
        longer = extended(other, x)
    for k in range(3):
        longer = extended(longer, xs[k])
    return cache, longer


def even_rows():
    data = np.ones((96, 8))
    for i in range(0, len(data), 32):
        mean(data[i : i + 32])
    for i in range(len(data) // 40):
        mean(data[i * 40 : (i + 1) * 40])
    data = np.ones((100, 8))
    for i in range(0, len(data) - len(data) % 32, 32):
        mean(data[i : i + 32])


class Window:
    def __init__(self):
        self.seen = []

    def learn(self, rows):
        for row in rows:
            self.seen.append(row)
            if len(self.seen) == 4:
                mean(jnp.stack(self.seen))
                self.seen = []


def by_few_masks(x, t):
    x = jnp.asarray(x)
    for c in range(3):
        print(x[x == c])
    for _ in range(9):
        print(x[x > t])
    x = np.asarray(x)
    for c in range(9):
        print(x[x == c])


def one_function_for_each_size():
    for size in range(1, 6):
        params = jnp.ones(2 * size)
        step = jax.jit(lambda p: p * size)  # expect: jit-in-loop
        for _ in range(20):
            params = params - step(params)


# runs: of_one_size(jnp.ones((5, 3)))
# runs: even_rows()
# runs: Window().learn([jnp.ones(2)] * 9)
# runs: by_few_masks([1.0, 2.0], 1.0)
# runs: windows(jnp.ones(9), 9)
# runs: dropped_remainder()
# runs: looked_after()
# runs: chunks(jnp.ones(8), 8, [4] * 8)
# runs: few(jnp.ones(9))
# runs: buffered([jnp.ones(2)] * 9)
# runs: bounded(jnp.ones(3), [jnp.ones(3)] * 5)
# runs: sliding(jnp.ones((2, 3)), 3)
# runs: afterwards(jnp.ones(3), [jnp.ones(3)] * 5)
# runs: unrolled(jnp.ones(9))
# runs: eager(jnp.ones(9), 3)
# runs: one_function_for_each_size()


def by_a_jit_of_its_own(x, n):
    for _ in range(n):
        y = jax.jit(mean)(x)  # expect: varying-shape-in-loop
        x = jnp.concatenate([x, y[None]])
    return x


# runs: by_a_jit_of_its_own(jnp.ones(2), 3)


def of_episodes(rewards_of, episodes):
    for episode in range(episodes):
        done, rewards, steps, position = False, [], [], 0
        while not done:
            reward, done = rewards_of(episode, position)
            rewards.append(reward)
            position += 1
        mean(jnp.array(rewards))  # expect: varying-shape-in-loop
        for step in range(100):
            reward, done = rewards_of(episode, step)
            steps.append(reward)
            if done:
                break
        mean(jnp.stack(steps))  # expect: varying-shape-in-loop


def of_fixed_episodes(rewards_of, episodes, length):
    for episode in range(episodes):
        rewards, position = [], 0
        for step in range(length):
            rewards.append(rewards_of(episode, step)[0])
        mean(jnp.array(rewards))
        rewards = []
        while position < length:
            rewards.append(rewards_of(episode, position)[0])
            position += 1
        mean(jnp.array(rewards))
        mean(jnp.pad(jnp.array(rewards), (0, 8 - len(rewards))))


# runs: of_episodes(lambda episode, step: (1.0, step > episode), 5)
# runs: of_fixed_episodes(lambda episode, step: (1.0, step > episode), 5, 8)
