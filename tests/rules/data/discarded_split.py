"""New keys that nobody uses."""

import re

import jax
import jax.numpy as jnp
from jax import random


def split(key):
    jax.random.split(key)  # expect: discarded-split
    return key


def folded(key):
    random.fold_in(key, 1)  # expect: discarded-split
    return jax.random.normal(key)


def cloned(key):
    random.clone(key)  # expect: discarded-split
    return key


# runs: split(jax.random.key(0)), folded(jax.random.key(0)), cloned(jax.random.key(0))


# --- never flagged -------------------------------------------------------------


class Box:
    def __init__(self):
        self.parts = []

    def split(self, text):
        self.parts = re.split(",", text)

    def clone(self):
        self.parts = list(self.parts)


def others(text):
    box = Box()
    box.split(text)
    box.clone()
    return box.parts, jnp.split(jnp.ones(4), 2)


def used(key):
    keys = random.split(key)
    return [jax.random.normal(k) for k in keys]


# runs: others("a,b"), used(jax.random.key(0))
