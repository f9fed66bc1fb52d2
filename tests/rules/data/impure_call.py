"""Clocks, files, the environment and iterators in staged code."""

import datetime
import itertools
import os
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

batches = iter([jnp.ones(2), jnp.zeros(2)])
ticks = itertools.count()


def generate():
    while True:
        yield jnp.ones(2)


stream = generate()


@jax.jit
def asks(x):
    started = time.perf_counter()  # expect: impure-call
    day = datetime.datetime.now().day  # expect: impure-call
    debug = os.environ.get("DEBUG")  # expect: impure-call
    home = os.environ["HOME"]  # expect: impure-call
    level = os.getenv("LEVEL", "0")  # expect: impure-call
    return x + started + day + len(debug or "") + len(home) + int(level)


@jax.jit
def reads(x):
    with open(os.devnull) as file:  # expect: impure-call
        file.read()
    return x


@jax.jit
def moves_on(x):
    return x + next(batches) + next(stream) + next(ticks)  # expect: impure-call


def clock():
    return time.monotonic()  # expect: impure-call


def in_a_body(n):
    return lax.fori_loop(0, n, lambda i, t: t + clock(), 0.0)


# runs: asks(jnp.ones(2)), reads(jnp.ones(2)), moves_on(jnp.ones(2)), in_a_body(3)


# --- never flagged -------------------------------------------------------------

T0 = time.time()
DEBUG = os.environ.get("DEBUG", "")


def stamp():
    return np.float32(time.time() - T0)


def write(x):
    with open(os.devnull, "a") as file:
        file.write(str(x))


@jax.jit
def through_callbacks(x):
    now = jax.pure_callback(stamp, jax.ShapeDtypeStruct((), jnp.float32))
    jax.debug.callback(write, x)
    return x + now + len(DEBUG)


@jax.jit
def iterator_of_its_own(x):
    numbers = itertools.count()
    layers = iter((x, x + 1))
    return next(layers) + next(layers) * next(numbers)


def eager(x):
    started = time.time()
    x = through_callbacks(x)
    x.block_until_ready()
    with open(os.devnull, "w") as file:
        file.write(str(x))
    return time.time() - started, os.path.join("a", "b")


@jax.jit
def names_only(x):
    label = os.path.join("runs", "a")
    return x * len(label)


# runs: through_callbacks(jnp.ones(2)), iterator_of_its_own(jnp.ones(2)), eager(jnp.ones(2)), names_only(jnp.ones(2))
