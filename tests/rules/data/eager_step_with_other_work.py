"""Loops that make several operations one by one, beside whatever else they do."""

import sys

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from jax.example_libraries import optimizers
from tqdm import tqdm


def predict(params, x):
    hidden = jnp.tanh(x @ params["w"] + params["b"])
    return jnp.tanh(hidden @ params["v"] + params["c"])


@jax.jit
def step(params, x):
    return jax.tree.map(lambda p: p - 0.1 * jnp.mean(x), params)


@jax.jit
def epoch(params, xs):
    return jax.lax.scan(lambda p, x: (step(p, x), None), params, xs)[0]


def evaluation(params, batches):
    right = 0
    for x, label in batches:
        right += int(jnp.sum(predict(params, x) == label))  # expect: eager-step
    return right


def few(params, batches):
    for x, label in batches:
        print(jnp.sum(x == label))


def short(params, batches):
    for _ in range(3):
        print(predict(params, jnp.ones((2, 3))))


def beside_steps_and_files(params, n):
    table = np.zeros((n, 4))
    for i in range(n):
        x = jax.random.normal(jax.random.key(i), (2, 3))
        params = step(params, x)
        scaled = (x - jnp.mean(x)) / jnp.std(x)  # expect: eager-step
        table[i] = np.asarray(scaled.sum() * jnp.ones(4))
    return table


def elements_of_arrays(grid, n):
    out = jnp.zeros((8, 8))
    for i in range(n):
        out = out.at[i, 0].set(grid[i, 0].mean() + grid[i].max())  # expect: eager-step
    return out


def figures(params, n):
    for _ in range(n):
        plt.plot(predict(params, jnp.ones((2, 3))))


def init_layer(key):
    first, second = jax.random.split(key)
    return jnp.sqrt(0.1) * jax.random.normal(first, (3, 3)), jnp.exp(-jax.random.normal(second, (3,)))


def layers(key, n):
    made = []
    for _ in range(n):
        key, subkey = jax.random.split(key)
        made.append(init_layer(subkey))
    return made


def outer(params, n):
    for _ in range(n):
        x = jnp.tanh(jnp.ones((2, 3)) * 2.0) + 1.0
        y = jnp.exp(x - jnp.max(x))
        for _ in range(n):
            y = y + 0.1
        print(y)


def whole_epochs(params, xs, n):
    for _ in range(n):
        params = epoch(params, xs)
        print(predict(params, xs[0]))
    return params


def epochs_now_and_then(params, xs, marks, n):
    for i in range(n):
        params = step(params, xs[0])
        print(predict(params, xs[0]))  # expect: eager-step
        if i in marks:
            params = epoch(params, xs)
    return params


def many_prices(key, start, bound):
    found = []
    for _ in range(1000):
        key, draw = jax.random.split(key)
        end = start * jnp.exp(jax.random.normal(draw) - 0.5)
        found.append(jnp.maximum(end - bound, 0.0) + jnp.maximum(end - 2.0 * bound, 0.0))  # expect: eager-step
    return found


def shown_in_a_bar(key, bounds, n):
    found = []
    for i in tqdm(range(n)):
        key, draw = jax.random.split(key)
        end = jnp.exp(jax.random.normal(draw) - 0.5)
        found.append(jnp.maximum(end - bounds[i], 0.0) + jnp.maximum(end - 2.0 * bounds[i], 0.0))  # expect: eager-step
    return found


def perhaps_staged(key, bounds, n):
    found = []
    for i in range(n):
        key, draw = jax.random.split(key)
        end = jnp.exp(jax.random.normal(draw) - 0.5)
        found.append(jnp.maximum(end - bounds[i], 0.0) + jnp.maximum(end - 2.0 * bounds[i], 0.0))
    return found


def smooth(x, n):
    for _ in range(n):
        x = jnp.tanh(x) + jnp.roll(x, 1) - jnp.roll(x, -1) * 2.0
    return x


jitted = jax.jit(smooth, static_argnums=1)


init_momentum, update_momentum, params_of = optimizers.momentum(0.1, mass=0.9)
init_sgd, update_sgd, _ = optimizers.sgd(0.1)
gradient = jax.jit(jax.grad(lambda weights: jnp.sum(weights**2)))


def optimizers_of_the_examples(count):
    state = init_momentum(jnp.ones(3))
    for step in range(count):
        state = update_momentum(step, gradient(params_of(state)), state)  # expect: eager-step
    return state


def described(row):
    return jnp.stack([jnp.sum(row), jnp.mean(row**2), jnp.max(row)])


@jax.jit
def scored(weights, row):
    return jnp.sum(weights * row)


def one_by_one(weights, rows):
    features = []
    for i in range(len(rows)):
        features.append(scored(weights, rows[i]))  # expect: eager-step
    found = []
    for i in range(rows.shape[0]):
        row = scored(weights, rows[i])  # expect: eager-step
        found.append(row)
    return jnp.stack(features), jnp.stack(found)


def files_one_by_one(files):
    found = []
    for i in range(len(files)):
        found.append(described(jnp.asarray(np.load(files[i]))))
    return found


def only_a_few(weights, rows):
    found = []
    for i in range(3):
        found.append(scored(weights, rows[i]))
    return found


def one_after_the_other(weights, rows):
    for i in range(len(rows)):
        weights = weights + scored(weights, rows[i])
    return weights


gradient_of_two = jax.jit(jax.grad(lambda weights: jnp.sum(weights[0] * weights[1])))


def leaf_by_leaf(count):
    weights = [jnp.ones(3), jnp.ones(3)]
    for _ in range(count):
        grads = gradient_of_two(weights)
        for i in range(len(weights)):
            weights[i] = weights[i] - 0.1 * grads[i]  # expect: eager-step
    return weights


def leaves_of_a_dictionary(count):
    weights = {"w": jnp.ones(3), "b": jnp.ones(3)}
    for _ in range(count):
        grads = gradient_of_two([weights["w"], weights["b"]])
        found = {"w": grads[0], "b": grads[1]}
        for name in weights:
            weights[name] = weights[name] - 0.1 * found[name]  # expect: eager-step
    return weights


def leaves_in_a_short_loop():
    weights = [jnp.ones(3), jnp.ones(3)]
    for _ in range(5):
        grads = gradient_of_two(weights)
        for i in range(len(weights)):
            weights[i] = weights[i] - 0.1 * grads[i]
    return weights


@jax.jit
def moved(weights):
    grads = gradient_of_two(weights)
    for i in range(len(weights)):
        weights[i] = weights[i] - 0.1 * grads[i]
    return weights


def leaves_in_a_jitted_step(count):
    weights = [jnp.ones(3), jnp.ones(3)]
    for _ in range(count):
        weights = moved(weights)
    return weights


def jitted_optimizers_of_the_examples(count):
    state, update = init_sgd(jnp.ones(3)), jax.jit(update_sgd)
    for step in range(count):
        state = update(step, gradient(params_of(state)), state)
    return state


def rows_in_comprehensions(weights, rows):
    points = jnp.linspace(0.0, 1.0, 60)
    grid = [[scored(weights, jnp.stack([x, y])) for x in points] for y in points]  # expect: eager-step
    return grid, [scored(weights, row) for row in rows]  # expect: eager-step


def a_few_rows_in_comprehensions(weights, rows):
    points = jnp.ones((60, 2))
    return [scored(weights, point * weights) for point in points], [len(row) for row in rows]


@jax.jit
def rows_in_jitted_comprehensions(weights, rows):
    return [scored(weights, row) for row in rows[:3]]


if __name__ == "__main__":
    weights = {"w": jnp.ones((3, 4)), "b": jnp.ones(4), "v": jnp.ones((4, 1)), "c": jnp.ones(1)}
    data = [(jnp.ones((2, 3)), jnp.ones((2, 1)))] * 200
    count = len(sys.argv) * 500
    evaluation(weights, iter(data))
    few(weights, iter(data))
    short(weights, iter(data))
    beside_steps_and_files(weights, count)
    elements_of_arrays(jnp.ones((8, 8)), count)
    figures(weights, count)
    layers(jax.random.key(0), count)
    outer(weights, count)
    whole_epochs(weights, jnp.ones((5, 2, 3)), count)
    epochs_now_and_then(weights, jnp.ones((5, 2, 3)), (3, 70), count)
    jitted(jnp.ones(3), 3)
    optimizers_of_the_examples(count)
    jitted_optimizers_of_the_examples(count)
    leaf_by_leaf(count)
    leaves_of_a_dictionary(count)
    leaves_in_a_short_loop()
    leaves_in_a_jitted_step(count)
    one_by_one(jnp.ones(3), jnp.ones((count, 3)))
    files_one_by_one([])
    only_a_few(jnp.ones(3), jnp.ones((count, 3)))
    one_after_the_other(jnp.ones(3), jnp.ones((count, 3)))
    rows_in_comprehensions(jnp.ones(2), jnp.ones((count, 2)))
    a_few_rows_in_comprehensions(jnp.ones(2), jnp.ones((count, 2)))
    rows_in_jitted_comprehensions(jnp.ones(2), jnp.ones((count, 2)))
