"""The first key of an optimizer's state."""

import jax
import optax


def with_noise():
    def init(params):
        return jax.random.key(0)

    def update(updates, state, params=None):
        key, state = jax.random.split(state)
        return jax.tree.map(lambda u: u + jax.random.normal(key, u.shape), updates), state

    return optax.GradientTransformation(init, update)
