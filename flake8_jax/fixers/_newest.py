"""The newest JAX that a file runs on, as far as the names in it show: a project that does not say which JAX it supports, and
uses names that are gone, is one for an older JAX.

Limitations: names that other files use.
"""

from __future__ import annotations

from collections.abc import Iterator

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource
from flake8_jax.knowledge.history import Version, load_histories

_GUARDS = (ir.Try, ir.If, ir.IfExp)
"""What may run for some releases only."""


def first_gone(source: FixSource, library: str) -> tuple[Version, str] | None:
    """The first release of a library that lacks a name which the file uses, and that name."""
    return source.remember(f"gone from {library}", source.module, lambda: min(_gone(source, library), default=None))


def _gone(source: FixSource, library: str) -> Iterator[tuple[Version, str]]:
    histories = load_histories()
    for node, name in _names(source):
        if name.partition(".")[0] != library or name.rpartition(".")[2] not in histories.parts:
            continue
        history = histories.of(name)
        change = history.change(name) if history is not None else None
        if change is not None and change.removed is not None and not _is_guarded(source, node):
            yield change.removed, name


def _names(source: FixSource) -> Iterator[tuple[ir.Node, str]]:
    """What the file reads and imports, by qualified names."""
    for node in walk(source.module):
        if isinstance(node, ir.Attribute):
            name = Imports(source, node).resolve(node)
            if name is not None:
                yield node, name
        elif isinstance(node, ir.ImportFrom) and not node.level:
            for imported in node.names:
                yield node, f"{node.module}.{imported.name}"


def _is_guarded(source: FixSource, node: ir.Node) -> bool:
    return any(isinstance(above, _GUARDS) for above in source.ancestors(node))
