"""Modules of Equinox whose attributes are set, when they are frozen and when they are not."""

from typing import Any, ClassVar, Optional

import equinox as eqx
import jax
import jax.numpy as jnp


class Counter(eqx.Module):
    count: jax.Array
    label: Optional[str] = None
    plain = 3
    shared: ClassVar[int] = 1

    def __init__(self, start):
        self.count = jnp.asarray(start)
        self.count += 1
        self.rename("counter")
        self.total = start  # expect: frozen-attribute
        self.plain = 4  # expect: frozen-attribute

    def rename(self, label):
        self._set(label)

    def _set(self, label):
        self.label = label

    def __check_init__(self):
        self.label = "checked"  # expect: frozen-attribute

    def step(self):
        self.count += 1  # expect: frozen-attribute
        return self.count

    @eqx.filter_jit
    def __call__(self, x):
        self.last = x  # expect: frozen-attribute
        return x


# raises AttributeError: Counter(1)


class Base(eqx.Module):
    width: int

    def __init__(self, width):
        self.width = width
        self.depth = 2


class Deep(Base):
    depth: int


# runs: Deep(3)


class Derived(eqx.Module):
    width: int
    double: int = eqx.field(init=False)

    def __post_init__(self):
        self.double = 2 * self.width


# runs: Derived(3)


class Open(eqx.Module):
    width: int = 1

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)

    def widen(self):
        self.width += 1
        object.__setattr__(self, "width", 3)


# runs: Open().widen()


class Plain:
    def __init__(self):
        self.layer = eqx.nn.Linear(2, 2, key=jax.random.key(0))
        self.layer.weight = jnp.zeros((2, 2))  # expect: frozen-attribute

    def replace(self, weight: Any):
        self.layer = eqx.tree_at(lambda layer: layer.weight, self.layer, weight)


# raises AttributeError: Plain()


def reset(counter: Counter):
    counter.count = jnp.zeros(())  # expect: frozen-attribute
    return counter


def tried(counter: Counter):
    try:
        counter.count = jnp.zeros(())
    except AttributeError:
        return None
    return counter


class Trainer:
    def __init__(self, name):
        networks = {"counter": Counter, "derived": Derived}
        mixed = {"counter": Counter, "plain": Plain}
        self.network = networks[name](1)
        self.other = mixed[name](1)

    def step(self, params):
        self.network.state = params  # expect: frozen-attribute
        self.other.state = params
