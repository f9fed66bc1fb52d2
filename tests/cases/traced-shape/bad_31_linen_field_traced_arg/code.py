import flax.linen as nn
import jax
import jax.numpy as jnp


class Positional(nn.Module):
    dim: int

    @nn.compact
    def __call__(self, x, length):
        table = self.param("table", nn.initializers.zeros, (16, self.dim))
        pos = jnp.arange(length)  # expect: traced-shape
        return x + table[pos]


model = Positional(4)


@jax.jit
def encode(params, x, length):
    return model.apply(params, x, length)
