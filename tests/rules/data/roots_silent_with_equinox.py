"""Ways of Equinox to stage a function, without defects."""

from typing import Callable

import equinox as eqx
import jax
import jax.numpy as jnp


class Attention(eqx.Module):
    query: jax.Array
    heads: int = eqx.field(static=True)
    dropout: float = eqx.field(static=True)
    activation: Callable

    def __init__(self, size, heads, *, dropout=0.0, key):
        if size % heads:
            raise ValueError(f"{size} % {heads:d}")
        self.query = jax.random.normal(key, (heads, size // heads, size))
        self.heads = heads
        self.dropout = dropout
        self.activation = jnp.tanh

    def __call__(self, x, *, key=None, mask=None):
        if x.ndim != 2:
            raise ValueError(f"two axes, not {x.ndim}")
        q = jnp.einsum("hds,ns->hnd", self.query, x)
        if mask is not None:
            q = q * mask
        if self.dropout > 0 and key is not None:
            q = q * jax.random.bernoulli(key, 1 - self.dropout, q.shape)
        return self.activation(q.reshape(self.heads, -1)) if self.heads > 1 else q[0]


@eqx.filter_jit
def attend(module, x, key, scale=2, name="a"):
    if name == "a" and scale > 1:
        x = x * scale
    return module(x, key=key)


# runs: attend(Attention(4, 2, key=jax.random.key(0)), jnp.ones((3, 4)), jax.random.key(1))


@eqx.filter_jit
def batched(module, xs):
    return jax.vmap(module)(xs), jax.vmap(lambda x: module(x))(xs)


# runs: batched(Attention(4, 2, key=jax.random.key(0)), jnp.ones((5, 3, 4)))
