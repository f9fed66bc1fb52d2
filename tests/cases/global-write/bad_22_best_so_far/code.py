import jax
import jax.numpy as jnp
from jax import lax


def objective(x):
    return jnp.sum((x - 0.3) ** 2)


def search(candidates):
    best = jnp.inf

    def visit(total, x):
        nonlocal best
        value = objective(x)
        best = jnp.minimum(best, value)  # expect: global-write
        return total + value, value

    total, values = lax.scan(visit, 0.0, candidates)
    return best
