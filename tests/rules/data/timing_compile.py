"""Clocks around the first call of a jitted function, and around calls that are compiled already."""

import functools
import time
import timeit

import jax
import jax.numpy as jnp


@jax.jit
def attention(q, k, v):
    return jax.nn.softmax(q @ k.T / 4.0) @ v


@jax.jit
def energy(x):
    return jnp.sum(x * x)


@jax.jit
def train_step(w, x):
    return w - 0.05 * x.T @ (x @ w)


def first_call(n=64):
    q = jnp.ones((n, 32))
    start = time.perf_counter()
    attention(q, q, q).block_until_ready()  # expect: timing-compile
    return time.perf_counter() - start


def mean_over_calls(repeats=5):
    q = jnp.ones((16, 32))
    start = time.perf_counter()
    for _ in range(repeats):
        out = attention(q, q, q)  # expect: timing-compile
    jax.block_until_ready(out)
    return (time.perf_counter() - start) / repeats


def jitted_on_the_spot(x):
    start = time.monotonic()
    y = float(jax.jit(lambda x: x @ x.sum(0))(x)[0])  # expect: timing-compile
    return y, time.monotonic() - start


def score(x):
    return energy(x) * 2


def inside_a_wrapper(x):
    start = time.time()
    score(x).block_until_ready()  # expect: timing-compile
    return time.time() - start


def warmed_by_another(x, w):
    energy(x)
    start = time.time()
    train_step(w, x).block_until_ready()  # expect: timing-compile
    return time.time() - start


def warmed_up_with_another_shape(n=500):
    energy(jnp.ones(3)).block_until_ready()
    x = jnp.ones((4, 3))
    start = time.perf_counter()
    energy(x).block_until_ready()  # expect: timing-compile
    return time.perf_counter() - start


@functools.partial(jax.jit, static_argnames="power")
def raised(x, power):
    return x**power


def warmed_up_with_another_static(x):
    raised(x, power=2).block_until_ready()
    start = time.perf_counter()
    raised(x, power=3).block_until_ready()  # expect: timing-compile
    return time.perf_counter() - start


def slow(x):
    return jnp.tanh(x).sum()


def fast(x):
    return jnp.clip(x, -1, 1).sum()


def each_is_compiled(x):
    for fn in (slow, fast):
        compiled = jax.jit(fn)
        start = time.perf_counter()
        compiled(x).block_until_ready()  # expect: timing-compile
        print(time.perf_counter() - start)


# runs: warmed_up_with_another_shape(), warmed_up_with_another_static(jnp.ones(3)), each_is_compiled(jnp.ones(3))
# runs: first_call(), mean_over_calls(), jitted_on_the_spot(jnp.ones((3, 3))), inside_a_wrapper(jnp.ones(3))
# runs: warmed_by_another(jnp.ones((2, 3)), jnp.ones(3))


# --- near misses ---------------------------------------------------------------------------------------


def warmed_up(n=64):
    q = jnp.ones((n, 32))
    attention(q, q, q).block_until_ready()
    start = time.perf_counter()
    attention(q, q, q).block_until_ready()
    return time.perf_counter() - start


def warm_up(x):
    return score(x)


def warmed_up_elsewhere(x):
    warm_up(x)
    start = time.perf_counter()
    energy(x).block_until_ready()
    return time.perf_counter() - start


def first_call_told_apart(x):
    start = time.perf_counter()
    energy(x).block_until_ready()
    first = time.perf_counter() - start
    start = time.perf_counter()
    energy(x).block_until_ready()
    return first, time.perf_counter() - start


def warmed_up_with_the_same_shape(w):
    raised(jnp.zeros((4, 3)), power=2)
    x = jnp.ones((4, 3)) * 2
    start = time.perf_counter()
    raised(x, power=2).block_until_ready()
    return time.perf_counter() - start


def each_is_warmed_up(x):
    for fn in (slow, fast):
        compiled = jax.jit(fn)
        compiled(x).block_until_ready()
        start = time.perf_counter()
        compiled(x).block_until_ready()
        print(time.perf_counter() - start)


def one_step(w, x):
    start = time.perf_counter()
    w = train_step(w, x).block_until_ready()
    return w, time.perf_counter() - start


def many_steps(w, batches):
    for x in batches:
        w, took = one_step(w, x)
        print(took)
    return w


class Service:
    def __init__(self):
        self.forward = jax.jit(lambda x: x * 2)
        self.latencies = []

    def answer(self, x):
        start = time.perf_counter()
        y = self.forward(x).block_until_ready()
        self.latencies.append(time.perf_counter() - start)
        return y


def ahead_of_time(x):
    compiled = jax.jit(lambda x: x * 2).lower(x).compile()
    start = time.perf_counter()
    compiled(x).block_until_ready()
    return time.perf_counter() - start


def compile_time(x):
    start = time.perf_counter()
    compiled = jax.jit(lambda x: x * 2).lower(x).compile()
    return compiled, time.perf_counter() - start


def each_iteration(w, batches):
    for x in batches:
        start = time.perf_counter()
        w = train_step(w, x).block_until_ready()
        print(time.perf_counter() - start)
    return w


def long_run(w, batches):
    start = time.time()
    for x in batches:
        w = train_step(w, x)
    w.block_until_ready()
    return w, time.time() - start


def by_timeit(x):
    warm = timeit.timeit(lambda: energy(x).block_until_ready(), number=2)
    start = time.time()
    energy(x).block_until_ready()
    return warm, time.time() - start


def once_more(x):
    start = time.perf_counter()
    energy(x).block_until_ready()
    return time.perf_counter() - start


def discards_the_first(x):
    once_more(x)
    return min(once_more(x) for _ in range(3))


def runs_a_stranger(fn, x):
    start = time.perf_counter()
    fn(x).block_until_ready()
    return time.perf_counter() - start


# runs: warmed_up(), warmed_up_elsewhere(jnp.ones(3)), first_call_told_apart(jnp.ones(3)), ahead_of_time(jnp.ones(3))
# runs: warmed_up_with_the_same_shape(1), each_is_warmed_up(jnp.ones(3))
# runs: many_steps(jnp.ones(3), [jnp.ones((2, 3))]), Service().answer(jnp.ones(3))
# runs: compile_time(jnp.ones(3)), each_iteration(jnp.ones(3), [jnp.ones((2, 3))]), by_timeit(jnp.ones(3))
# runs: long_run(jnp.ones(3), [jnp.ones((2, 3))]), discards_the_first(jnp.ones(3)), runs_a_stranger(energy, jnp.ones(3))


def tells_so(x):
    start = time.perf_counter()
    energy(x).block_until_ready()
    print(f"compilation took {time.perf_counter() - start:.1f} s")


def names_it_so(x):
    start = time.perf_counter()
    energy(x).block_until_ready()
    compile_time = time.perf_counter() - start
    return compile_time


def tells_so_later(x):
    start = time.perf_counter()
    energy(x).block_until_ready()
    elapsed = time.perf_counter() - start
    print("Compiling:", elapsed)


@jax.jit
def stepped(x):
    return jnp.tanh(x @ x) + 0.1 * x


def each_size():
    for n in (2, 4, 8):
        x = jnp.ones((n, n))
        start = time.perf_counter()
        for _ in range(100):
            x = stepped(x)  # expect: timing-compile
        x.block_until_ready()
        print(n, time.perf_counter() - start)


@jax.jit
def squared(x):
    return x @ x


def measured(x):
    start = time.perf_counter()
    squared(x).block_until_ready()  # expect: timing-compile
    return time.perf_counter() - start


def each_size_by_a_function():
    for n in (2, 4, 8):
        print(n, measured(jnp.ones((n, n))))


def build(scale):
    def predict(x):
        return x * scale

    return jax.jit(predict)


def each_function(x):
    for scale in range(9):
        start = time.perf_counter()
        predict = build(scale)
        predict(x).block_until_ready()  # expect: timing-compile
        print(time.perf_counter() - start)


# runs: each_size(), each_size_by_a_function(), each_function(jnp.ones(3))


# --- never flagged -------------------------------------------------------------


@jax.jit
def cubed(x):
    return x @ x @ x


def each_size_is_warmed_up():
    for n in (2, 4, 8):
        x = jnp.ones((n, n))
        cubed(x).block_until_ready()
        start = time.perf_counter()
        cubed(x).block_until_ready()
        print(n, time.perf_counter() - start)


def all_sizes_are_warmed_up():
    for n in (3, 5, 7):
        cubed(jnp.ones((n, n))).block_until_ready()
    for n in (3, 5, 7):
        x = jnp.ones((n, n))
        start = time.perf_counter()
        cubed(x).block_until_ready()
        print(n, time.perf_counter() - start)


def sizes_again_and_again():
    for _ in range(10):
        for n in (2, 4):
            x = jnp.ones((n, n))
            start = time.perf_counter()
            cubed(x).block_until_ready()
            print(n, time.perf_counter() - start)


def each_function_is_warmed_up(x):
    for scale in range(9):
        predict = build(scale)
        predict(x).block_until_ready()
        start = time.perf_counter()
        predict(x).block_until_ready()
        print(time.perf_counter() - start)


# runs: each_size_is_warmed_up(), all_sizes_are_warmed_up(), sizes_again_and_again()
# runs: each_function_is_warmed_up(jnp.ones(3))
