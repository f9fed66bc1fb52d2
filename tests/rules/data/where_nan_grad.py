"""Guards that hide a value and let the NaN of its gradient through."""

import jax
import jax.numpy as jnp


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
    return jnp.where(x > 0, x / (1.0 + jnp.exp(-x)), jnp.log1p(x * x))


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
