"""Debugging aids that are left on."""

import argparse
import os
from contextlib import contextmanager, nullcontext

os.environ["JAX_DEBUG_INFS"] = "0"
os.environ["JAX_ENABLE_CHECKS"] = "true"  # expect: leftover-debug
os.environ["XLA_PYTHON_CLIENT_ALLOCATOR"] = "platform"  # expect: leftover-debug
os.environ["XLA_PYTHON_CLIENT_ALLOCATOR"] = "cuda_async"

import jax
import jax.numpy as jnp
from jax import config

DEBUG = True


@jax.jit
def step(x):
    return x / jnp.sum(x)


@jax.jit
def stops(x):
    jax.debug.breakpoint()  # expect: leftover-debug
    return step(x)


def slow(x):
    with jax.disable_jit():  # expect: leftover-debug
        return step(x)


def looks_at_everything(x):
    with jax.debug_nans(True), jax.checking_leaks():  # expect: leftover-debug
        return step(x)


def main():
    config.update("jax_debug_nans", True)  # expect: leftover-debug
    if DEBUG:
        config.update("jax_check_tracer_leaks", True)  # expect: leftover-debug
    return step(jnp.ones(3))


slow(jnp.ones(3))
if __name__ == "__main__":
    looks_at_everything(jnp.ones(3))

# runs: slow(jnp.ones(3)), looks_at_everything(jnp.ones(3))


# --- never flagged -------------------------------------------------------------


def asked_for(argv=()):
    parser = argparse.ArgumentParser()
    parser.add_argument("--debug", action="store_true")
    args = parser.parse_args(argv)
    config.update("jax_debug_infs", args.debug)
    if args.debug:
        jax.debug.breakpoint()
        config.update("jax_disable_jit", True)
    with jax.disable_jit() if args.debug else nullcontext():
        return step(jnp.ones(3))


def without(x):
    with jax.debug_nans(False), jax.disable_jit(False):
        return step(x)


@contextmanager
def careful():
    before = config.jax_disable_jit
    config.update("jax_disable_jit", True)
    yield
    config.update("jax_disable_jit", before)


def for_a_while(x):
    config.update("jax_debug_infs", True)
    y = step(x)
    config.update("jax_debug_infs", False)
    return y


def operations(function, *args):
    with jax.disable_jit():
        return jax.make_jaxpr(function)(*args)


def breaks_if(wrong, **options):
    jax.lax.cond(wrong, lambda: jax.debug.breakpoint(**options), lambda: None)


def test_step():
    with jax.disable_jit():
        assert step(jnp.ones(2)).sum() == 1


def prints(x):
    jax.debug.print("{}", x)
    return x


def discarded(x):
    jax.disable_jit()  # expect: discarded-result
    return step(x)


if __name__ == "__main__":
    discarded(jnp.ones(3))


# runs: asked_for(), without(jnp.ones(3)), for_a_while(jnp.ones(3)), test_step(), prints(jnp.ones(3))
# runs: operations(step, jnp.ones(3))
