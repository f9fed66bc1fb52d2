"""`shard_map`: write what one device does, with the communication by hand.

Inside the function every array is the part of one device. `in_specs` says how the inputs are cut, `out_specs`
how the results are put together. What has to be the same everywhere needs a collective: without `pmean`, each
device would keep the mean of its own rows. Use it when `jax.jit` with shardings does not choose the
communication that you want.

On a machine with one CPU, the variable below makes four devices out of it. Remove it on real accelerators.
"""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")  # before JAX is imported

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

try:
    from jax import shard_map
except ImportError:  # before JAX 0.6
    from jax.experimental.shard_map import shard_map

MESH = Mesh(np.array(jax.devices()), ("data",))


def normalize_part(x):
    """x: the rows of this device. The mean and the variance are those of all rows."""
    mean = jax.lax.pmean(jnp.mean(x, axis=0), "data")
    variance = jax.lax.pmean(jnp.mean((x - mean) ** 2, axis=0), "data")
    return (x - mean) / jnp.sqrt(variance + 1e-6)


normalize = jax.jit(shard_map(normalize_part, mesh=MESH, in_specs=P("data"), out_specs=P("data")))


def main():
    x = np.random.default_rng(0).normal(3.0, 2.0, (32 * MESH.size, 5)).astype(np.float32)
    result = normalize(x)
    expected = (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-6)
    error = np.abs(np.asarray(result) - expected).max()
    print(f"{MESH.size} devices, largest difference from one device {error:.1e}")
    assert error < 1e-4


if __name__ == "__main__":
    main()
