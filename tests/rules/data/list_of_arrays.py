"""Lists that `jnp.array` converts: of arrays that a loop collected, and others."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def reward(x):
    return jnp.sum(x)


def collected(xs):
    rewards, rows = [], []
    for x in xs:
        rewards.append(reward(x))
        rows += [2 * jnp.asarray(x)]
    a = jnp.array([r for r in rewards])  # expect: list-of-arrays
    return a, jnp.asarray(rows, dtype=jnp.float32), jnp.stack(rewards)  # expect: list-of-arrays


# runs: collected([jnp.ones(2)] * 3)


def others(xs, given: list):
    numbers, host = [], []
    for x in xs:
        numbers.append(float(reward(x)))
        host.append(np.asarray(reward(x)))
    pair = jnp.array([reward(xs[0]), reward(xs[1])])
    return jnp.array(numbers), jnp.array(host), pair, jnp.array(given), jnp.array(xs)


@jax.jit
def traced(xs):
    return jnp.array([jnp.sum(x) for x in xs])


# runs: others([jnp.ones(2)] * 3, [1]), traced([jnp.ones(2)] * 3)


@jax.jit
def copies_in_compiled_code(x, y):
    a = jnp.array([x / 3] * 100)  # expect: list-of-arrays
    b = jnp.vstack([jnp.sin(y) for _ in range(20)]), jnp.concatenate(30 * [y])  # expect: list-of-arrays
    few, other = jnp.stack([y] * 3), jnp.stack([y, x + y] * 20)
    numbers = jnp.array([1.0] * 100), jnp.array([y.shape[0]] * 100), [y] * 100
    return a, b, few, other, numbers, jnp.stack([y * i for i in range(20)])


# runs: copies_in_compiled_code(jnp.float32(1), jnp.ones(2))


def copies(x: jax.Array, n: int, y):
    z = jnp.exp(x)
    given = jnp.stack([x] * n), jnp.stack([y] * n)
    return given, jnp.stack([z] * n), jnp.hstack([z] * n)  # expect: list-of-arrays


# runs: copies(jnp.ones(2), 3, 1.0)


def mapped(rows):
    made = [jnp.ones(3) for _ in rows]
    return list(map(jnp.array, [made, made])), jax.tree.map(jnp.asarray, made)


def keys_of_one_array(key, n: int, x):
    key, *subkeys = jax.random.split(key, n)
    a = jax.vmap(jax.random.normal)(jnp.array(subkeys))  # expect: list-of-arrays
    key, *subkeys = jax.random.split(key, 20)
    b = jax.vmap(jax.random.normal)(jnp.stack(subkeys))  # expect: list-of-arrays
    return a, b


@jax.jit
def keys_in_compiled_code(key, x):
    key, *subkeys = jax.random.split(key, x.shape[0] + 1)
    return jax.vmap(jax.random.normal)(jnp.asarray(subkeys))  # expect: list-of-arrays


def few_or_other_keys(key, n: int):
    key, *few = jax.random.split(key, 4)
    key, *more = jax.random.split(key, n)
    more.append(key)
    one, *rest = jax.random.split(key, n)
    return jnp.stack(few), jnp.stack(more), [jax.random.normal(k) for k in rest], jnp.stack([one])


# runs: keys_of_one_array(jax.random.key(0), 12, 1), keys_in_compiled_code(jax.random.key(0), jnp.ones(9))
# runs: few_or_other_keys(jax.random.key(0), 12)


def scalars(xs):
    sums, history = [], {"first": []}
    for x in xs:
        sums.append(jnp.sum(x))
        history["first"].append(jnp.sum(x[:1]))
    print(sums)  # expect: list-of-arrays
    print("first", history["first"])  # expect: list-of-arrays
    print(history)  # expect: list-of-arrays
    together = jnp.stack(sums)
    first = jnp.array(history["first"])  # expect: list-of-arrays
    return together, first, np.array(sums)


def scalars_of_all_epochs(xs, epochs: int):
    every, last = [], []
    for _ in range(epochs):
        last = []
        for x in xs:
            every.append(jnp.sum(x))
            last.append(jnp.sum(x))
        print(jnp.stack(last).mean())
    return jnp.stack(every)  # expect: list-of-arrays


def stacked_rows(xs):
    rows = []
    for x in xs:
        rows.append(jnp.sin(x))
    print(rows, jnp.sum(rows[0]))
    return jnp.stack(rows)


# runs: scalars([jnp.ones(2)] * 3), scalars_of_all_epochs([jnp.ones(2)] * 3, 2), stacked_rows([jnp.ones(2)] * 3)


def rows_of_the_host(xs, batch, samples):
    rows = [np.asarray(x) for x in xs]
    images, labels = zip(*batch)
    columns = list(zip(*batch))
    one = jnp.stack(rows)  # expect: list-of-arrays
    two = jnp.concatenate([np.asarray(x) for x in xs])  # expect: list-of-arrays
    three = jnp.stack(images)  # expect: list-of-arrays
    four = jnp.stack(columns[1])  # expect: list-of-arrays
    five = jnp.stack([jnp.asarray(x) for x in xs])  # expect: list-of-arrays
    six = jax.tree.map(lambda *leaves: jnp.stack(leaves), *samples)  # expect: list-of-arrays
    return one, two, three, four, five, six, jnp.asarray(labels)


def cut_and_joined(x, n: int):
    return jnp.stack(jnp.split(x, n))  # expect: list-of-arrays


def short_or_other_rows(xs, models, batch):
    pair = jnp.stack([np.asarray(xs[0]), np.asarray(xs[1])])
    host = jnp.array([np.asarray(x) for x in xs])
    first, second = zip(batch, batch)
    columns = list(zip(*batch))
    columns = [np.stack(column) for column in columns]
    ensemble = jax.tree.map(lambda *leaves: jnp.stack(leaves), *models)
    return pair, host, jnp.stack(first), jnp.asarray(columns[0]), ensemble


# runs: rows_of_the_host([jnp.ones(2)] * 3, [(np.ones(2), np.ones(2))] * 3, [jnp.ones(2)] * 3)
# runs: cut_and_joined(jnp.ones(4), 2), short_or_other_rows([jnp.ones(2)] * 3, [jnp.ones(2)] * 2, [np.ones(2)] * 2)


def numbers_for_the_host(xs, axes, epochs: int):
    every = []
    for _ in range(epochs):
        sums = []
        for x in xs:
            sums.append(jnp.sum(x))
            every.append(sums[-1])
        print(np.mean(sums), sum(sums) / len(sums))
        print(np.mean(every))  # expect: list-of-arrays
        axes.plot(every)  # expect: list-of-arrays
    return np.mean([float(value) for value in every]), np.array(every), np.mean(jax.device_get(every))


def plotted_once(xs, axes):
    sums = []
    for x in xs:
        sums.append(jnp.sum(x))
    axes.plot(sums)


def arrays_made_of_numbers(xs, batches):
    corners = jnp.stack([jnp.array([0.0, x]) for x in xs])
    batched = jax.tree.map(lambda *leaves: jnp.stack(leaves), *batches)
    return corners, batched
