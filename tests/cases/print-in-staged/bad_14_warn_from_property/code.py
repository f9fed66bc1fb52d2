import warnings
from dataclasses import dataclass

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclass
class Gaussian:
    mean: jax.Array
    variance: jax.Array

    @property
    def scale(self):
        warnings.warn(f"variance floor applied to {self.variance}")  # expect: print-in-staged
        return jnp.sqrt(jnp.maximum(self.variance, 1e-6))

    def log_prob(self, x):
        z = (x - self.mean) / self.scale
        return -0.5 * z**2 - jnp.log(self.scale)


def mixture(components, x):
    return jax.nn.logsumexp(jax.vmap(lambda c: c.log_prob(x))(components))
