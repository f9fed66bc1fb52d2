"""``jit`` of function objects that are new in every iteration."""

import functools

import jax
import jax.numpy as jnp


def loss(w, x):
    return jnp.mean((x @ w - 1.0) ** 2)


def of_a_lambda(w, batches, rate):
    for x in batches:
        step = jax.jit(lambda w, x: w - rate * jax.grad(loss)(w, x))  # expect: jit-in-loop
        w = step(w, x)
    return w


def of_a_local_function(w, batches):
    for x in batches:

        @jax.jit  # expect: jit-in-loop
        def step(w):
            return w - 0.1 * jax.grad(loss)(w, x)

        w = step(w)
    return w


def of_a_result(w, batches):
    for x in batches:
        w = w - 0.1 * jax.jit(jax.grad(loss))(w, x)  # expect: jit-in-loop
    return w


def of_a_partial(w, batches):
    while jnp.sum(w) < 3.0:
        for x in batches:
            w = w + 0.1 * jax.jit(functools.partial(loss, x=x))(w)  # expect: jit-in-loop
    return w


def in_a_comprehension(arrays):
    return [jax.jit(lambda x: x / jnp.max(x))(x) for x in arrays]  # expect: jit-in-loop


class Sampler:
    def __init__(self, rate):
        self.rate = rate

    def step(self, w, x):
        return w - self.rate * jax.grad(loss)(w, x)

    def run(self, w, batches):
        for x in batches:
            w = jax.jit(self.step)(w, x)  # expect: jit-in-loop
        return w


def between_two_loops(w, batches, rates):
    for rate in rates:

        def step(w, x):
            return w - rate * jax.grad(loss)(w, x)

        for x in batches:
            w = jax.jit(step)(w, x)  # expect: jit-in-loop
    return w


# runs: of_a_lambda(jnp.ones(2), [jnp.ones((3, 2))] * 2, 0.1)
# runs: of_a_local_function(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: of_a_partial(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: Sampler(0.1).run(jnp.ones(2), [jnp.ones((3, 2))] * 2)


# --- compiled once, but looked up each time ---------------------------------------


def one_function(w, batches):
    for x in batches:
        w = w - jax.jit(loss)(w, x)  # expect: jit-in-loop
    return w


# --- never flagged -------------------------------------------------------------


def one_partial(w, batches):
    scaled = functools.partial(jnp.multiply, 0.5)
    for x in batches:
        w = jax.jit(scaled)(w) + jnp.sum(x)
    return w


def hoisted(w, batches, rate):
    step = jax.jit(lambda w, x: w - rate * jax.grad(loss)(w, x))
    for x in batches:
        w = step(w, x)
    return w


def when_first_needed(w, batches):
    step = None
    for x in batches:
        if step is None:
            step = jax.jit(lambda w, x: w - 0.1 * jax.grad(loss)(w, x))
        w = step(w, x)
    return w


def when_first_needed_deep_inside(w, epochs, rate):
    step = None
    for batches in epochs:
        for batch in batches:
            for x in batch:
                if step is None:
                    step = jax.jit(lambda w, x: w - rate * jax.grad(loss)(w, x))
                w = step(w, x)
    return w


def by_size(w, batches):
    compiled = {}
    for x in batches:
        if x.shape not in compiled:
            compiled[x.shape] = jax.jit(functools.partial(loss, x=x))
        w = w + compiled[x.shape](w)
    return w


def make_step(rate):
    return jax.jit(lambda w, x: w - rate * jax.grad(loss)(w, x))


def sweep(w, batches, rates):
    results = []
    for rate in rates:
        step = make_step(rate)
        for x in batches:
            w = step(w, x)
        results.append(w)
    return results


def table(functions):
    return {name: jax.jit(lambda x, f=f: f(x) * 2.0) for name, f in functions.items()}


def ahead_of_time(arrays):
    return [jax.jit(lambda x: x * 2.0).lower(x).compile().cost_analysis() for x in arrays]


def until_it_works(function, x):
    while True:
        try:
            return jax.jit(lambda x: function(x))(x)
        except FloatingPointError:
            x = x / 2.0


def of_the_first(arrays, w):
    for x in arrays:
        if jnp.sum(x) > 0.0:
            w = jax.jit(lambda w: w * x)(w)
            break
    return w


def make_train(config):
    def train(w):
        return w * config["rate"]

    return train


def experiments(configs, w):
    return [jax.jit(make_train(config))(w) for config in configs]


def activations(x):
    for activation in (jnp.tanh, jax.nn.relu):
        x = jax.jit(lambda x: activation(x) + 1.0)(x)
    return x


@jax.jit
def unrolled(w):
    for k in range(3):
        w = jax.jit(lambda w: w * k)(w)
    return w


class Ensemble:
    def __init__(self, rates):
        self.steps = []
        for rate in rates:
            self.steps.append(jax.jit(lambda w: w * rate))

    def run(self, w):
        for step in self.steps:
            w = step(w)
        return w


# runs: when_first_needed(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: by_size(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: unrolled(jnp.ones(2))
# runs: Ensemble([0.1, 0.2]).run(jnp.ones(2))
