"""Which files belong together, read off their import lines without parsing them.

Vocabulary
----------
import scan what a look at a file's text tells: its imports, and whether it mentions JAX.
import root the directory whose entries are top-level modules: the first one upwards without ``__init__``.
relevant    a file that mentions JAX, one that imports such a file (at any distance), or one that those import.

A line inside a string may look like an import: that makes a file relevant too many, never one too few.
Limitations: imports by computed names; ``sys.path`` changes at run time.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from flake8_jax.core.module_paths import Folder, nearest, tails
from flake8_jax.settings.resolver import parents

_START = re.compile(r"(?:^|[;:])[ \t\f]*(from|import)[ \t]+", re.MULTILINE)
_MODULE = re.compile(r"[.\w \t]*")
_IMPORT_WORD = re.compile(r"\bimport\b[ \t]*")
_LINE = re.compile(r"[^\n\\;]*(?:\\\r?\n[^\n\\;]*)*")
_NAME = re.compile(r"[^\W\d][\w.]*")
_COMMENT = re.compile(r"#[^\n]*")
_ALIAS = re.compile(r"\bas[ \t]+\w+")
_LONGEST_NAME = 255
_MOST_PARTS = 100


class Imported(msgspec.Struct, frozen=True, array_like=True):
    """One imported module: ``level`` leading dots, then ``module``; ``names`` are taken from it (may be modules)."""

    level: int
    module: str
    names: tuple[str, ...] = ()


class ImportScan(msgspec.Struct, frozen=True, array_like=True):
    """What the text of a file tells without parsing it. ``digest`` identifies its bytes."""

    digest: str
    mentions: bool
    imports: tuple[Imported, ...]


def imports_of(text: str) -> tuple[Imported, ...]:
    """The import statements of a text, by its lines. Nothing is looked at twice, so any text takes linear time."""
    found: list[Imported] = []
    position = closing = 0
    while (start := _START.search(text, position)) is not None:
        position = start.end()
        if start[1] == "import":
            position = _end_of_line(text, position)
            found += [Imported(0, name) for name in _names(text[start.end() : position]) if _is_sane(name)]
            continue
        run = text[position : (end := _end(_MODULE, text, position))]
        word = _IMPORT_WORD.search(run)
        if word is None or not run[: word.start()].strip():
            position = end
            continue
        position = first = position + word.end()
        if 0 <= closing < first and text.startswith("(", first):
            closing = text.find(")", first)
        position = closing + 1 if closing >= first and text.startswith("(", first) else _end_of_line(text, first)
        dotted = run[: word.start()].replace(" ", "").replace("\t", "")
        module = dotted.lstrip(".")
        if _is_sane(dotted):
            found.append(Imported(len(dotted) - len(module), module, tuple(_names(text[first:position]))))
    return tuple(found)


def _is_sane(module: str) -> bool:
    """Whether a file may have this module name. The work on a name grows with the square of its length."""
    return len(module) <= _LONGEST_NAME and module.count(".") <= _MOST_PARTS


def _end_of_line(text: str, position: int) -> int:
    """Where a logical line outside of brackets ends."""
    return _end(_LINE, text, position)


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found is not None else position


def _names(text: str) -> list[str]:
    cleaned = _ALIAS.sub("", _COMMENT.sub("", text))
    found = (name[0] for part in cleaned.split(",") if (name := _NAME.search(part)) is not None)
    return [name for name in found if len(name) <= _LONGEST_NAME]


def scan_imports(text: str, digest: str, libraries: frozenset[str]) -> ImportScan:
    """Look at a text: it mentions JAX if the word is in it, or if it imports one of ``libraries``."""
    imports = imports_of(text)
    mentions = "jax" in text or any(item.level == 0 and item.module.partition(".")[0] in libraries for item in imports)
    return ImportScan(digest, mentions, imports)


# --- module names --------------------------------------------------------------------------------


def split_module_path(path: str) -> tuple[str, tuple[str, ...], bool]:
    """Import root of a file, the parts of its module name below it, and whether it is a package's ``__init__``."""
    directory, base = os.path.split(path)
    stem = _stem(base)
    is_package = stem == "__init__"
    parts = [] if is_package else [stem]
    while _is_package(directory):
        directory, name = os.path.split(directory)
        parts.insert(0, name)
    if not parts:  # an __init__ at the very root of the file system
        parts = [stem]
    return directory, tuple(parts), is_package


def _stem(base: str) -> str:
    stem, extension = os.path.splitext(base)
    return stem if extension in (".py", ".pyi") else base


def _is_package(directory: str) -> bool:
    return os.path.exists(os.path.join(directory, "__init__.py")) or os.path.exists(
        os.path.join(directory, "__init__.pyi")
    )


class Modules:
    """The module names of a set of files, and which files an import may mean.

    Below ``src`` directories names are relative to those. Elsewhere they start at the import root; where the
    project's imports say that the directories above are namespace packages, their names are put in front.
    """

    def __init__(self, scans: Mapping[str, ImportScan], project_root: str | None, src: Sequence[str] = ()) -> None:
        self._roots: dict[str, str] = {}
        self._parts: dict[str, tuple[str, ...]] = {}
        self.packages: set[str] = set()
        sources = frozenset(src)
        packaged: dict[str, tuple[str, tuple[str, ...], bool]] = {}
        for path in scans:
            root, parts, is_package = _split_known(path, packaged, scans)
            source = next(filter(sources.__contains__, parents(os.path.dirname(path))), None)
            if source is not None:
                inside = os.path.relpath(root, source)
                above = () if inside == "." else tuple(inside.split(os.sep))
                root, parts = (source, (*above, *parts)) if ".." not in above else (root, parts)
            self._roots[path], self._parts[path] = root, parts
            if is_package:
                self.packages.add(path)
        self._prefixes = self._namespace_prefixes(scans, project_root, sources)
        self.names = {path: ".".join((*self._prefixes[self._roots[path]], *self._parts[path])) for path in scans}
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path, name in self.names.items():
            self._by_name[name].append(path)
        self._tails: dict[str, dict[Folder, str]] = defaultdict(dict)
        for path in scans:
            *folder, base = path.split(os.sep)
            for above, name in tails((*folder, _stem(base)) if path not in self.packages else tuple(folder)):
                self._tails[name][above] = path

    def _namespace_prefixes(
        self, scans: Mapping[str, ImportScan], project_root: str | None, sources: frozenset[str]
    ) -> dict[str, tuple[str, ...]]:
        """For each import root, the names of directories above it that imports put before its modules."""
        wanted: Counter[str] = Counter()
        for seen in scans.values():
            for item in seen.imports:
                if item.level == 0:
                    wanted[item.module] += 1
                    wanted.update(f"{item.module}.{name}" for name in item.names)
        by_root: dict[str, list[str]] = defaultdict(list)
        for path, root in self._roots.items():
            by_root[root].append(path)
        prefixes: dict[str, tuple[str, ...]] = {}
        for root, paths in by_root.items():
            candidates = [()] if root in sources else _prefix_candidates(root, project_root)
            needed = max((_levels_beyond(scans[p], len(self._parts[p]), p in self.packages) for p in paths), default=0)
            possible = [c for c in candidates if len(c) >= needed] or candidates[-1:]

            def votes(prefix: tuple[str, ...], paths: list[str] = paths) -> int:
                return sum(wanted[".".join((*prefix, *self._parts[path]))] for path in paths)

            prefixes[root] = max(possible, key=lambda prefix: (votes(prefix), -len(prefix)))
        return prefixes

    def paths_named(self, name: str) -> list[str]:
        return self._by_name.get(name, [])

    def imported_paths(self, path: str, imports: Iterable[Imported]) -> set[str]:
        """The files that running these imports in ``path`` would load."""
        own = self.names[path].split(".")
        package = own if path in self.packages else own[:-1]
        found: set[str] = set()
        for item in imports:
            if item.level > len(package) + 1:
                continue
            base = package[: len(package) - item.level + 1] if item.level else []
            parts = [*base, *(part for part in item.module.split(".") if part)]
            for length in range(1, len(parts) + 1):
                found.update(self.paths_named(".".join(parts[:length])))
            for name in item.names:
                found.update(self.paths_named(".".join((*parts, name))))
            if item.level == 0 and not self.paths_named(item.module):
                found.update(self._with_tail(path, (item.module, *(f"{item.module}.{name}" for name in item.names))))
        found.discard(path)
        return found

    def _with_tail(self, path: str, modules: Iterable[str]) -> Iterator[str]:
        """The files that imports in ``path`` find by another name than their own."""
        folder = tuple(path.split(os.sep)[:-1])
        for module in modules:
            if module in self._tails:
                near = nearest(folder, self._tails[module], dotted="." in module, edits=True)
                if near is not None:
                    yield near


def _split_known(
    path: str, known: dict[str, tuple[str, tuple[str, ...], bool]], files: Mapping[str, ImportScan]
) -> tuple[str, tuple[str, ...], bool]:
    """``split_module_path``, asking the disk once per directory."""
    directory, base = os.path.split(path)
    if directory not in known:
        probe = os.path.join(directory, "__init__.py")
        if probe in files or _is_package(directory):
            known[directory] = split_module_path(probe)
        else:
            known[directory] = (directory, (), False)
    root, above, _ = known[directory]
    stem = _stem(base)
    if stem == "__init__" and above:
        return root, above, True
    return root, (*above, stem), False


def _prefix_candidates(root: str, project_root: str | None) -> list[tuple[str, ...]]:
    """Possible namespace prefixes of an import root: none, then one directory name more at a time."""
    candidates: list[tuple[str, ...]] = [()]
    if project_root is None or not root.startswith(project_root.rstrip(os.sep) + os.sep):
        return candidates
    names: tuple[str, ...] = ()
    for folder in parents(root):
        if folder == project_root:
            break
        names = (os.path.basename(folder), *names)
        if not names[0].isidentifier():
            break
        candidates.append(names)
    return candidates


def _levels_beyond(seen: ImportScan, depth: int, is_package: bool) -> int:
    """How many package names a file's relative imports need above what its own name provides."""
    own = depth if is_package else depth - 1
    return max((item.level - own for item in seen.imports if item.level), default=0)


# --- closure -------------------------------------------------------------------------------------


def closure(start: Iterable[str], edges: Mapping[str, Iterable[str]]) -> set[str]:
    """Everything that can be reached from ``start``, itself included."""
    found = set(start)
    pending = list(found)
    while pending:
        for neighbor in edges.get(pending.pop(), ()):
            if neighbor not in found:
                found.add(neighbor)
                pending.append(neighbor)
    return found


def reversed_edges(edges: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    turned: dict[str, set[str]] = defaultdict(set)
    for origin, targets in edges.items():
        for target in targets:
            turned[target].add(origin)
    return turned


def relevant_files(scans: Mapping[str, ImportScan], edges: Mapping[str, set[str]], asked: Iterable[str]) -> set[str]:
    """The files to analyze so that what is said of ``asked`` is said with the whole program in view.

    These are the asked files, their importers at any distance, and all that these import, without the files
    that neither mention JAX nor touch one that does.
    """
    importers = reversed_edges(edges)
    speaking = [path for path, seen in scans.items() if seen.mentions]
    relevant = closure(closure(speaking, importers), edges)
    program = closure(closure(asked, importers), edges)
    return relevant & program
