"""Models in training mode that are evaluated, and the same without layers that notice."""

import jax.numpy as jnp
from flax import nnx


def dropout(rngs):
    return nnx.Dropout(0.5, rngs=rngs)


class Block(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(4, 4, rngs=rngs)
        self.dropout = dropout(rngs)

    def __call__(self, x):
        return self.dropout(self.linear(x))


class Network(nnx.Module):
    def __init__(self, rngs):
        self.blocks = nnx.List([Block(rngs) for _ in range(2)])

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Plain(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(4, 4, rngs=rngs)
        self.off = nnx.Dropout(0.0, rngs=rngs)

    def __call__(self, x):
        return self.off(self.linear(x))


def error(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


def evaluate(model: Plain, batches):
    return [model(x) for x, _ in batches]


def main(train_loader, test_loader):
    plain = Plain(nnx.Rngs(1))
    network = Network(nnx.Rngs(2))
    for x, y in train_loader:
        error(network, x, y)
    evaluate(plain, test_loader)
    for x, y in test_loader:
        error(network, x, y)  # expect: evaluation-in-train-mode


# runs: main([], [(jnp.ones((2, 4)), 1.0)])
