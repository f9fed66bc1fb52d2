"""Steps on every device, with and without bringing their gradients together."""

from functools import partial

import jax
import jax.numpy as jnp


def loss(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


@partial(jax.pmap, axis_name="devices")  # expect: pmap
def drifting(w, x, y):
    value, grads = jax.value_and_grad(loss)(w, x, y)  # expect: missing-gradient-sync
    return jax.tree.map(lambda p, g: p - 0.1 * g, w, grads), value


def nested(w, x, y):
    def inner(w):
        return w - 0.1 * jax.grad(loss)(w, x, y)  # expect: missing-gradient-sync

    return inner(w)


in_a_helper = jax.pmap(nested, axis_name="i")  # expect: pmap


# runs: drifting(jnp.ones((1, 2)), jnp.ones((1, 3, 2)), jnp.ones((1, 3)))


# --- never flagged -------------------------------------------------------------


def over_devices(tree):
    return jax.tree.map(lambda g: jax.lax.pmean(g, "devices"), tree)


@partial(jax.pmap, axis_name="devices")  # expect: pmap
def together(w, x, y):
    grads = over_devices(jax.grad(loss)(w, x, y))
    return w - 0.1 * grads


@partial(jax.pmap, axis_name="devices")  # expect: pmap
def together_again(w, x, y):
    return w - 0.2 * over_devices(jax.grad(loss)(w, x, y))


@partial(jax.pmap, axis_name="devices")  # expect: pmap
def mean_loss(w, x, y):
    return w - 0.1 * jax.grad(lambda w: jax.lax.pmean(loss(w, x, y), "devices"))(w)


@partial(jax.pmap, axis_name="devices")  # expect: pmap
def gradients_for_the_host(w, x, y):
    return jax.grad(loss)(w, x, y)


@jax.pmap  # expect: pmap
def independent_members(w, x, y):
    return w - 0.1 * jax.grad(loss)(w, x, y)


def with_strategy(strategy):
    @partial(jax.pmap, axis_name="devices")  # expect: pmap
    def step(w, x, y):
        grads = strategy.reduce(jax.grad(loss)(w, x, y))
        return w - 0.1 * grads

    return step


@jax.jit
def alone(w, x, y):
    return w - 0.1 * jax.grad(loss)(w, x, y)


# runs: together(jnp.ones((1, 2)), jnp.ones((1, 3, 2)), jnp.ones((1, 3))), alone(jnp.ones(2), jnp.ones((3, 2)), jnp.ones(3))
