"""Constant seeds in code that runs more than once."""

import jax
import jax.numpy as jnp

SEED = 7


@jax.jit
def staged(x):
    return x + jax.random.normal(jax.random.key(0), x.shape)  # expect: constant-key


@jax.jit
def by_module_constant(x):
    return x + jax.random.normal(jax.random.PRNGKey(SEED), x.shape)  # expect: constant-key


def helper(x):
    key = jax.random.key(42)  # expect: constant-key
    return x * jax.random.uniform(key, x.shape)


@jax.jit
def caller(x):
    return helper(x)


def looped(n):
    out = []
    for _ in range(n):
        key = jax.random.key(0)  # expect: constant-key
        out.append(jax.random.normal(key))
    return out


# runs: staged(jnp.ones(2)), by_module_constant(jnp.ones(2)), caller(jnp.ones(2)), looped(2)


# --- never flagged -------------------------------------------------------------

TABLE = jax.random.normal(jax.random.key(0), (3,))
ROWS = [jax.random.normal(jax.random.key(0), (n,)) for n in (1, 2)]


def once(width):
    return jax.random.normal(jax.random.key(0), (width,))


def shapes(width):
    return jax.eval_shape(lambda: jax.random.normal(jax.random.key(0), (width,)))


@jax.jit
def from_argument(seed, x):
    return x + jax.random.normal(jax.random.key(seed), x.shape)


def by_index(n):
    return [jax.random.normal(jax.random.key(i)) for i in range(n)]


def test_noise():
    for n in (1, 2):
        assert jax.random.normal(jax.random.key(0), (n,)).shape == (n,)


def main():
    for n in (1, 2):
        print(jax.random.normal(jax.random.key(0), (n,)))


if __name__ == "__main__":
    main()

# runs: once(2), shapes(2), from_argument(0, jnp.ones(2)), by_index(2)
