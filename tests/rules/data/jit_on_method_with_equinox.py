"""Jitted methods of modules of Equinox, which are pytrees: never flagged."""

import equinox as eqx
import jax
import jax.numpy as jnp


class Module(eqx.Module):
    w: jax.Array

    @jax.jit
    def norm(self):
        return jnp.sum(self.w)


# runs: Module(jnp.ones(2)).norm()
