import jax
import jax.numpy as jnp


def build(key, width):
    def initial(shape):
        return jax.random.truncated_normal(key, -2.0, 2.0, shape)

    k_in, k_out = jax.random.split(key)
    encoder = jax.random.normal(k_in, (width, width))
    decoder = jax.random.normal(k_out, (width, width))
    return encoder, decoder, initial((width,))  # expect: key-used-after-split
