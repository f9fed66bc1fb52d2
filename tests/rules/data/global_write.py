"""Variables of outer scopes that staged code rebinds."""

import contextlib

import jax
import jax.numpy as jnp
from jax import lax

latest = None
total = jnp.zeros(())
n_calls = 0
flags = {"depth": 0}
verbose = False


@jax.jit
def through_a_helper(x):
    remember(x * 2)
    return x


def remember(value):
    global latest
    latest = value  # expect: global-write


def use_what_leaked():
    through_a_helper(jnp.ones(2))
    return latest + 1


@jax.jit
def accumulates(x):
    global total
    total += x.sum()  # expect: global-write
    return x


def counted(x):
    global n_calls
    n_calls = n_calls + 1  # expect: global-write
    return x * n_calls


compiled = jax.jit(counted)


def in_a_loop_body(xs):
    best = jnp.inf
    seen = 0

    def body(carry, x):
        nonlocal best, seen
        best = jnp.minimum(best, x)  # expect: global-write
        seen += 1  # expect: global-write
        return carry + x, None

    out, _ = lax.scan(body, 0.0, xs)
    return out, best


def under_grad(w):
    hidden = None

    def loss(w):
        nonlocal hidden
        hidden = jnp.tanh(w)  # expect: global-write
        return hidden.sum()

    return jax.grad(loss)(w) + hidden


@jax.jit
def under_grad_under_jit(w):
    hidden = None

    def loss(w):
        nonlocal hidden
        hidden = jnp.tanh(w)  # expect: global-write
        return hidden.sum()

    return jax.grad(loss)(w) * hidden


def by_several_names(x):
    low = high = None

    @jax.jit
    def split(x):
        nonlocal low, high
        low, high = x[:2], x[2:]  # expect: global-write
        return x

    split(x)
    return low


# runs: through_a_helper(jnp.ones(2)), accumulates(jnp.ones(2)), compiled(jnp.ones(2))


# --- never flagged -------------------------------------------------------------


@jax.jit
def local_to_the_trace(x):
    count = 0
    parts = None

    def add(y):
        nonlocal count, parts
        count += 1
        parts = y if parts is None else parts + y

    for k in range(3):
        add(x * k)
    return parts / count


def eager_counter(x):
    global n_calls
    n_calls += 1
    return local_to_the_trace(x)


@contextlib.contextmanager
def quietly():
    global verbose
    before = verbose
    verbose = True
    try:
        yield
    finally:
        verbose = before


@jax.jit
def for_the_time_being(x):
    with quietly():
        return x * 2


def on_the_host(value):
    global latest
    latest = float(value)


@jax.jit
def reports(x):
    jax.debug.callback(on_the_host, x.sum())
    return x


def rerun_every_time(w):
    evaluations = 0

    def loss(w):
        nonlocal evaluations
        evaluations += 1
        return (w**2).sum()

    for _ in range(3):
        w = w - 0.1 * jax.grad(loss)(w)
    return w, evaluations


def set_once(x, size):
    shape = None

    @jax.jit
    def step(x):
        nonlocal shape
        shape = x.shape
        return x + size

    return step(x), shape


# runs: local_to_the_trace(jnp.ones(2)), eager_counter(jnp.ones(2)), for_the_time_being(jnp.ones(2))
# runs: reports(jnp.ones(2)), rerun_every_time(jnp.ones(2)), set_once(jnp.ones(2), 3)
