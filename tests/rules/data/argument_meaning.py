"""Arguments that a library takes for something else: lines that the rule reports, and lines that look alike."""

import jax
import jax.numpy as jnp
from jax.example_libraries import optimizers

opt_init, opt_update, get_params = optimizers.adam(1e-3)


def update(step, grads, state):
    state = opt_update(0, grads, state)  # expect: argument-meaning
    return opt_update(step, grads, state)


# runs: update(0, jnp.ones(2), opt_init(jnp.ones(2)))
first = opt_update(0, jnp.ones(2), opt_init(jnp.ones(2)))



def scales():
    initializers = jax.nn.initializers
    return initializers.uniform(-1.0), initializers.uniform(1.0)  # expect: argument-meaning


# runs: scales()
