"""Eager loops that stage new bodies, or differentiate without ``jit``."""

import random

import jax
import jax.numpy as jnp


def loss(w, x):
    return jnp.mean((x @ w - 1.0) ** 2)


def kernel(a, b):
    return jnp.exp(-jnp.sum((a - b) ** 2))


def train(w, batches):
    for x in batches:
        w = w - 0.1 * jax.grad(loss)(w, x)  # expect: transform-in-loop
    return w


def made_before(w, batches):
    gradient = jax.value_and_grad(loss)
    for x in batches:
        value, g = gradient(w, x)  # expect: transform-in-loop
        w = w - 0.1 * g
    return w


def update(w, x):
    g = jax.grad(loss)(w, x)  # expect: transform-in-loop
    return w - 0.1 * g


def steps(w, batches):
    for x in batches:
        w = update(w, x)
    return w


def total(w, xs):
    def add(i, sum_so_far):
        return sum_so_far + jnp.sum(w * xs[i])

    return jax.lax.fori_loop(0, 3, add, 0.0)  # expect: transform-in-loop


def epochs(w, xs, count):
    for epoch in range(count):
        w = update(w, xs)
        print(epoch, total(w, xs))
    return w


def until_small(w):
    while True:
        w = jax.lax.while_loop(lambda w: jnp.sum(w) > 1.0, lambda w: 0.9 * w, w)  # expect: transform-in-loop
        if float(jnp.sum(w)) < 2.0:
            return w


def decay(w, rates):
    for rate in rates:

        def body(i, w):
            return w * rate

        w = jax.lax.fori_loop(0, 3, body, w)  # expect: transform-in-loop
    return w


def either(w, signs):
    for sign in signs:
        w = jax.lax.cond(sign, lambda w: w, jnp.negative, w)  # expect: transform-in-loop
    return w


def short_but_compiling(w):
    for rate in range(5):
        w = jax.lax.fori_loop(0, 3, lambda i, w: w * rate, w)  # expect: transform-in-loop
    return w


class Shifted:
    def __init__(self, points):
        self.points = points

    def step(self, total, x):
        return total + x, total

    def accumulate(self, total, rounds):
        for _ in range(rounds):
            total, _ys = jax.lax.scan(self.step, total, self.points)  # expect: transform-in-loop
        return total

    def iterate(self, centre, rounds):
        for _ in range(rounds):
            weights = jax.vmap(lambda p: kernel(centre, p))(self.points)  # expect: transform-in-loop
            centre = (weights[:, None] * self.points).sum(0) / weights.sum()
        return centre


# runs: train(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: steps(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: epochs(jnp.ones(2), jnp.ones((3, 2)), 2)
# runs: until_small(jnp.ones(2))
# runs: decay(jnp.ones(2), [0.1, 0.2])
# runs: either(jnp.ones(2), [True, False])
# runs: short_but_compiling(jnp.ones(2))
# runs: Shifted(jnp.ones((3, 2))).accumulate(jnp.zeros(2), 2)
# runs: Shifted(jnp.ones((3, 2))).iterate(jnp.zeros(2), 2)


# --- never flagged -------------------------------------------------------------

fast_gradient = jax.jit(jax.grad(loss))


@jax.jit
def fast_loss(w, x):
    return loss(w, x)


def compiled(w, batches):
    for x in batches:
        w = w - 0.1 * fast_gradient(w, x)
        w = w - 0.1 * jax.vmap(fast_gradient, (None, 0))(w, x[None])[0]
    return w


@jax.jit
def inner(w, xs):
    for i in range(3):
        w = w - 0.1 * jax.grad(loss)(w, xs[i])
        w = jax.lax.cond(w[0] > 0, lambda w: w, lambda w: -w, w)
    return w


def outer(w, tasks):
    for xs in tasks:
        w = inner(w, xs)
    return w


def halve(i, w):
    return 0.5 * w


def named(w, rounds):
    def double(i, w):
        return 2.0 * w

    for _ in range(rounds):
        w = jax.lax.fori_loop(0, 3, halve, w)
        w = jax.lax.fori_loop(0, 3, double, w)
    return w


def unrolled_by_whom(w, xs):
    for x in xs:
        w = w - 0.1 * jax.grad(loss)(w, x)
    return w


@jax.jit
def by_this(w, xs):
    return unrolled_by_whom(w, [xs, 2.0 * xs])


def of_one_another(species, positions):
    features = []
    for s in species:
        features.append(jax.vmap(lambda p: kernel(s, p))(positions))
    return features


def keys_of(key, rounds):
    keys = jax.random.split(key, 4)
    for _ in range(rounds):
        keys = jax.vmap(lambda k: jax.random.split(k)[0])(keys)
    return keys


def either_way(w, batches, fast):
    gradient = jax.grad(loss)
    if fast:
        gradient = jax.jit(gradient)
    for x in batches:
        w = w - 0.1 * gradient(w, x)
    return w


def huber(w):
    return 0.5 * w**2 if abs(w) < 1.0 else abs(w) - 0.5


class Gan:
    def __init__(self, w):
        self.w, self.fake = w, None

    def advance(self, x):
        def loss(w):
            self.fake = w * x  # expect: self-write
            return jnp.sum(self.fake**2)

        self.w = self.w - 0.1 * jax.grad(loss)(self.w)  # expect: transform-in-loop


def main(batches):
    gan = Gan(jnp.ones(2))
    for x in batches:
        gan.advance(x)
    return gan.w


def cannot_be_jitted(w):
    while w > 0.1:
        w = w - 0.5 * jax.grad(huber)(w)
    return w


def counted(w, rounds):
    values = []

    def watched(w):
        values.append(w.shape)
        return jnp.sum(w**2)

    for _ in range(rounds):
        w = w - 0.1 * jax.grad(watched)(w)
    return w, values


def a_few(w):
    for _ in range(3):
        w = w - 0.1 * jax.grad(loss)(w, jnp.ones((3, 2)))
    return w


def a_few_bodies(w):
    for rate in range(4):
        w = jax.lax.fori_loop(0, 3, lambda i, w: w * rate, w)
    return w


def once(w, x):
    g = jax.grad(loss)(w, x)
    return jax.lax.fori_loop(0, 3, lambda i, w: w - 0.1 * g, w)


# runs: compiled(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: outer(jnp.ones(2), [jnp.ones((3, 3, 2))] * 2)
# runs: by_this(jnp.ones(2), jnp.ones((3, 2)))
# runs: either_way(jnp.ones(2), [jnp.ones((3, 2))] * 2, True)


# --- gradients of compiled functions, one of several classes ---


compiled_loss = jax.jit(loss)


def of_a_compiled_function(w, batches):
    gradient = jax.value_and_grad(compiled_loss)
    for x in batches:
        w = w - 0.1 * jax.grad(compiled_loss)(w, x)  # expect: transform-in-loop
        value, g = gradient(w, x)  # expect: transform-in-loop
        w = w - 0.1 * g
        w = w - 0.1 * jax.grad(lambda w: compiled_loss(w, x))(w)  # expect: transform-in-loop
    return w


compiled_gradient = jax.jit(jax.grad(compiled_loss))


def of_a_compiled_gradient(w, batches):
    for x in batches:
        w = w - 0.1 * compiled_gradient(w, x)
    return [jax.grad(compiled_loss)(w, x) for x in batches]


class Descent:
    def step(self, w, x):
        return w - 0.1 * jax.grad(loss)(w, x)  # expect: transform-in-loop


class Ascent:
    def step(self, w, x):
        return w + 0.1 * jax.grad(loss)(w, x)  # expect: transform-in-loop


def one_of_two_classes(w, batches, down: bool):
    if down:
        method = Descent()
    else:
        method = Ascent()
    for x in batches:
        w = method.step(w, x)
    return w


class Tank:
    """A method that stores what it computes, so that it cannot be jitted as it is."""

    def __init__(self, epochs):
        self.epochs = epochs
        self.level = 1.0

    def error(self, w):
        self.level = self.level + jnp.sum(w)  # expect: self-write
        return self.level**2

    def tuned(self, w):
        gradient = jax.value_and_grad(self.error)
        for _ in range(self.epochs):
            self.level = 1.0
            value, g = gradient(w)  # expect: transform-in-loop
            w = w - 0.1 * g
        return w


# runs: of_a_compiled_function(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: of_a_compiled_gradient(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: one_of_two_classes(jnp.ones(2), [jnp.ones((3, 2))] * 2, True)
# runs: Tank(2).tuned(jnp.ones(2))


def disturbed(w):
    return jnp.sum((w + random.gauss(0.0, 0.1)) ** 2)


def fit_disturbed(w, rounds):
    for _ in range(rounds):
        w = w - 0.1 * jax.grad(disturbed)(w)  # expect: transform-in-loop
    return w


def newton(f, x, rounds):
    curvature = jax.hessian(f)
    for _ in range(rounds):
        x = x - jnp.linalg.solve(curvature(x), jnp.ones(3))  # expect: transform-in-loop
    return x


# runs: newton(lambda x: jnp.sum(x**2), jnp.ones(3), 3)


def fifty(w, x):
    for _ in range(50):
        w = w - 0.1 * jax.grad(loss)(w, x)  # expect: transform-in-loop
    return w


def ten(w, x):
    for _ in range(10):
        w = w - 0.1 * jax.grad(loss)(w, x)
    return w


# runs: fifty(ten(jnp.ones(2), jnp.ones((3, 2))), jnp.ones((3, 2)))


def improved(w, batches):
    for x in batches:
        w = w - 0.1 * jax.grad(loss)(w, x)  # expect: transform-in-loop
    return w


def collecting(w, source, count):
    for i in range(count):
        source.add(i)
        if i > 1000:
            w = improved(w, source.batches())
    return w
