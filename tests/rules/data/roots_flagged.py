"""Every way to stage a function, each with a defect inside."""

import functools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import jit, lax, vmap
from jax.experimental import checkify
from jax.sharding import Mesh, PartitionSpec


def bad(x):
    return x if x > 0 else -x  # expect: traced-branch


# The first line of evidence differs, the finding is one; JAX is asked through each root.
by_call = jax.jit(bad)
by_partial = functools.partial(jax.jit, static_argnums=())(bad)
by_lambda = jax.jit(lambda x: bad(x))
by_two = jit(vmap(bad))
# raises TracerBoolConversionError: by_call(1.0)
# raises TracerBoolConversionError: by_partial(1.0)
# raises TracerBoolConversionError: by_lambda(1.0)
# raises TracerBoolConversionError: by_two(jnp.ones(2))


def mapped(xs):
    return lax.map(lambda x: 1.0 if x > 0 else 0.0, xs)  # expect: traced-branch


# raises TracerBoolConversionError: mapped(jnp.ones(2))


def looped(x):
    def cond_fun(v):
        return v > 0 and v < 10  # expect: traced-branch

    return lax.while_loop(cond_fun, lambda v: v + 1, x)


# raises TracerBoolConversionError: looped(1.0)


def switched(i, x):
    branches = [lambda v: v, lambda v: float(v)]  # expect: host-cast
    return lax.switch(i, branches, x)


# raises ConcretizationTypeError: switched(0, 1.0)


def conditional(flag, x):
    return lax.cond(flag, lambda: x * int(flag), lambda: x)  # expect: host-cast


@jax.jit
def conditional_in_jit(flag, x):
    return conditional(flag, x)


# raises ConcretizationTypeError: conditional_in_jit(True, 1.0)


def checkpointed(x):
    @jax.checkpoint
    def block(v):
        assert v.sum() > 0  # expect: traced-branch
        return jnp.sin(v)

    return block(x)


# raises TracerBoolConversionError: checkpointed(jnp.ones(2))


def shapes(x):
    def f(v):
        return v if v[0] > 0 else -v  # expect: traced-branch

    return jax.eval_shape(f, x)


# raises TracerBoolConversionError: shapes(jnp.ones(2))


def jaxpr(x):
    def f(v):
        return np.tanh(v)  # expect: numpy-on-tracer

    return jax.make_jaxpr(f)(x)


# raises TracerArrayConversionError: jaxpr(1.0)


def scanned(xs):
    def body(scale, carry, x):
        if carry > scale:  # expect: traced-branch
            carry = carry - scale
        return carry + x, carry

    return lax.scan(partial(body, 2.0), 0.0, xs)


# raises TracerBoolConversionError: scanned(jnp.ones(2))


class Counter:
    def __init__(self, limit):
        self.limit = limit

    @partial(jax.jit, static_argnums=0)
    def step(self, x):
        if x > self.limit:  # expect: traced-branch
            return x - self.limit
        return x

    @staticmethod
    @jax.jit
    def reset(x):
        return x.item()  # expect: host-item

    @classmethod
    def run(cls, xs):
        return jax.vmap(cls.clip)(xs)

    @classmethod
    def clip(cls, x):
        return max(x, 0.0)  # expect: builtin-on-tracer


# raises TracerBoolConversionError: Counter(1.0).step(2.0)
# raises ConcretizationTypeError: Counter.reset(2.0)
# raises TracerBoolConversionError: Counter.run(jnp.ones(2))


@jax.custom_vjp
def clipped(x):
    return jnp.clip(x, -1, 1)


def clipped_fwd(x):
    return clipped(x), x


def clipped_bwd(x, g):
    return (g if jnp.abs(x) < 1 else 0.0,)  # expect: traced-branch


clipped.defvjp(clipped_fwd, clipped_bwd)
staged_gradient = jax.jit(jax.grad(clipped))
# raises TracerBoolConversionError: staged_gradient(0.5)


def sharded(x):
    mesh = Mesh(np.array(jax.devices()[:1]), ("i",))

    def local(v):
        return v if v.sum() > 0 else -v  # expect: traced-branch

    return jax.shard_map(local, mesh=mesh, in_specs=PartitionSpec("i"), out_specs=PartitionSpec("i"))(x)


# raises TracerBoolConversionError: sharded(jnp.ones(2))


def hessian(x):
    def f(v):
        return jnp.sum(v) * float(v[0])  # expect: host-cast

    return jax.hessian(f)(x)


# raises ConcretizationTypeError: hessian(jnp.ones(2))


def vjp(x):
    def f(v):
        return np.exp(v)  # expect: numpy-on-tracer

    y, pullback = jax.vjp(f, x)
    return pullback(y)


# raises TracerArrayConversionError: vjp(1.0)


def jvp(x):
    return jax.jvp(lambda v: v * len({v}), (x,), (1.0,))  # expect: traced-hash


# raises TypeError: jvp(1.0)


def reduced(tree):
    @jax.jit
    def f(t):
        return jax.tree.reduce(lambda a, b: a if a > b else b, t)  # expect: traced-branch

    return f(tree)


# raises TracerBoolConversionError: reduced([1.0, 2.0])


def associative(xs):
    def combine(a, b):
        return jnp.where(a > b, a, b) + (1 if jnp.any(a > b) else 0)  # expect: traced-branch

    return jax.jit(lambda v: lax.associative_scan(combine, v))(xs)


# raises TracerBoolConversionError: associative(jnp.ones(4))


@jax.jit
def with_defaults(x, *, scale=None):
    if scale is None:
        scale = x.max()
    if scale > 1:  # expect: traced-branch
        x = x / scale
    return x


# raises TracerBoolConversionError: with_defaults(jnp.ones(2))


def checked(x):
    @checkify.checkify
    def f(v):
        return v if v > 0 else -v  # expect: traced-branch

    return jax.jit(f)(x)


# raises TracerBoolConversionError: checked(1.0)


def nested(x):
    @jax.jit
    def outer(v):
        def inner(w):
            total = 0.0
            for k in range(w):  # expect: traced-range
                total = total + k
            return total

        return inner(v) + 1

    return outer(x)


# raises TracerIntegerConversionError: nested(3)

TABLE = {"bad": bad}


def dispatched(name, x):
    return jax.jit(TABLE[name])(x)


# raises TracerBoolConversionError: dispatched("bad", 1.0)


class Env:
    def reset(self, key):
        return jax.random.uniform(key, (2,))

    def step(self, state, action):
        state = state + action
        done = state.sum() > 1
        return (self.reset(jax.random.key(0)) if done else state), done  # expect: traced-branch, constant-key


class Wrapper:
    def __init__(self, env):
        self.env = env

    def step(self, state, action):
        return self.env.step(state, action)


def rollout(actions):
    env = Wrapper(Env())
    return lax.scan(env.step, jnp.zeros(2), actions)


# raises TracerBoolConversionError: rollout(jnp.ones(3))
