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


def over_devices_alone(w, x, y):
    grads, info = jax.grad(lambda w: (loss(w, x, y), y), has_aux=True)(w)  # expect: missing-gradient-sync
    grads, info = jax.lax.pmean((grads, info), "devices")
    return w - 0.1 * grads, info


in_lanes = jax.pmap(jax.vmap(over_devices_alone, axis_name="batch"), axis_name="devices")  # expect: pmap


def fit_in_lanes(w, xs, ys):
    for x, y in zip(xs, ys):
        w, _ = in_lanes(w, x, y)
    return w


def over_lanes_alone(w, x, y):
    grads = jax.lax.pmean(jax.grad(loss)(w, x, y), "batch")  # expect: missing-gradient-sync
    return w - 0.1 * grads


over_lanes = jax.pmap(jax.vmap(over_lanes_alone, axis_name="batch"), axis_name="devices")  # expect: pmap


# runs: in_lanes(jnp.ones((1, 2, 2)), jnp.ones((1, 2, 3, 2)), jnp.ones((1, 2, 3)))
# runs: over_lanes(jnp.ones((1, 2, 2)), jnp.ones((1, 2, 3, 2)), jnp.ones((1, 2, 3)))


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


def over_both(w, x, y):
    grads = jax.lax.pmean(jax.lax.pmean(jax.grad(loss)(w, x, y), "devices"), "batch")
    return w - 0.1 * grads


def over_both_at_once(w, x, y):
    return w - 0.1 * jax.lax.pmean(jax.grad(loss)(w, x, y), ("devices", "batch"))


def in_a_population(w, x, y):
    best = jax.lax.all_gather(w, "members").max()
    return w - 0.1 * best * jax.lax.pmean(jax.grad(loss)(w, x, y), "devices")


def of_each_member(w, x, y):
    return w - 0.1 * jax.lax.pmean(jax.grad(loss)(w, x, y), "devices")


def gradients_of_lanes(w, x, y):
    grads = jax.vmap(jax.grad(loss), axis_name="batch")(w, x, y)
    return w - 0.1 * jax.lax.pmean(grads.mean(0), "devices")


lanes_together = jax.pmap(jax.vmap(over_both, axis_name="batch"), axis_name="devices")  # expect: pmap
lanes_at_once = jax.pmap(jax.vmap(over_both_at_once, axis_name="batch"), axis_name="devices")  # expect: pmap
population = jax.pmap(jax.vmap(in_a_population, axis_name="members"), axis_name="devices")  # expect: pmap
members = jax.pmap(jax.vmap(of_each_member), axis_name="devices")  # expect: pmap
of_lanes = jax.pmap(gradients_of_lanes, axis_name="devices")  # expect: pmap
