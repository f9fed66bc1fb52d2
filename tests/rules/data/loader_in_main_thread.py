"""PyTorch's loaders without worker processes, in a program that uses JAX, and others."""

import jax.numpy as jnp
import numpy as np
from torch.utils import data


class NumpyLoader(data.DataLoader):
    def __init__(self, dataset, batch_size=1, shuffle=False, num_workers=0):
        super().__init__(dataset, batch_size=batch_size, shuffle=shuffle, num_workers=num_workers, collate_fn=np.stack)


def at_work(dataset, options, workers):
    some = NumpyLoader(dataset, batch_size=32, num_workers=4)
    many = data.DataLoader(dataset, 32, True, None, None, 2)
    unknown = data.DataLoader(dataset, num_workers=workers)
    given = data.DataLoader(dataset, **options)
    everything = data.DataLoader(dataset, batch_size=len(dataset))
    return some, many, unknown, given, jnp.asarray(next(iter(everything)))


def first(dataset):
    return NumpyLoader(dataset, batch_size=32)  # expect: loader-in-main-thread


def second_of_the_file(dataset):
    return data.DataLoader(dataset, batch_size=32, num_workers=0)
