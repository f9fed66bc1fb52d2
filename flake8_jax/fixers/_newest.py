"""The newest JAX that a file runs on, as far as the names in it show: a project that does not say which JAX it supports, and
uses names that are gone, is one for an older JAX.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource
from flake8_jax.fixers.unneeded_imports import needed_names
from flake8_jax.knowledge.history import Version, load_histories, show

GUARDS = (ir.Try, ir.If, ir.IfExp)
"""What may run for some releases only."""
_RELEASE = re.compile(r"version|\b(?:has|get)attr\b|\bhas_|_HAS_|TYPE_CHECKING|\b(?:jax|flax)\b", re.IGNORECASE)
"""What the test of an ``if`` says that chooses between releases."""
_MISSING = re.compile(r"ImportError|AttributeError|ModuleNotFoundError|NameError")
_SHORT = 2
"""A ``try`` of so few statements is there for them alone, whatever it catches."""
_LIBRARIES = {"jax": "JAX", "flax": "Flax"}


def first_gone(source: FixSource, library: str) -> tuple[Version, str] | None:
    """The first release of a library that lacks a name which the file uses, and that name."""
    return min(_all_gone(source, library), default=None)


def lacks(source: FixSource, name: str, replacement: str, since: Version) -> bool:
    """The file runs only on releases of a library that are older than ``since``, see ``shown_older``."""
    return shown_older(source, name, replacement, since) is not None


def shown_older(
    source: FixSource, name: str, replacement: str, since: Version, *, after_fixes: bool = False
) -> tuple[Version, str] | None:
    """A name other than ``name``, in the file or its package, that shows that the file runs only on releases of a library that
    are older than ``since``, and the release that removed it: so the file lacks the replacement of ``name``, which came with
    ``since``. None where a file has the replacement, and so already runs on newer ones. after_fixes: names that have a
    replacement themselves do not count."""
    if replacement in {read for _, read in _names(source)}:
        return None
    beside = source.program.beside(source) if source.program is not None else [source]
    ends = [end for one in beside for end in _ends(one, name, after_fixes=after_fixes)]
    first = min(ends, default=None)
    return first[1:] if first is not None and first[0] <= since else None


def said_of(shown: tuple[Version, str]) -> str:
    """Why a file is for older releases."""
    version, name = shown
    library = name.partition(".")[0]
    return f"it uses `{name}`, which {_LIBRARIES.get(library, library)} {show(version)} removed"


def spells(source: FixSource, module: str, instead_of: str) -> bool:
    """The file has names of the older module, and none of the one that came after it."""
    last = module.rpartition(".")[2]
    if not re.search(rf"\b{re.escape(last)}\b", source.text):
        return False
    read = source.remember("all names", source.module, lambda: {name for _, name in _all_names(source)})
    return any(n.startswith(module + ".") for n in read) and not any(n.startswith(instead_of + ".") for n in read)


def stays_broken(source: FixSource, name: str, until: Version | None) -> tuple[Version, str] | None:
    """An import of a name other than ``name`` that no release has from ``until`` on, and that no fix replaces: the file cannot
    be imported there, whatever becomes of ``name``. None if there is no such import."""
    library = name.partition(".")[0]
    found = []
    for version, other in _all_gone(source, library):
        history = load_histories().of(other)
        change = history.change(other) if history is not None else None
        if other != name and until is not None and version <= until and change is not None and not change.rename:
            found.append((version, other))
    imported = {one for statement in source.module.body for one in _imported_from(statement)} if found else set()
    needed = dict(imported)
    used = needed_names(source.module, needed.values()) if needed else set()
    return min((one for one in found if needed.get(one[1]) in used), default=None)


def _imported_from(statement: ir.Stmt) -> Iterator[tuple[str, str]]:
    """What an import at the top level takes from a module, and the name by which the file knows it."""
    if isinstance(statement, ir.ImportFrom) and not statement.level:
        yield from ((f"{statement.module}.{n.name}", n.alias or n.name) for n in statement.names)


def _ends(source: FixSource, name: str, *, after_fixes: bool) -> Iterator[tuple[Version, Version, str]]:
    """The releases of a library on which a file no longer runs, each with the name that shows it and the release of that name's
    library."""
    library = name.partition(".")[0]
    for version, other in _all_gone(source, library):
        history = load_histories().of(other)
        change = history.change(other) if history is not None else None
        if other != name and not (after_fixes and change is not None and change.rename):
            yield version, version, other
    if library == "jax":
        yield from _ends_by_flax(source)


def _ends_by_flax(source: FixSource) -> Iterator[tuple[Version, Version, str]]:
    """Releases of JAX on which the file does not run, because it needs an older Flax than they do: what the first Flax without
    a name of the file requires."""
    flax = load_histories().of("flax")
    required = flax.requires_jax() if flax is not None else {}
    gone = _all_gone(source, "flax")
    return ((required[version], version, other) for version, other in gone if version in required)


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


def _all_names(source: FixSource) -> Iterator[tuple[ir.Node, str]]:
    """``_names``, those of which no table knows a change among them."""
    for node in walk(source.module):
        if isinstance(node, ir.Attribute):
            name = Imports(source, node).resolve(node)
            if name is not None:
                yield node, name
        elif isinstance(node, ir.ImportFrom) and not node.level:
            yield from ((node, f"{node.module}.{imported.name}") for imported in node.names)


def _is_guarded(source: FixSource, node: ir.Node) -> bool:
    """A test of the release is around a node, or an exception that a missing name raises is caught."""
    return any(_asks_for_release(source, above) for above in source.ancestors(node))


def _asks_for_release(source: FixSource, node: msgspec.Struct) -> bool:
    if isinstance(node, (ir.If, ir.IfExp)):
        return _RELEASE.search(source.slice(node.test)) is not None
    if not isinstance(node, ir.Try):
        return False
    caught = [source.slice(handler.type) if handler.type is not None else "" for handler in node.handlers]
    is_short = len(node.body) <= _SHORT
    return any(_MISSING.search(text) or (is_short and text in ("", "Exception", "BaseException")) for text in caught)
