"""Builtins of Python and functions of math on traced values."""

import math

import jax
import jax.numpy as jnp


@jax.jit
def larger(x, y):
    return max(jnp.sum(x), y)  # expect: builtin-on-tracer


# raises TracerBoolConversionError: larger(jnp.ones(2), 1.0)


@jax.jit
def smaller(x):
    return min(0.0, jnp.sum(x))  # expect: builtin-on-tracer


# raises TracerBoolConversionError: smaller(jnp.ones(2))


@jax.jit
def largest(x):
    return max([jnp.sum(x), jnp.min(x), 1.0])  # expect: builtin-on-tracer


# raises TracerBoolConversionError: largest(jnp.ones(2))


@jax.jit
def over_an_axis(x):
    return max(jnp.sin(x))  # expect: builtin-on-tracer


# raises TracerBoolConversionError: over_an_axis(jnp.ones(3))


@jax.jit
def ranked(x):
    return sorted((jnp.sum(x), jnp.min(x)))  # expect: builtin-on-tracer


# raises TracerBoolConversionError: ranked(jnp.ones(2))


@jax.jit
def any_of(x):
    return any([jnp.sum(x) > 0, jnp.min(x) > 0])  # expect: builtin-on-tracer


# raises TracerBoolConversionError: any_of(jnp.ones(2))


@jax.jit
def all_of(parts):
    return all(jnp.all(p > 0) for p in parts)  # expect: builtin-on-tracer


# raises TracerBoolConversionError: all_of([jnp.ones(2)])


@jax.jit
def root(x):
    return math.sqrt(jnp.sum(x))  # expect: builtin-on-tracer


# raises ConcretizationTypeError: root(jnp.ones(2))


@jax.jit
def floored(x):
    return math.floor(jnp.sum(x))  # expect: builtin-on-tracer


# raises ConcretizationTypeError: floored(jnp.ones(2))


@jax.jit
def second_argument(x):
    return math.pow(2.0, jnp.sum(x))  # expect: builtin-on-tracer


# raises ConcretizationTypeError: second_argument(jnp.ones(2))


def differentiated(x):
    return x * math.exp(x)  # expect: builtin-on-tracer


slope = jax.grad(differentiated)
# raises ConcretizationTypeError: slope(1.0)


# --- never flagged -------------------------------------------------------------


@jax.jit
def served_by_the_array(x, tree):
    total = jnp.sum(x)
    q, r = divmod(total, 3)
    rest = abs(total) + pow(total, 2) + sum([q, r]) + round(total, 1) + math.prod([total, 2.0])
    names = sorted(tree) + [max(tree), min(tree.keys())]
    return rest + len(names) + max(x.shape) + min(len(x), 3) + math.sqrt(x.shape[0]) + math.pi + max([total])


# runs: served_by_the_array(jnp.ones(3), {"a": 1.0, "b": 2.0})


@jax.jit
def over_host_values(x, shapes=((1, 2), (3, 4))):
    if any(n > 2 for n in x.shape) or all(isinstance(v, jax.Array) for v in (x, x)):
        return x * max(1, 2.0, x.ndim) + sorted([3, 1])[0]
    return x


# runs: over_host_values(jnp.ones(3))


def concrete(x):
    return max(x, 0.0) + min(x, 1.0) + sorted([x, 0.5])[0]  # expect: builtin-on-tracer


concrete_slope = jax.grad(concrete)
# runs: concrete_slope(1.0)


def eager(xs):
    losses = [jnp.sum(x) for x in xs]
    return max(losses), sorted(losses), any(x > 0 for x in losses), math.sqrt(losses[0])


# runs: eager([jnp.ones(2), jnp.ones(3)])
