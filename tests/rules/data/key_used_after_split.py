"""Keys used after they were split."""

import jax


def drawn(key):
    a, b = jax.random.split(key)
    return jax.random.normal(a) + jax.random.normal(b) + jax.random.normal(key)  # expect: key-used-after-split


def split_again(key):
    first, _ = jax.random.split(key)
    second, _ = jax.random.split(key)  # expect: key-used-after-split
    return jax.random.normal(first) + jax.random.normal(second)


def draw(key):
    return jax.random.normal(key)


def passed_on(key):
    sub = jax.random.split(key, 1)[0]
    return draw(sub) + draw(key)  # expect: key-used-after-split


# runs: drawn(jax.random.key(0)), split_again(jax.random.key(0)), passed_on(jax.random.key(0))


# --- never flagged -------------------------------------------------------------


def rebound(key):
    key, sub = jax.random.split(key)
    return jax.random.normal(sub) + jax.random.normal(key)


def one_path(key, flag):
    if flag:
        a, b = jax.random.split(key)
        return jax.random.normal(a) + jax.random.normal(b)
    return jax.random.normal(key)


def folded_first(key):
    sub = jax.random.fold_in(key, 3)
    a, b = jax.random.split(sub)
    return jax.random.normal(a) + jax.random.normal(b)


class Holder:
    def __init__(self, seed):
        self.key = jax.random.key(seed)

    def next(self):
        self.key, sub = jax.random.split(self.key)
        return sub

    def draws(self):
        return jax.random.normal(self.next()) + jax.random.normal(self.next())


# runs: rebound(jax.random.key(0)), folded_first(jax.random.key(0)), Holder(0).draws()
