"""Honest benchmark: compile first, wait for the device, repeat, and report a spread.

Three mistakes make most JAX timings wrong: the first call compiles; a call returns before the device is done;
and a single time is noise. This script calls once before it measures, waits with `block_until_ready`, times
the two functions in turn, and claims a difference only if their quartiles are apart.
"""

import statistics
import time

import jax
import jax.numpy as jnp

ROUNDS = 30


@jax.jit
def with_einsum(x):
    return jnp.einsum("ij,kj->ik", x, x)


@jax.jit
def with_dot(x):
    return jnp.dot(x, x.T)


def seconds_of_call(function, x):
    start = time.perf_counter()
    function(x).block_until_ready()
    return time.perf_counter() - start


def main():
    x = jax.random.normal(jax.random.key(0), (256, 256))
    functions = {"einsum": with_einsum, "dot": with_dot}
    for function in functions.values():
        function(x).block_until_ready()  # compiles
    times = {name: [] for name in functions}
    for _ in range(ROUNDS):
        for name, function in functions.items():  # in turn, so that a busy moment meets both
            times[name].append(seconds_of_call(function, x))
    quartiles = {name: statistics.quantiles(values, n=4) for name, values in times.items()}
    for name, (low, median, high) in quartiles.items():
        print(f"{name:7} median {median * 1e6:7.1f} µs, middle half {low * 1e6:.1f} to {high * 1e6:.1f} µs")
    (low_a, _, high_a), (low_b, _, high_b) = quartiles.values()
    print("a difference" if low_a > high_b or low_b > high_a else "no difference that this measurement can show")


if __name__ == "__main__":
    main()
