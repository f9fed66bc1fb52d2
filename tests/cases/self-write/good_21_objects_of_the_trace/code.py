import jax
import jax.numpy as jnp


@jax.tree_util.register_pytree_node_class
class Particle:
    def __init__(self, x, v):
        self.x, self.v = x, v

    def tree_flatten(self):
        return (self.x, self.v), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)

    def kick(self, force, dt):
        self.v = self.v + force * dt

    def drift(self, dt):
        self.x = self.x + self.v * dt


@jax.jit
def simulate(particle, dt):
    for _ in range(3):
        particle.kick(-particle.x, dt)
        particle.drift(dt)
    return particle


class Newton:
    def __init__(self, a):
        self.a = a
        self.x = a

    def step(self):
        self.x = 0.5 * (self.x + self.a / self.x)
        return self


@jax.jit
def solve(a):
    solver = Newton(a)
    for _ in range(5):
        solver.step()
    return solver.x
