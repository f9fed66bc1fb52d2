import jax
import jax.numpy as jnp
import numpy as np


class Grid:
    def __init__(self, n):
        self.cells = [[0] * n for _ in range(n)]
        self.values = np.zeros((n, n))

    def __setitem__(self, where, value):
        i, j = where
        self.cells[i][j] = value
        self.values[i, j] += value


@jax.jit
def step(state):
    out = dict(state)
    out["x"] = state["x"] * 2
    history = [state["x"]] * 2
    history[0] = out["x"]
    out["h"] = jnp.stack(history)
    return out


def run(n):
    grid = Grid(n)
    grid[0, 1] = 2.0
    state = step({"x": jnp.ones(2)})
    host = np.array(state["x"])
    host[0] = 5.0
    copied = np.asarray(jax.device_get(state["h"])).copy()
    copied[0] = 0.0
    del state["h"]
    return grid, host, copied
