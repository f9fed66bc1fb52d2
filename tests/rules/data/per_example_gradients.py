"""Gradients of single examples: only averaged, and used in other ways."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import grad, value_and_grad, vmap


def loss(params, x):
    return jnp.sum(jnp.tanh(x @ params["w"] + params["b"]) ** 2)


def start():
    return {"w": jnp.ones((5, 3)), "b": jnp.ones(3)}, jnp.ones((8, 5))


each = jax.jit(vmap(value_and_grad(loss), in_axes=(None, 0)))


def step(params, x):
    values, grads = each(params, x)  # expect: per-example-gradients
    grads = jax.tree.map(lambda g: g.mean(axis=0), grads)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), values.mean()


# runs: step(*start())


def average(tree):
    return jax.tree_util.tree_map(partial(jnp.mean, axis=0), tree)


@jax.jit
def passed_on(params, x):
    grads = vmap(grad(loss), in_axes=(None, 0))(params, x)  # expect: per-example-gradients
    return average(grads)


# runs: passed_on(*start())


@jax.jit
def one_by_one(params, x):
    grads = vmap(grad(loss), (None, 0))(params, x)  # expect: per-example-gradients
    return {name: params[name] - 0.1 * g.sum(axis=0) for name, g in grads.items()}


# runs: one_by_one(*start())


def flat(w, x):
    return jnp.sum((x @ w) ** 2)


@jax.jit
def at_once(w, x):
    return w - 0.1 * jnp.mean(vmap(grad(flat), (None, 0))(w, x), axis=0)  # expect: per-example-gradients


# runs: at_once(jnp.ones(5), jnp.ones((8, 5)))


@jax.jit
def measured(params, x):
    grads = vmap(grad(loss), in_axes=(None, 0))(params, x)
    norms = jax.tree.map(lambda g: jnp.linalg.norm(g.reshape(len(g), -1), axis=1), grads)
    return average(grads), norms


# runs: measured(*start())


@jax.jit
def kept(params, x):
    grads = vmap(grad(loss), in_axes=(None, 0))(params, x)
    return average(grads), grads["w"].var(axis=0)


# runs: kept(*start())


@jax.jit
def of_inputs(w, x):
    slopes = vmap(grad(flat, argnums=1), in_axes=(None, 0))(w, x)
    return jnp.mean(slopes, axis=0), jnp.mean(vmap(grad(flat), (0, 0))(jnp.stack([w] * 8), x), axis=0)


# runs: of_inputs(jnp.ones(5), jnp.ones((8, 5)))


@jax.jit
def along_weights(w, x):
    grads = vmap(grad(flat), (None, 0))(w, x)
    return jnp.mean(grads, axis=1)


# runs: along_weights(jnp.ones(5), jnp.ones((8, 5)))
