import jax.numpy as jnp


class Memory:
    def __init__(self, size):
        self.rewards = jnp.zeros(size)
        self.visits = jnp.zeros(size, jnp.int32)
        self.cursor = 0

    def add(self, reward):
        self.rewards[self.cursor] = reward  # expect: array-item-assignment
        self.visits[self.cursor] += 1  # expect: array-item-assignment
        self.cursor += 1


def fill(rewards):
    memory = Memory(3)
    for reward in rewards:
        memory.add(reward)
    return memory
