import haiku as hk
import jax
import numpy as np


class Noise(hk.Module):
    def __call__(self, x):
        return x + np.random.normal(size=x.shape)  # warning: host-rng-in-staged


class Dropout(hk.Module):
    def __call__(self, x):
        return x * np.random.binomial(1, 0.5, x.shape)  # error: host-rng-in-staged


net = hk.transform(lambda x: Dropout()(x))
apply = jax.jit(lambda params, x: net.apply(params, None, x))


def run(params, x):
    return apply(params, x)
