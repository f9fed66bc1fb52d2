"""Forward passes that run twice: in one iteration, and in the next one; and calls with other values."""

import jax
import jax.numpy as jnp
from jax import grad, jit, lax


def loss(params, x):
    return jnp.sum(jnp.tanh(x @ params) ** 2)


def cost(params):
    return jnp.sum(jnp.tanh(params) ** 2)


gradient = jit(grad(loss))
slope = grad(cost)


def logs_each_step(params, x):
    values = []
    for _ in range(3):
        values.append(loss(params, x))  # expect: repeated-forward-pass
        params = params - 0.1 * gradient(params, x)
    return params, values


# runs: logs_each_step(jnp.ones(3), jnp.ones((4, 3)))


def logs_updated(params, x):
    values = []
    while len(values) < 3:
        grads = gradient(params, x)
        params = params - 0.1 * grads
        value = loss(params, x)  # expect: repeated-forward-pass
        values.append(value)
    return params, values


# runs: logs_updated(jnp.ones(3), jnp.ones((4, 3)))


def body(carry, _):
    params, count = carry
    grads = slope(params)
    params = params - 0.1 * grads
    value = cost(params)  # expect: repeated-forward-pass
    return (params, count + 1), value


def scanned(params):
    return lax.scan(body, (params, 0), None, length=3)


# runs: scanned(jnp.ones(3))


def make_cost(target):
    @jit
    def distance(params):
        return jnp.sum((params - target) ** 2)

    return distance


near = make_cost(1.0)


def approach(params, _):
    params = params - 0.1 * near_slope(params)
    return params, near(params)  # expect: repeated-forward-pass


near_slope = jit(grad(near))


def approaches(params):
    return lax.scan(approach, params, None, length=3)


# runs: approaches(jnp.ones(3))


# --- never flagged -------------------------------------------------------------


def other_data(params, xs, valid):
    for x in xs:
        grads = gradient(params, x)
        params = params - 0.1 * grads
        a, b = loss(params, x), loss(params, valid)
    return params, a, b


# runs: other_data(jnp.ones(3), [jnp.ones((4, 3))] * 2, jnp.ones((2, 3)))


def by_rows(params, x):
    params = params - 0.1 * gradient(params, x)
    return params, loss(params, x)


def over_rows(params, xs):
    return lax.scan(by_rows, params, xs)


# runs: over_rows(jnp.ones(3), jnp.ones((2, 4, 3)))


def now_and_then(params, x):
    for step in range(4):
        grads = gradient(params, x)
        if step % 2 == 0:
            print(loss(params, x))
        params = params - 0.1 * grads
    return params


# runs: now_and_then(jnp.ones(3), jnp.ones((4, 3)))


def tries_steps(params):
    for _ in range(3):
        grads = slope(params)
        trial = params - 0.1 * grads
        params = trial if cost(trial) < cost(params - grads) else params
    return params


# runs: tries_steps(jnp.ones(3))


def swapped(carry, _):
    a, b = carry
    a = a - 0.1 * slope(a)
    value = cost(a)
    return (b, a), value


def swaps(x):
    return lax.scan(swapped, (x, x), None, length=3)


# runs: swaps(jnp.ones(3))


@jax.jit
def together(params):
    for _ in range(2):
        params = params - 0.1 * slope(params) * cost(params)
    return params


# runs: together(jnp.ones(3))


def in_rounds(params, x):
    for _ in range(3):
        x = x + 1
        grads = gradient(params, x)
        params = params - 0.1 * grads
        value = loss(params, x)
    return params, value


# runs: in_rounds(jnp.ones(3), jnp.ones((4, 3)))


far = make_cost(9.0)


def leaves(params, _):
    params = params - 0.1 * near_slope(params)
    return params, far(params)


def leaving(params):
    return lax.scan(leaves, params, None, length=3)


# runs: leaving(jnp.ones(3))
