import jax
import jax.numpy as jnp

_scope = []


class scope:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        _scope.append(self.name)

    def __exit__(self, *error):
        _scope.pop()


def param(params, name):
    return params[name + "".join(_scope)]


def init(sizes):
    keys = jax.random.split(jax.random.key(0), len(sizes))
    params = {}
    for i, (key, n, m) in enumerate(zip(keys, sizes[:-1], sizes[1:])):
        params[f"w{i}"] = jax.random.normal(key, (n, m))
    return params


@jax.jit
def apply(params, x):
    for i in range(len(params)):
        with scope(str(i)):
            x = jnp.tanh(x @ param(params, "w"))
    return x


@jax.jit
def decay(params, rate):
    for name in params:
        params[name] = params[name] * (1 - rate)
    params.update(extra=rate)
    params.pop("extra")
    return params
