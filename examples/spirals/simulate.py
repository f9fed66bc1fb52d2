"""Roll a particle along the classifier's scores: ``python -m spirals.simulate``."""

import jax
import jax.numpy as jnp
import numpy as np

from spirals import model

PUSHES = np.array([[0.1, 0.0], [-0.1, 0.0], [0.0, 0.1], [0.0, -0.1]])


def push(position: jax.Array, action: jax.Array) -> jax.Array:
    """Where an action takes the particle."""
    return position + PUSHES[action]


def settle(layers: list[model.Layer], position: jax.Array, tolerance: float = 1e-3) -> jax.Array:
    """Follow the slope of the first score until it is flat."""
    slope = jax.grad(lambda point: model.logits(layers, point[None])[0, 0])
    pull = slope(position)
    while jnp.abs(pull).max() > tolerance:
        position = position - 0.1 * pull
        pull = slope(position)
    return position


def walk(layers: list[model.Layer], key: jax.Array, start: jax.Array, length: int) -> jax.Array:
    """Positions of shape (length, 2) of a random walk that is drawn to high scores."""

    def move(position: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        action = jax.random.categorical(key, jnp.zeros(len(PUSHES)))
        position = push(position, action)
        position = position / max(jnp.linalg.norm(position), 1.0)
        return position, position

    return jax.lax.scan(move, start, jax.random.split(key, length))[1]


@jax.jit
def tail(positions: jax.Array, steps: int) -> jax.Array:
    """The last ``steps`` positions."""
    return positions[-steps:]


def simulate(layers: list[model.Layer], key: jax.Array, particles: int = 8, length: int = 100) -> jax.Array:
    """Where the particles end."""
    starts = jnp.zeros((particles, 2))
    walks = jax.vmap(lambda start: walk(layers, key, start, length))(starts)
    ends = jax.vmap(tail, in_axes=(0, None))(walks, 10).mean(axis=1)
    return jax.vmap(lambda position: settle(layers, position))(ends)


if __name__ == "__main__":
    print(simulate(model.initialise(jax.random.key(0), (2, 32, 2)), jax.random.key(1)))
