"""Options of ``jit`` and the signatures that they speak of."""

from functools import partial

import jax


def norm(x, axis=0, *, keepdims=False):
    return abs(x).max(axis=axis, keepdims=keepdims)


def wrong_name():
    return jax.jit(norm, static_argnames=("axes",))  # expect: static-arg-mismatch


# raises ValueError: wrong_name()


def wrong_number():
    return jax.jit(norm, static_argnums=(1, 4))  # expect: static-arg-mismatch


# raises ValueError: wrong_number()


def static_and_donated():
    return jax.jit(norm, static_argnums=1, donate_argnums=(0, 1))  # expect: static-arg-mismatch


# raises ValueError: static_and_donated()


# --- never flagged -------------------------------------------------------------


def scaled(x, *factors, **options):
    return x * options["scale"]


class Model:
    def __init__(self):
        self.run = jax.jit(self._run, static_argnums=(1,), donate_argnames="x")

    def _run(self, x, train):
        return x * 2.0 if train else x


@partial(jax.jit, static_argnames=["axis", "keepdims"], donate_argnums=0)
def decorated(x, axis=0, *, keepdims=False):
    return norm(x, axis, keepdims=keepdims)


def fine():
    a = jax.jit(scaled, static_argnums=(2,), static_argnames="scale")
    b = jax.jit(norm, static_argnums=-1)
    c = jax.jit(partial(norm, axis=1), static_argnames="keepdims")
    return a, b, c, Model()


# runs: fine()
