import jax.numpy as jnp
import torch.utils.data


def loader(dataset):
    return torch.utils.data.DataLoader(dataset, num_workers=2)  # info: fork-after-jax


def train(dataset):
    w = jnp.zeros(3)
    for x in torch.utils.data.DataLoader(dataset, num_workers=2):  # warning: fork-after-jax
        w = w + jnp.asarray(x)
    return w
