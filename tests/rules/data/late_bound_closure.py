"""Functions made in loops, and the variables of the loops that they read."""

from functools import partial

import jax
import jax.numpy as jnp


def jitted(x, factors):
    functions = []
    for k in factors:
        functions.append(jax.checkpoint(lambda v: v * k))  # expect: late-bound-closure
    return [f(x) for f in functions]


def computed_from_the_variable(x, n):
    layers = {}
    for i in range(n):
        scale = 2.0**i

        def layer(v):
            return jnp.tanh(v * scale)  # expect: late-bound-closure

        layers[i] = layer
    for i in range(n):
        x = layers[i](x)
    return x


class Net:
    def __init__(self, widths):
        self.layers = []
        for width in widths:
            self.layers.append(lambda x: jnp.tile(x, width))  # expect: late-bound-closure

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def of_a_class(x):
    return Net([1, 2, 3])(x)


TABLE = {name: (lambda x: getattr(jnp, name)(x)) for name in ("sin", "cos", "tan")}  # expect: late-bound-closure


def look_up(name, x):
    return TABLE[name](x)


sine = look_up("sin", jnp.ones(3))


@jax.jit
def pick(i, x, weights):
    return jax.lax.switch(i, tuple(lambda v: v * w for w in weights), x)  # expect: late-bound-closure


def pick_first(x):
    return pick(0, x, (1.0, 2.0))


def counted(x):
    i = 0
    functions = []
    while i < 4:
        functions.append(lambda v: v + i)  # expect: late-bound-closure
        i += 1
    return [f(x) for f in functions]


def paired(x, settings):
    functions = []
    for name, setting in settings.items():

        def apply(v):
            return v * setting  # expect: late-bound-closure

        functions.append((name, apply))
    out = {}
    for name, function in functions:
        out[name] = function(x)
    return out


def compose(functions):
    def run(x):
        for function in functions:
            x = function(x)
        return x

    return run


def composed(x, factors):
    return compose([lambda v: v * k for k in factors])(x)  # expect: late-bound-closure


# --- silent ---------------------------------------------------------------------------------------


def bound_in_time(x, factors):
    functions = []
    for k in factors:
        functions.append(lambda v, k=k: v * k)
        functions.append(partial(lambda a, v: a * v, k))
    return [f(x) for f in functions]


def last(x, factors):
    for k in factors:
        f = lambda v: v * k
    return f(x)


def one_by_one(x, factors):
    return sum(f(x) for f in (lambda v: v * k for k in factors))


def in_its_turn(x, factors):
    for k in factors:

        def body(c, y):
            return c + y, None

        x = jax.tree.map(lambda v: v * k, x) + body(x, x)[0]
    return x


def from_a_factory(x, factors):
    def make(k):
        return lambda v: v * k

    functions = [make(k) for k in factors]
    return [f(x) for f in functions]


def the_same_variable_again(x, factors):
    functions = []
    for i in factors:
        functions.append(lambda v: v * i)
    for i in factors:
        x = functions[0](x)
    return x


def not_read(x, factors):
    functions = []
    for k in factors:
        two = 2
        functions.append(lambda v: v * two)
        functions.append(lambda k: k * 2)
    return [f(x) for f in functions]


def only_one(x):
    functions = [lambda v: v * k for k in (3,)]
    return functions[0](x)


def loop_outside(x, factors):
    for k in factors:
        functions = []
        for j in (1, 2):
            functions.append(lambda v, j=j: v * j * k)
        x = functions[0](functions[1](x))
    return x


def not_called(factors):
    return [lambda v: v * k for k in factors]
