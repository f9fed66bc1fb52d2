"""Roots and norms that are differentiated at zero."""

import jax
import jax.numpy as jnp


@jax.grad
def outflow(height):
    return jnp.sqrt(jnp.maximum(height, 0.0)).sum()  # expect: root-at-zero


@jax.grad
def of_relu(x):
    return jnp.sum(jnp.sqrt(2.0 * jax.nn.relu(x)))  # expect: root-at-zero


@jax.grad
def of_clip(x):
    return jnp.sum(jnp.sqrt(jnp.clip(x, 0.0, 1.0)))  # expect: root-at-zero


def pairwise(x):
    d = x[:, None, :] - x[None, :, :]
    return jnp.sqrt(jnp.sum(d**2, axis=-1))  # expect: root-at-zero


def energy(x):
    return jnp.sum(pairwise(x))


force = jax.grad(energy)


@jax.jit
@jax.grad
def ridge(w, x, y):
    return jnp.mean((x @ w - y) ** 2) + 0.1 * jnp.linalg.norm(w) ** 2  # expect: root-at-zero


def triplet(w, anchor, other):
    return jnp.linalg.norm(anchor @ w - other @ w)  # expect: root-at-zero


def steps(w, batch):
    return jax.value_and_grad(triplet)(w, *batch)


class Tank:
    def __init__(self, height):
        self.height = height

    def step(self, inflow):
        speed = jnp.sqrt(2 * 9.81 * self.height)  # expect: root-at-zero
        self.height = jnp.maximum(self.height + inflow - speed, 0.0)
        return self.height


@jax.grad
def simulate(w):
    tank = Tank(1.0)
    total = 0.0
    for _ in range(3):
        total = total + tank.step(w)
    return total


class Basin:
    def __init__(self, height, gravity):
        self.height, self.gravity = height, gravity

    def step(self, inflow):
        speed = jnp.sqrt(self.gravity * self.height)  # expect: root-at-zero
        self.height = jnp.maximum(self.height + inflow - speed, 0)  # expect: self-write
        return self.height


class Simulation:
    def __init__(self, plant):
        self.plant = plant

    def run(self, w):
        return sum(self.plant.step(w) for _ in range(3))

    def train(self, w):
        return jax.grad(self.run)(w)


def simulation(height, gravity):
    return Simulation(Basin(height, gravity)).train(1.0)


# runs: outflow(jnp.ones(2)), of_relu(jnp.ones(2)), of_clip(jnp.ones(2)), force(jnp.ones((2, 2))), simulate(0.1)
# runs: ridge(jnp.ones(2), jnp.ones((3, 2)), jnp.ones(3)), steps(jnp.ones((2, 2)), (jnp.ones(2), jnp.zeros(2)))


# --- never flagged -------------------------------------------------------------------


@jax.grad
def kept_from_zero(x):
    a = jnp.sqrt(jnp.maximum(x, 1e-6)) + jnp.sqrt(jnp.maximum(x, 0.0) + 1e-6)
    return jnp.sum(a + jnp.sqrt(jnp.sum(x**2) + 1e-12))


@jax.grad
def rmse(w, x, y):
    return jnp.sqrt(jnp.mean((x @ w - y) ** 2))


@jax.grad
def guarded(x):
    safe = jnp.where(x > 0, x, 1.0)
    return jnp.sum(jnp.where(x > 0, jnp.sqrt(safe), 0.0))


def not_differentiated(x):
    return jnp.linalg.norm(x) ** 2 + jnp.sqrt(jnp.maximum(x, 0.0)).sum()


@jax.grad
def of_data(w, x):
    return w * jnp.linalg.norm(x) ** 2 + w * jnp.sqrt(jnp.maximum(x, 0.0)).sum()


# runs: kept_from_zero(jnp.ones(2)), rmse(jnp.ones(2), jnp.ones((3, 2)), jnp.ones(3)), guarded(jnp.ones(2))
# runs: not_differentiated(jnp.ones(2)), of_data(1.0, jnp.ones(2))
