"""Loop with `jax.lax.scan`: one compiled body for any number of steps.

A Python `for` under `jax.jit` is unrolled: 1000 steps become 1000 copies of the body to compile. `scan`
compiles the body once. The carry is what the next step needs, and it must keep its structure, shapes and
dtypes. The second result of the body is stacked over the steps. Keys for the steps are split before the loop
and scanned over, so each step has its own.
"""

import functools

import jax
import jax.numpy as jnp


def walk_step(position, key):
    """One step: (carry, input) -> (next carry, output)."""
    position = position + 0.1 * jax.random.normal(key, position.shape)
    return position, jnp.sum(position**2)


@functools.partial(jax.jit, static_argnames="steps")
def walk(key, start, steps):
    keys = jax.random.split(key, steps)
    return jax.lax.scan(walk_step, start, keys)


def main():
    start = jnp.zeros(3)  # float32, as the body returns it: a Python 0.0 would be a weakly typed carry
    end, distances = walk(jax.random.key(0), start, steps=1000)
    print(f"end {end}, distances of shape {distances.shape}")
    assert distances.shape == (1000,)
    assert jnp.allclose(distances[-1], jnp.sum(end**2))


if __name__ == "__main__":
    main()
