import jax
import jax.numpy as jnp


@jax.jit
def pad(tokens, length):
    columns = jnp.arange(tokens.shape[1])
    tokens.at[:, :].multiply(columns < length)  # expect: discarded-update
    return tokens
