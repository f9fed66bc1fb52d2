"""Python loops on traced conditions."""

import jax
import jax.numpy as jnp


@jax.jit
def halve(x):
    while x > 1.0:  # expect: traced-while
        x = x / 2
    return x


# raises TracerBoolConversionError: halve(8.0)


@jax.jit
def settle(x):
    steps = 0
    while steps < 3 and jnp.max(x) > 1.0:  # expect: traced-while
        x = x / 2
        steps += 1
    return x


# raises TracerBoolConversionError: settle(jnp.ones(2))


@jax.jit
def until(x):
    while not jnp.all(x < 1.0):  # expect: traced-while
        x = x / 2
    return x


# raises TracerBoolConversionError: until(jnp.ones(2))


@jax.vmap
def lanes(x):
    while jnp.abs(x) > 1.0:  # expect: traced-while
        x = x / 2
    return x


# raises TracerBoolConversionError: lanes(jnp.ones(2))


# --- never flagged -------------------------------------------------------------


@jax.jit
def counter(x):
    k = 0
    while k < 3:
        x = 2 * x
        k += 1
    while len(x.shape) < 3:
        x = x[None]
    return x


# runs: counter(jnp.ones(2))


def differentiated(x):
    while jnp.abs(x) > 1.0:
        x = x / 2
    return x


slope = jax.grad(differentiated)
# runs: slope(5.0)


def eager(x):
    while jnp.max(x) > 1.0:
        x = x / 2
    return x


# runs: eager(jnp.ones(2) * 4)


@jax.jit
def structured(x):
    return jax.lax.while_loop(lambda v: v > 1.0, lambda v: v / 2, x)


# runs: structured(8.0)


@jax.jit
def worklist(tree):
    todo, total = [tree], 0.0
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            todo.extend(node.values())
        else:
            total = total + node
    return total


# runs: worklist({"a": 1.0, "b": {"c": 2.0}})
