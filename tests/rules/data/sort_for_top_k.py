"""Sorts of which the code keeps a few elements, and sorts of which it uses more."""

import jax
import jax.numpy as jnp


def largest(x):
    return jnp.sort(x)[-3:]  # expect: sort-for-top-k


# runs: largest(jnp.ones(9))


def smallest(x, k):
    return jnp.argsort(x, axis=1)[:, :k]  # expect: sort-for-top-k


# runs: smallest(jnp.ones((2, 9)), 3)


@jax.jit
def last_words(logits):
    order = jnp.argsort(logits, axis=-1)  # expect: sort-for-top-k
    return order[..., -5:]


# runs: last_words(jnp.ones((2, 9)))


def reversed_order(x, top_n):
    first = jnp.flip(jnp.argsort(x))[:top_n]  # expect: sort-for-top-k
    return first, jnp.argsort(x)[::-1][:top_n]  # expect: sort-for-top-k


# runs: reversed_order(jnp.ones(9), 3)


def threshold(x, k):
    return x >= jnp.sort(x, axis=-1)[..., -k]  # expect: sort-for-top-k


# runs: threshold(jnp.ones(9), 3)


def taken(scores, k):
    first = jnp.take(jnp.argsort(-scores), jnp.arange(k))  # expect: sort-for-top-k
    return first, (jnp.exp(scores)).argsort()[:k]  # expect: sort-for-top-k


# runs: taken(jnp.ones(9), 3)


def whole(x, n_train):
    order = jnp.argsort(x)
    rows = jnp.sort(jnp.ones((4, 3)))[:2]
    print(f"lowest: {jnp.sort(x)[:3]}")
    return order[:3], order[3:], jnp.sort(x)[:n_train], jnp.sort(x)[: len(x) // 2], rows, jnp.sort(x)[0], x[:3]


# runs: whole(jnp.ones(9), 6)
