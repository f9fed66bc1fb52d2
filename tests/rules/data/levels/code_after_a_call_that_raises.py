# %%
import jax
import jax.numpy as jnp


@jax.jit
def double(x):
    return 2 * x


def main():
    x = double(jnp.ones(3), axis=1)  # info: transform-argument-mismatch
    x = jnp.ones(3)
    x[0] = 1.0  # info: array-item-assignment
    return double(x, axis=1)


y = double(jnp.ones(3), axis=1)  # info: transform-argument-mismatch
y = jnp.ones(3)
y[0] = 1.0  # info: array-item-assignment

# %%
raise ValueError
y[1] = 1.0

# %%
jnp.sum([1.0, main()])  # info: non-array-argument
