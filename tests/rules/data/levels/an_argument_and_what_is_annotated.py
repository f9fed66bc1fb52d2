import abc
from dataclasses import dataclass
from typing import Protocol

import jax
import jax.numpy as jnp


class Schedule:
    def __init__(self, scale):
        self.scale = scale


class Registered:
    def __init__(self, scale):
        self.scale = scale


class Sized(Protocol):
    scale: float


class Base(abc.ABC):
    scale: float


class Count(int):
    pass


@dataclass
class Settings:
    scale: float


@jax.jit
def scaled(x, schedule: Schedule):
    return x * schedule.scale


@jax.jit
def uncalled(x, settings: Settings):  # warning: non-array-argument
    return x * settings.scale


@jax.jit
def registered(x, settings: Registered):
    return x * settings.scale


@jax.jit
def sized(x, one: Sized, other: Base, count: Count):
    return x * one.scale * other.scale * count


def flatten(settings):
    return (settings.scale,), None


def unflatten(_, leaves):
    return Registered(*leaves)


jax.tree_util.register_pytree_node(Registered, flatten, unflatten)
scaled(jnp.ones(3), Schedule(2.0))  # error: non-array-argument
