import jax
import jax.numpy as jnp
from jax import lax


class Agent:
    last_value = None

    def __init__(self, w):
        self.w = w

    def value(self, obs):
        v = obs @ self.w
        self.last_value = v  # expect: self-write
        return v


def play(agent, observations):
    def step(total, obs):
        return total + agent.value(obs), None

    total, _ = lax.scan(step, 0.0, observations)
    return total


def main():
    agent = Agent(jnp.ones(2))
    return agent, play(agent, jnp.ones((5, 2)))
