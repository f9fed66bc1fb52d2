"""A multi-layer perceptron, its loss, and the update rule. Nothing here says ``jax.jit``: the callers do."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class Layer(NamedTuple):
    weight: jax.Array
    bias: jax.Array


def initialise(key: jax.Array, sizes: Sequence[int]) -> list[Layer]:
    """One layer between every two neighbours in ``sizes``."""
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        Layer(jax.random.normal(k, (inputs, outputs)) / jnp.sqrt(inputs), jnp.zeros(outputs))
        for k, inputs, outputs in zip(keys, sizes[:-1], sizes[1:])
    ]


def logits(layers: list[Layer], points: jax.Array, activation: str = "tanh") -> jax.Array:
    """Scores of shape (size, classes)."""
    hidden = points
    for layer in layers[:-1]:
        hidden = hidden @ layer.weight + layer.bias
        hidden = np.tanh(hidden) if activation == "tanh" else jax.nn.relu(hidden)
    return hidden @ layers[-1].weight + layers[-1].bias


def cross_entropy(layers: list[Layer], points: jax.Array, labels: jax.Array) -> jax.Array:
    """The mean loss of a batch."""
    scores = jax.nn.log_softmax(logits(layers, points))
    return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], axis=1))


def clip_by_norm(gradients: Any, limit: float) -> Any:
    """Scale a tree of gradients down to the norm ``limit``."""
    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(gradients)))
    if norm > limit:
        gradients = jax.tree.map(lambda leaf: leaf * (limit / norm), gradients)
    return gradients


def descend(layers: list[Layer], gradients: list[Layer], rate: float) -> list[Layer]:
    """One step of gradient descent."""
    clipped = clip_by_norm(gradients, 1.0)
    return jax.tree.map(lambda parameter, gradient: parameter - rate * gradient, layers, clipped)
