"""Draws that do not depend on their keys: what is left of a program when all of its keys are one and the same.

A fix of keys changes which key goes where and nothing besides. So with ``install``, the program with the fix and the program
without it have to give the same results to the last bit.

Not replaced: draws that are bound before (``from jax._src.random import normal`` in a library that is imported with JAX), raw
keys that are written out as arrays, and random numbers of NumPy.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

_MAKE = ("key", "PRNGKey")
_DERIVE = ("split", "fold_in", "clone")


def install(jax: Any) -> None:
    """From now on every function of ``jax.random`` that takes a key gets the same one, and every key that is made is that."""
    import jax._src.random as inner
    import jax.numpy as jnp

    made = jax.random.key

    def same_key(key: Any) -> Any:
        """The one key, of the kind of this one."""
        key = jnp.asarray(key)
        if jax.numpy.issubdtype(key.dtype, jax.dtypes.prng_key):
            return made(0, impl=jax.random.key_impl(key))
        return jnp.zeros(key.shape[-1:], key.dtype)

    def derived(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(real)
        def deriving(key: Any, *arguments: Any, **keywords: Any) -> Any:
            found = real(key, *arguments, **keywords)
            return jnp.broadcast_to(same_key(key), found.shape)

        return deriving

    def drawing(real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(real)
        def draw(key: Any, *arguments: Any, **keywords: Any) -> Any:
            return real(same_key(key), *arguments, **keywords)

        return draw

    def making(real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(real)
        def make(seed: Any, *arguments: Any, **keywords: Any) -> Any:
            return real(0, *arguments, **keywords)

        return make

    wrapped: dict[str, Callable[..., Any]] = {}
    for name, function in list(vars(inner).items()):
        if not inspect.isfunction(function) or name.startswith("_") or not hasattr(jax.random, name):
            continue
        first = next(iter(inspect.signature(function).parameters), "")
        if name in _MAKE:
            wrapped[name] = making(function)
        elif name in _DERIVE:
            wrapped[name] = derived(name, function)
        elif first == "key":
            wrapped[name] = drawing(function)
    for name, function in wrapped.items():
        setattr(jax.random, name, function)
