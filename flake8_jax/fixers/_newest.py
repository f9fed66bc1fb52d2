"""The newest JAX that a file runs on, as far as the names in it show: a project that does not say which JAX it supports, and
uses names that are gone, is one for an older JAX.
"""

from __future__ import annotations

from collections.abc import Iterator

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource
from flake8_jax.knowledge.history import Version, load_histories

GUARDS = (ir.Try, ir.If, ir.IfExp)
"""What may run for some releases only."""


def first_gone(source: FixSource, library: str) -> tuple[Version, str] | None:
    """The first release of a library that lacks a name which the file uses, and that name."""
    return min(_all_gone(source, library), default=None)


def lacks(source: FixSource, name: str, replacement: str, since: Version, *, after_fixes: bool = False) -> bool:
    """The file runs only on releases of a library that are older than ``since``, as names other than ``name`` show, in it or in
    its package: so it lacks the replacement of ``name``, which came with ``since``. A file that has the replacement
    already runs on newer ones. after_fixes: names that have a replacement themselves do not count."""
    if replacement in {read for _, read in _names(source)}:
        return False
    beside = source.program.beside(source) if source.program is not None else [source]
    return any(_ends_before(one, name, since, after_fixes=after_fixes) for one in beside)


def _ends_before(source: FixSource, name: str, since: Version, *, after_fixes: bool) -> bool:
    library = name.partition(".")[0]
    histories = load_histories()
    ends = []
    for version, other in _all_gone(source, library):
        history = histories.of(other)
        change = history.change(other) if history is not None else None
        if other != name and not (after_fixes and change is not None and change.rename):
            ends.append(version)
    if library == "jax":
        ends += _ends_by_flax(source)
    return bool(ends) and min(ends) <= since


def _ends_by_flax(source: FixSource) -> Iterator[Version]:
    """Releases of JAX on which the file does not run, because it needs an older Flax than they do: what the first Flax without
    a name of the file requires."""
    flax = load_histories().of("flax")
    required = flax.requires_jax() if flax is not None else {}
    return (required[version] for version, _ in _all_gone(source, "flax") if version in required)


def _all_gone(source: FixSource, library: str) -> tuple[tuple[Version, str], ...]:
    if library not in source.text:
        return ()
    return source.remember(f"gone from {library}", source.module, lambda: tuple(_gone(source, library)))


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
        if isinstance(node, ir.Attribute) and node.attr in load_histories().parts:
            name = Imports(source, node).resolve(node)
            if name is not None:
                yield node, name
        elif isinstance(node, ir.ImportFrom) and not node.level:
            for imported in node.names:
                yield node, f"{node.module}.{imported.name}"


def _is_guarded(source: FixSource, node: ir.Node) -> bool:
    return any(isinstance(above, GUARDS) for above in source.ancestors(node))
