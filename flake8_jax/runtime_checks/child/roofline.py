"""What a device can do at most: operations and bytes a second, from its maker's figures, or measured where it is a processor.

The figures are those of dense matrix products, of NVIDIA's data sheets and of https://cloud.google.com/tpu/docs, for one
device as JAX counts them (for TPU v2 and v3 a core, which is half of a chip). Limitations: GPUs of other makers; clocks that
differ from the data sheet; the lower rates of operations other than matrix products.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

_T, _G = 1e12, 1e9
_KNOWN: tuple[tuple[str, float, float, float], ...] = (
    # device kind, float32, bfloat16 (float16 where there is none), bytes a second
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
_SIDE, _LENGTH, _TRIES = 1024, 8 << 20, 5


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
    """Of the processors that this process may use: a product of matrices, and a sum of arrays too large for caches."""
    import jax
    import jax.numpy as jnp

    square, long = jnp.ones((_SIDE, _SIDE), jnp.float32), jnp.ones(_LENGTH, jnp.float32)
    product: Any = jax.jit(lambda a: a @ a)
    total: Any = jax.jit(lambda a, b: a + b)
    flops = 2 * _SIDE**3 / _best(lambda: product(square))
    return {"flops": flops, "bytes": 3 * long.nbytes / _best(lambda: total(long, long)), "source": "measured here"}


def _best(call: Callable[[], Any]) -> float:
    call().block_until_ready()
    took = []
    for _ in range(_TRIES):
        started = time.perf_counter()
        call().block_until_ready()
        took.append(time.perf_counter() - started)
    return min(took)
