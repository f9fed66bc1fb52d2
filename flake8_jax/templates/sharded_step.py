"""Sharded training step: say where the data lies, and let `jax.jit` insert the communication.

The batch is split over the devices and the parameters are on all of them. The step itself is written as for
one device: the mean over the batch makes XLA add an all-reduce. `in_shardings` and `out_shardings` make a
wrong placement an error or a copy that you asked for, not a surprise.

On a machine with one CPU, the variable below makes four devices out of it. Such devices share their threads, so
the loop waits for each step: several programs with communication at once can block each other. Remove both on
real accelerators.
"""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")  # before JAX is imported

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

MESH = Mesh(np.array(jax.devices()), ("data",))
SPLIT = NamedSharding(MESH, PartitionSpec("data"))  # the first axis over the devices
EVERYWHERE = NamedSharding(MESH, PartitionSpec())  # a copy on each device


def loss_fn(weights, x, y):
    return jnp.mean((x @ weights - y) ** 2)


def update(weights, x, y):
    return weights - 0.1 * jax.grad(loss_fn)(weights, x, y)


step = jax.jit(
    update,
    in_shardings=(EVERYWHERE, SPLIT, SPLIT),
    out_shardings=EVERYWHERE,
    donate_argnums=0,
)

evaluate = jax.jit(loss_fn, in_shardings=(EVERYWHERE, SPLIT, SPLIT), out_shardings=EVERYWHERE)


def main():
    batch = 64 * MESH.size  # the batch must be divisible by the number of devices
    x = np.random.default_rng(0).normal(size=(batch, 4)).astype(np.float32)
    y = x @ np.array([1.0, -2.0, 0.5, 3.0], np.float32)
    x_sharded, y_sharded = jax.device_put((x, y), SPLIT)  # straight from the host to each device
    weights = jax.device_put(jnp.zeros(4), EVERYWHERE)
    for _ in range(100):
        weights = step(weights, x_sharded, y_sharded).block_until_ready()
    loss = evaluate(weights, x_sharded, y_sharded)
    print(
        f"{MESH.size} devices, loss {float(loss):.2e}, weights {weights}, each device has {x.shape[0] // MESH.size} rows"
    )
    assert x_sharded.sharding.shard_shape(x.shape) == (64, 4)
    assert float(loss) < 1e-3


if __name__ == "__main__":
    main()
