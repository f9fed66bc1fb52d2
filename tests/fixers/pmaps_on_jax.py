"""A program with ``jax.pmap`` and its rewritten form, on eight devices; see ``support/jax_child.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jax_child import load


def run(folder: Path, *, learns: bool = False, rounding: bool = False) -> str:
    """What ``main`` of ``after.py`` returns and ``main`` of ``before.py`` does not, or nothing. learns: there is one program
    instead, ``by_hand.py``, whose last loss must be the smallest. rounding: values may differ by a few units in the last
    place."""
    if learns:
        _, losses = load(folder / "by_hand.py").main()
        return "" if min(losses) == losses[-1] else str(losses)
    wanted, got = described(load(folder / "before.py").main()), described(load(folder / "after.py").main())
    same = is_close(wanted, got) if rounding else got == wanted
    return "" if same else f"{got} instead of {wanted}"


def is_close(wanted: Any, got: Any) -> bool:
    """The same structure, types and devices, and values that differ by rounding alone."""
    import numpy as np

    if isinstance(wanted, (list, tuple)):
        return len(wanted) == len(got) and all(is_close(one, other) for one, other in zip(wanted, got, strict=True))
    if isinstance(wanted, bytes):
        numbers = np.frombuffer(wanted, np.float32), np.frombuffer(got, np.float32)
        return bool(np.allclose(*numbers, rtol=1e-6, atol=1e-7))
    return bool(wanted == got)


def described(tree: Any) -> list[Any]:
    """Structure and leaves: values to the last bit, types, weak types, and which device has which part."""
    import jax
    import numpy as np

    leaves, structure = jax.tree.flatten(tree)
    found: list[Any] = [str(structure)]
    for leaf in leaves:
        if isinstance(leaf, jax.Array):
            parts = [
                (str(shard.device), str(shard.index), np.asarray(shard.data).tobytes())
                for shard in leaf.addressable_shards
            ]
            found.append((str(leaf.dtype), leaf.shape, leaf.weak_type, sorted(parts)))
        else:
            found.append(leaf)
    return found
