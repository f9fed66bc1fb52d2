"""One key consumed twice."""

import jax
import jax.numpy as jnp


def twice(key):
    a = jax.random.normal(key)
    b = jax.random.uniform(key)  # expect: key-reuse
    return a, b


def split_after_use(key):
    a = jax.random.normal(key)
    key, sub = jax.random.split(key)  # expect: key-reuse
    return a, jax.random.normal(sub), key


def noise(key, shape):
    return jax.random.normal(key, shape)


def through_a_helper(key):
    a = noise(key, (2,))
    return a + noise(key, (2,))  # expect: key-reuse


def in_one_expression(key):
    return jax.random.normal(key) + jax.random.uniform(key)  # expect: key-reuse


def under_another_name(key):
    same = key
    a = jax.random.normal(key)
    return a + jax.random.normal(same)  # expect: key-reuse


def same_element(key):
    keys = jax.random.split(key, 3)
    a = jax.random.normal(keys[1])
    return a + jax.random.normal(keys[1])  # expect: key-reuse


def on_one_path(key, flag):
    a = 0.0
    if flag:
        a = jax.random.normal(key)
    return a + jax.random.normal(key)  # expect: key-reuse


@jax.jit
def staged(key, x):
    x = x + jax.random.normal(key, x.shape)
    return x * jax.random.bernoulli(key, 0.5, x.shape)  # expect: key-reuse


# runs: twice(jax.random.key(0)), through_a_helper(jax.random.key(0)), staged(jax.random.key(0), jnp.ones(2))


# --- never flagged -------------------------------------------------------------


def branches(key, flag):
    if flag:
        return jax.random.normal(key)
    else:
        return jax.random.uniform(key)


def early_return(key, flag):
    if flag:
        return jax.random.normal(key)
    return jax.random.uniform(key)


def ternary(key, flag):
    return jax.random.normal(key) if flag else jax.random.uniform(key)


def refreshed(key):
    key, sub = jax.random.split(key)
    a = jax.random.normal(sub)
    key, sub = jax.random.split(key)
    return a + jax.random.normal(sub), key


def folded(key):
    a = jax.random.normal(jax.random.fold_in(key, 0))
    b = jax.random.normal(jax.random.fold_in(key, 1))
    return a + b


def elements(key):
    keys = jax.random.split(key, 3)
    first, *rest = jax.random.split(keys[2], 3)
    return jax.random.normal(keys[0]) + jax.random.normal(keys[1]) + jax.random.normal(first) + noise(rest[0], ())


def read_only(key):
    report = jax.random.key_data(key), jax.random.key_impl(key), key.shape, key.dtype
    return jax.random.normal(key), report


def cloned(key):
    return jax.random.normal(key) - jax.random.normal(jax.random.clone(key))


def handed_back(key):
    key, a = step(key)
    key, b = step(key)
    return a + b


def step(key):
    key, sub = jax.random.split(key)
    return key, jax.random.normal(sub)


def failing_path(key, n):
    if n < 0:
        draw = jax.random.normal(key)
        raise ValueError(f"negative, and {draw}")
    return jax.random.normal(key, (n,))


# runs: handed_back(jax.random.key(0)), elements(jax.random.key(0))


def value_and_gradient(f, theta, key):
    value = f(theta, key)
    gradient = jax.grad(f)(theta, key)
    return value, gradient
