"""Which file of the project an absolute import means, where several have the name that it gives.

Python looks through ``sys.path``: the directory of the script, then those that the project installs. A file outside of packages
so finds what lies beside it first.

Vocabulary
----------
root        the directory below which a file has its module name; of a notebook its own directory, because no import finds it.
key         the module name of a file with a number for its root, where files of other roots have that name too. A file that
            is no package and is called like a library has such a key as well: ``utils/jax.py`` does not hide ``jax``.

Where no file has the name, the tails of the files count (``core.module_paths``).

Limitations: changes of ``sys.path``, directories that the configuration does not name.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable

from flake8_jax.core.module_paths import Folder, nearest, tails
from flake8_jax.semantics.domain.scopes import ModuleScope

_NUMBER = "\0"
_NUMBERED = re.compile(f"{_NUMBER}[0-9]+")
_SEPARATORS = re.compile(r"[\\/]")


def plain_name(key: str) -> str:
    """The module name as code spells it."""
    return _NUMBERED.sub("", key) if _NUMBER in key else key


class Roots:
    """The roots of a project's files, by the top-level name that they give to modules. libraries: names of libraries."""

    def __init__(self, scopes: Iterable[ModuleScope], libraries: frozenset[str]) -> None:
        owners: dict[str, dict[tuple[str, ...], bool]] = defaultdict(dict)
        self._roots: dict[str, tuple[str, ...]] = {}
        for scope in scopes:
            root = self._roots[scope.path] = _root_of(scope)
            top = scope.name.partition(".")[0]
            is_bare = scope.name == top and not scope.is_package
            owners[top][root] = owners[top].get(root, True) and is_bare
        self._keys: dict[str, dict[tuple[str, ...], str]] = {}
        self._bare: dict[str, dict[tuple[str, ...], bool]] = {}
        for top, bare in owners.items():
            hides = top in libraries or top in sys.stdlib_module_names
            if len(bare) > 1 or (hides and all(bare.values())):
                self._keys[top] = {root: f"{top}{_NUMBER}{number}" for number, root in enumerate(sorted(bare))}
                self._bare[top] = bare
        self._libraries = libraries
        self._tails: dict[str, dict[Folder, ModuleScope]] = {}

    def place(self, scopes: Iterable[ModuleScope]) -> None:
        """Note the tails of the files, which have their keys by now."""
        for scope in scopes:
            folder, stem = _folder(scope.path), _SEPARATORS.split(scope.path)[-1].rpartition(".")[0]
            if not scope.path.endswith(".ipynb"):
                for above, name in tails(folder if scope.is_package else (*folder, stem)):
                    self._tails.setdefault(name, {})[above] = scope

    def found(self, importer: ModuleScope, module: str) -> ModuleScope | None:
        """The file whose tail an import spells; None for names of libraries, and if the file itself imports this name, so that
        something else must have it."""
        top, dot, _ = module.partition(".")
        above = self._tails.get(module)
        if above is None or top in self._libraries or top in sys.stdlib_module_names:
            return None
        found = nearest(_folder(importer.path), above, dotted=bool(dot), edits="sys.path" in importer.text)
        return None if found is importer or found is None or (not dot and _imports(found, top)) else found

    def key(self, scope: ModuleScope) -> str:
        """The name under which a file stands."""
        top, dot, rest = scope.name.partition(".")
        known = self._keys.get(top)
        return known[self._roots[scope.path]] + dot + rest if known is not None else scope.name

    def meant(self, importer: ModuleScope, module: str) -> str:
        """The key of a module that a file imports by its absolute name; the name itself where that is a library's, or where
        it is not known which of several files it means."""
        top, dot, rest = module.partition(".")
        known = self._keys.get(top)
        root = self._choose(importer, top, known) if known is not None else None
        return known[root] + dot + rest if known is not None and root is not None else module

    def _choose(self, importer: ModuleScope, top: str, known: dict[tuple[str, ...], str]) -> tuple[str, ...] | None:
        bare = self._bare[top]
        if top in self._libraries:
            known = {root: key for root, key in known.items() if not bare[root]}
        own, folder = self._roots.get(importer.path, ()), _folder(importer.path)
        for start in (own, folder):
            for depth in range(len(start), -1, -1):
                if start[:depth] in known:
                    return start[:depth]
                if top in sys.stdlib_module_names:
                    break
        packages = [root for root in known if not bare[root]]
        return packages[0] if len(packages) == 1 else None


def _imports(scope: ModuleScope, top: str) -> bool:
    """Whether a file imports this top-level name."""
    return re.search(rf"^[ \t]*(?:import|from)[ \t]+{re.escape(top)}\b", scope.text, re.MULTILINE) is not None


def _folder(path: str) -> tuple[str, ...]:
    return tuple(_SEPARATORS.split(path)[:-1])


def _root_of(scope: ModuleScope) -> tuple[str, ...]:
    folder = _folder(scope.path)
    if scope.path.endswith(".ipynb"):
        return folder
    depth = scope.name.count(".") + scope.is_package
    return folder[: len(folder) - depth] if depth else folder
