"""Arguments of jitted functions that are no arrays."""

import enum
import functools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def activate(x, kind="tanh"):
    return jnp.tanh(x) if kind == "tanh" else x


@jax.jit
def apply(function, x):
    return function(x)


@jax.jit
def configured(x, options):
    return x * options["scale"]


class Plain:
    scale = 2.0


def by_position(x):
    return activate(x, "relu")  # expect: non-array-argument


# raises TypeError: by_position(1.0)


def by_name(x, flag=True):
    kind = "relu" if flag else "tanh"
    return activate(x, kind=kind)  # expect: non-array-argument


# raises TypeError: by_name(1.0)


def higher_order(x):
    return apply(lambda v: v + 1, x)  # expect: non-array-argument


# raises TypeError: higher_order(1.0)


def library_function(x):
    return apply(jnp.tanh, x)  # expect: non-array-argument


# raises TypeError: library_function(1.0)


def jitted_function(x):
    return apply(activate, x)  # expect: non-array-argument


# raises TypeError: jitted_function(1.0)


def bound_function(x):
    return apply(partial(jnp.power, 2.0), x)  # expect: non-array-argument


# raises TypeError: bound_function(1.0)


def in_a_dict(x):
    return configured(x, {"scale": 2.0, "name": "double"})  # expect: non-array-argument


# raises TypeError: in_a_dict(1.0)


def of_a_class(x):
    return configured(x, Plain())  # expect: non-array-argument


# raises TypeError: of_a_class(1.0)


def dtype(x):
    return jax.jit(lambda v, kind: v.astype(kind))(x, x.dtype)  # expect: non-array-argument


# raises TypeError: dtype(jnp.ones(2))


class Layer:
    def __init__(self, name):
        self.name = name
        self.forward = jax.jit(self._forward)

    def _forward(self, x, name):
        return x

    def run(self, x):
        return self.forward(x, f"{self.name}/out")  # expect: non-array-argument


# raises TypeError: Layer("a").run(1.0)


# --- never flagged -------------------------------------------------------------


@partial(jax.jit, static_argnames=("kind", "function"))
def static(x, kind, function=jnp.tanh):
    return function(x) if kind == "tanh" else x


@partial(jax.jit, static_argnums=(0,))
def static_function(function, x):
    return function(x)


@jax.jit
def scaled(x, options, bias=None):
    y = x * options["scale"]
    return y if bias is None else y + bias


class Numbering(type):
    """A metaclass that makes numbers of strings."""

    def __new__(mcs, name, bases, namespace):
        made = {k: i if isinstance(v, str) else v for i, (k, v) in enumerate(namespace.items())}
        made.update({k: v for k, v in namespace.items() if k.startswith("__")})
        return super().__new__(mcs, name, bases, made)


class Numbered(metaclass=Numbering):
    first = "the first"


class Later(Numbered):
    second = "the second"


class Colour(enum.IntEnum):
    RED = 1


@jax.tree_util.register_pytree_node_class
class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def tree_flatten(self):
        return (self.a, self.b), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


def register(cls):
    jax.tree_util.register_pytree_node(cls, lambda v: ((v.scale,), None), lambda _aux, leaves: cls(*leaves))
    return cls


@register
class Registered:
    def __init__(self, scale):
        self.scale = scale


def by_name_only(function):
    """A decorator that makes a number of a name."""

    def inner(x, name):
        return function(x, {"one": 1, "two": 2}[name])

    return inner


@by_name_only
@jax.jit
def times(x, n):
    return x * n


def jitted(function, names):
    return jax.jit(function, static_argnames=names) if names else jax.jit(function)


def chosen(x, flag):
    run = jax.jit(lambda v, k: v, static_argnums=1) if flag else jax.jit(lambda v, k: v * k)
    return run(x, "a") if flag else run(x, 2.0)


def passed_on(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


def by_wrapped_signature(x):
    return jax.jit(passed_on(lambda v, get: v), static_argnames="get")(x, "ntk")


def fine(x):
    a = static(x, "tanh"), static(x, kind="relu", function=abs), static_function(lambda v: v, x)
    b = scaled(x, {"scale": 2}, None), activate(x), times(x, "two")
    c = jax.jit(lambda v, n: v * n)(x, Numbered.first), jax.jit(lambda v, n: v * n)(x, Later.second)
    d = jax.jit(lambda v, n: v)(x, Colour.RED), apply(jax.tree_util.Partial(jnp.add, 1.0), x)
    e = jax.jit(lambda v, p: v * p.a)(x, Pair(1.0, 2.0)), jax.jit(lambda v, p: v * p.scale)(x, Registered(2.0))
    f = (
        jitted(lambda v, kind: v, ("kind",))(x, "a"),
        chosen(x, True),
        chosen(x, False),
        jax.jit(lambda v, s: v)(x, x.shape),
    )
    return a, b, c, d, e, f, by_wrapped_signature(x), jax.jit(partial(static_function, lambda v: 2 * v))(x)


# runs: fine(jnp.ones(2))


# --- functions on arrays -------------------------------------------------------


def grown(x):
    scaled = 2 * jnp.asarray(x)
    return [jnp.sum(x), jnp.mean(x)] + scaled[2:]  # expect: non-array-argument


# raises TypeError: grown(jnp.ones(4))


def stretched(x):
    return jnp.tanh(x) * (1.0, 2.0)  # expect: non-array-argument


# raises TypeError: stretched(jnp.ones(2))


def tiled(x):
    return jnp.repeat(x, (3,), axis=0)  # expect: non-array-argument


# raises TypeError: tiled(jnp.ones(2))


def weighted(x):
    return jnp.average(x, weights=[1.0, 2.0])  # expect: non-array-argument


# raises TypeError: weighted(jnp.ones(2))


def levels(x):
    return jnp.sum(x, where=x > 0), jnp.unique([1, 2, 2])  # expect: non-array-argument


# raises TypeError: levels(jnp.ones(2))


def grid(x):
    return jnp.meshgrid(x, [1.0, 2.0])  # expect: non-array-argument


# raises TypeError: grid(jnp.ones(2))


def of_a_shape(x):
    rows = jnp.ones((2, 3))
    return jnp.repeat(x, rows.shape[:-1])  # expect: non-array-argument


# raises TypeError: of_a_shape(jnp.ones(2))


def taken_as_they_are(x):
    shape = jnp.tile(x, (2, 1)), jnp.full([2], 1.0), jnp.split(x, [1]), jnp.repeat(x, x.shape[0]), jnp.sum(x, (0,))
    return shape, jnp.unique(jnp.asarray([1, 2])), jnp.select([x > 0], [x], 0.0), jnp.histogram(x, bins=4)


# runs: taken_as_they_are(jnp.ones(2))


def stretched_on_the_host(x, factors):
    shape = (1, 2) + x.shape
    return np.ones(2) * (1.0, 2.0) + np.asarray(x) * [1.0, 2.0], x * jnp.asarray(factors), shape


# runs: stretched_on_the_host(jnp.ones(2), [1.0, 2.0])


def layer(x):
    return x * 2.0


def forgotten(x):
    return jax.nn.tanh(layer)  # expect: non-array-argument


# raises TypeError: forgotten(jnp.ones(2))


def forgotten_second(x):
    return jnp.maximum(x, layer)  # expect: non-array-argument


# raises TypeError: forgotten_second(jnp.ones(2))


def forgotten_partial(x):
    return jnp.sum(partial(layer, x))  # expect: non-array-argument


# raises TypeError: forgotten_partial(jnp.ones(2))


def forgotten_jit(x):
    return jnp.mean(jax.jit(layer))  # expect: non-array-argument


# raises TypeError: forgotten_jit(jnp.ones(2))


class Wrapped:
    def __init__(self, x):
        self.x = x

    def __jax_array__(self):
        return self.x

    @property
    def twice(self):
        return 2 * self.x


def called(x, activation=jnp.tanh):
    w = Wrapped(x)
    a = jnp.asarray(w), jnp.exp(w.twice), activation(x), jnp.sum(jnp.pi)
    return a, jnp.vectorize(layer)(x), jnp.apply_along_axis(layer, 0, x), jnp.sum(layer(x))


def given(x, shift=layer):
    return jnp.exp(shift(x) if callable(shift) else shift)


# runs: called(jnp.ones(2)), given(jnp.ones(2)), given(jnp.ones(2), 1.0)


# --- what a jitted function returns ------------------------------------------------


@jax.jit
def updated(params, lr):
    return jax.tree, map(lambda p: p - lr, params)  # expect: non-array-argument


@jax.jit
def scaled_all(xs):
    return (2 * x for x in xs)  # expect: non-array-argument


@jax.jit
def with_name(x):
    return {"x": x, "name": "scaled"}  # expect: non-array-argument


@jax.jit
def with_shape(x):
    return x, x.shape, None, tuple(2 * row for row in x)


# runs: with_shape(jnp.ones(2))


# --- seeds that are None --------------------------------------------------------------


def fresh_key(seed=None):
    return jax.random.PRNGKey(seed)  # expect: non-array-argument


def chosen_key(seed=None):
    seed = 0 if seed is None else seed
    return jax.random.key(seed)


# runs: fresh_key(1), chosen_key()
