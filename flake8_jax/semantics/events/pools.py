"""Pools whose window slides by 1, for the rule on them and its fixer.

Vocabulary
----------
pool        a function or class of Flax or Equinox that reduces windows of an image.
window      its sizes, along the spatial axes. step: how far the next window is; 1 where the call does not say.

Limitations: windows whose sizes are computed.
"""

from __future__ import annotations

from flake8_jax.semantics.domain.values import Const, Value, known_elements
from flake8_jax.semantics.events.events import LibraryCall

POOLS = {
    "flax.linen.max_pool": ("window_shape", "strides"),
    "flax.linen.min_pool": ("window_shape", "strides"),
    "flax.linen.avg_pool": ("window_shape", "strides"),
    **{f"equinox.nn.{kind}Pool{n}d": ("kernel_size", "stride") for kind in ("Max", "Avg") for n in (1, 2, 3)},
}
"""Functions and classes that pool, with the parameters of the window and of the step."""
LARGEST_WINDOW = 3
"""A larger window is as likely as not meant to cover all that is left."""


def sliding_window(event: LibraryCall) -> str | None:
    """The window of a pool that has no strides, where it is a small one; None of any other."""
    size, step = POOLS[event.name]
    first = 0 if event.name.startswith("equinox.") else 1
    given: dict[str, Value] = dict(zip((size, step, "padding"), event.args[first:])) | event.kwargs
    stride = given.get(step)
    if stride is not None and not (isinstance(stride, Const) and stride.value is None and first):
        return None
    padding = given.get("padding")
    if padding is not None and not (isinstance(padding, Const) and padding.value in ("VALID", 0)):
        return None
    window = given.get(size)
    sizes = known_elements(window) if window is not None else None
    if sizes is None and isinstance(window, Const) and not first:
        sizes = (window,)
    numbers = [s.value for s in sizes or () if isinstance(s, Const) and type(s.value) is int]
    if not sizes or len(numbers) != len(sizes) or not 1 < max(numbers) <= LARGEST_WINDOW:
        return None
    return "×".join(map(str, numbers))
