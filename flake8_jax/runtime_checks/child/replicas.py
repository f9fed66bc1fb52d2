"""Whether the copies of an array that several devices hold are still the same.

Vocabulary
----------
copies  the parts of an array on its devices, where all of them are said to be the whole of it; or, as ``pmap`` stacks them,
        the rows along the first axis, one a device.
drift   copies that differ: of an array that counts as replicated, or of a result like an argument whose copies were equal.

JAX is asked at the compiled programs that it starts from Python, which is the first call of each; a step whose replicas drift
does so from the first one on. As measured on JAX 0.4.30 to 0.12.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def watch_replicas(record: Callable[[float, int], None]) -> None:
    """Call ``record`` with the largest difference and the number of devices of every drift."""
    from jax._src.interpreters import pxla

    original = pxla.ExecuteReplicated.__call__

    def execute(program: Any, *arguments: Any) -> Any:
        results = original(program, *arguments)
        for array in (*arguments, *results):
            difference = _difference(_replicas(array))
            if difference:
                record(difference, len(array.addressable_shards))
        same = [array for array in map(_stacked, arguments) if array is not None and not _difference(array)]
        for array in map(_stacked, results):
            if array is not None and any(_alike(array, other) for other in same) and (found := _difference(array)):
                record(found, len(array))
        return results

    pxla.ExecuteReplicated.__call__ = execute


def _replicas(array: Any) -> Sequence[Any]:
    """The copies of an array that counts as replicated over several devices."""
    import jax

    if not isinstance(array, jax.Array) or not array.is_fully_replicated or not _is_float(array):
        return ()
    return [shard.data for shard in array.addressable_shards]


def _stacked(array: Any) -> Any:
    """The rows of an array, one a device (before ``pmap`` takes it, it lies on one); None of other arrays."""
    import jax
    import numpy

    if not isinstance(array, jax.Array) or array.ndim == 0 or array.shape[0] != jax.local_device_count():
        return None
    if not _is_float(array) or array.is_deleted() or not array.is_fully_addressable:
        return None
    return numpy.asarray(array)


def _alike(one: Any, other: Any) -> bool:
    return bool(one.shape == other.shape and one.dtype == other.dtype)


def _difference(copies: Sequence[Any]) -> float:
    """How far the copies lie from the first one, at most; 0 if there are none."""
    import numpy

    if len(copies) < 2:
        return 0.0
    first = numpy.asarray(copies[0], dtype=float)
    return max(float(numpy.max(numpy.abs(numpy.asarray(c, dtype=float) - first), initial=0.0)) for c in copies[1:])


def _is_float(array: Any) -> bool:
    import jax.numpy

    return bool(jax.numpy.issubdtype(array.dtype, jax.numpy.floating))
