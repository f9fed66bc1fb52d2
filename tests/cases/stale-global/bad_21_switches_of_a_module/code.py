import jax
import jax.numpy as jnp

import options


@jax.jit
def predict(logits):
    return jax.nn.softmax(logits / options.temperature + jnp.arange(2.0))  # expect: stale-global


def annealed(logits, temperatures):
    for value in temperatures:
        options.set_temperature(value)
        logits = predict(logits)
    return logits
