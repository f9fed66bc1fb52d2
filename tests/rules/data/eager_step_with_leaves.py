"""Loops beside a jitted gradient that update the parameters leaf by leaf, and loops of 20 iterations."""

import jax
import jax.numpy as jnp


@jax.jit
def gradient(params, x):
    return jax.grad(lambda params: jnp.sum(jnp.tanh(x @ params["w"] + params["b"])))(params)


def fit(params, x, steps=5000):
    for _ in range(steps):
        grads = gradient(params, x)
        params = {name: params[name] - 0.1 * g for name, g in grads.items()}  # expect: eager-step
    return params


# runs: fit({"w": jnp.ones((5, 3)), "b": jnp.ones(3)}, jnp.ones((2, 5)), 3)


def fit_nested(params, x, steps=5000):
    for _ in range(steps):
        grads = gradient(params, x)
        for name in grads:
            params[name] = params[name] - 0.1 * grads[name]  # expect: eager-step
    return params


# runs: fit_nested({"w": jnp.ones((5, 3)), "b": jnp.ones(3)}, jnp.ones((2, 5)), 3)


def decode(u):
    q, k = jnp.sin(u), jnp.cos(u)
    return jax.nn.softmax(q * k) * jnp.tanh(u) + jnp.exp(-u)


def generate(u):
    for _ in range(30):
        u = decode(u)  # expect: eager-step
    for _ in range(10):
        u = decode(u)
    return u


def main():
    return generate(jnp.ones(37))


# runs: main()
