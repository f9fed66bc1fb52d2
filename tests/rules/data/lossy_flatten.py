"""Registered classes that JAX rebuilds otherwise than they were, and classes that look alike."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
from jax.tree_util import register_pytree_node_class


@register_pytree_node_class
class ByAux:
    def __init__(self, rate, decay=0.9, clip=None):
        self.rate = rate
        self.decay = decay
        self.limit = clip

    def step(self, x):
        return x if self.limit is None else jnp.clip(self.rate * x, 0, self.limit) * self.decay

    def tree_flatten(self):
        children = [self.rate]
        aux = (self.decay,)
        return children, aux  # expect: lossy-flatten

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, *aux)


@register_pytree_node_class
class Forgotten:
    def __init__(self, rate, *, floor=0.0):
        self.rate = rate
        self.floor = floor

    def step(self, x):
        return self.rate * x + self.floor

    def tree_flatten(self):
        return (self.rate,), {"floor": self.floor}

    @classmethod
    def tree_unflatten(cls, aux, children):
        (rate,) = children
        return cls(rate)  # expect: lossy-flatten


@register_pytree_node_class
class Swapped:
    def __init__(self, low, high, name):
        self.low = low
        self.high = high
        self.name = name

    def tree_flatten(self):
        return (self.high, self.low), {"name": self.name}  # expect: lossy-flatten

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(children[0], children[1], **aux)


class Called:
    def __init__(self, rate, floor=0.0):
        self.rate = rate
        self.floor = floor

    def step(self, x):
        return self.rate * x + self.floor

    def tree_flatten(self):
        return (self.rate,), None  # expect: lossy-flatten

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(children[0])


register_pytree_node_class(Called)


@register_pytree_node_class
@dataclasses.dataclass
class Fields:
    rate: jax.Array
    floor: float = 0.0

    def step(self, x):
        return self.rate * x + self.floor

    def tree_flatten(self):
        return (self.rate,), None  # expect: lossy-flatten

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


@jax.tree_util.register_pytree_with_keys_class
class Keyed:
    def __init__(self, rate, floor=0.0):
        self.rate = rate
        self.floor = floor

    def step(self, x):
        return self.rate * x + self.floor

    def tree_flatten_with_keys(self):
        return ((jax.tree_util.GetAttrKey("rate"), self.rate),), None  # expect: lossy-flatten

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


# --- never flagged -------------------------------------------------------------


@register_pytree_node_class
class Named:
    def __init__(self, low, high, name="", cache=None, verbose=False):
        self.low = low
        self.high = high
        self.name = name
        self.verbose = verbose
        self.cache = {} if cache is None else cache

    def width(self):
        if self.verbose:
            print(self.low, self.high)
        return self.high - self.low + len(self.cache)

    def __repr__(self):
        return self.name

    def tree_flatten(self):
        return (self.high, self.low), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        high, low = children
        return cls(low, high)


@register_pytree_node_class
class Restored:
    def __init__(self, rate, floor=0.0):
        self.rate = rate
        self.floor = floor

    def step(self, x):
        return self.rate * x + self.floor

    def tree_flatten(self):
        return (self.rate,), self.floor

    @classmethod
    def tree_unflatten(cls, aux, children):
        made = cls(*children)
        made.floor = aux
        return made


@register_pytree_node_class
class Whole:
    def __init__(self, rate, floor=0.0):
        self.rate = rate
        self.floor = floor

    def step(self, x):
        return self.rate * x + self.floor

    def tree_flatten(self):
        return (self.rate,), self.floor

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, floor=aux)


@register_pytree_node_class
class Unknown:
    def __init__(self, rate, floor=0.0):
        self.rate = rate
        self.floor = floor

    def step(self, x):
        return self.rate * x + self.floor

    def tree_flatten(self):
        return tuple(vars(self).values()), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


class Plain:
    def __init__(self, rate, floor=0.0):
        self.rate = rate
        self.floor = floor

    @partial(jax.jit, static_argnums=0)
    def step(self, x):
        return self.rate * x + self.floor

    def tree_flatten(self):
        return (self.rate,), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


# runs: jax.tree.map(jnp.sin, [ByAux(1.0), Forgotten(1.0), Swapped(1.0, 2.0, "x"), Named(1.0, 2.0), Restored(1.0), Whole(1.0)])


@register_pytree_node_class
@dataclasses.dataclass
class Computed:
    rate: jax.Array
    floor: float = 0.0
    total: float = dataclasses.field(default=0.0, init=False)

    def step(self, x):
        return self.rate * x + self.floor + self.total

    def tree_flatten(self):
        return (self.rate, self.floor), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


# runs: jax.tree.map(jnp.sin, [Called(1.0), Fields(1.0), Keyed(1.0), Computed(1.0)])
