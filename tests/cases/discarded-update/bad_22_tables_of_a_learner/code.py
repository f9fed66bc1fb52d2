import jax.numpy as jnp


class Table:
    def __init__(self, n):
        self.values = jnp.zeros(n)
        self.visits = 0

    def update(self, i, reward):
        self.visits += 1
        self.values.at[i].add(0.5 * (reward - self.values[i]))  # expect: discarded-update


def learn(n, rewards):
    table = Table(n)
    for i, reward in rewards:
        table.update(i, reward)
    return table
