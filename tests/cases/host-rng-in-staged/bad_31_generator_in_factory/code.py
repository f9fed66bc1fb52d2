import jax
import jax.numpy as jnp
import numpy as np


def make_sampler(seed, scale):
    rng = np.random.default_rng(seed)

    @jax.jit
    def sample(mean):
        eps = rng.standard_normal(mean.shape)  # expect: host-rng-in-staged
        return mean + scale * eps

    return sample


def draws(mean, n):
    sample = make_sampler(0, 1.0)
    return jnp.stack([sample(mean) for _ in range(n)])
