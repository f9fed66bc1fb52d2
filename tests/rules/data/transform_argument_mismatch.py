"""Transforms and the functions, arguments and results that they have to fit."""

from functools import partial

import jax
import jax.numpy as jnp


def energy(x, y):
    return jnp.sum(x**2) * jnp.sum(y)


def with_aux(x):
    total = jnp.sum(x**2)
    return total, {"total": total}


def plain(x):
    return jnp.sum(x**2)


def position_beyond(x):
    return jax.grad(energy, argnums=2)(x, x)  # expect: transform-argument-mismatch


# raises TypeError: position_beyond(jnp.ones(2))


def position_by_name(x):
    return jax.value_and_grad(energy, argnums="y")(x, x)  # expect: transform-argument-mismatch


# raises TypeError: position_by_name(jnp.ones(2))


def differentiated_by_keyword(x):
    force = jax.jacfwd(plain)
    return force(x=x)  # expect: transform-argument-mismatch


# raises ValueError: differentiated_by_keyword(jnp.ones(2))


def too_many_axes(x):
    return jax.vmap(energy, in_axes=(0, 0, None))(x, x)  # expect: transform-argument-mismatch


# raises ValueError: too_many_axes(jnp.ones((2, 2)))


def too_few_axes(x):
    return jax.vmap(energy, in_axes=(0,))(x, x)  # expect: transform-argument-mismatch


# raises ValueError: too_few_axes(jnp.ones((2, 2)))


def too_few_arguments(x):
    each = jax.vmap(energy, in_axes=(0, 0))
    return each(x, y=x)  # expect: transform-argument-mismatch


# raises ValueError: too_few_arguments(jnp.ones((2, 2)))


def axis_of_a_number(x):
    return jax.vmap(energy)(x, 2.0)  # expect: transform-argument-mismatch


# raises ValueError: axis_of_a_number(jnp.ones((2, 2)))


def flag_as_keyword(x):
    def scaled(row, double=False):
        return row * (1 + double)

    return jax.vmap(scaled)(x, double=True)  # expect: transform-argument-mismatch


# raises ValueError: flag_as_keyword(jnp.ones((2, 2)))


def axis_beyond_rank():
    return jax.vmap(energy, in_axes=(0, 1))(jnp.ones((2, 3)), jnp.ones(2))  # expect: transform-argument-mismatch


# raises ValueError: axis_beyond_rank()


def axes_of_other_keys(w, b):
    each = jax.vmap(lambda p: p["w"] + p["b"], in_axes=({"w": 0},))
    return each({"w": w, "b": b})  # expect: transform-argument-mismatch


# raises ValueError: axes_of_other_keys(jnp.ones(2), 1.0)


def nothing_mapped(x):
    return jax.vmap(energy, in_axes=(None, None))(x, x)  # expect: transform-argument-mismatch


# raises ValueError: nothing_mapped(jnp.ones(2))


def named_axis(x):
    return jax.vmap(energy, in_axes=("batch", 0))(x, x)  # expect: transform-argument-mismatch


# raises TypeError: named_axis(jnp.ones((2, 2)))


def axes_of_other_result(x):
    return jax.vmap(plain, out_axes=(0, 1))(x)  # expect: transform-argument-mismatch


# raises ValueError: axes_of_other_result(jnp.ones((2, 2)))


def static_beyond(x):
    return jax.checkpoint(plain, static_argnums=(1,))(x)  # expect: transform-argument-mismatch


# raises ValueError: static_beyond(jnp.ones(2))


def no_function(x):
    return jax.grad(plain(x))(x)  # expect: transform-argument-mismatch


# raises TypeError: no_function(jnp.ones(2))


def aux_forgotten(x):
    (value, aux), grads = jax.value_and_grad(with_aux)(x)  # expect: transform-argument-mismatch
    return value, aux, grads


# raises TypeError: aux_forgotten(jnp.ones(2))


def aux_missing(x):
    return jax.grad(plain, has_aux=True)(x)  # expect: transform-argument-mismatch


# raises TypeError: aux_missing(jnp.ones(2))


def nothing_returned(x):
    def loss(v):
        total = jnp.sum(v)
        print(total.shape)

    return jax.grad(loss)(x)  # expect: transform-argument-mismatch


# raises TypeError: nothing_returned(jnp.ones(2))


def flat_unpacking(x):
    value, aux, grads = jax.value_and_grad(with_aux, has_aux=True)(x)  # expect: transform-argument-mismatch
    return value, aux, grads


# raises ValueError: flat_unpacking(jnp.ones(2))


def nested_unpacking(x):
    result = jax.value_and_grad(plain)(x)
    (value, aux), grads = result  # expect: transform-argument-mismatch
    return value, aux, grads


# raises TypeError: nested_unpacking(jnp.ones(2))


def gradients_of_both():
    dx, dy = jax.grad(energy)(2.0, 3.0)  # expect: transform-argument-mismatch
    return dx, dy


# raises TypeError: gradients_of_both()


def no_aux_from_vjp(x):
    out, pullback, aux = jax.vjp(with_aux, x)  # expect: transform-argument-mismatch
    return out, pullback(1.0), aux


# raises ValueError: no_aux_from_vjp(jnp.ones(2))


def vjp_backwards(x):
    pullback, out = jax.vjp(plain, x)
    return out, pullback(1.0)  # expect: transform-argument-mismatch


# raises TypeError: vjp_backwards(jnp.ones(2))


def bare_primals():
    return jax.jvp(plain, jnp.ones(2), jnp.ones(2))  # expect: transform-argument-mismatch


# raises TypeError: bare_primals()


def one_tangent(x):
    return jax.jvp(energy, (x, x), (x,))  # expect: transform-argument-mismatch


# raises TypeError: one_tangent(jnp.ones(2))


# The function and the transform are what does not fit, so the finding stands there; the call of the result raises.


def aux_forgotten_earlier(x):
    step = jax.value_and_grad(with_aux)  # expect: transform-argument-mismatch
    (value, aux), grads = step(x)
    return value, aux, grads


def too_few_axes_earlier(x):
    each = jax.vmap(energy, in_axes=(0,))  # expect: transform-argument-mismatch
    return each(x, x)


class Trainer:
    @partial(jax.value_and_grad, argnums=1, has_aux=True)  # expect: transform-argument-mismatch
    def loss(self, w):
        return jnp.sum(w), w, {}

    def step(self, w):
        return self.loss(w)


def mean_of_each(x):
    return jax.vmap(jnp.mean, in_axes=1)(x), jax.vmap(lambda v: jnp.mean(v), 1, 1)(x)  # expect: transform-argument-mismatch


def losses_of_each(x):
    return jax.vmap(lambda v: {"a": jnp.sum(v) - jnp.max(v)}, out_axes=-2)(x)  # expect: transform-argument-mismatch


def mean_and_rest(x):
    return jax.vmap(lambda v: (jnp.mean(v), v), out_axes=(1, 0))(x)  # expect: transform-argument-mismatch


def mapped_over_a_mean(x):
    return jax.vmap(jnp.sin)(jnp.mean(x))  # expect: transform-argument-mismatch


# raises ValueError: mean_of_each(jnp.ones((3, 4)))
# raises ValueError: losses_of_each(jnp.ones((3, 4)))
# raises ValueError: mean_and_rest(jnp.ones((3, 4)))
# raises ValueError: mapped_over_a_mean(jnp.ones(3))


# --- never flagged -------------------------------------------------------------


def of_many(scale, *arrays, **options):
    return scale * sum(jnp.sum(a) for a in arrays)


def member(params, x, t=0.0):
    return {"y": params["w"] * x + params["b"] + t, "n": jnp.sum(x)}


def choose(flag):
    def loss(x):
        return with_aux(x) if flag else plain(x)

    step = jax.value_and_grad(loss, has_aux=flag)

    def run(x):
        if flag:
            (value, _aux), grads = step(x)
        else:
            value, grads = step(x)
        return value, grads

    return run


def doubled(function):
    def inner(*args):
        return 2 * function(*args)

    return inner


@doubled
def first_only(x, y):
    return jnp.sum(x)


class Model:
    def __init__(self, flag):
        self.flag = flag

    @property
    def critic(self):
        return jax.vmap(plain, in_axes=(0,)) if self.flag else jax.vmap(energy, in_axes=(0, None))

    def run(self, x):
        return self.critic(x) if self.flag else self.critic(x, x)


def derivatives(x):
    a = jax.grad(of_many, argnums=(0, 2))(1.0, x, x)
    b = jax.grad(energy, argnums=-1)(x, x)
    c = jax.grad(first_only, argnums=1)(x, x)
    (value, aux), grads = jax.value_and_grad(with_aux, has_aux=True)(x)
    grads_only, aux_only = jax.grad(with_aux, has_aux=True)(x)
    dx, dy = jax.grad(energy, argnums=(0, 1))(x, x)
    left, right = jax.grad(lambda v: jnp.sum(v**2))(x)
    both = jax.jacfwd(lambda q, p: (q * p, q + p), argnums=(0, 1))(2.0, 3.0)
    (d00, d01), (d10, d11) = both
    return a, b, c, value, aux, grads, grads_only, aux_only, dx, dy, left, right, d00, d01, d10, d11


def products(x):
    out, pullback = jax.vjp(plain, x)
    out2, pullback2, aux = jax.vjp(with_aux, x, has_aux=True)
    out3, tangent3 = jax.jvp(energy, (x, x), (x, x))
    out4, tangent4, aux4 = jax.jvp(with_aux, [x], [x], has_aux=True)
    out5, along = jax.linearize(plain, x)
    return out, pullback(1.0), out2, pullback2(1.0), aux, out3, tangent3, out4, tangent4, aux4, out5, along(x)


def mapped(x):
    ensemble = jax.vmap(member, in_axes=({"w": 0, "b": None}, None), out_axes={"y": 1, "n": None})
    a = ensemble({"w": x, "b": 1.0}, x)
    b = jax.vmap(energy, in_axes=(0,))(x, y=x)
    c = jax.vmap(energy, in_axes=[0, None])(x, 2.0)
    d = jax.vmap(energy, in_axes=None)(1.0, y=x)
    e = jax.vmap(partial(energy, y=1.0), in_axes=(0,), out_axes=0)(x)
    f = jax.vmap(energy, in_axes=None, axis_size=3)(1.0, 2.0)
    g = jax.vmap(lambda v, w: v, in_axes=(-1, 0))(jnp.ones((3, 2)), (x, None))
    h = jax.vmap(lambda v, w: (v, w), in_axes=(0, None), out_axes=(0, None))(x, {"a": x})
    return a, b, c, d, e, f, g, h


def static_ok(x):
    return jax.checkpoint(lambda v, n: v**n, static_argnums=(1,))(x, 2)


def fine(x):
    return static_ok(x), choose(True)(x), choose(False)(x), Model(True).run(x), Model(False).run(x)


# runs: derivatives(jnp.ones(2))
# runs: products(jnp.ones(2))
# runs: mapped(jnp.ones(2))
# runs: fine(jnp.ones(2))


def results_with_room(x, n: float):
    a = jax.vmap(lambda v: (jnp.mean(v), v), in_axes=1, out_axes=(0, 1))(x)
    b = jax.vmap(lambda v: jnp.mean(v, keepdims=True), out_axes=1)(x)
    c = jax.vmap(lambda v: jnp.mean(v), out_axes=-1)(x)
    d = jax.vmap(lambda v: v * n, out_axes=1)(x)
    e = jax.vmap(lambda v: jnp.sum(v, axis=-1), in_axes=1, out_axes=1)(jnp.ones((2, 3, 4)))
    return a, b, c, d, e


# runs: results_with_room(jnp.ones((3, 4)), 2.0)


def too_many_keys(x, key=None):
    if key is None:
        first, second = None, None
    else:
        first, second = jax.random.split(key, 4)  # expect: transform-argument-mismatch
    return x, first, second


# raises ValueError: too_many_keys(jnp.ones(2), jax.random.key(0))


def too_few_keys(key):
    key, noise, dropout = jax.random.split(key)  # expect: transform-argument-mismatch
    return key, noise, dropout


# raises ValueError: too_few_keys(jax.random.key(0))


def keys_with_a_rest(key, count: int):
    key, *rest = jax.random.split(key, 4)
    first, second = jax.random.split(key, count)
    (third, fourth), fifth = jax.random.split(first, (2, 2)), second
    return rest, third, fourth, fifth


# runs: keys_with_a_rest(jax.random.key(0), 2)
