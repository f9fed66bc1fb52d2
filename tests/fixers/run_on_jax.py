"""A program before and after its fix, on JAX; see ``support/jax_child.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jax_child import load


def run(folder: Path, values: str) -> str:
    """The trouble, or nothing. ``values`` says how ``main`` of ``after.py`` compares with that of ``before.py``.

    ``same``             the same values
    ``other numbers``    other ones on purpose, and no key is used twice
    ``legacy keys``      other ones on purpose, from keys that JAX cannot check
    ``raises before``    only ``before.py`` raises
    """
    import jax

    after = load(folder / "after.py").main
    with jax.debug_key_reuse(values == "other numbers"):
        got = after()
        jax.block_until_ready(got)
    jax.effects_barrier()
    if values == "raises before":
        return "" if raises(folder) else "the program before its fix raises nothing"
    if values == "same":
        with jax.disable_jit():
            same(got, load(folder / "before.py").main())
    return ""


def raises(folder: Path) -> bool:
    import jax

    try:
        jax.block_until_ready(load(folder / "before.py").main())
    except Exception:  # which one is the business of the rule's page
        return True
    return False


def same(got: Any, wanted: Any) -> None:
    import jax
    import numpy as np

    one, other = jax.tree.leaves(got), jax.tree.leaves(wanted)
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5)
