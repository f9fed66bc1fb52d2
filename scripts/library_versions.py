"""Checks knowledge/versions/{flax,optax,…}.toml against the releases of the libraries.

    python scripts/library_versions.py WHEELS

WHEELS is a folder of wheels, as ``python -m pip download --no-deps -d WHEELS flax==0.6.0`` leaves them, one call a
release. They are read, not installed: releases of many years cannot be imported side by side with one JAX. Says where
the tables and the releases disagree, and exits with 1 if they do: a name that a release still has is not removed, a name
that the release before the removal lacks was removed earlier, and a replacement is there from its ``since`` on. For each
release that a change names, the table has the oldest JAX that the metadata of the release requires.

Limitations: names that a module makes at run time, but for tables called ``…deprecations`` that its ``__getattr__``
reads; attributes of classes; arguments; requirements that only an extra has.
"""

from __future__ import annotations

import argparse
import ast
import sys
import zipfile
from collections.abc import Iterable, Iterator
from email import message_from_bytes
from email.message import Message
from functools import lru_cache
from pathlib import Path

from flake8_jax.knowledge.history import History, Version, show, version_of
from flake8_jax.knowledge.requirement import LIBRARIES, required

TABLES = Path(__file__).resolve().parent.parent / "flake8_jax" / "knowledge" / "versions"


class Release:
    """The modules of one release, as its wheel has them."""

    def __init__(self, wheel: Path) -> None:
        self.version: Version = version_of(wheel.name.split("-")[1])
        self._archive = zipfile.ZipFile(wheel)
        self._files = frozenset(self._archive.namelist())
        self._bound: dict[str, frozenset[str]] = {}

    def required_jax(self) -> str | None:
        """The specifier of JAX in the metadata of the release; None if there is none."""
        path = next((file for file in self._files if file.endswith(".dist-info/METADATA")), None)
        metadata = message_from_bytes(self._archive.read(path)) if path is not None else Message()
        for requirement in metadata.get_all("Requires-Dist", []):
            for library, specifier in required(requirement):
                if library == "jax" and "extra" not in requirement.partition(";")[2]:
                    return specifier
        return None

    def has(self, name: str) -> bool:
        """The release has a module, or something in a module, of this qualified name."""
        path = name.replace(".", "/")
        if self._file_of(name) is not None or any(file.startswith(path + "/") for file in self._files):
            return True
        module, _, last = name.rpartition(".")
        return last in self._names(module, ())

    def modules(self, library: str) -> frozenset[str]:
        """The qualified names of all modules in a package."""
        files = (file for file in self._files if file.startswith(library + "/") and file.endswith(".py"))
        return frozenset(file.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for file in files)

    def defined(self, module: str) -> frozenset[str]:
        """What a module binds at its top level, without what it imports from other libraries."""
        file = self._file_of(module)
        assert file is not None
        package = module if file.endswith("/__init__.py") else module.rpartition(".")[0]
        foreign: set[str] = set()
        for statement in _top_level(_parsed(self._archive.read(file))):
            if isinstance(statement, ast.Import):
                foreign.update(map(_local, statement.names))
            elif isinstance(statement, ast.ImportFrom):
                source = _absolute(statement, package)
                is_foreign = source.partition(".")[0] != module.partition(".")[0]
                foreign |= {_local(one) for one in statement.names if is_foreign or self._is_aside(source, one, module)}
        return self._names(module, ()) - foreign

    def _is_aside(self, source: str, name: ast.alias, module: str) -> bool:
        """A module, which another one imports for its own use."""
        return (
            self._file_of(f"{source}.{name.name}") is not None
            and self._file_of(module) == f"{module.replace('.', '/')}.py"
        )

    def _file_of(self, module: str) -> str | None:
        path = module.replace(".", "/")
        return next((file for file in (f"{path}/__init__.py", f"{path}.py") if file in self._files), None)

    def _names(self, module: str, seen: tuple[str, ...]) -> frozenset[str]:
        """What a module binds at its top level."""
        file = self._file_of(module)
        if file is None or module in seen:
            return frozenset()
        if module not in self._bound:
            package = module if file.endswith("/__init__.py") else module.rpartition(".")[0]
            found: set[str] = set()
            for statement in _top_level(_parsed(self._archive.read(file))):
                if isinstance(statement, ast.ImportFrom):
                    source = _absolute(statement, package)
                    for alias in statement.names:
                        found |= self._names(source, (*seen, module)) if alias.name == "*" else {_local(alias)}
                elif isinstance(statement, ast.Delete):
                    found -= {target.id for target in statement.targets if isinstance(target, ast.Name)}
                else:
                    found |= set(_bound_by(statement))
            self._bound[module] = frozenset(found)
        return self._bound[module]


@lru_cache(1024)
def _parsed(text: bytes) -> list[ast.stmt]:
    """The statements of a file; none if it is no Python of today."""
    try:
        return ast.parse(text).body
    except SyntaxError:
        return []


def _top_level(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those in ``if``, ``try`` and ``with`` among them; what only type checkers see is not."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If):
            if "TYPE_CHECKING" not in ast.dump(statement.test):
                yield from _top_level(statement.body)
            yield from _top_level(statement.orelse)
        elif isinstance(statement, ast.Try):
            handled = [inner for handler in statement.handlers for inner in handler.body]
            yield from _top_level([*statement.body, *handled, *statement.orelse, *statement.finalbody])
        elif isinstance(statement, ast.With):
            yield from _top_level(statement.body)


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        yield statement.name
        if statement.name == "__getattr__":
            yield from [
                c.value for c in ast.walk(statement) if isinstance(c, ast.Constant) and isinstance(c.value, str)
            ]
    elif isinstance(statement, ast.Import):
        yield from map(_local, statement.names)
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
        yield from names
        if names[:1] and names[0].endswith("deprecations") and isinstance(statement.value, ast.Dict):
            for key, value in zip(statement.value.keys, statement.value.values, strict=True):
                gone = isinstance(value, ast.Tuple) and ast.unparse(value.elts[-1]) == "None"
                if isinstance(key, ast.Constant) and not gone:
                    yield str(key.value)


def _local(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _absolute(statement: ast.ImportFrom, package: str) -> str:
    if not statement.level:
        return statement.module or ""
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - statement.level + 1], *([statement.module] if statement.module else [])])


def disagreements(history: History, names: Iterable[str], releases: list[Release]) -> Iterator[str]:
    """Where a table and the releases, oldest first, contradict each other."""
    for name in names:
        change = history.change(name)
        if change is None or "(" in name or name in history.attributes:
            continue
        removed = change.removed
        for i, release in enumerate(releases):
            gone = removed is not None and release.version >= removed
            last = (
                removed is not None and i + 1 < len(releases) and release.version < removed <= releases[i + 1].version
            )
            if gone and release.has(name):
                yield f"{name}: removed in {show(removed or ())}, but {show(release.version)} has it"
            if last and not release.has(name):
                yield f"{name}: removed in {show(removed or ())}, but {show(release.version)} does not have it either"
        if removed is None and not releases[-1].has(name):
            yield f"{name}: not removed, but {show(releases[-1].version)} does not have it"
        head = change.replacement.partition(".")[0]
        if change.rename and change.since is not None and head == name.partition(".")[0]:
            for release in releases:
                if release.version >= change.since and not release.has(change.replacement):
                    yield f"{name}: {show(release.version)} has no {change.replacement}"
                    break


def wrong_requirements(history: History, names: Iterable[str], releases: list[Release]) -> Iterator[str]:
    """Where the table and the metadata of the releases require different versions of JAX."""
    table = history.requires_jax()
    changes = [change for change in map(history.change, names) if change is not None]
    named = {*table, *[change.deprecated for change in changes], *[change.removed for change in changes]}
    for release in releases:
        specifier = release.required_jax()
        oldest = history.support(specifier).lowest if specifier is not None else None
        if release.version in named and table.get(release.version) != oldest:
            said = [show(version) if version is not None else "any" for version in (oldest, table.get(release.version))]
            yield f"{show(release.version)} requires JAX {said[0]}, but the table has {said[1]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheels", metavar="WHEELS", type=Path, help="a folder of wheels, as pip downloads them")
    folder = parser.parse_args().wheels
    wrong: list[str] = []
    for library, distribution in LIBRARIES.items():
        wheels = folder.glob(f"{distribution.replace('-', '_')}-*.whl")
        releases = sorted((Release(wheel) for wheel in wheels), key=lambda release: release.version)
        if library == "jax" or not releases:
            continue
        text = (TABLES / f"{library}.toml").read_text(encoding="utf-8")
        history = History(text)
        if history.newest != releases[-1].version:
            wrong.append(f"{library}: the table ends with {show(history.newest)}, not {show(releases[-1].version)}")
        names = [line[1:].partition('"')[0] for line in text.splitlines()]
        wrong += disagreements(history, names, releases)
        wrong += [f"{library}: {line}" for line in wrong_requirements(history, names, releases)]
        print(f"{library}: {len(releases)} releases, {show(releases[0].version)} to {show(releases[-1].version)}")
    for line in wrong:
        print("  " + line, file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
