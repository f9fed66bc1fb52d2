"""A ``where`` whose condition Python knows, and that chooses between computations."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def smooth(x):
    return jnp.cumsum(x) / x.shape[0]


def rough(x):
    return jnp.sort(x)


@jax.jit
def by_none(x, scale=None):
    return jnp.where(scale is None, smooth(x), rough(x))  # expect: where-on-static


@jax.jit
def none_is_used(x, mask=None):
    return jnp.where(mask is None, x, x * mask)  # expect: where-on-static


@jax.jit
def none_is_chosen(x):
    return jnp.where(x.ndim == 1, x, None)  # expect: where-on-static


def by_rank(x):
    return jnp.where(x.ndim == 1, jnp.log(x), x)  # expect: where-on-static


def by_shape(x):
    return jnp.where(x.shape[0] > 2, jnp.exp(x), x)  # expect: where-on-static


def by_kind(x, kind):
    return jnp.where(kind == "smooth", smooth(x), rough(x))  # expect: where-on-static


def by_type(x, y):
    return jnp.where(isinstance(y, tuple), smooth(x), rough(x))  # expect: where-on-static


@dataclass(frozen=True)
class Config:
    smooth: bool = True
    layers: int = 2


class Block:
    def __init__(self, config):
        self.config = config

    def __call__(self, x):
        x = lax.select(self.config.smooth, smooth(x), rough(x))  # expect: where-on-static
        return jnp.where(self.config.layers > 1, jnp.tanh(x), x)  # expect: where-on-static


def by_flag(x, train):
    return jnp.where(not train, smooth(x), rough(x))  # expect: where-on-static


def by_list(x, mode):
    return jnp.select([mode == "a", mode == "b"], [smooth(x), rough(x)], x)  # expect: where-on-static


def main():
    x = jnp.arange(3.0)
    block = jax.jit(Block(Config()))
    return by_none(x), by_rank(x), by_shape(x), by_kind(x, "smooth"), by_type(x, 1), block(x), by_flag(x, True)


# raises TypeError: none_is_used(jnp.ones(3))
# raises TypeError: none_is_chosen(jnp.ones(3))
# runs: main()
# runs: by_list(jnp.ones(3), "a")


# --- never flagged -------------------------------------------------------------

CHECKER = np.indices((3, 3)).sum(0) % 2 == 0


def cheap(x, train, kind="a"):
    x = jnp.where(train, x, 0.0)
    x = jnp.where(kind == "a", x, -x)
    x = jnp.where(x.ndim == 1, x, jnp.zeros_like(x))
    return jnp.where(kind == "a", x[0], x[1])


def by_data(x, flag):
    return jnp.where(flag, smooth(x), rough(x))


traced_flag = jax.jit(by_data)


def by_step(step):
    return jnp.where(step < 10, jnp.sin(step), jnp.cos(step))


def schedule(step):
    warm = jnp.where(step < 5, jnp.sqrt(step), 1.0)
    return warm * jnp.where(step == 0, jnp.log1p(step), 1.0)


def by_mask(x):
    return jnp.where(CHECKER, jnp.sin(x), jnp.cos(x))


def by_comparison(x):
    return jnp.where(x > 0, jnp.log1p(jnp.abs(x)), x)


def by_any(x):
    return jnp.where(jnp.any(x > 0), jnp.sin(x), x)


def by_key(x, key):
    return jnp.where(jax.random.bernoulli(key), smooth(x), rough(x))


def by_branch(x, flag):
    return lax.cond(flag, smooth, rough, x)


def in_python(x, scale=None):
    return smooth(x) if scale is None else rough(x)


def one_argument(x):
    return jnp.where(x.ndim == 1)


def on_host(flag):
    return np.where(flag, np.sin(1.0), 0.0)


def by_count(x):
    return jax.lax.fori_loop(0, 3, lambda i, c: jnp.where(i == 0, jnp.sin(c), c), x)


def by_unknown(x, setting):
    return jnp.where(setting, smooth(x), rough(x))


def test_where():
    x = jnp.ones(3)
    assert jnp.where(x.ndim == 1, jnp.sin(x), x).shape == (3,)


def quiet():
    x = jnp.arange(3.0)
    key = jax.random.key(0)
    found = [cheap(x, True), traced_flag(x, True), by_data(x, x > 1), by_step(x), by_step(3), schedule(2), schedule(x)]
    found += [by_mask(jnp.ones((3, 3))), by_comparison(x), by_any(x), by_key(x, key), by_branch(x, True), in_python(x)]
    return found, on_host(True), by_count(x), by_unknown(x, True), by_unknown(x, x > 1)


# runs: quiet()
