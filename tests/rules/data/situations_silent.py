"""Code of real projects that looks like a defect and is none."""

import enum
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

DEBUG = False


@jax.jit
def split_observation(obs):
    pixels = {k: v for k, v in obs.items() if k.startswith("pixels/")}
    rest = [v for k, v in obs.items() if k not in pixels]
    return pixels, jnp.concatenate(rest) if rest else jnp.zeros(0)


# runs: split_observation({"pixels/a": jnp.ones(2), "state": jnp.ones(3)})


@jax.jit
def merge(params, partial_params):
    return {**params, **(partial_params or {})}


# runs: merge({"w": jnp.ones(2)}, None)


def as_batch(x):
    if jnp.isscalar(x) or jnp.ndim(x) == 0:
        x = jnp.reshape(x, (1,))
    if hasattr(x, "shape") and len(x.shape) == 1:
        return x[None]
    return x if hasattr(x, "ndim") else np.asarray(x)


@jax.jit
def batched(x):
    return as_batch(x) * 2


# runs: batched(1.0), as_batch([1.0, 2.0])


def is_tracer(x):
    return isinstance(x, jax.core.Tracer)


@jax.jit
def top(x, k=2.0):
    if not is_tracer(k) and k > 1:
        x = x * k
    if isinstance(x, (int, float, np.ndarray)) and x > 3:
        x = 3
    return x


# runs: top(jnp.ones(2)), top(jnp.ones(2), 3.0)


def take(table, i):
    if isinstance(table, list):
        return np.take(table, i)
    return jnp.take(table, i)


@jax.jit
def gather(table, i):
    return take(table, i)


# runs: gather(jnp.ones(3), 1), take([1.0, 2.0], 0)


def checked(x):
    if DEBUG:
        if jnp.any(jnp.isnan(x)):
            raise FloatingPointError("nan")
    return x


@jax.jit
def guarded(x):
    return checked(x) + 1


# runs: guarded(jnp.ones(2))


class Neighbors(NamedTuple):
    index: Any
    overflow: Any


def neighbor_fn(position, neighbors=None):
    if neighbors is None:
        count = int(jnp.sum(position > 0))
        return Neighbors(jnp.arange(max(count, 1)), False)
    return neighbors._replace(overflow=jnp.sum(position > 0) > neighbors.index.shape[0])


@jax.jit
def simulate(position, neighbors):
    return neighbor_fn(position, neighbors).overflow


# runs: simulate(jnp.ones(3), neighbor_fn(jnp.ones(3)))


def apply_on_axis(op, axis, args):
    return jax.vmap(op, in_axes=(axis,) + (None,) * len(args))


def scaled(row, factor, flip):
    return -row * factor if flip else row * factor


# runs: apply_on_axis(scaled, 0, (1, 2))(jnp.ones((2, 2)), 2.0, True)


class Base:
    def act(self, x, evaluation):
        raise NotImplementedError

    def __init__(self):
        self.run = jax.jit(self.act, static_argnames="evaluation")


class Greedy(Base):
    def act(self, x, evaluation):
        if evaluation:
            return jnp.argmax(x)
        return jnp.argmin(x)


# runs: Greedy().run(jnp.ones(2), evaluation=True)


def tree_all(tree):
    return jnp.all(jnp.stack([jnp.all(leaf) for leaf in jax.tree.leaves(tree)]))


@jax.jit
def chain(updates, states):
    new_states = []
    for state, scale in zip(states, (0.1, 0.2)):
        updates = jax.tree.map(lambda u, s=scale: u * s, updates)
        new_states.append(state)
    return updates, tuple(new_states)


# runs: chain({"w": jnp.ones(2)}, (jnp.ones(1), jnp.ones(1)))


def attention(q, k, *, mask=None, dropout_rate=0.0, key=None, inference=None):
    logits = q @ k.T
    if mask is not None:
        if mask.shape != logits.shape:
            raise ValueError(f"mask {mask.shape} for logits {logits.shape}")
        logits = jnp.where(mask, logits, -jnp.inf)
    if dropout_rate > 0 and not inference:
        if key is None:
            raise RuntimeError("dropout needs a key")
        logits = logits * jax.random.bernoulli(key, 1 - dropout_rate, logits.shape)
    return jax.nn.softmax(logits)


attend = jax.jit(partial(attention, dropout_rate=0.5))
# runs: attend(jnp.ones((2, 3)), jnp.ones((2, 3)), key=jax.random.key(0))


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def power(n, x):
    if n == 2:
        return x * x
    return x**n


@power.defjvp
def power_jvp(n, primals, tangents):
    (x,), (t,) = primals, tangents
    return power(n, x), n * power(n - 1, x) * t if n > 0 else jnp.zeros_like(x)


# runs: jax.jit(lambda x: power(2, x))(3.0), jax.grad(lambda x: power(2, x))(3.0)


class Space:
    def __init__(self, low, high, shape):
        self.low, self.high, self.shape = low, high, shape

    def sample(self, key):
        if self.low < self.high and len(self.shape) > 0:
            return jax.random.uniform(key, self.shape, minval=self.low, maxval=self.high)
        return jnp.zeros(self.shape)


space = Space(0.0, 1.0, (3,))
samples = jax.jit(jax.vmap(space.sample))
# runs: samples(jax.random.split(jax.random.key(0), 2))
