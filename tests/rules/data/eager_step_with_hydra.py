"""Commands of a program, which a decorator of Hydra or Click starts, and a function that an unknown decorator may stage."""

import click
import hydra
import jax
import jax.numpy as jnp
import optax
import somewhere

optimizer = optax.adam(1e-3)


@click.group()
def cli():
    pass


@jax.jit
def denoise(w, x, noise):
    return w - 0.1 * jnp.mean(x - noise)


@hydra.main(version_base=None, config_path=None)
def command(config):
    w = jnp.ones(3)
    for x in config.batches:
        u = jnp.tanh(w)
        w = jnp.sin(w * x + 0.5) - jnp.cos(u)  # expect: eager-step
        w = denoise(w, u, jnp.exp(-w))
    return w


@cli.command()
def another_command(steps: int):
    params, state = jnp.ones(3), optimizer.init(jnp.ones(3))
    for _ in range(steps):
        up, state = optimizer.update(params, state)  # expect: eager-step
        params = optax.apply_updates(params, up)
    return params


@somewhere.decorate
def staged_elsewhere(steps: int):
    params, state = jnp.ones(3), optimizer.init(jnp.ones(3))
    for _ in range(steps):
        up, state = optimizer.update(params, state)
        params = optax.apply_updates(params, up)
    return params


class Filter:
    def __init__(self, size):
        a = jnp.tanh(jnp.ones(size)) + 1.0
        self.gain = jnp.exp(a) * 2.0 - jnp.cos(a) / 3.0

    def run(self, x):
        return denoise(x, self.gain, self.gain)


@cli.command()
def benchmark(runs: int):
    x, size = jnp.ones(3), 3
    for _ in range(runs):
        try:
            size = 3
            gains = Filter(size)
            x = gains.run(x)
        except ValueError:
            break
    return x
