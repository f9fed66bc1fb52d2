"""Probabilities where logits belong: lines that the rule reports, and lines that look alike."""

import jax
import jax.numpy as jnp


def masked(key, logits, mask):
    probs = jnp.where(mask, jax.nn.softmax(logits), 0.0)
    probs = probs / probs.sum(axis=-1, keepdims=True)
    return jax.random.categorical(key, probs[None, :])  # expect: probabilities-as-logits


# runs: masked(jax.random.key(0), jnp.ones(3), jnp.array([True, False, True]))


def last_layer(x):
    return jax.nn.softmax(x, axis=-1)


@jax.jit
def twice(x):
    return jax.nn.softmax(last_layer(x))  # expect: probabilities-as-logits


# runs: twice(jnp.ones((2, 3)))


def logs(key, x):
    return jax.random.categorical(key, jnp.log(jax.nn.softmax(x) + 1e-9))


# runs: logs(jax.random.key(0), jnp.ones(3))


def perhaps(key, x, raw):
    values = x if raw else jax.nn.softmax(x)
    return jax.random.categorical(key, values)


# runs: perhaps(jax.random.key(0), jnp.ones(3), True)


def scaled(x, temperature):
    return jax.nn.softmax(jax.nn.softmax(x) * temperature)


# runs: scaled(jnp.ones(3), 10.0)


def gates(x):
    return jax.nn.softmax(jax.nn.sigmoid(x))


# runs: gates(jnp.ones(3))
