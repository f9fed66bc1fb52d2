"""Comprehensions over the length of an array, and loops whose iterations need one another."""

import jax
import jax.numpy as jnp


def score(x):
    return jnp.sum(x**2)


@jax.jit
def scores(batch):
    return jnp.array([score(batch[i]) for i in range(batch.shape[0])])  # expect: unrolled-loop


@jax.jit
def embedded(tokens, table, positions):
    columns = [jnp.tanh(table[:, t]) + positions[i] for t, i in zip(tokens, range(len(tokens)))]  # expect: unrolled-loop
    return jnp.stack(columns)


@jax.jit
def encoded(weight, x):
    state = jnp.zeros(3)
    n = x.shape[0]
    for t in range(n):  # expect: unrolled-loop
        state = jnp.tanh(weight @ state + x[t])
    return state


@jax.jit
def applied(layers, x):
    for i in range(len(layers)):
        x = jnp.tanh(x @ layers[i]["kernel"])
    return x


@jax.jit
def called(blocks, x):
    return [blocks[i](jnp.sin(x)) for i in range(len(blocks))]


@jax.jit
def same(x):
    return jnp.stack([jnp.ones((3, 3)) for _ in range(x.shape[0])]) + jnp.sin(x)


def eager(batch):
    return [score(batch[i]) for i in range(batch.shape[0])]


@jax.jit
def repeated(x):
    for _ in range(x.shape[-1]):
        x = jnp.tanh(x)
    return x


# --- loops that go over the rows themselves ---


@jax.jit
def discounted(rewards, gamma):
    total, found = 0.0, []
    for reward in reversed(rewards):  # expect: unrolled-loop
        total = reward + gamma * total
        found.insert(0, total)
    return jnp.stack(found)


def predicted(params, row):
    return jnp.tanh(params["w"] @ row)


@jax.jit
def error(params, x, y):
    guesses = jnp.stack([predicted(params, row) for row in x])  # expect: unrolled-loop
    total = 0.0
    for index, (guess, wanted) in enumerate(zip(guesses, jnp.sin(y))):
        total += jnp.sum((guess - wanted) ** 2) / (1 + index)
    for guess, wanted in zip(guesses, y):  # expect: unrolled-loop
        if total is not None:
            total += jnp.sum((guess - wanted) ** 2)
    return total


@jax.jit
def of_layers(params, x):
    for w, b in params:
        x = jnp.tanh(x @ w + b)
    for layer in params:
        x = x + jnp.sum(layer[0])
    for row in params:
        x = x @ row["w"]
    return x


@jax.jit
def of_few(x):
    total = 0.0
    for row in jnp.sin(x).reshape(4, -1):
        total += jnp.sum(jnp.tanh(row))
    corners = jnp.ones((4, 3))
    for corner in corners:
        total += jnp.sum(jnp.tanh(corner * x[0]))
    return total


@jax.jit
def first(x):
    for row in x:
        if row.ndim == 1:
            return jnp.tanh(row)
    return x


def eager_rows(rows):
    return [jnp.tanh(row) for row in rows]


@jax.jit
def of_list(rewards):
    total = 0.0
    for reward in reversed(rewards):  # expect: unrolled-loop
        total = reward + 0.9 * jnp.tanh(total)
    return total


def main(steps):
    rewards = []
    for _ in range(steps):
        rewards.append(jnp.ones(2))
    return of_list(rewards)


@jax.jit
def of_own_list(gradients, state):
    moments = [0.9 * m + 0.1 * g for g, m in zip(gradients, state)]
    return [jnp.sqrt(m) / (1.0 - 0.9) for m in moments]


@jax.jit
def integrate(times, xs, w):
    n = xs.shape[0]
    h, states = jnp.zeros(3), []
    for i in range(n):  # expect: unrolled-loop
        if i > 0:
            h = h * jnp.exp(times[i - 1] - times[i])
        h = jnp.tanh(w @ h + xs[i])
        states.append(h)
    return jnp.stack(states)


@jax.jit
def counted(x, w):
    total, data = 0.0, jnp.sin(x)
    for i in range(len(data)):  # expect: unrolled-loop
        total += jnp.sum(jnp.tanh(data[i] * w))
        w = w * total
    return w


@jax.jit
def by_layer(layers, x):
    for i in range(len(layers)):
        if i > 0:
            x = jnp.tanh(x)
        x = layers[i] @ x
    return x


@jax.jit
def prints(x, w):
    for i in range(x.shape[0]):
        if i > 0:
            print(i)
        w = jnp.tanh(w * x[i])
    return w


# runs: discounted(jnp.ones(3), 0.9)
# runs: error({"w": jnp.ones((2, 3))}, jnp.ones((4, 3)), jnp.ones((4, 2)))
# runs: of_few(jnp.ones((8, 3)))
# runs: main(3)
# runs: of_own_list([jnp.ones(2), jnp.ones(3)], [jnp.ones(2), jnp.ones(3)])
# runs: integrate(jnp.ones(4), jnp.ones((4, 3)), jnp.ones((3, 3)))
# runs: counted(jnp.ones((4, 3)), jnp.ones(3))
