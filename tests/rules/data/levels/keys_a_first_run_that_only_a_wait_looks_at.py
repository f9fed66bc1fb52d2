import time

import jax
import jax.numpy as jnp
from jax import block_until_ready


@jax.jit
def train(key):
    key, sub = jax.random.split(key)
    return jax.random.normal(sub, (3,)), key


def measure(key):
    out = train(key)
    jax.block_until_ready(out)
    start = time.time()
    out = train(key)  # info: key-used-after-split
    jax.block_until_ready(out)
    return out, time.time() - start


def measure_apart(key):
    if key.size:
        warm = train(key)
        block_until_ready(warm)
        start = time.time()
        out = train(key)  # info: key-used-after-split
        block_until_ready(out)
        return out, time.time() - start


def twice(key):
    first = train(key)
    jax.block_until_ready(first)
    second = train(key)  # error: key-used-after-split
    return first, second


def wait(x):
    """Wait for all leaves."""
    jax.tree_util.tree_map(lambda a: getattr(a, "block_until_ready", lambda: None)(), x)
    return x


def time_call(f, key, n):
    for _ in range(n):
        wait(f(key))  # info: key-reuse-in-loop
    start = time.perf_counter()
    for _ in range(n):
        out = f(key)  # info: key-used-after-split
        wait(out)
    print(time.perf_counter() - start)
    return out


def benchmark(f, *args):
    def ready(out):
        if isinstance(out, tuple):
            out[0].block_until_ready()
        elif hasattr(out, "block_until_ready"):
            out.block_until_ready()

    for _ in range(3):
        out = f(*args) if args else f()  # info: key-reuse-in-loop
        ready(out)
    times = []
    for _ in range(10):
        start = time.perf_counter()
        out = f(*args) if args else f()  # info: key-used-after-split
        ready(out)
        times.append(time.perf_counter() - start)
    return sum(times)


def main(seed):
    key, first, second = jax.random.split(jax.random.key(seed), 3)
    time_call(train, first, 10)
    benchmark(train, second)
