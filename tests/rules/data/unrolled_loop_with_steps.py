"""Loops of compiled code that count steps, or that set one element of an array in each iteration."""

import jax
import jax.numpy as jnp


class Grid:
    def __init__(self, x, y, timesteps):
        self.x, self.y, self.timesteps = x, y, timesteps
        self.compiled = jax.jit(self.distances)

    def distances(self, weights):
        found = jnp.zeros((self.x, self.y))
        for i in range(self.x):  # expect: unrolled-loop
            for j in range(self.y):
                found = found.at[i, j].set(jnp.linalg.norm(weights[i, j] - weights[0, 0]))
        return found

    def run(self, control):
        for _ in range(self.timesteps):  # expect: unrolled-loop
            control = jnp.tanh(control) * 0.9
        return control

    def train(self, control):
        return jax.jit(jax.grad(self.run))(control)


# runs: Grid(3, 3, 40).compiled(jnp.ones((3, 3, 2))), Grid(3, 3, 40).train(0.5)


@jax.jit
def smoothed(rate, values):
    level, levels = values[0], []
    for i in range(len(values)):  # expect: unrolled-loop
        level = rate * values[i] + (1 - rate) * level
        levels.append(level)
    return jnp.array(levels)


# runs: smoothed(0.5, jnp.ones(40))


def make(num_layers, degree):
    @jax.jit
    def forward(x):
        for _ in range(num_layers):
            x = jnp.tanh(x)
        for _ in range(degree):
            x = x * 2.0
        for i in range(len(x)):  # expect: unrolled-loop
            x = x.at[i].set(jnp.sin(x[i]))
        return x

    return forward


# runs: make(2, 3)(jnp.ones(40))
