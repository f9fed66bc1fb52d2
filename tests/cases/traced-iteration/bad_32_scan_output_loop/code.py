import jax
import jax.numpy as jnp


def rollout(params, x, n):
    def step(h, _):
        h = jnp.tanh(params @ h)
        return h, h

    return jax.lax.scan(step, x, None, length=n)[1]


def penalty(params, x, n):
    total = 0.0
    for h in rollout(params, x, n):  # expect: traced-iteration
        total = total + jnp.sum(h**2) / (1.0 + jnp.max(h))
    return total


grad_penalty = jax.jit(jax.grad(penalty), static_argnums=2)
