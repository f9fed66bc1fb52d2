"""Python loops that unroll into a compiled program."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np

STEPS = 64


@jax.jit
def relax(u, rhs):
    for _ in range(100):  # expect: unrolled-loop
        u = 0.5 * (jnp.roll(u, 1) + jnp.roll(u, -1)) - 0.5 * rhs
    return u


# runs: relax(jnp.ones(4), jnp.ones(4))


@jax.jit
def by_constant(u):
    for i in range(STEPS):  # expect: unrolled-loop
        u = jnp.sin(u + i)
    return u


# runs: by_constant(jnp.ones(4))


@functools.partial(jax.jit, static_argnames=("steps",))
def by_default(u, steps=50):
    for _ in range(steps):  # expect: unrolled-loop
        u = jnp.sin(u)
    return u


def call_by_default():
    return by_default(jnp.ones(4))


# runs: call_by_default()


@jax.jit
def nested(u):
    for _ in range(8):  # expect: unrolled-loop
        for _ in range(8):
            u = jnp.sin(u)
    return u


# runs: nested(jnp.ones(4))


@jax.jit
def nested_deep(u):
    for _ in range(2):  # expect: unrolled-loop
        for _ in range(3):
            for _ in range(40):
                u = jnp.sin(u)
    return u


# runs: nested_deep(jnp.ones(4))


def eight_times(u):
    for _ in range(8):
        u = jnp.cos(u)
    return u


@jax.jit
def through_a_function(u):
    for _ in range(8):  # expect: unrolled-loop
        u = eight_times(u)
    return u


@jax.jit
def through_it_again(u):
    for _ in range(5):  # expect: unrolled-loop
        u = eight_times(u)
    return u


# runs: through_it_again(through_a_function(jnp.ones(4)))


def long_helper(u):
    for _ in range(40):  # expect: unrolled-loop
        u = jnp.cos(u)
    return u


@jax.jit
def helped(u):
    for _ in range(2):
        u = long_helper(u)
    return u


# runs: helped(jnp.ones(4))


@jax.jit
def rows(u):
    return jnp.stack([jnp.sin(i * u) for i in range(STEPS)])  # expect: unrolled-loop


@jax.jit
def series(u):
    return sum(jnp.sin(i * u) / (i + 1) for i in range(STEPS))  # expect: unrolled-loop


# runs: (rows(jnp.ones(4)), series(jnp.ones(4)))


@jax.jit
def pairs(u):
    for i, j in itertools.product(range(6), range(6)):  # expect: unrolled-loop
        u = u + i * jnp.sin(j * u)
    return u


@jax.jit
def numbered(key, u):
    for i, k in enumerate(jax.random.split(key, 48)):  # expect: unrolled-loop
        u = u + i * jax.random.normal(k, u.shape)
    return u


@jax.jit
def together(key, u):
    for i, k in zip(range(1, 41), jax.random.split(key, 40)):  # expect: unrolled-loop
        u = u + i * jax.random.normal(k, u.shape)
    return u


# runs: (pairs(jnp.ones(4)), numbered(jax.random.key(0), jnp.ones(4)), together(jax.random.key(0), jnp.ones(4)))


@jax.jit
def counted(u):
    i = 0
    while i < 50:  # expect: unrolled-loop
        u = jnp.sin(u)
        i += 1
    return u


# runs: counted(jnp.ones(4))


@jax.jit
def recurrent(weights, xs):
    h = jnp.zeros(3)
    states = []
    for t in range(128):  # expect: unrolled-loop
        h = jnp.tanh(weights @ h + xs[t])
        states.append(h)
    return jnp.stack(states)


# runs: recurrent(jnp.eye(3), jnp.ones((128, 3)))


def body(carry, x):
    for _ in range(48):  # expect: unrolled-loop
        carry = jnp.tanh(carry + x)
    return carry, None


def scanned(xs):
    return jax.lax.scan(body, 0.5, xs)


# runs: scanned(jnp.ones(3))


TABLE = (0.5, 0.25, 0.125)


@jax.jit
def by_table(u):
    for i in range(60):  # expect: unrolled-loop
        u = u + TABLE[i % 3] * jnp.sin(u)
    return u


# runs: by_table(jnp.ones(4))


# --- never flagged -------------------------------------------------------------


@jax.jit
def few(u):
    for _ in range(8):
        u = jnp.sin(u)
    for _ in range(3):
        for _ in range(4):
            u = jnp.sin(u)
    return u


# runs: few(jnp.ones(4))


@jax.jit
def one_after_the_other(u):
    for _ in range(20):
        u = jnp.sin(u)
    for _ in range(20):
        u = jnp.cos(u)
    return u


# runs: one_after_the_other(jnp.ones(4))


@jax.jit
def rolled(u):
    return jax.lax.fori_loop(0, 1000, lambda i, c: c + jnp.cos(i * u), 0.0 * u)


# runs: rolled(jnp.ones(4))


@jax.jit
def layers(params, u):
    for i in range(48):
        u = jnp.tanh(u @ params[f"layer_{i}"])
    for i in range(48):
        u = jnp.tanh(u @ params["blocks"][i]["kernel"])
    for i in range(40):
        w, b = params["pairs"][i]
        u = u @ w + b
    return u


# runs: layers({f"layer_{i}": jnp.eye(2) for i in range(48)} | {"blocks": [{"kernel": jnp.eye(2)}] * 48, "pairs": [(jnp.eye(2), 0.0)] * 40}, jnp.ones(2))  # noqa: E501


def block(p, u):
    return jnp.tanh(u @ p["kernel"])


@jax.jit
def blocks(params, u):
    for i in range(48):
        u = block(params[i], u)
    return u


# runs: blocks([{"kernel": jnp.eye(2)}] * 48, jnp.ones(2))


class Dense:
    def __init__(self, size, scale):
        self.size = size
        self.scale = scale

    def __call__(self, u):
        return jnp.tanh(self.scale * u)


NETWORK = [Dense(4, 1.0 / (i + 1)) for i in range(40)]


@jax.jit
def network(u):
    for layer in NETWORK:
        u = layer(u)
    for i in range(40):
        u = NETWORK[i](u)
    return u


# runs: network(jnp.ones(4))


@jax.jit
def host_only(u):
    weights = []
    for i in range(64):
        weights.append(0.5 - abs(i / 63 - 0.5))
    window = [w**2 for w in weights]
    return u * jnp.array(window).sum() + np.sum([i**2 for i in range(64)])


# runs: host_only(jnp.ones(4))


def eager(u):
    for _ in range(100):
        u = relax(u, u)
    return u


# runs: eager(jnp.ones(4))


def differentiated(x):
    for _ in range(64):
        x = jnp.sin(x)
    return x


# runs: jax.grad(differentiated)(1.0)
# runs: jax.vmap(differentiated)(jnp.ones(3))


@functools.partial(jax.jit, static_argnums=(1,))
def unknown_count(u, n):
    for _ in range(n):
        u = jnp.sin(u)
    for _ in range(u.shape[0]):
        u = jnp.sin(u)
    return u


# runs: unknown_count(jnp.ones(4), 3)


def patience():
    return 3


@jax.jit
def leaves_early(u):
    for i in range(100):
        if i > patience():
            break
        u = jnp.sin(u)
    for i in range(100):
        u = jnp.sin(u)
        if i > patience():
            return u
    return u


# runs: leaves_early(jnp.ones(4))


def shapes(u):
    for _ in range(64):
        u = jnp.concatenate([u, u[:1]])
    return u


# runs: jax.eval_shape(shapes, jnp.ones(4))


class Circuit:
    def __init__(self):
        self.state = 1.0

    def rotate(self, angle):
        self.state = self.state * jnp.cos(angle)


def builds_an_object(angles):
    circuit = Circuit()
    for i in range(64):
        circuit.rotate(angles[i])
    return circuit.state


# runs: jax.eval_shape(builds_an_object, jnp.ones(64))


import logging

logger = logging.getLogger(__name__)


@jax.jit
def logs(u):
    for i in range(64):  # expect: unrolled-loop
        logger.debug("copy %d", i)
        u = jnp.sin(u + i)
    return u


# runs: logs(jnp.ones(4))


FUNCTIONS = (jnp.sin, jnp.cos)


@jax.jit
def gathered(x, shifts, weights):
    total = 0.0
    for i in range(len(shifts)):  # expect: unrolled-loop
        moved = jnp.roll(x, shifts[i])
        total += weights[i] * jnp.abs(jnp.fft.fft(moved))
    rows = []
    for i in range(x.shape[0]):  # expect: unrolled-loop
        rows.append(jnp.sin(x[i]) * total)
    return rows


@jax.jit
def needed_in_turn(x, shifts, layers):
    total = jnp.zeros(x.shape)
    for i in range(len(shifts)):  # expect: unrolled-loop
        x = jnp.roll(x, shifts[i]) * 0.5
    for i in range(len(shifts)):  # expect: unrolled-loop
        total += jnp.sin(total) * shifts[i]
    rows = [x]
    for i in range(len(shifts)):
        rows.append(jnp.sin(rows[-1]) * shifts[i])
    for i in range(len(layers)):
        rows.append(x @ layers[i]["kernel"])
    for i in range(len(layers)):
        layer = layers[i]
        rows.append(x @ layer["kernel"])
    for i in range(len(FUNCTIONS)):
        function = FUNCTIONS[i]
        rows.append(function(x) * 2)
    for i in range(len(shifts)):  # expect: unrolled-loop
        if i % 2:
            total += jnp.sin(x) * 2
    return total, rows


@jax.jit
def over_a_named_length(x):
    count = x.shape[0]
    batch, columns = x.shape
    total = 0.0
    for i in range(count - 1):  # expect: unrolled-loop
        total += jnp.sin(x[i]) * 2
    for i in range(1, columns):  # expect: unrolled-loop
        total += jnp.sin(x[:, i]).sum()
    return total


@jax.jit
def over_another_count(x, shifts, count=None):
    total, few = 0.0, 3
    for i in range(few):
        total += jnp.sin(x[i]) * 2
    count = count or len(shifts)
    for i in range(count):
        total += jnp.sin(x[i]) * 2
    return total


def outside(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += jnp.sin(x[i]) * 2
    return total


def by_option(cell, x, n):
    def step(x, _):
        return cell(x), None

    def small(x, _):
        return jnp.sin(x) * 2, None

    def add(i, x):
        return x + jnp.sin(i)

    steps = jnp.arange(1, 32)
    x, _ = jax.lax.scan(step, x, steps, unroll=True)  # expect: unrolled-loop
    x, _ = jax.lax.scan(step, x, length=64, unroll=16)  # expect: unrolled-loop
    x, _ = jax.lax.scan(small, x, (None, jnp.zeros(32)), unroll=True)  # expect: unrolled-loop
    x = jax.lax.fori_loop(0, 40, add, x, unroll=True)  # expect: unrolled-loop
    x, _ = jax.lax.scan(small, x, None, 64, False, 32)  # expect: unrolled-loop
    x, _ = jax.lax.scan(small, x, length=64, **{"unroll": 32})  # expect: unrolled-loop
    x, _ = jax.lax.scan(small, x, steps, unroll=True)
    x, _ = jax.lax.scan(step, x, steps, unroll=8)
    x, _ = jax.lax.scan(step, x, steps, unroll=False)
    x, _ = jax.lax.scan(step, x, length=12, unroll=True)
    x, _ = jax.lax.scan(step, x, length=n, unroll=True)
    return jax.lax.fori_loop(0, 20, add, x, unroll=True)


# runs: gathered(jnp.ones(4), jnp.arange(3), jnp.ones(3)), outside(jnp.ones(3))
# runs: needed_in_turn(jnp.ones(3), jnp.arange(3), [{"kernel": jnp.ones((3, 3))}])
# runs: over_a_named_length(jnp.ones((4, 4))), over_another_count(jnp.ones(3), jnp.ones(3))
# runs: by_option(jnp.sin, 1.0, 3)
