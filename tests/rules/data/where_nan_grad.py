"""Guards that hide a value and let the NaN of its gradient through."""

import jax
import jax.numpy as jnp
from jax import lax


def distances(r):
    d2 = jnp.sum((r[:, None] - r[None]) ** 2, axis=-1)
    return jnp.where(d2 > 0, jnp.sqrt(d2), 0.0)  # expect: where-nan-grad


energy_gradient = jax.jit(jax.grad(lambda r: jnp.sum(distances(r))))
# runs: energy_gradient(jnp.ones((3, 2)))


def unit(v):
    n = jnp.linalg.norm(v)
    return jnp.where(n == 0, v, v / n)  # expect: where-nan-grad


@jax.jit
def step(params, x):
    def loss(params):
        p = params["p"]
        entropy = -jnp.sum(jnp.where(p > 0, p * jnp.log(p), 0.0))  # expect: where-nan-grad
        ratio = jnp.where(jnp.abs(p) > 1e-6, x / p, 0.0)  # expect: where-nan-grad
        angle = jnp.where(p < 1.0, jnp.arccos(p), 0.0)  # expect: where-nan-grad
        return entropy + jnp.sum(unit(params["v"])) + jnp.sum(ratio) + jnp.sum(angle)

    return jax.value_and_grad(loss)(params)


# runs: step({"p": jnp.ones(3), "v": jnp.ones(2)}, jnp.ones(3))


# --- never flagged -------------------------------------------------------------


def twice_guarded(r2):
    positive = r2 > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, r2, 1.0)), 0.0)


def never_singular(x):
    return jnp.where(x > 0, x / (1.0 + jnp.exp(-x * x)), jnp.log1p(x * x))


def shifted(x):
    return jnp.where(x > 0, jnp.sqrt(x * x + 1.0), 1.0) + jnp.where(x > 0.5, jnp.log(jnp.maximum(x, 0.5)), 0.0)


def of_data(w, degree):
    return jnp.sum(w * jnp.where(degree > 0, 1.0 / degree, 0.0))


def stopped(w):
    n = jax.lax.stop_gradient(jnp.sum(w))
    return jnp.where(n > 0, 1.0 / n, 0.0) * w.sum()


def log_one_minus_exp(x):
    return jnp.where(x > -0.7, jnp.log(-jnp.expm1(x)), jnp.log1p(-jnp.exp(x)))


@jax.jit
def quiet(x, degree):
    def total(x):
        each = (twice_guarded(x), never_singular(x), shifted(x), of_data(x, degree), stopped(x), log_one_minus_exp(-x))
        return sum(jnp.sum(v) for v in each)

    return jax.grad(total)(x)


def only_forward(x):
    return jnp.where(x > 0, jnp.sqrt(x), 0.0)


# runs: quiet(jnp.array([0.2, 1.0]), jnp.array([0.0, 2.0])), only_forward(jnp.ones(2))


# --- values that are replaced where they are NaN, and overflow in the branch that is not taken ---------


def tested_for_nan(p, x):
    l = jnp.sum(jnp.sqrt(x @ p))
    return jnp.where(jnp.isnan(l), 0.0, l)  # expect: where-nan-grad


def tested_for_finite(p, x):
    l = jnp.sum(jnp.sqrt(x @ p))
    return jnp.where(jnp.isfinite(l), l, 0.0)  # expect: where-nan-grad


def tested_for_no_nan(p, x):
    l = jnp.sum(jnp.sqrt(x @ p))
    return jnp.where(~jnp.isnan(l), l, 0.0)  # expect: where-nan-grad


def replaced(p, x):
    return jnp.sum(jnp.nan_to_num(p / x.sum()))  # expect: where-nan-grad


def left_out_of_a_sum(p, x):
    return jnp.nansum(p / x)  # expect: where-nan-grad


def slope_of_a_logarithm(p, x):
    return jnp.nanmean(jnp.log(p))


def slope_of_a_logarithm_again(p, x):
    l = jnp.log(p)
    return jnp.sum(jnp.where(jnp.isnan(l), 0, l))


def logarithm_of_zero(p, x):
    l = jnp.log(p)
    return jnp.sum(jnp.where(jnp.isfinite(l), l, 0))  # expect: where-nan-grad


def of_a_length(p, x):
    l = p / x.shape[0]
    return jnp.sum(jnp.where(jnp.isfinite(l), l, 0))


def with_a_floor(p, x):
    l = p / (x.sum() + 1e-6)
    return jnp.sum(jnp.where(jnp.isfinite(l), l, 0))


def elu(p, x):
    return jnp.sum(jnp.where(p > 0, p, jnp.expm1(p)))  # expect: where-nan-grad


def decay(p, x):
    return jnp.sum(jnp.where(p > 0, jnp.exp(-p), 0))  # expect: where-nan-grad


def elu_with_a_bound(p, x):
    return jnp.sum(jnp.where(p > 0, p, jnp.expm1(jnp.minimum(p, 0))))


def elu_of_a_bounded(p, x):
    p = jnp.tanh(p)
    return jnp.sum(jnp.where(p > 0, p, jnp.expm1(p)))


def elu_the_other_way(p, x):
    return jnp.sum(jnp.where(p < 0, p, jnp.expm1(-p)))  # expect: where-nan-grad


def stable_sigmoid(p, x):
    return jnp.sum(jnp.where(p >= 0, 1 / (1 + jnp.exp(-p)), jnp.exp(p) / (1 + jnp.exp(p))))  # expect: where-nan-grad


def twice_guarded_by_a_name(p, x):
    safe = jnp.where(x == 0, 1, x)
    y = p / safe
    return jnp.sum(jnp.where(jnp.isnan(y), 0, y))


def never_below_zero(p, x):
    y = jnp.sqrt(p**2 + x**2)
    return jnp.sum(jnp.where(jnp.isnan(y), 0, y))


def either_test(p, x):
    y = p / x
    return jnp.sum(lax.select(jnp.isnan(y) | jnp.isinf(y), jnp.zeros_like(y), y))  # expect: where-nan-grad


def unit_of(v):
    return v / jnp.linalg.norm(v)


def direction(p, x):
    u = unit_of(p)
    return jnp.sum(jnp.where(jnp.isnan(u), 0, u) * x)  # expect: where-nan-grad


def of_data_alone(p, x):
    return jnp.sum(jnp.where(jnp.isnan(x), 0, p * x))


def cosh_of_the_near(p, x):
    return jnp.sum(jnp.where(jnp.abs(p) < 10, jnp.cosh(p), 0))  # expect: where-nan-grad


def bell(p, x):
    return jnp.sum(jnp.where(p > 0, jnp.exp(-(p**2)), 0))


def root_as_power(p, x):
    y = p**0.5
    return jnp.sum(jnp.where(jnp.isnan(y), 0, y))  # expect: where-nan-grad


def not_differentiated(p, x):
    y = 1 / x
    return jnp.sum(jnp.where(jnp.isfinite(y), y, 0) * p)


@jax.jit
def all_slopes(p, x):
    return (
        jax.grad(tested_for_nan)(p, x),
        jax.grad(tested_for_finite)(p, x),
        jax.grad(tested_for_no_nan)(p, x),
        jax.grad(replaced)(p, x),
        jax.grad(left_out_of_a_sum)(p, x),
        jax.grad(slope_of_a_logarithm)(p, x),
        jax.grad(slope_of_a_logarithm_again)(p, x),
        jax.grad(logarithm_of_zero)(p, x),
        jax.grad(of_a_length)(p, x),
        jax.grad(with_a_floor)(p, x),
        jax.grad(elu)(p, x),
        jax.grad(decay)(p, x),
        jax.grad(elu_with_a_bound)(p, x),
        jax.grad(elu_of_a_bounded)(p, x),
        jax.grad(elu_the_other_way)(p, x),
        jax.grad(stable_sigmoid)(p, x),
        jax.grad(twice_guarded_by_a_name)(p, x),
        jax.grad(never_below_zero)(p, x),
        jax.grad(either_test)(p, x),
        jax.grad(direction)(p, x),
        jax.grad(of_data_alone)(p, x),
        jax.grad(cosh_of_the_near)(p, x),
        jax.grad(bell)(p, x),
        jax.grad(root_as_power)(p, x),
        jax.grad(not_differentiated)(p, x),
    )


# runs: all_slopes(jnp.ones(3), jnp.ones((3, 3)))


# --- a result that is rejected needs no gradient --------------------------------------------------------


def rejected(w):
    y = jnp.sum(jnp.sqrt(w))
    return jnp.where(jnp.isfinite(y), y, jnp.inf)


def expensive(w):
    y = jnp.sum(jnp.sqrt(w))
    return jnp.where(jnp.isnan(y), 1e8, y)


@jax.jit
def slopes_of_rejected(w):
    return jax.grad(rejected)(w), jax.grad(expensive)(w)


# runs: slopes_of_rejected(jnp.ones(3))
