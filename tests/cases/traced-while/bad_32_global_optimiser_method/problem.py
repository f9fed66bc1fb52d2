import jax
import jax.numpy as jnp


class Problem:
    max_steps = 100

    def __init__(self, target):
        self.target = target
        self.grad = jax.grad(self.objective)

    def objective(self, x):
        return jnp.sum((x - self.target) ** 2)

    def minimise(self, x):
        steps = 0
        g = self.grad(x)
        while steps < self.max_steps and (jnp.abs(g) > 1e-3).any():  # expect: traced-while
            x = x - 0.25 * g
            g = self.grad(x)
            steps += 1
        return x
