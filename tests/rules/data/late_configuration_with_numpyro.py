"""Functions of NumPyro that set an option of JAX, or write a variable of the environment."""

import jax
import jax.numpy as jnp
import numpyro

numpyro.set_host_device_count(4)

print(jax.devices())
GRID = jnp.linspace(0.0, 1.0, 4)

numpyro.set_platform("gpu")  # expect: late-configuration
numpyro.util.set_host_device_count(4)  # expect: late-configuration
numpyro.enable_x64()  # expect: late-configuration
numpyro.enable_x64(False)
