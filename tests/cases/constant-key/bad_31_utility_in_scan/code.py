import jax
import jax.numpy as jnp

import augment


def encode(w, x):
    return jnp.tanh(augment.jitter(x) @ w)


def objective(w, xs):
    def body(total, x):
        return total + jnp.mean(encode(w, x) ** 2), None

    return jax.lax.scan(body, 0.0, xs)[0]


gradient = jax.grad(objective)
