"""Traced values that are hashed."""

import jax
import jax.numpy as jnp


@jax.jit
def dict_key(x):
    return {jnp.sum(x): 1}  # expect: traced-hash


# raises TypeError: dict_key(jnp.ones(2))


@jax.jit
def set_element(x):
    return len({jnp.sum(x), jnp.max(x)})  # expect: traced-hash


# raises TypeError: set_element(jnp.ones(2))


@jax.jit
def in_a_set(x):
    return jnp.argmax(x) in {0, 1}  # expect: traced-hash


# raises TypeError: in_a_set(jnp.ones(2))


@jax.jit
def in_a_dict(x):
    table = {0: "a", 1: "b"}
    return jnp.argmax(x) in table  # expect: traced-hash


# raises TypeError: in_a_dict(jnp.ones(2))


@jax.jit
def looked_up(x):
    table = {0: 1.0, 1: 2.0}
    return table[jnp.argmax(x)]  # expect: traced-hash


# raises TypeError: looked_up(jnp.ones(2))


@jax.jit
def compound_key(x):
    seen = {}
    seen[(jnp.sum(x), 1)] = True  # expect: traced-hash
    return len(seen)


# raises TypeError: compound_key(jnp.ones(2))


def differentiated(x):
    return x * len({x})  # expect: traced-hash


slope = jax.grad(differentiated)
# raises TypeError: slope(1.0)


# --- never flagged -------------------------------------------------------------


@jax.jit
def values(x):
    table = {"sum": jnp.sum(x), x.shape: x, 3: x}
    table["max"] = jnp.max(x)
    if x.shape in table and x.dtype.name in {"float32"} and "sum" in table:
        return table["sum"]
    return table[3].sum()


# runs: values(jnp.ones(2))


@jax.jit
def tree_keys(tree):
    return {name: 2 * value for name, value in tree.items()}, {id(v) for v in tree.values()} and 1


# runs: tree_keys({"a": jnp.ones(2)})
