"""What a device can do at most: operations and bytes a second, from its maker's figures, or measured where it is a processor.

The figures are those of dense matrix products, of NVIDIA's data sheets and of https://cloud.google.com/tpu/docs, for one
device as JAX counts them (for TPU v2 and v3 a core, which is half of a chip). Limitations: GPUs of other makers; clocks that
differ from the data sheet; the lower rates of operations other than matrix products.
"""

from __future__ import annotations

import re
import time
from typing import Any

_T, _G = 1e12, 1e9
_KNOWN: tuple[tuple[str, float, float, float], ...] = (
    # device kind, float32, bfloat16 (float16 if there is none), bytes a second
    (r"B200|GB200", 75 * _T, 2250 * _T, 8000 * _G),
    (r"H200", 67 * _T, 989 * _T, 4800 * _G),
    (r"H100.*PCIe", 51 * _T, 756 * _T, 2000 * _G),
    (r"H100", 67 * _T, 989 * _T, 3352 * _G),
    (r"A100.*80GB", 19.5 * _T, 312 * _T, 2039 * _G),
    (r"A100", 19.5 * _T, 312 * _T, 1555 * _G),
    (r"L40S", 91.6 * _T, 362 * _T, 864 * _G),
    (r"\bL4\b", 30.3 * _T, 121 * _T, 300 * _G),
    (r"A10G?\b", 31.2 * _T, 125 * _T, 600 * _G),
    (r"V100", 15.7 * _T, 125 * _T, 900 * _G),
    (r"\bT4\b", 8.1 * _T, 65 * _T, 320 * _G),
    (r"RTX 4090", 82.6 * _T, 165 * _T, 1008 * _G),
    (r"TPU7x|TPU v7", 2307 * _T, 2307 * _T, 7380 * _G),
    (r"TPU v6", 918 * _T, 918 * _T, 1640 * _G),
    (r"TPU v5 lite|TPU v5e", 197 * _T, 197 * _T, 819 * _G),
    (r"TPU v5", 459 * _T, 459 * _T, 2765 * _G),
    (r"TPU v4", 275 * _T, 275 * _T, 1228 * _G),
    (r"TPU v3", 61.5 * _T, 61.5 * _T, 450 * _G),
    (r"TPU v2", 22.5 * _T, 22.5 * _T, 300 * _G),
)
_SIDES, _LENGTH, _SECONDS = (256, 512, 1024), 16 << 20, 0.4


def peak_of(platform: str, kind: str, narrow: bool) -> dict[str, Any] | None:
    """``flops`` and ``bytes`` a second, and ``source``; None where nothing is known of the device.

    narrow: whether the numbers are of 16 bits, which matrix units multiply faster.
    """
    if platform == "cpu":
        return _measured()
    for pattern, single, half, width in _KNOWN:
        if re.search(pattern, kind):
            return {"flops": half if narrow else single, "bytes": width, "source": "data sheet"}
    return None


def _measured() -> dict[str, Any]:
    """Of the processors that this process may use: products of matrices, and adding to an array too large for caches."""
    import jax
    import jax.numpy as jnp

    product: Any = jax.jit(lambda a: a @ a)
    add: Any = jax.jit(lambda a: a + 1, donate_argnums=0)  # in place: fresh memory would have to be mapped first
    squares = [jnp.ones((side, side), jnp.float32) for side in _SIDES]
    flops = max(2 * a.shape[0] ** 3 / _best(product, a, keeps=True) for a in squares)
    long = jnp.ones(_LENGTH, jnp.float32)
    moved = 2 * long.nbytes
    return {"flops": flops, "bytes": moved / _best(add, long, keeps=False), "source": "measured here"}


def _best(function: Any, value: Any, *, keeps: bool) -> float:
    """Seconds of the fastest of the calls that a short while has room for. keeps: the argument stays what it was."""
    result = function(value).block_until_ready()
    best, deadline = float("inf"), time.perf_counter() + _SECONDS
    while time.perf_counter() < deadline or best == float("inf"):
        argument = value if keeps else result
        started = time.perf_counter()
        result = function(argument).block_until_ready()
        best = min(best, time.perf_counter() - started)
    return best
