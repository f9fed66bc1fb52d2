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


class _OneKey:
    """The key that stands for all. Results for concrete keys are kept, since a loop may derive keys in every iteration."""

    def __init__(self, jax: Any) -> None:
        self._jax = jax
        self._make = jax.random.key
        self._known: dict[Any, Any] = {}

    def like(self, key: Any) -> Any:
        """Return it in the kind of this key."""
        return self._kept(key, (), lambda: self._made_like(key))

    def derived(self, real: Callable[..., Any], key: Any, given: tuple[Any, ...]) -> Any:
        """Return it in the shape of what ``real`` derives from a key. given: the other arguments."""

        def make() -> Any:
            return self._jax.numpy.broadcast_to(self.like(key), real(key, *given).shape)

        return self._kept(key, (real.__name__, *(given if real.__name__ == "split" else ())), make)

    def _made_like(self, key: Any) -> Any:
        jax = self._jax
        key = jax.numpy.asarray(key)
        if jax.numpy.issubdtype(key.dtype, jax.dtypes.prng_key):
            return self._make(0, impl=jax.random.key_impl(key))
        return jax.numpy.zeros(key.shape[-1:], key.dtype)

    def _kept(self, key: Any, what: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        if isinstance(key, self._jax.core.Tracer) or not isinstance(key, self._jax.Array):
            return make()
        try:
            found = self._known.get((str(key.dtype), key.shape, what))
        except TypeError:  # an argument without a hash
            return make()
        if found is None or found.is_deleted():  # a program may donate it
            found = self._known[str(key.dtype), key.shape, what] = make()
        return found


def install(jax: Any) -> None:
    """From now on every function of ``jax.random`` that takes a key gets the same one, and every key that is made is that."""
    import jax._src.random as inner

    one = _OneKey(jax)

    def derived(real: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(real)

        @functools.wraps(real)
        def deriving(*arguments: Any, **keywords: Any) -> Any:
            bound = signature.bind(*arguments, **keywords)
            bound.apply_defaults()
            key, *given = bound.arguments.values()
            return one.derived(real, key, tuple(given))

        return deriving

    def drawing(real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(real)
        def draw(key: Any, *arguments: Any, **keywords: Any) -> Any:
            return real(one.like(key), *arguments, **keywords)

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
            wrapped[name] = derived(function)
        elif first == "key":
            wrapped[name] = drawing(function)
    for name, function in wrapped.items():
        setattr(jax.random, name, function)
