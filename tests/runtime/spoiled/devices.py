"""Fixes spoiled on purpose: several devices (JAX6xx)."""

from __future__ import annotations

from runtime.spoiled.kinds import Spoil, Spoiled

PROGRAMS = (
    Spoiled(
        "pmap",
        """\
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.pmap, axis_name="batch")
def step(params, batch):
    gradient = jax.grad(lambda p: jnp.mean((batch - p) ** 2))(params)
    gradient = jax.lax.pmean(gradient, "batch")
    return params - 0.1 * gradient


def main():
    params = jnp.ones((1, 4))
    for number in range(3):
        params = step(params, jnp.zeros((1, 4)) + number)
    return params


if __name__ == "__main__":
    print(main())
""",
        (
            Spoil("constant", "0.1 * gradient", "0.2 * gradient"),
            Spoil("sign", "params - 0.1", "params + 0.1"),
            Spoil("shape", "return params - 0.1 * gradient", "return (params - 0.1 * gradient)[:2]"),
        ),
    ),
    Spoiled(
        "unknown-mesh-axis",
        """\
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("data", "model"))


def place(x):
    return jax.device_put(x, NamedSharding(mesh, P(None, "modle")))


print(place(np.ones((2, 2))))
""",
        (
            Spoil("constant", "device_put(x,", "device_put(x * 2,"),
            Spoil("shape", "device_put(x,", "device_put(x[0],"),
            Spoil("axis", '"model")))', '"data")))'),
        ),
        is_decided=False,
    ),
)
