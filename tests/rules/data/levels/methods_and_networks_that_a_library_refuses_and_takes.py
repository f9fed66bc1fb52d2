"""Equinox compiles the parameters into the program, where JAX refuses ``self``; Haiku refuses jitted functions."""

import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp


class Layer:
    def __init__(self, model: eqx.nn.Linear):
        self.model = model

    @jax.jit  # error: jit-on-method
    def apply(self, x):
        return self.model(x)

    @eqx.filter_jit  # warning: jit-on-method
    def predict(self, x):
        return self.model(x)


def forward(x):
    return hk.Linear(3)(x)


def noisy(xs):
    return jax.vmap(lambda x: x + jax.random.normal(hk.next_rng_key()))(xs)  # warning: plain-transform-of-module


net = hk.transform(jax.jit(forward))  # error: plain-transform-of-module
noise = hk.transform(noisy)
noise.apply({}, jax.random.key(0), jnp.ones(3))
