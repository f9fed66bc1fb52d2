"""Containers in modules of nnx: those that Flax refuses, and those that it takes."""

import jax.numpy as jnp
from flax import nnx


class Experts(nnx.Module):
    def __init__(self, *, rngs):
        self.sizes = [2, 4]
        self.experts = []
        for size in self.sizes:
            self.experts.append(nnx.Linear(2, size, rngs=rngs))  # expect: plain-container-in-module


# runs: Experts(rngs=nnx.Rngs(0))


class Heads(nnx.Module):
    def __init__(self, *, rngs):
        self.heads = {"a": Inner(rngs=rngs)}  # expect: plain-container-in-module


# runs: Heads(rngs=nnx.Rngs(0))


class Pair(nnx.Module):
    def __init__(self):
        self.pair = (jnp.ones(2), jnp.ones(2))  # expect: plain-container-in-module
        self.scales = [nnx.Param(jnp.ones(2))]  # expect: plain-container-in-module


# runs: Pair()


class Inner(nnx.Module):
    def __init__(self, *, rngs):
        layers = []
        for _ in range(2):
            layers.append(nnx.Linear(2, 2, rngs=rngs))
        self.layers = nnx.List(layers)
        self.norms = nnx.data([nnx.LayerNorm(2, rngs=rngs)])
        self.names = []
        self.names.append("layer")


class Plain(nnx.Module, pytree=False):
    def __init__(self, *, rngs):
        self.layers = [nnx.Linear(2, 2, rngs=rngs)]


class Declared(nnx.Module):
    layers: nnx.Data[list]
    held: list = nnx.data()

    def __init__(self, *, rngs):
        self.layers = [nnx.Linear(2, 2, rngs=rngs)]
        self.held = [nnx.Linear(2, 2, rngs=rngs)]


# runs: Inner(rngs=nnx.Rngs(0)), Plain(rngs=nnx.Rngs(0)), Declared(rngs=nnx.Rngs(0))
