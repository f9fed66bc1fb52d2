"""Assignments to items."""

import jax
import jax.numpy as jnp
import numpy as np


def eager(n):
    x = jnp.zeros(n)
    x[0] = 1.0  # expect: array-item-assignment
    return x


@jax.jit
def staged(x, i):
    y = x * 2
    y[i] += 1.0  # expect: array-item-assignment
    return y


def deleted(n):
    x = jnp.arange(n)
    del x[0]  # expect: array-item-assignment
    return x


class Buffer:
    def __init__(self, n):
        self.data = jnp.zeros((n, 2))
        self.rows = [jnp.zeros(2) for _ in range(n)]

    def put(self, i, row):
        self.data[i, :] = row  # expect: array-item-assignment

    def put_in_a_row(self, i, v):
        self.rows[i][0] = v  # expect: array-item-assignment


def filled(out, v):
    out[:] = v  # expect: array-item-assignment
    return out


def calls_filled():
    return filled(jnp.zeros(3), 1.0)


def swapped():
    x = jnp.arange(3)
    x[0], x[1] = x[1], x[0]  # expect: array-item-assignment
    return x


def in_a_loop(xs):
    out = jnp.zeros(len(xs))
    for i, x in enumerate(xs):
        out[i] = x  # expect: array-item-assignment
    return out


# raises TypeError: eager(3)
# raises TypeError: staged(jnp.ones(3), 1)
# raises AttributeError: deleted(3)
# raises TypeError: Buffer(3).put(0, 1.0)
# raises TypeError: Buffer(3).put_in_a_row(0, 1.0)
# raises TypeError: calls_filled()
# raises TypeError: swapped()
# raises TypeError: in_a_loop([1.0, 2.0])


# --- never flagged -------------------------------------------------------------


def host_copy(x):
    y = np.array(x)
    y[0] = 1.0
    z = np.zeros(3)
    z[:2] += jnp.ones(2)
    del y
    return z


def containers(x):
    rows = [x, x]
    rows[0] = x + 1
    named = {"x": x}
    named["x"] = x * 2
    named["y"] = named.pop("x")
    del named["y"], rows[1]
    return rows


class Grid:
    def __init__(self):
        self.cells = {}

    def __setitem__(self, where, value):
        self.cells[where] = value


def own_class(x):
    grid = Grid()
    grid[0, 1] = x
    return grid


def references(x):
    ref = jax.new_ref(jnp.zeros(3))
    ref[0] = x
    ref[1:] += 1.0
    return ref[...]


def either(x, on_host):
    out = np.zeros(3) if on_host else [0.0, 0.0, 0.0]
    out[0] = x
    return out


def pieces(x, ends):
    found = np.split(x, ends)
    for i, end in enumerate(ends):
        found[i + 1] -= end
    return found


def whatever(x):
    x[0] = 1.0
    return x


def tried(x):
    x = jnp.asarray(x)
    try:
        x[0] = 1.0
    except TypeError:
        x = x.at[0].set(1.0)
    return x


def chosen_gradient(transform, pair):
    @jax.jit
    @transform
    def loss(pair):
        return jnp.sum(pair[0]) + jnp.sum(pair[1])

    _, gradient = loss(pair)
    gradient[1] = gradient[1].at[0].set(0)
    return gradient


def scaled(data: dict[str, jnp.ndarray]):
    data = data.copy()
    for key, image in data.items():
        if image.dtype == jnp.uint8:
            data[key] = image / 255.0
    return data


@jax.jit
def annotated(observation: jnp.ndarray):  # which is a dict
    return scaled(observation)["image"]


# runs: annotated({"image": jnp.ones(3)})
# runs: chosen_gradient(jax.value_and_grad, [jnp.ones(3), jnp.ones(2)])
# runs: host_copy(jnp.ones(3)), containers(jnp.ones(3)), own_class(1.0), references(1.0), either(1.0, True), tried([1.0])
# runs: pieces(jnp.ones(4), [1, 3])
