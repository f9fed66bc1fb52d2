"""Pytree report: what a tree of arrays holds, leaf by leaf, and how many bytes.

`tree_flatten_with_path` names every leaf by its way through dicts, tuples and classes. Shapes and dtypes are
read without moving anything to the host, and `jax.eval_shape` gives them for arrays that were never made:
here, a model that need not fit into memory.
"""

import math

import jax
import jax.numpy as jnp


def init(key, width, layers):
    keys = jax.random.split(key, layers)
    return {
        "layers": [{"kernel": jax.random.normal(k, (width, width)), "bias": jnp.zeros(width)} for k in keys],
        "step": jnp.zeros((), jnp.int32),
    }


def rows_of(tree):
    """Name, shape, dtype and bytes of each leaf."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return [
        (jax.tree_util.keystr(path), leaf.shape, leaf.dtype, math.prod(leaf.shape) * leaf.dtype.itemsize)
        for path, leaf in leaves
    ]


def main():
    tree = jax.eval_shape(lambda key: init(key, width=4096, layers=3), jax.random.key(0))  # makes no array
    rows = rows_of(tree)
    for name, shape, dtype, size in rows:
        print(f"{name:24} {shape!s:14} {dtype!s:9} {size / 2**20:8.2f} MiB")
    total = sum(size for *_, size in rows)
    print(f"{len(rows)} leaves, {total / 2**20:.1f} MiB")
    assert total == 3 * (4096 * 4096 + 4096) * 4 + 4


if __name__ == "__main__":
    main()
