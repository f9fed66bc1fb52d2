"""Two keys of one constant seed, whose draws reach one result."""

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import random

SEED = 7


def in_one_dict(n):
    return {
        "w": jax.random.normal(jax.random.key(0), (n,)),
        "b": jax.random.normal(jax.random.PRNGKey(0), (n,)),  # expect: same-constant-key
    }


def signal_and_noise(n):
    signal_key = random.PRNGKey(SEED)
    noise_key = random.PRNGKey(7)  # expect: same-constant-key
    signal = random.normal(signal_key, (n,))
    return signal + 0.1 * random.uniform(noise_key, (n,))


def fresh_key(seed=3):
    return jax.random.key(seed)


def by_helper(n):
    x = jax.random.normal(fresh_key(), (n,))
    y = jax.random.normal(fresh_key(), (n,))  # expect: same-constant-key
    return jnp.stack([x, y])


def by_partial(n):
    make = functools.partial(jax.random.key, 5)
    x = jax.random.normal(make(), (n,))
    y = jax.random.normal(make(), (n,))  # expect: same-constant-key
    return x * y


def both_split(n):
    w_key, b_key = jax.random.split(jax.random.key(1))
    params = {"w": jax.random.normal(w_key, (n,)), "b": jax.random.normal(b_key, (n,))}
    x_key, y_key = jax.random.split(jax.random.key(1))  # expect: same-constant-key
    batch = {"x": jax.random.normal(x_key, (n,)), "y": jax.random.normal(y_key, (n,))}
    return params["w"] * batch["x"] + batch["y"] * params["b"]


def layer(key, n, m):
    return jax.random.normal(key, (n, m)) / jnp.sqrt(n)


def layers():
    rows = []
    rows.append(layer(jax.random.key(0), 4, 8))
    rows.append(layer(jax.random.key(0), 8, 2))  # expect: same-constant-key
    return rows


class Model:
    def __init__(self, n):
        self.w = jax.random.normal(jax.random.key(0), (n,))
        self.b = jax.random.uniform(jax.random.key(0), (n,))  # expect: same-constant-key


@dataclass
class Settings:
    seed: int = 11


def by_settings(n):
    settings = Settings()
    x = jax.random.normal(jax.random.key(settings.seed), (n,))
    y = jax.random.normal(jax.random.key(settings.seed), (n,))  # expect: same-constant-key
    return x @ y


def make_weights(n):
    return jax.random.normal(jax.random.key(2), (n,))


def make_data(n):
    return jax.random.normal(jax.random.key(2), (n,))


def fit(n):
    return make_weights(n) * make_data(n)  # expect: same-constant-key


@jax.jit
def staged(x):
    a = jax.random.bernoulli(jax.random.key(4), 0.5, x.shape)  # expect: constant-key
    b = jax.random.normal(jax.random.key(4), x.shape)  # expect: constant-key, same-constant-key
    return jnp.where(a, b, x)


# runs: (in_one_dict(2), signal_and_noise(2), by_helper(2), by_partial(2), both_split(2), layers(), Model(2), fit(2))
# runs: (by_settings(2), staged(jnp.ones(2)))


# --- never flagged -------------------------------------------------------------


def other_seeds(n):
    return jax.random.normal(jax.random.key(0), (n,)), jax.random.normal(jax.random.key(1), (n,))


def unknown_seeds(seed, other, n):
    return jax.random.normal(jax.random.key(seed), (n,)) + jax.random.normal(jax.random.key(other), (n,))


def folded(n):
    a = jax.random.normal(jax.random.fold_in(jax.random.key(0), 1), (n,))
    b = jax.random.normal(jax.random.fold_in(jax.random.key(0), 2), (n,))
    return a, b


def indexed(n):
    a = jax.random.normal(jax.random.split(jax.random.key(0))[0], (n,))
    b = jax.random.normal(jax.random.split(jax.random.key(0))[1], (n,))
    return a + b


def branches(small, n):
    if small:
        x = jax.random.normal(jax.random.key(0), (n,))
    else:
        x = jax.random.uniform(jax.random.key(0), (n,))
    return x


def early(small, n):
    if small:
        return jax.random.normal(jax.random.key(0), (n,))
    return jax.random.uniform(jax.random.key(0), (n,))


def compared(n):
    first = jax.random.normal(jax.random.key(0), (n,))
    second = jax.random.normal(jax.random.key(0), (n,))
    assert jnp.array_equal(first, second)


def only_shapes(n):
    shape = jax.eval_shape(lambda: jax.random.normal(jax.random.key(0), (n,))).shape
    return jax.random.normal(jax.random.key(0), shape)


def shown(n):
    print(jax.random.normal(jax.random.key(0), (n,)))
    x = jax.random.uniform(jax.random.key(0), (n,))
    print(x)


def run(scale):
    key = jax.random.key(0)
    return scale * jax.random.normal(key, (3,))


def repeated():
    return run(1.0) + run(2.0)


def evaluate(model, key):
    return model["w"] * jax.random.normal(key, (3,))


def compare(one, other):
    return evaluate(one, jax.random.key(0)) - evaluate(other, jax.random.key(0))


def default(n, key=jax.random.key(1)):
    return jax.random.normal(key, (n,))


def other_default(n, key=jax.random.key(1)):
    return jax.random.normal(key, (n,))


def defaults(n):
    return default(n) + other_default(n)


def first_command(n):
    print(jax.random.normal(jax.random.key(0), (n,)).sum())


def second_command(n):
    print(jax.random.uniform(jax.random.key(0), (n,)).sum())


def test_noise():
    a, b = jax.random.normal(jax.random.key(0)), jax.random.normal(jax.random.key(0))
    assert a + b == 2 * a


def other_streams(n):
    order = jax.random.permutation(jax.random.key(0), n)
    return jax.random.normal(jax.random.key(0), (n,))[order]


def unused(n):
    key = jax.random.key(0)
    return jax.random.normal(jax.random.key(0), (n,)), key


class Net:
    w: jax.Array


def replaced(net, n):
    net.w = jax.random.normal(jax.random.key(0), (n,))
    print(net.w)
    net.w = jax.random.normal(jax.random.key(0), (n,))
    return net


# runs: (other_seeds(2), unknown_seeds(0, 1, 2), folded(2), indexed(2), branches(True, 2), compared(2), only_shapes(2))
# runs: (repeated(), compare({"w": 1.0}, {"w": 2.0}), defaults(2), shown(2), other_streams(2), unused(2))
# runs: replaced(Net(), 2).w
