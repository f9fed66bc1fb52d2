"""Bodies and branches that do not fit."""

import unittest
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax


def no_pair(xs):
    return lax.scan(lambda c, x: c + x, 0.0, xs)  # expect: control-flow-signature


# raises TypeError: no_pair(jnp.ones(3))


class Phase(NamedTuple):
    q: jax.Array
    p: jax.Array


def drift(phase, steps):
    def loses_its_class(_, s):
        return s.q + 0.1 * s.p, s.p

    return lax.fori_loop(0, steps, loses_its_class, phase)  # expect: control-flow-signature


def drifts(q):
    return drift(Phase(q, q), 3)


# raises TypeError: drifts(jnp.ones(2))


def keeps_its_class(phase, steps):
    return lax.fori_loop(0, steps, lambda _, s: s._replace(q=s.q + 0.1 * s.p), phase)


def kept(q):
    return keeps_its_class(Phase(q, q), 3), lax.fori_loop(0, 3, lambda _, s: Phase(*s), Phase(q, -q))


# runs: kept(jnp.ones(2))


def grows(state, dt):
    q, p = state
    state = q + dt * p, p - dt * q, 0.5 * q * q
    return state, q


@jax.jit
def integrate(q, p, dts):
    return lax.scan(grows, (q, p), dts)  # expect: control-flow-signature


# raises TypeError: integrate(1.0, 0.0, jnp.ones(3))


def one_argument(x):
    return lax.fori_loop(0, 3, lambda v: v * 2, x)  # expect: control-flow-signature


# raises TypeError: one_argument(1.0)


def operands(flag, x, y):
    return lax.cond(flag, lambda a: a, lambda a: -a, x, y)  # expect: control-flow-signature


# raises TypeError: operands(True, 1.0, 2.0)


def disagree(flag, x):
    return lax.cond(flag, lambda a: (a, a), lambda a: a + 1, x)  # expect: control-flow-signature


# raises TypeError: disagree(True, 1.0)


def swapped(x, xs):
    return lax.scan((x, x), lambda c, v: (c, v), xs)  # expect: control-flow-signature


# raises TypeError: swapped(1.0, jnp.ones(3))


class Walker:
    def step(self, i, carry):
        position, speed = carry
        return {"position": position + speed, "speed": speed}

    def run(self, x):
        return lax.fori_loop(0, 4, self.step, (x, 1.0))  # expect: control-flow-signature


# raises TypeError: Walker().run(0.0)


# --- never flagged -------------------------------------------------------------


def cell(params, h, x):
    h = jnp.tanh(h @ params["w"] + x)
    return h, h.mean()


def shrink(rate, i, v):
    return v * (1.0 - rate / (i + 1))


def named(h, *, rate):
    return h * rate, None


class Rnn:
    def __init__(self, params):
        self.params = params

    def step(self, h, x):
        return cell(self.params, h, x)

    def __call__(self, h, xs):
        return lax.scan(self.step, h, xs)


@jax.jit
def fits(params, xs):
    h = jnp.zeros(params["w"].shape[0])
    h, means = lax.scan(partial(cell, params), h, xs)
    h = lax.fori_loop(0, 3, partial(shrink, 0.1), h)
    h, _ = lax.scan(lambda c, _: named(c, rate=0.5), h, None, length=2)
    h, _ = Rnn(params)(h, xs)
    h = lax.while_loop(lambda v: v[0] > 1.0, lambda v: v / 2, h)
    a, b = lax.cond(h.sum() > 0, lambda: (h, 0.0), lambda: (h + 1, 1.0))
    c = lax.switch(1, [lambda v: v, lambda v: v * 2], h)
    total, _ = lax.scan(lambda c, x: [c + x.sum(), x], 0.0, xs)
    return a, b, c, means, total


class Refused(unittest.TestCase):
    def test_operands(self):
        with self.assertRaisesRegex(TypeError, "positional operands"):
            lax.cond(True, lambda v: v, lambda v: -v, 1.0, operand=1.0)


# runs: fits({"w": jnp.eye(2)}, jnp.ones((5, 2)))
