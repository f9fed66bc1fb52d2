"""NumPy arrays that are written after JAX got them."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def score(batch):
    return (batch @ batch).sum()


@jax.jit
def total(tree):
    return tree["x"].sum()


class Loader:
    def __init__(self, n):
        self.buffer = np.empty((n, 4), dtype=np.float32)

    def fill(self, rows):
        for i, row in enumerate(rows):
            self.buffer[i] = row  # expect: overwritten-host-buffer
        return self.buffer


def load(batches):
    loader = Loader(8)
    out = []
    for rows in batches:
        out.append(score(loader.fill(rows)))
    return out


def augmented(data):
    running = np.zeros(1000, "float32")
    out = []
    for x in data:
        running += x  # expect: overwritten-host-buffer
        out.append(jnp.asarray(running))
    return out


def functions_of_numpy():
    ones = np.ones((100, 100))
    buffer = np.zeros((100, 100), dtype=np.uint8)
    first = score(buffer)
    np.copyto(buffer, ones)  # expect: overwritten-host-buffer
    second = score(buffer)
    np.add(ones, 1, out=buffer)  # expect: overwritten-host-buffer
    return first, second


def views(data):
    buffer = np.ones((100, 100), dtype=np.float32)
    half = buffer[:50]
    out = []
    for x in data:
        out.append(total({"x": half}))
        buffer[0, 0] = x  # expect: overwritten-host-buffer
    return out


def put(queue, buffer):
    queue.append(jax.device_put(buffer))


def shared(n):
    buffer = np.full(4096, 0.0, np.float32)
    queue = []
    for i in range(n):
        put(queue, buffer)
        jax.block_until_ready(queue[-1])
        buffer.fill(i)  # expect: overwritten-host-buffer
    return queue


# --- silent ---------------------------------------------------------------------------------------


def waited(data):
    buffer = np.zeros((10, 10), np.float32)
    out = []
    for x in data:
        buffer[:] = x
        out.append(jax.block_until_ready(score(buffer)))
    for x in data:
        buffer[:] = x
        y = score(buffer)
        jax.block_until_ready(y)
    return out, y


def copies(data, index):
    buffer = np.zeros((10, 10), np.float32)
    out = []
    for x in data:
        buffer[:] = x
        out.append(score(buffer.copy()))
        out.append(score(np.array(buffer)))
        out.append(score(buffer[index]))
        out.append(score(np.stack([buffer, buffer])))
        out.append(score(buffer * 2))
        out.append(score(buffer.astype(np.int8)))
    return out


def new_arrays(data):
    out = []
    for x in data:
        buffer = np.zeros((10, 10), np.float32)
        buffer[:] = x
        out.append(score(buffer))
    return out


def wide(data):
    buffer = np.zeros((10, 10))
    out = []
    for x in data:
        buffer[:] = x
        out.append(score(buffer))
    return out


def not_known(buffer, data):
    out = []
    for x in data:
        buffer[:] = x
        out.append(score(buffer))
    return out


def rebound(data):
    buffer = np.zeros((10, 10), np.float32)
    out = []
    for x in data:
        out.append(score(buffer))
        buffer = buffer + x
    return out


def branch(flag):
    buffer = np.zeros((10, 10), np.float32)
    if flag:
        return score(buffer)
    buffer[:] = 1
    return score(buffer)


def another(flag):
    one, two = np.zeros((10, 10), np.float32), np.zeros((10, 10), np.float32)
    y = score(one)
    two[:] = flag
    return y, score(two)


class Batches:
    """Nobody here calls the methods, so how long one comes after the other is not known."""

    def __init__(self):
        self.buffer = np.zeros((10, 10), np.float32)

    def first(self):
        return score(self.buffer)

    def other(self):
        self.buffer[:] = 1.0
        return score(self.buffer)
