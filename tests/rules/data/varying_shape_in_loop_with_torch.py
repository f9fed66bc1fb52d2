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


class NumpyLoader(DataLoader):
    def __init__(self, rows, batch_size=1, drop_last=False):
        super(self.__class__, self).__init__(rows, batch_size=batch_size, sampler=None, drop_last=drop_last)


class Padded(DataLoader):
    def __init__(self, rows, batch_size):
        super().__init__(rows, batch_size=batch_size)

    def __iter__(self):
        for batch in super().__iter__():
            yield jnp.pad(batch, 3)


def derived(rows):
    loader = NumpyLoader(rows, batch_size=3)
    for x, y in loader:
        mean(jnp.asarray(x.numpy()))  # expect: varying-shape-in-loop
    for x in NumpyLoader(rows, batch_size=3, drop_last=True):
        mean(jnp.asarray(x.numpy()))
    for x in Padded(rows, 3):
        mean(jnp.asarray(x))
