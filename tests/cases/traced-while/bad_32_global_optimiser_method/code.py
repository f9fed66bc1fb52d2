import jax
import jax.numpy as jnp

from problem import Problem


def solve(target):
    problem = Problem(target)
    return problem.minimise(jnp.zeros_like(target))


batched = jax.vmap(solve)
