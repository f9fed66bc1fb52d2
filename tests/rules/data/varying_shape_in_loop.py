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
