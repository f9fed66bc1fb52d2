"""Module-level variables that change after they were read."""

import jax
import jax.numpy as jnp

scale = 1.0
limits = {"low": 0.0, "high": 1.0}
sizes = [4, 8]
temperature = 0.5


@jax.jit
def forward(x):
    return clipped(x * scale)  # expect: stale-global


def clipped(x):
    return jnp.clip(x, limits["low"], limits["high"])  # expect: stale-global


def configure(**options):
    global scale
    scale = options.pop("scale", 1.0)
    limits.update(options)


@jax.jit
def total(x):
    return x * sum(sizes)  # expect: stale-global


def resize(i, n):
    sizes[i] = n


def tuned(x, scales):
    first = forward(x)
    configure(scale=2.0)
    for i, _ in enumerate(scales):
        resize(i, len(scales))
        first = first + forward(total(x))
    return first


@jax.jit
def soften(x):
    return x / temperature  # expect: stale-global


warm = soften(jnp.ones(2))
temperature = 2.0
cold = soften(jnp.ones(2))

# runs: forward(jnp.ones(2)), configure(scale=2.0), forward(jnp.ones(2)), total(1.0), resize(0, 1)


# --- never flagged -------------------------------------------------------------

precision = 32
tables = {"kind": "sparse"}


@jax.jit
def with_settings(x):
    return x * precision * len(tables["kind"])


def set_precision(bits):
    """Users call it before anything else."""
    global precision
    precision = bits


def set_kind(kind):
    tables["kind"] = kind


def set_up(bits):
    set_precision(bits)
    return with_settings(jnp.ones(2))


GRAVITY = 9.81
OPTIONS = {"steps": 3}
REGISTRY = {}
results = []
loaded = None
offset = 1.0
offset = offset + 1.0
enabled = True


def register(name, fn):
    REGISTRY[name] = fn


register("double", lambda x: 2 * x)


def load():
    global loaded
    if loaded is None:
        loaded = 3.0
    return loaded


class disabled:
    def __enter__(self):
        global enabled
        enabled = False

    def __exit__(self, *error):
        global enabled
        enabled = True


@jax.jit
def constant(x):
    for _ in range(OPTIONS["steps"]):
        x = x + GRAVITY * offset
    if enabled:
        x = x * load()
    return REGISTRY["double"](x)


def collect(x):
    results.append(constant(x))
    with disabled():
        return len(results)


@jax.jit
def takes_them(x, scale):
    sizes = [1, 2]
    return x * scale * len(sizes)


def eager_reader(x):
    return takes_them(x, scale) * limits["high"]


# runs: collect(jnp.ones(2)), eager_reader(jnp.ones(2))
