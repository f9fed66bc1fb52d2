"""Jitted functions of other libraries (``equinox.filter_jit``): they take and return states with functions in them, and no
shapes in the place of arrays.

Vocabulary
----------
arrays   the leaves of the arguments that have a shape, by number; the others stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_jax.runtime_checks.child.jitting import Inputs, import_jax


class OfArrays:
    """A call as a function of its arrays alone, which JAX can trace with shapes. Limitations: what the wrapper donates."""

    def __init__(self, call: Callable[..., Any], inputs: Inputs) -> None:
        self._call = call
        self._flatten = import_jax().tree_util.tree_flatten
        self._leaves, self._tree = self._flatten((inputs.args, inputs.kwargs))
        self.arrays = {number: leaf for number, leaf in enumerate(self._leaves) if _has_shape(leaf)}
        self._others: dict[int, Any] = {}

    def run(self, arrays: dict[int, Any]) -> Any:
        """Call it, and return False for each part of the result that is no array."""
        leaves = [arrays.get(number, leaf) for number, leaf in enumerate(self._leaves)]
        args, kwargs = self._tree.unflatten(leaves)
        found, tree = self._flatten(self._call(*args, **kwargs))
        self._others = {number: leaf for number, leaf in enumerate(found) if not _has_shape(leaf)}
        return tree.unflatten([False if number in self._others else leaf for number, leaf in enumerate(found)])

    def jitted(self) -> Any:
        """The same for ``trace`` and ``lower``."""
        return import_jax().jit(self.run)

    def result(self) -> Any:
        """The shapes that come out, and what is no array as it is."""
        found, tree = self._flatten(import_jax().eval_shape(self.run, self.arrays))
        return tree.unflatten([self._others.get(number, leaf) for number, leaf in enumerate(found)])


def traceable(call: Any, inputs: Inputs) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """What JAX can trace, lower and export, and its arguments: the call itself, or of a wrapper one of its arrays."""
    if not is_wrapper(call):
        return call, inputs.args, dict(inputs.kwargs)
    of_arrays = OfArrays(call, inputs)
    return of_arrays.jitted(), (of_arrays.arrays,), {}


def is_wrapper(call: Any) -> bool:
    """Whether another library jits around it, and does not show what it traces."""
    return not hasattr(call, "trace") and not hasattr(call, "_cache_size")


def _has_shape(leaf: Any) -> bool:
    return hasattr(leaf, "shape") and hasattr(leaf, "dtype")
