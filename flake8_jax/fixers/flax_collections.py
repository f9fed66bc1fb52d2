"""JAX514: ``max_pool(x, (2, 2))`` becomes ``max_pool(x, (2, 2), strides=(2, 2))``. Limitations: statistics that are dropped."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import WINDOWS, unsafe
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.semantics.events.events import FileRead, LibraryCall
from flake8_jax.semantics.events.pools import POOLS, sliding_window


@fixer("flax-collections")
def fix(event: LibraryCall | FileRead, source: FixSource) -> Fix | None:
    if (
        isinstance(event, FileRead)
        or event.name not in POOLS
        or sliding_window(event) is None
        or any(a.star for a in event.at.args)
    ):
        return None
    size, step = POOLS[event.name]
    place = 0 if event.name.startswith("equinox.") else 1
    plain = [a for a in event.at.args if a.keyword is None]
    written = next((a for a in event.at.args if a.keyword == size), plain[place] if place < len(plain) else None)
    if written is None or any(a.keyword == step for a in event.at.args):
        return None
    if not isinstance(written.value, (ir.Tuple, ir.Name, ir.Attribute, ir.Constant)):
        return None
    last = event.at.args[-1]
    if source.comments(last.end, event.at.end):
        return None
    text = source.argument(written.value)
    return unsafe(f"Pass the window as `{step}`", WINDOWS, (Edit(last.end, last.end, f", {step}={text}"),))
