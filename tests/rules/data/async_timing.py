"""Clocks that are stopped while the device works, and clocks that are stopped when it is done."""

import contextlib
import logging
import time
import timeit
from time import perf_counter

import jax
import jax.numpy as jnp
import numpy as np

log = logging.getLogger(__name__)


@jax.jit
def chain(x):
    for _ in range(4):
        x = x @ x / jnp.max(x)
    return x


@jax.jit
def train_step(w, x):
    return w - 0.05 * x.T @ (x @ w), jnp.mean((x @ w) ** 2)


def in_one_expression(x):
    chain(x).block_until_ready()
    start = time.perf_counter()
    y = chain(x)
    return y, time.perf_counter() - start  # expect: async-timing


def in_two_variables(x):
    chain(x).block_until_ready()
    t0 = time.perf_counter_ns()
    y = chain(x)
    t1 = time.perf_counter_ns()  # expect: async-timing
    y.block_until_ready()
    return y, (t1 - t0) / 1e6


def computed_without_jit(x):
    start = perf_counter()
    y = jnp.dot(x, x)
    elapsed = perf_counter() - start  # expect: async-timing
    return y, elapsed


def operators_without_jit(n):
    x = jnp.ones((n, n))
    start = timeit.default_timer()
    y = x @ x
    return y, timeit.default_timer() - start  # expect: async-timing


def in_milliseconds(x):
    chain(x).block_until_ready()
    start = time.time() * 1000
    y = chain(x)
    return y, time.time() * 1000 - start  # expect: async-timing


def repeated(x, repeats=5):
    chain(x).block_until_ready()
    start = time.monotonic()
    for _ in range(repeats):
        y = chain(x)
    print("per call", (time.monotonic() - start) / repeats)  # expect: async-timing
    return y


def epochs(w, batches):
    for epoch in range(5):
        start = time.time()
        for x in batches:
            w, loss = train_step(w, x)
        print(epoch, time.time() - start)  # expect: async-timing
        print(loss)
    return w


def from_step_to_step(w, batches):
    last = time.time()
    for x in batches:
        w, _ = train_step(w, x)
        now = time.time()  # expect: async-timing
        print("step", now - last)
        last = now
    return w


def waited_for_the_wrong_one(x):
    chain(x).block_until_ready()
    start = time.time()
    y = chain(x)
    jax.block_until_ready(y)
    z = chain(y)
    return z, time.time() - start  # expect: async-timing


def timed(fn, *args):
    start = time.perf_counter()
    out = fn(*args)
    return out, time.perf_counter() - start  # expect: async-timing


def uses_timed(x):
    chain(x).block_until_ready()
    return timed(chain, x)


def clocked(fn):
    def wrapper(*args):
        start = time.perf_counter()
        out = fn(*args)
        log.info("took %s", time.perf_counter() - start)  # expect: async-timing
        return out

    return wrapper


@clocked
def forward(x):
    return chain(x) + 1


def uses_clocked(x):
    chain(x)
    return forward(x)


class Stopwatch:
    def __init__(self):
        self.started = 0.0
        self.total = 0.0

    def start(self):
        self.started = time.perf_counter()

    def stop(self):
        self.total += time.perf_counter() - self.started

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()


def uses_stopwatch(x):
    chain(x).block_until_ready()
    watch = Stopwatch()
    watch.start()
    y = chain(x)
    watch.stop()  # expect: async-timing
    return y, watch.total


def now():
    return time.perf_counter()


def uses_a_helper(x):
    chain(x).block_until_ready()
    start = now()
    y = chain(x)
    end = now()  # expect: async-timing
    return y, end - start


def in_a_loop_of_ours(w, x):
    def body(i, w):
        return w - i * x

    start = time.time()
    w = jax.lax.fori_loop(0, 10, body, w)
    return w, time.time() - start  # expect: async-timing


# runs: in_one_expression(jnp.ones((3, 3))), in_two_variables(jnp.ones((3, 3))), computed_without_jit(jnp.ones((3, 3)))
# runs: operators_without_jit(3), in_milliseconds(jnp.ones((3, 3))), repeated(jnp.ones((3, 3)))
# runs: epochs(jnp.ones(3), [jnp.ones((2, 3))]), from_step_to_step(jnp.ones(3), [jnp.ones((2, 3))])
# runs: waited_for_the_wrong_one(jnp.ones((3, 3))), uses_timed(jnp.ones((3, 3))), uses_clocked(jnp.ones((3, 3)))
# runs: uses_stopwatch(jnp.ones((3, 3))), uses_a_helper(jnp.ones((3, 3))), in_a_loop_of_ours(jnp.ones(3), 1.0)


# --- near misses ---------------------------------------------------------------------------------------


def waits_for_the_result(x):
    chain(x).block_until_ready()
    start = time.perf_counter()
    y = chain(x).block_until_ready()
    return y, time.perf_counter() - start


def waits_afterwards(x):
    chain(x).block_until_ready()
    start = time.perf_counter()
    ys = [chain(x) for _ in range(3)]
    jax.block_until_ready(ys)
    return ys, time.perf_counter() - start


def waits_in_the_function(x):
    def run(x):
        return jax.block_until_ready(chain(x))

    run(x).block_until_ready()
    start = time.perf_counter()
    y = run(x)
    return y, time.perf_counter() - start


def converts(x):
    chain(x).block_until_ready()
    start = time.perf_counter()
    y = np.asarray(chain(x))
    return y, time.perf_counter() - start


def converts_one(w, batches):
    for x in batches:
        w, _ = jax.block_until_ready(train_step(w, x))
        start = time.perf_counter()
        w, loss = train_step(w, x)
        log.info("loss %s", loss)  # expect: sync-in-loop
        print(time.perf_counter() - start)
    return w


def shows(x):
    chain(x).block_until_ready()
    start = time.perf_counter()
    y = chain(x)
    text = f"{y}"
    return text, time.perf_counter() - start


def tests(x):
    chain(x).block_until_ready()
    start = time.perf_counter()
    y = chain(x)
    if y.sum() > 3:
        y = y * 0
    return time.perf_counter() - start


def copies(x):
    chain(x).block_until_ready()
    start = time.perf_counter()
    y = jax.device_get(chain(x))
    return y, time.perf_counter() - start


def waits_for_effects(x):
    chain(x).block_until_ready()
    start = time.perf_counter()
    y = chain(x)
    jax.effects_barrier()
    return y, time.perf_counter() - start  # expect: async-timing


def on_the_host(n):
    start = time.perf_counter()
    data = np.random.default_rng(0).normal(size=(n, 8))
    data = (data - data.mean(0)) / data.std(0)
    return data.astype(np.float32), time.perf_counter() - start


def reads_every_step(w, batches):
    start = time.time()
    total = 0.0
    for x in batches:
        w, loss = train_step(w, x)
        total = total + np.asarray(loss).sum()  # expect: sync-in-loop
        w = w * 0.999
    return w, total, time.time() - start


def maybe(x, fast):
    start = time.time()
    y = None
    if fast:
        y = chain(x)
    return y, time.time() - start


def a_stranger(fn, x):
    start = time.time()
    y = fn(x)
    return y, time.time() - start


def a_stranger_may_wait(w, x, callback):
    start = time.time()
    w, loss = train_step(w, x)
    callback(loss)
    return w, time.time() - start


def started_later(w, x):
    w, _ = train_step(w, x)
    start = time.time()
    data = np.ones(3)
    return w, data, time.time() - start


def as_manager(x):
    with Stopwatch() as watch:  # expect: async-timing
        y = chain(x)
    return y, watch.total


@contextlib.contextmanager
def clock():
    start = time.perf_counter()
    yield
    print(time.perf_counter() - start)


def as_generator(x):
    with clock():  # expect: async-timing
        y = chain(x)
    return y


def by_timeit(x):
    return timeit.timeit(lambda: chain(x), number=3)  # expect: async-timing


def seed(x):
    key = jax.random.key(time.time_ns() % 1000)
    return jax.random.normal(key, x.shape)


def dispatch_and_device(x):
    chain(x).block_until_ready()
    start = time.perf_counter()
    y = chain(x)
    dispatched = time.perf_counter()
    y.block_until_ready()
    return dispatched - start, time.perf_counter() - dispatched


@jax.jit
def nothing(x, y):
    return x, y


def overhead(x):
    start = time.perf_counter()
    for _ in range(3):
        nothing(x, x)
    return time.perf_counter() - start


def lowering(x):
    start = time.perf_counter()
    lowered = jax.jit(jnp.tanh).lower(x)
    return lowered, time.perf_counter() - start


def for_some_seconds(x, seconds=0.01):
    start = time.time()
    while time.time() - start < seconds:
        x = chain(x)
    return x


def shows_after_reading(w, batches):
    last = time.time()
    for i, x in enumerate(batches):
        w, loss = train_step(w, x)
        if i % 100 == 0:
            now = time.time()
            print(f"loss {loss:.3f} {100 / max(now - last, 1e-9)} it/s")
            last = now
    return w


def deadline(w, batches):
    end = time.time() + 60
    for x in batches:
        w, _ = train_step(w, x)
        if time.time() > end:
            break
    return w


# runs: waits_for_the_result(jnp.ones((3, 3))), waits_afterwards(jnp.ones((3, 3))), waits_in_the_function(jnp.ones((3, 3)))
# runs: converts(jnp.ones((3, 3))), converts_one(jnp.ones(3), [jnp.ones((2, 3))]), shows(jnp.ones((3, 3)))
# runs: tests(jnp.ones((3, 3))), copies(jnp.ones((3, 3))), waits_for_effects(jnp.ones((3, 3))), on_the_host(3)
# runs: reads_every_step(jnp.ones(3), [jnp.ones((2, 3))]), maybe(jnp.ones((3, 3)), True), a_stranger(chain, jnp.ones((3, 3)))
# runs: a_stranger_may_wait(jnp.ones(3), jnp.ones((2, 3)), print), started_later(jnp.ones(3), jnp.ones((2, 3)))
# runs: as_manager(jnp.ones((3, 3))), as_generator(jnp.ones((3, 3))), by_timeit(jnp.ones((3, 3))), seed(jnp.ones(3))
# runs: dispatch_and_device(jnp.ones((3, 3))), overhead(jnp.ones(3)), lowering(jnp.ones(3))
# runs: for_some_seconds(jnp.ones((3, 3))), shows_after_reading(jnp.ones(3), [jnp.ones((2, 3))])
# runs: deadline(jnp.ones(3), [jnp.ones((2, 3))])


def scored(w, batches):
    train_step(w, batches[0])
    start = time.time()
    for x in batches:
        train_step(w, x)
    return time.time() - start  # expect: async-timing


def asserted(x, solve):
    result = solve(chain(x))
    start = time.perf_counter()
    out = chain(x)
    assert result.converged, out
    return time.perf_counter() - start


def repeated_for_each(w, n):
    x = jnp.ones((n, 2))
    for epoch in range(5):
        start = time.time()
        for _ in range(n):
            w, loss = train_step(w, x)
        print(epoch, time.time() - start)  # expect: async-timing
    return w, loss


class Block:
    def __enter__(self):
        self.begin = time.perf_counter()
        return self

    def __exit__(self, *_):
        self.elapsed = time.perf_counter() - self.begin


class WaitingBlock(Block):
    def hold(self, value):
        self.value = value

    def __exit__(self, *_):
        jax.block_until_ready(self.value)
        self.elapsed = time.perf_counter() - self.begin


def in_a_block(x):
    chain(x).block_until_ready()
    with Block() as block:  # expect: async-timing
        y = chain(x)
    return y, block.elapsed


def waits_in_the_block(x):
    chain(x).block_until_ready()
    with Block() as block:
        y = chain(x).block_until_ready()
    return y, block.elapsed


def waits_at_its_end(x):
    chain(x).block_until_ready()
    with WaitingBlock() as block:
        y = chain(x)
        block.hold(y)
    return y, block.elapsed


@contextlib.contextmanager
def guarded_clock(name):
    start = time.perf_counter()
    try:
        yield
    finally:
        end = time.perf_counter()
        log.info("%s: %s", name, end - start)


@contextlib.contextmanager
def waiting_clock(value):
    start = time.perf_counter()
    yield
    jax.block_until_ready(value)
    print(time.perf_counter() - start)


def by_guarded_clock(x):
    with guarded_clock("chain"):  # expect: async-timing
        y = chain(x)
    return y


def by_waiting_clock(x):
    with waiting_clock(x):
        y = chain(x)
    return y


def profiled(x):
    jax.profiler.start_trace("trace")
    y = chain(x)
    jax.profiler.stop_trace()  # expect: async-timing
    return y


def profiled_block(x):
    with jax.profiler.trace("trace"):  # expect: async-timing
        y = chain(x)
    with jax.profiler.trace("trace"):
        z = chain(x).block_until_ready()
    return y, z


def never_read(x):
    start = time.perf_counter()
    y = chain(x)
    end = time.perf_counter()
    elapsed = end - start
    # print(elapsed)
    return y


def read_with_all_others(x):
    start = time.perf_counter()
    y = chain(x)
    elapsed = time.perf_counter() - start  # expect: async-timing
    return locals()


def read_by_a_function(x):
    start = time.perf_counter()
    y = chain(x)
    end = time.perf_counter()  # expect: async-timing
    elapsed = end - start

    def report():
        return elapsed

    return y, report


def read_in_a_block(x, verbose):
    start = time.perf_counter()
    y = chain(x)
    elapsed = time.perf_counter() - start  # expect: async-timing
    minutes = elapsed / 60
    if verbose:
        log.info("%s minutes", minutes)
    return y


begin = time.perf_counter()
result = chain(jnp.ones((3, 3)))
duration = time.perf_counter() - begin  # expect: async-timing


def polled(x):
    chain(x).block_until_ready()
    start = time.perf_counter()
    y = chain(x)
    while not y.is_ready():
        time.sleep(0.001)
    return time.perf_counter() - start


# runs: polled(jnp.ones((3, 3)))
