"""Minimal reproducer: one file that shows one problem and nothing else.

A reproducer needs no data, no checkpoint and no package but JAX. Replace `program` with the smallest code
that still fails, and `EXPECTED` with what you expect. The script exits with status 1 while the problem is
there, so `git bisect run` can use it too.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np

SEED = 0
EXPECTED = 0.0


def make_inputs():
    """Make the inputs here, with fixed shapes and a fixed seed, so that everybody has the same ones."""
    return jax.random.normal(jax.random.key(SEED), (8, 3))


@jax.jit
def program(x):
    """The smallest code that shows the problem."""
    centered = x - x.mean(axis=0)
    return jnp.abs(centered.sum(axis=0)).max()


def main():
    # Versions and devices belong in every report: behavior differs between them.
    print(f"jax {jax.__version__}, numpy {np.__version__}, Python {sys.version.split()[0]}, {jax.devices()}")
    found = float(program(make_inputs()))
    print(f"expected {EXPECTED}, found {found}")
    if abs(found - EXPECTED) > 1e-5:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
