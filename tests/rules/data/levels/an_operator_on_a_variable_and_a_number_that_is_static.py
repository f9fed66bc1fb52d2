import jax.numpy as jnp
from flax import nnx


class Counter(nnx.Module):
    def __init__(self):
        self.count = nnx.Variable(jnp.array(0))
        self.total = 0

    def update(self, x):
        self.count += 1  # error: nnx-state-update
        self.total += len(x)  # warning: nnx-state-update


@nnx.jit
def step(counter, x):
    counter.update(x)
