"""A program with ``jax.pmap`` and its rewritten form, on eight devices; see ``support/jax_child.py``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from jax_child import load


def run(folder: Path, *, learns: bool = False, compiled: bool = False) -> str:
    """What ``main`` of ``after.py`` returns and ``main`` of ``before.py`` does not, or nothing. learns: there is one program
    instead, ``by_hand.py``, whose last loss must be the smallest. compiled: whether XLA makes other instructions of
    ``train_step``."""
    if compiled:
        before, after = (instructions(load(folder / name).train_step) for name in ("before.py", "after.py"))
        return "" if before == after else f"{after} instead of {before}"
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


def instructions(step: Any) -> str:
    """The optimized program of the page's step, without names of functions, places in the source and the header."""
    import jax
    import jax.numpy as jnp

    if jax.__version_info__ < (0, 8):  # ``pmap`` had an implementation of its own
        return ""
    n = jax.device_count()
    params = {"hidden": jnp.ones((n, 28, 32)), "out": jnp.zeros((n, 32, 10))}
    keys = jax.random.split(jax.random.key(0), n)
    lowered = step.lower(params, params, jnp.ones((n, 16, 28)), jnp.zeros((n, 16), int), keys)
    _, _, text = lowered.compile().as_text().partition("\n")
    text = re.sub(r"FileNames.*?\n\n(?=%)", "", text, flags=re.DOTALL)
    return re.sub(r", (?:metadata=\{[^}]*\}|stack_frame_id=\d+)", "", text)
