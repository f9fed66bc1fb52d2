"""Formulas with a stable twin."""

import jax
import jax.numpy as jnp


@jax.jit
def losses(logits, x):
    probabilities = jax.nn.softmax(logits)
    a = jnp.log(probabilities)  # expect: unstable-expression
    b = jnp.log(jnp.exp(x).sum())  # expect: unstable-expression
    c = jnp.log(1.0 + x)  # expect: unstable-expression
    d = jnp.exp(x) - 1  # expect: unstable-expression
    e = jnp.log(jax.nn.sigmoid(x))  # expect: unstable-expression
    f = x * jnp.log(x)  # expect: unstable-expression
    return a, b, c, d, e, f


def softplus(x):
    return jnp.log(1 + jnp.exp(x))  # expect: unstable-expression


@jax.jit
def rates(a, b):
    first = jnp.exp(a) - 1  # expect: unstable-expression
    second = jnp.exp(b) - 1
    return first, second, jnp.log(1 + a)  # expect: unstable-expression


def partition(system, tau):
    return jnp.log(jnp.exp(system.energies() / tau).sum())  # expect: unstable-expression


# runs: losses(jnp.ones(2), jnp.ones(2))


# --- never flagged -------------------------------------------------------------


@jax.jit
def stable(logits, x, eps=1e-8):
    top = jax.lax.stop_gradient(jnp.max(x))
    a = top + jnp.log(jnp.sum(jnp.exp(2 * (x - top))))
    b = jnp.sum(jnp.clip(x, eps, 1.0) * jnp.log(jnp.clip(x, eps, 1.0)))
    c = jax.nn.log_softmax(logits)
    ratio = jnp.exp(x)
    d = ratio - 1.0
    n = 1.0 + 2.0 * jnp.arange(3.0)
    e = jnp.log(n)
    f = jnp.where(x > 0, x * jnp.log(x), 0.0)
    g = 3 * jnp.log(3)
    return a, b, c, d, e, f, g, jnp.exp(x) - 2.0


def log_norm(state):
    log_psi = state.log_value(state.samples())
    top = log_psi.real.max()
    return jnp.log(jnp.exp(2 * (log_psi.real - top)).sum()) + 2 * top


# runs: stable(jnp.ones(2), jnp.ones(2))


def score(achievements):
    return jnp.exp(jnp.mean(jnp.log(3.0 + achievements))) - 1.0


def inverse_softplus(y):
    return jnp.log(jnp.exp(y) - 1.0)
