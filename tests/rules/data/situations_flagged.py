"""Defects that only the way through the program shows."""

from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp

# --- a factory whose result is staged; the defect is in a scan of a scan ---


def make_train(config):
    def train(key):
        def update(carry, _):
            def step(state, x):
                if state > config["limit"]:  # expect: traced-branch
                    state = state - 1.0
                return state + x, state

            return jax.lax.scan(step, carry, jnp.arange(3.0))

        return jax.lax.scan(update, jax.random.normal(key), None, length=2)

    return train


train = jax.jit(make_train({"limit": 0.5}))
# raises TracerBoolConversionError: train(jax.random.key(0))


# --- a function handed to a function, which differentiates it under jit ---


def gradient_step(loss_fn, w):
    return w - 0.1 * jax.grad(loss_fn)(w)


@jax.jit
def fit(w):
    def loss(w):
        total = jnp.sum(w**2)
        return total if total < 1 else jnp.sqrt(total)  # expect: traced-branch

    return gradient_step(loss, w)


# raises TracerBoolConversionError: fit(jnp.ones(2))


# --- a method of a subclass, reached through a base class that stages it ---

S = TypeVar("S")


class Environment(Generic[S]):
    @partial(jax.jit, static_argnums=0)
    def step(self, state, action):
        return self.step_env(state, action)

    def step_env(self, state, action):
        raise NotImplementedError


class CartState(NamedTuple):
    x: jax.Array
    time: int


class Cart(Environment[CartState]):
    def step_env(self, state: CartState, action):
        x = state.x + action
        if state.time > 10:  # expect: traced-branch
            x = jnp.zeros_like(x)
        return CartState(x, state.time + 1)


# raises TracerBoolConversionError: Cart().step(CartState(jnp.ones(()), 0), 1.0)


# --- tree.map runs its function on traced leaves ---


def clip_leaf(g):
    return jnp.clip(g, -1, 1) if jnp.max(g) > 1 else g  # expect: traced-branch


@jax.jit
def clip_all(grads):
    return jax.tree.map(clip_leaf, grads)


# raises TracerBoolConversionError: clip_all({"w": jnp.ones(2)})


# --- a property of a pytree ---


class Particles(NamedTuple):
    mass: jax.Array
    position: jax.Array

    @property
    def count(self):
        return int(jnp.sum(self.mass > 0))  # expect: host-cast


@jax.jit
def energy(particles: Particles):
    return particles.mass.sum() / particles.count


# raises ConcretizationTypeError: energy(Particles(jnp.ones(2), jnp.ones(2)))


# --- arguments that travel through *args and **kwargs ---


def forwarded(f, *args, **kwargs):
    return f(*args, **kwargs)


def decide(x, *, scale):
    return x if scale > 1 else -x  # expect: traced-branch


@jax.jit
def forwards(x, scale):
    return forwarded(decide, x, scale=scale)


# raises TracerBoolConversionError: forwards(1.0, 2.0)


# --- an optimiser as a pair of closures ---


class Transformation(NamedTuple):
    init: Any
    update: Any


def clipped(limit):
    def init(params):
        return jnp.zeros(())

    def update(grads, state):
        norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grads)))
        if norm > limit:  # expect: traced-branch
            grads = jax.tree.map(lambda g: g * limit / norm, grads)
        return grads, state

    return Transformation(init, update)


optimiser = clipped(1.0)


@jax.jit
def optimise(params, state):
    grads = jax.grad(lambda p: jnp.sum(p["w"] ** 2))(params)
    return optimiser.update(grads, state)


# raises TracerBoolConversionError: optimise({"w": jnp.ones(2)}, optimiser.init(None))


# --- decorators of the project's own, and attributes set in __init__ ---


def compiled(f):
    return jax.jit(f)


@compiled
def doubled(x):
    return 2 * x if x > 0 else x  # expect: traced-branch


# raises TracerBoolConversionError: doubled(1.0)


class Agent:
    def __init__(self, threshold):
        self.threshold = threshold
        self._act = jax.jit(self.act)

    def act(self, observation):
        if observation.mean() > self.threshold:  # expect: traced-branch
            return 1
        return 0

    def __call__(self, observation):
        return self._act(observation)


# raises TracerBoolConversionError: Agent(0.5)(jnp.ones(2))


# --- branches of cond get traced operands, eagerly too ---


def branch(x):
    return x if x > 0 else -x  # expect: traced-branch


def choose(flag, x):
    return jax.lax.cond(flag, branch, lambda x: x, x)


# raises TracerBoolConversionError: choose(True, 1.0)
