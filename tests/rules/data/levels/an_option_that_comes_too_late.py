import jax
import jax.numpy as jnp

GRID = jnp.ones(2)
jax.config.update("jax_num_cpu_devices", 2)  # error: late-configuration
jax.config.update("jax_platforms", "cpu")  # warning: late-configuration
