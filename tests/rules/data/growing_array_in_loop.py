"""Arrays that eager loops make longer, or change a few elements of, and others."""

import functools
from collections import namedtuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.numpy import append
from jax.numpy import concatenate as cat
from unknown import Base, decorated

State = namedtuple("State", "buf n")


class Memory:
    def __init__(self):
        self.states = jnp.zeros((0, 4))
        self.rows = []
        self.buf = jnp.zeros((1000, 4))
        self.i = 0

    def add(self, s):
        self.states = jnp.vstack([self.states, s])  # expect: growing-array-in-loop
        self.buf = self.buf.at[self.i].set(s)  # expect: growing-array-in-loop
        self.i += 1
        self.rows.append(s)


def run(env, n):
    memory = Memory()
    for _ in range(n):
        memory.add(env.step())
    return memory


def alias(xs):
    out = jnp.zeros((0,))
    for x in xs:
        tmp = cat((out, x))  # expect: growing-array-in-loop
        out = tmp
    return out


def index_trick(xs):
    out = jnp.zeros(0)
    for x in xs:
        out = jnp.r_[out, x]  # expect: growing-array-in-loop
    return out


def listed(xs):
    rows = []
    for x in xs:
        rows.append(x)
        print(jnp.stack(rows).mean())  # expect: growing-array-in-loop
    return rows


def carried(xs):
    state = State(jnp.zeros(100), 0)
    for x in xs:
        state = state._replace(buf=state.buf.at[state.n].add(x))  # expect: growing-array-in-loop
        state = State(state.buf, state.n + 1)
    return state


def in_dict(xs):
    d = {"a": jnp.zeros(0)}
    while xs:
        d["a"] = append(d["a"], xs.pop())  # expect: growing-array-in-loop
    return d


def nested(x):
    g = jnp.zeros((280, 280))
    for i in range(28):
        for j in range(28):
            g = g.at[i * 10 : (i + 1) * 10, j * 10 : (j + 1) * 10].set(x[i, j])  # expect: growing-array-in-loop
    return g


def helper(out, x):
    y = jnp.tanh(x)
    return jnp.sort(jnp.concatenate([out, y]))  # expect: growing-array-in-loop


def through(xs):
    out = jnp.zeros(0)
    for x in xs:
        out = helper(out, x)
    return out


def through2(xs):
    out = jnp.zeros(0)
    for x in xs:
        out = helper(out, x)
    return out


def conditional(xs):
    out = jnp.zeros(0)
    for x in xs:
        if x > 0:
            out = jnp.append(out, x)  # expect: growing-array-in-loop
    return out


def first(xs):
    for i, x in enumerate(xs):
        if i == 0:
            out = x
        else:
            out = jnp.concatenate([out, x], axis=0)  # expect: growing-array-in-loop
    return out


def none(xs):
    out = None
    for x in xs:
        if out is None:
            out = x
        else:
            out = jnp.concatenate([out, x], axis=0)  # expect: growing-array-in-loop
    return out


def dus(xs):
    out = jnp.zeros((100, 2))
    for i, x in enumerate(xs):
        out = lax.dynamic_update_slice(out, x, (i, 0))  # expect: growing-array-in-loop
    return out


def add(u, n):
    for k in range(1, n - 1):
        u = u.at[k].set(u[k - 1] + u[k + 1])  # expect: growing-array-in-loop
        u = u.at[0].set(0.0)  # expect: growing-array-in-loop
    return u


def small_inner(n):
    u = jnp.zeros((100, 3))
    for k in range(n):
        for j in range(3):
            u = u.at[k, j].set(k * j)  # expect: growing-array-in-loop
    return u


def two(xs, ys):
    a, b = jnp.zeros(0), jnp.zeros(0)
    for x, y in zip(xs, ys):
        a, b = jnp.append(a, x), jnp.append(b, y)  # expect: growing-array-in-loop
    return a, b


def partialed(xs):
    f = functools.partial(jnp.concatenate, axis=0)
    out = jnp.zeros((0, 3))
    for x in xs:
        out = f([out, x])  # expect: growing-array-in-loop
    return out


def setitem(xs):
    hist = [jnp.zeros(0)] * 2
    for x in xs:
        hist[0] = jnp.append(hist[0], x)  # expect: growing-array-in-loop
    return hist


def ret_tuple(out, x):
    return jnp.append(out, x), x.sum()  # expect: growing-array-in-loop


def tup(xs):
    out = jnp.zeros(0)
    for x in xs:
        out, s = ret_tuple(out, x)
    return out


def main():
    run(Memory(), 100)
    nested(jnp.ones((28, 28, 10, 10)))
    in_dict([1.0] * 100)
    carried([1.0] * 100)
    add(jnp.ones(100), 100)
    small_inner(100)


main()


# --- silent ---


def fresh(key, n):
    out = []
    for k in jax.random.split(key, n):
        z = jax.random.normal(k, (3,))
        z = jnp.concatenate([z, -z])
        out.append(z)
    return out


def features(d):
    x = d["a"]
    for name in ("b", "c"):
        x = jnp.concatenate([x, d[name]])
    x = jnp.concatenate([x, d["e"]])
    return x


def few(x):
    for i in range(8):
        x = jnp.append(x, i)
    return x


def numpy_arrays(xs):
    out = np.zeros(0)
    for x in xs:
        out = np.append(out, x)
        out = np.concatenate([out, [1.0]])
    return out


def sometimes(xs):
    log = jnp.zeros(0)
    for i, x in enumerate(xs):
        if i % 100 == 0:
            log = jnp.append(log, x)
    return log


def later(xs):
    rows = []
    for i, x in enumerate(xs):
        rows.append(x)
        if i % 100 == 0 and i > 0:
            print(jnp.array(rows).mean())


def after(xs):
    rows = []
    for x in xs:
        rows.append(x * 2)
    return jnp.stack(rows)


def nested_after(data):
    out = []
    for xs in data:
        rows = []
        for x in xs:
            rows.append(x)
        out.append(jnp.stack(rows))
    return jnp.concatenate(out)


@jax.jit
def staged(x):
    for i in range(x.shape[0]):
        x = x.at[i].add(1.0)
    return x


def body_silent(i, x):
    return x.at[i].set(0.0)


def loop_silent(x):
    return jax.lax.fori_loop(0, 10, body_silent, x)


def rolling(xs):
    window = jnp.zeros(10)
    for x in xs:
        window = jnp.concatenate([window[1:], x[None]])
    return window


@functools.partial(jax.jit, donate_argnums=0)
def push(buf, x):
    return jnp.roll(buf, 1).at[0].set(x)


def pushed(xs):
    buf = jnp.zeros(3)
    for x in xs:
        buf = push(buf, x)
    return buf


def reset(data):
    for rows in data:
        out = jnp.zeros(10)
        out = out.at[0].set(rows[0])
        out = jnp.append(out, rows[1])
        yield out


def bounded(xs):
    seen = jnp.zeros(0)
    for x in xs:
        seen = jnp.append(seen, x)[-100:]
    return seen


class Dense:
    def setup(self):
        pass


def flushed(xs):
    rows = []
    for i, x in enumerate(xs):
        rows.append(x)
        if len(rows) == 32:
            yield jnp.stack(rows)
            rows.clear()


def flushed2(xs):
    rows = []
    for i, x in enumerate(xs):
        rows.append(x)
        if len(rows) == 32:
            yield jnp.stack(rows)
            rows = []


def summed(xs):
    x = jnp.zeros(3)
    for v in xs:
        x = x + jnp.concatenate([v, v])[:3]
    return x


def masks(xs):
    for x in xs:
        m = jnp.zeros(10, bool)
        m = m.at[x].set(True)
        print(m)


def doubled(x):
    while x.size < 1000:
        x = jnp.concatenate([x, x])
    return x


def scanned(xs):
    def step(c, x):
        for j in range(20):
            c = c.at[j].set(x)
        return c, x

    return jax.lax.scan(step, jnp.zeros(20), xs)


def doubled_with_zeros(x):
    while x.size < 1000:
        x = jnp.concatenate([x, jnp.zeros_like(x)])
    return x


def of_library(state, n):
    """Its users may stage it."""
    for i in range(n):
        state = state.at[i].add(1.0)
    for entity in state.entities:
        state = state.at[entity].set(0.0)
    return state


class Layers(Base):
    def __init__(self, n):
        self.table = jnp.zeros(n)
        for i in range(n):
            self.table = self.table.at[i].set(i)

    def __call__(self, x):
        for layer in self.layers:
            x = jnp.concatenate([x, layer(x)])
        return x


def decoded(state, tokens, n):
    for _ in range(n):
        scores = state.apply_fn({"params": state.params}, tokens)
        tokens = jnp.concatenate([tokens, jnp.argmax(scores[:, -1:], axis=-1)], axis=1)  # expect: growing-array-in-loop
    return tokens


def of_a_library_again(x, n):
    for _ in range(n):
        x = jnp.concatenate([x, x[-1:]])
    return x


@decorated
def behind_a_decorator(x, rows):
    for row in rows:
        x = jnp.append(x, row)
    return x


def test_rows():
    x = jnp.zeros(0)
    for row in range(3000):
        x = jnp.append(x, row)


class Controller:
    def __init__(self):
        self.errors = []

    def output(self, gain, error):
        self.errors.append(error)
        return gain[0] * error + gain[1] * sum(self.errors)  # expect: growing-array-in-loop

    def mean(self):
        return sum(self.errors) / len(self.errors)


def integral(gain, state):
    return gain * sum(state["error_history"])  # expect: growing-array-in-loop


@jax.grad
def cost(gain, steps):
    state = {"error_history": [1.0]}
    for _ in range(steps):
        state["error_history"].append(1.0 - integral(gain, state))
    return state["error_history"][-1] ** 2
