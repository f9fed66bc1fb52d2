"""Containers from outside that staged code changes."""

import copy
from collections import defaultdict, deque

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

history = []
table = {}
recent = deque(maxlen=10)
by_name = defaultdict(list)
counts = {"step": 0}
slots = [None] * 4


@jax.jit
def into_lists(x):
    history.append(x.sum())  # expect: captured-mutation
    history.extend([x, x + 1])  # expect: captured-mutation
    recent.append(x)  # expect: captured-mutation
    slots[0] = x  # expect: captured-mutation
    by_name["loss"].append(x)  # expect: captured-mutation
    return x


@jax.jit
def into_dicts(x):
    table["last"] = x  # expect: captured-mutation
    table.update(mean=x.mean())  # expect: captured-mutation
    table.setdefault("all", []).append(x)  # expect: captured-mutation
    counts["step"] += 1  # expect: captured-mutation
    return x


def log_to(store, name, value):
    store[name] = value  # expect: captured-mutation


def passed_on(x):
    metrics = {}
    log = metrics

    @jax.jit
    def step(x):
        log_to(log, "norm", jnp.linalg.norm(x))
        return x * 2

    return step(x), metrics["norm"]


def from_a_scan_body(xs):
    outputs = []

    def body(carry, x):
        outputs.append(carry * x)  # expect: captured-mutation
        return carry + x, None

    last, _ = lax.scan(body, 0.0, xs)
    return last + outputs[0]


@jax.jit
def from_a_loss(w):
    activations = {}

    def loss(w):
        activations["h"] = jnp.tanh(w)  # expect: captured-mutation
        return activations["h"].sum()

    return jax.grad(loss)(w) + activations["h"]


@jax.jit
def from_a_body_into_an_argument(state):
    def body(i, total):
        state["partial"] = total  # expect: captured-mutation
        return total + i

    return lax.fori_loop(0, 3, body, state["x"]) + state["partial"]


def fori(x):
    return from_a_body_into_an_argument({"x": x})


class Recorder:
    def __init__(self):
        self.values = []

    def record(self, x):
        self.values.append(x)  # expect: captured-mutation
        return x

    def run(self, x):
        return jax.jit(self.record)(x)


def over_lanes(x):
    seen = []

    def one(row):
        seen.append(row.sum())  # expect: captured-mutation
        return row

    jax.vmap(one)(x)
    return seen[0] + 1


def default_argument(x, memory=[]):
    memory += [x]  # expect: captured-mutation
    return x


def remembering(x):
    return jax.jit(default_argument)(x)


# runs: into_lists(jnp.ones(2)), into_dicts(jnp.ones(2)), passed_on(jnp.ones(2)), Recorder().run(jnp.ones(2))
# runs: jax.jit(default_argument)(jnp.ones(2))


# --- never flagged -------------------------------------------------------------


@jax.jit
def made_inside(x):
    parts, named = [], {}
    for k in range(3):
        parts.append(x * k)
        named[k] = parts[-1]
    rows = [None] * 3
    rows[0] = x
    grouped = defaultdict(list)
    grouped["a"].append(x)
    parts += [x]
    return jnp.stack(parts), named, rows[0], grouped["a"]


def fill(found, x):
    found["mean"] = x.mean()
    return found


@jax.jit
def made_inside_and_passed_on(x):
    return fill({}, x)["mean"] + fill(dict(seed=x), x)["mean"]


@jax.jit
def argument_of_the_trace(state, x):
    state["x"] = x
    state["all"] = [*state["all"], x]
    state["all"].append(x)
    return state


@jax.jit
def copies(x):
    mine = copy.deepcopy(table)
    mine["x"] = x
    short = history[:2]
    short.append(x)
    longer = slots + [x]
    longer.append(x)
    merged = {**counts}
    merged["x"] = x
    return len(short) + len(longer), merged["x"], mine["x"]


path = []


def nested(x, depth):
    path.append(depth)
    y = x * len(path)
    path.pop()
    return y


class Scope:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        path.append(self.name)
        return self

    def __exit__(self, *error):
        path.pop()


@jax.jit
def stacks(x):
    with Scope("block"):
        x = nested(x, 1)
    return x


windows = {}


def window(n):
    if n not in windows:
        windows[n] = np.hanning(n)
    return windows[n]


@jax.jit
def host_table(x):
    return x * window(x.shape[0])


@jax.jit
def remembers_names(x):
    seen = set()
    for name in ("a", "b"):
        seen.add(name)
    return x * len(seen)


def rerun_every_time(w):
    trail = []

    def loss(w):
        trail.append(w.shape)
        return (w**2).sum()

    for _ in range(3):
        w = w - jax.grad(loss)(w)
    return w, trail


class Body:
    def __init__(self):
        self.found = {}

    def __call__(self, x):
        self.found["h"] = jnp.tanh(x)
        return self.found["h"]


@jax.jit
def object_made_inside(x):
    return Body()(x)


@jax.jit
def overwritten(params, x):
    def loss(w, params):
        params["w"] = w
        return (params["w"] * x).sum()

    grads = jax.grad(loss)(params["w"], params)
    params["w"] = grads
    return params


# runs: made_inside(jnp.ones(2)), made_inside_and_passed_on(jnp.ones(2))
# runs: argument_of_the_trace({"x": 1.0, "all": [1.0]}, 2.0), copies(jnp.ones(2)), stacks(jnp.ones(2)), path == []
# runs: host_table(jnp.ones(4)), remembers_names(jnp.ones(2)), rerun_every_time(jnp.ones(2))
# runs: object_made_inside(jnp.ones(2)), overwritten({"w": jnp.ones(2)}, 2.0)
