"""Two noisy spirals, their batches, and how batches are augmented."""

from collections.abc import Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class Batch(NamedTuple):
    """``points`` has shape (size, 2); ``labels`` are 0 or 1, or None where they are not known."""

    points: jax.Array
    labels: jax.Array | None = None


def spirals(key: jax.Array, size: int) -> Batch:
    """``size`` points, half of them on either spiral."""
    angle_key, noise_key = jax.random.split(key)
    angles = 1.5 * jnp.pi * jnp.sqrt(jax.random.uniform(angle_key, (size,)))
    labels = jnp.arange(size) % 2
    phase = jnp.pi * labels
    points = angles[:, None] * jnp.stack([jnp.cos(angles + phase), jnp.sin(angles + phase)], axis=1)
    return Batch(points / 5 + 0.02 * jax.random.normal(noise_key, points.shape), labels)


def epochs(key: jax.Array, data: Batch, count: int, batch_size: int) -> Iterator[Batch]:
    """Batches of ``count`` passes over the data, each in an order of its own."""
    size = len(data.points)
    for _ in range(count):
        order = jax.random.permutation(key, size)
        for start in range(0, size - batch_size + 1, batch_size):
            chosen = order[start : start + batch_size]
            yield Batch(data.points[chosen], data.labels[chosen])


def augment(key: jax.Array, points: jax.Array) -> jax.Array:
    """Jitter and turn points of shape (size, 2)."""
    noise = 0.01 * jax.random.normal(key, points.shape)
    turn = 0.1 * jax.random.normal(key)
    if np.random.rand() < 0.5:
        turn = -turn
    if points.ndim == 1:
        points = points[None, :]
    rotation = jnp.array([[jnp.cos(turn), -jnp.sin(turn)], [jnp.sin(turn), jnp.cos(turn)]])
    return points @ rotation + noise
