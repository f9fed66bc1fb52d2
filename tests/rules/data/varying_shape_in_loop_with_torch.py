"""Jitted calls in loops over loaders, which may leave a smaller batch over."""

import jax
import jax.numpy as jnp
from torch.utils.data import DataLoader


@jax.jit
def mean(x):
    return x.mean()


def kept(rows):
    for x, y in DataLoader(rows, batch_size=3):
        mean(jnp.asarray(x.numpy()))  # expect: varying-shape-in-loop


class Trainer:
    def __init__(self, rows, size):
        self.loader = DataLoader(rows, size, True)

    def run(self):
        for i, batch in enumerate(self.loader):
            batch = jax.tree.map(jnp.asarray, batch)
            mean(batch["x"])  # expect: varying-shape-in-loop


def dropped(rows, drop, size):
    for x in DataLoader(rows, batch_size=3, drop_last=True):
        mean(jnp.asarray(x))
    for x in DataLoader(rows, batch_size=3, drop_last=drop):
        mean(jnp.asarray(x))
    for x in DataLoader(rows, batch_size=1):
        mean(jnp.asarray(x))
    for x in DataLoader(rows, batch_size=len(rows)):
        mean(jnp.asarray(x))


def looked_at(rows):
    for x, y in DataLoader(rows, batch_size=3):
        if len(y) == 3:
            mean(jnp.asarray(x))
    for x in DataLoader(rows, batch_size=3):
        mean(jnp.pad(jnp.asarray(x), (0, 3 - x.shape[0])))
        mean(jnp.sum(jnp.asarray(x)))


def by_name_alone(loader):
    for x in loader:
        mean(x)
