import jax
import jax.numpy as jnp

DEPTH = 2
WIDTHS = (4, 8)
SCALES = {"in": 0.5, "out": 2.0}
LAYERS = {}
seen = []
_window = None


def register(name, fn):
    LAYERS[name] = fn


register("tanh", jnp.tanh)
register("square", jnp.square)


def window():
    global _window
    if _window is None:
        _window = tuple(range(3))
    return _window


@jax.jit
def network(x):
    x = x * SCALES["in"]
    for _ in range(DEPTH):
        x = LAYERS["tanh"](x)
    return x * SCALES["out"] + len(window()) + WIDTHS[0]


def record(x):
    seen.append(network(x))
    return len(seen)
