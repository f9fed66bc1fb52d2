"""A program with ``jax.pmap`` and its rewritten form, on eight devices; see ``support/jax_child.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jax_child import load


def run(folder: Path, *, learns: bool = False) -> str:
    """What ``main`` of ``after.py`` returns and ``main`` of ``before.py`` does not, or nothing. learns: there is one program
    instead, ``by_hand.py``, whose last loss must be the smallest."""
    if learns:
        _, losses = load(folder / "by_hand.py").main()
        return "" if min(losses) == losses[-1] else str(losses)
    wanted, got = described(load(folder / "before.py").main()), described(load(folder / "after.py").main())
    return "" if got == wanted else f"{got} instead of {wanted}"


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
