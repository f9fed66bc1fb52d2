"""Ways of Flax to stage a function, each with a defect inside."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class Cell(nn.Module):
    @nn.compact
    def __call__(self, carry, x):
        carry = nn.Dense(2)(carry) + x
        if carry.sum() > 0:  # expect: traced-branch
            carry = -carry
        return carry, carry


class Recurrent(nn.Module):
    @nn.compact
    def __call__(self, xs):
        scan = nn.scan(Cell, variable_broadcast="params", split_rngs={"params": False})
        return scan()(jnp.zeros(2), xs)


# raises TracerBoolConversionError: Recurrent().init(jax.random.key(0), jnp.ones((3, 2)))
