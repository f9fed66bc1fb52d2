"""All files of the project beside the one being fixed, and who mentions a function.

Vocabulary
----------
use         an expression, a name or ``module.name``, that stands for a function of the project.
followed    every use of a function is known. That of a method, of an exported function (``__all__``, or imported by a
            package's ``__init__``) and of one whose name is bound twice is not.

Uses are found by name, so a name that two modules share counts for both: there may be more uses than there are, never fewer.

Limitations: ``getattr``, ``globals()`` and other ways to a function that spell no name; code outside the project.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.style import DEFAULT_STYLE, CodeStyle
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import header_of, imported_name, own_statements, uses
from flake8_jax.fixers._source import FixSource, Use
from flake8_jax.knowledge import load
from flake8_jax.knowledge.history import Support, load_histories
from flake8_jax.knowledge.requirement import required_in_file

_RETIRED = re.compile(
    r"(?:_|x_)?(?:deprecated|old|archived?|legacy|obsolete|unused|attic|graveyard|trash)", re.IGNORECASE
)


class Program:
    """The files of one analysis. ``files``: path, text, tree. styles: how their code is laid out, by path. required: by path,
    the versions that are supported."""

    def __init__(
        self,
        files: Iterable[tuple[str, str, ir.Module]],
        styles: Mapping[str, CodeStyle] | None = None,
        required: Callable[[str], Mapping[str, str]] = lambda path: {},
    ) -> None:
        self._styles = styles or {}
        self._required = required
        self._files = {path: (text, tree) for path, text, tree in files}
        self._sources: dict[str, FixSource] = {}
        self._own = _packages(self._files)
        self._common = _common_folders(self._files)
        self._said: dict[str, bool] = {}
        self._beside: dict[str, list[str]] = {}
        self._modules: dict[str, bool] = {}

    def is_library(self, module: str) -> bool:
        """Whether the tables describe the library that a module belongs to, and it is not the project itself: its names are
        no functions of the project."""
        root = module.partition(".")[0]
        return (root in load().libraries or root in ("numpy", "scipy")) and root not in self._own

    def is_own(self, root: str) -> bool:
        """Whether a top-level module is one of the project: a file outside of packages, a package, or a folder with files
        that bears the name of no known library."""
        if root not in self._modules:
            inside = {os.path.dirname(path) for path in self._files if os.path.basename(path) == "__init__.py"}
            files = {os.path.basename(path) for path in self._files if os.path.dirname(path) not in inside}
            folders = {os.path.basename(os.path.dirname(path)) for path in self._files}
            packages = {os.path.basename(folder) for folder in inside}
            known = root in load().libraries or root in ("numpy", "scipy")
            self._modules[root] = f"{root}.py" in files or root in (packages if known else folders)
        return self._modules[root]

    def source(self, path: str) -> FixSource:
        """What fixers need to know of a file; the same object every time."""
        if path not in self._sources:
            self._sources[path] = FixSource(path, *self._files[path], self, self._styles.get(path, DEFAULT_STYLE))
        return self._sources[path]

    def beside(self, source: FixSource) -> list[FixSource]:
        """The files of the outermost package that a file is in; the file alone if it is in none."""
        folder = os.path.dirname(source.path)
        if folder not in self._beside:
            package, above = "", folder
            while os.path.join(above, "__init__.py") in self._files:
                package, above = above, os.path.dirname(above)
            self._beside[folder] = [path for path in self._files if package and path.startswith(package + os.sep)]
        return [self.source(path) for path in self._beside[folder]] or [source]

    def starts(self, source: FixSource) -> list[FixSource]:
        """The ``__init__.py`` of the packages that a file is in: Python runs them first."""
        found, folder = [], os.path.dirname(source.path)
        while (path := os.path.join(folder, "__init__.py")) in self._files:
            found.append(path)
            folder = os.path.dirname(folder)
        return [self.source(path) for path in found if path != source.path]

    def starts_of(self, package: str) -> list[FixSource]:
        """The ``__init__.py`` of a package of the project, by its name."""
        tail = f"/{package}/__init__.py"
        return [self.source(path) for path in self._files if f"/{path}".replace(os.sep, "/").endswith(tail)]

    def is_retired(self, path: str) -> bool:
        """A folder of the project says that the file does not run any more."""
        return any(_RETIRED.fullmatch(folder) for folder in _folders(path)[self._common :])

    def uses(self, source: FixSource, definition: ir.FunctionDef) -> list[Use] | None:
        """Where a function is mentioned; None where that cannot be followed."""
        return source.remember("uses", definition, lambda: self._uses(source, definition))

    def _uses(self, source: FixSource, definition: ir.FunctionDef) -> list[Use] | None:
        owner = owner_of(source, definition)
        name = definition.function.name
        if owner is None or len(binders(source, owner, name)) != 1:
            return None
        if isinstance(owner, ir.Function):
            return [Use(source, node) for node in names(source, name) if scope_of(source, node) is owner]
        if name in (source.module.star_exports or ()) or name in source.module.rebound_names:
            return None
        found = [Use(source, node) for node in names(source, name) if scope_of(source, node) is None]
        spelled, left = {name}, [name]
        while left:
            wanted = left.pop()
            for path in self._mentioning(wanted):
                if path != source.path:
                    elsewhere = self._uses_elsewhere(path, wanted)
                    if elsewhere is None:
                        return None
                    found += elsewhere
                    new = self._imports(self.source(path), wanted)[0] - spelled  # another file may import the alias
                    spelled |= new
                    left += new
        return found

    def says(self, pattern: str) -> bool:
        """Whether a regular expression is found in the text of some file, strings and comments included."""
        if pattern not in self._said:
            self._said[pattern] = any(re.search(pattern, text) for text, _ in self._files.values())
        return self._said[pattern]

    def says_near(self, source: FixSource, pattern: str, *, below: bool = False) -> bool:
        """Whether a regular expression is found in the file itself, or in one of its folder or of a folder around it. below:
        or of a folder in it."""
        here = os.path.dirname(source.path) + os.sep
        folders = ((os.path.dirname(path) + os.sep, text) for path, (text, _) in self._files.items())
        return any(
            (here.startswith(folder) or (below and folder.startswith(here))) and re.search(pattern, text)
            for folder, text in folders
        )

    def supports(self, source: FixSource) -> Mapping[str, Support]:
        """The releases of each library that a file is for."""
        asked = {**self._required(source.path), **required_in_file(source.text)}
        return load_histories().supports(asked)

    def _mentioning(self, name: str) -> list[str]:
        """The files in whose text a name stands."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        return [path for path, (text, _) in self._files.items() if word.search(text)]

    def called(self, source: FixSource, call: ir.Call) -> tuple[FixSource, ir.FunctionDef] | None:
        """The undecorated function of the project that a call surely runs, by its name or by an import."""
        return self.definition(source, call.func)

    def definition(self, source: FixSource, func: ir.Expr) -> tuple[FixSource, ir.FunctionDef] | None:
        """The undecorated function of the project that an expression surely means, by its name or by an import."""
        if isinstance(func, ir.Name) and (owner := _owner_by_name(source, func)) is not None:
            bound = binders(source, owner, func.id)
            if len(bound) == 1 and isinstance(bound[0], ir.FunctionDef):
                return None if bound[0].decorators else (source, bound[0])
        module, _, name = (Imports(source, func).resolve(func) or "").rpartition(".")
        if not module or self.is_library(module):
            return None
        tail = "/" + module.replace(".", "/") + ".py"
        paths = [path for path in self._files if path.replace(os.sep, "/").endswith(tail)]
        if len(paths) != 1:
            return None
        there = self.source(paths[0])
        bound = binders(there, there.module, name)
        if len(bound) != 1 or not isinstance(bound[0], ir.FunctionDef) or bound[0].decorators:
            return None
        return None if name in there.module.rebound_names else (there, bound[0])

    def imported_elsewhere(self, source: FixSource, name: str) -> bool:
        """Whether another file may take a name of this one's top level."""
        if name in (source.module.star_exports or ()) or os.path.basename(source.path) == "__init__.py":
            return True
        others = [path for path in self._mentioning(name) if path != source.path]
        return any(self._uses_elsewhere(path, name) != [] for path in others)

    def _uses_elsewhere(self, path: str, name: str) -> list[Use] | None:
        """Where another file may mean a function of that name; None where it hands the name on."""
        source = self.source(path)
        aliases, modules, star = self._imports(source, name)
        if aliases and os.path.basename(path) == "__init__.py":
            return None
        found = [Use(source, node) for alias in aliases for node in names(source, alias)]
        if star:
            found += [Use(source, node) for node in names(source, name) if scope_of(source, node) is None]
        for node in attributes(source, name):
            root: ir.Expr = node
            while isinstance(root, ir.Attribute):
                root = root.value
            if isinstance(root, ir.Name) and root.id in modules:
                found.append(Use(source, node))
        return found

    def _imports(self, source: FixSource, name: str) -> tuple[set[str], set[str], bool]:
        """How a file may spell a function of the project: names for it, names of modules, and whether by a star import."""
        aliases: set[str] = set()
        modules: set[str] = set()
        star = False
        for node in _imports_of(source):
            if isinstance(node, ir.Import):
                modules.update(imported_name(n, from_import=False) for n in node.names if not self.is_library(n.name))
            elif node.level or not self.is_library(node.module):
                star = star or any(n.name == "*" for n in node.names)
                aliases.update(n.alias or n.name for n in node.names if n.name == name)
                modules.update(n.alias or n.name for n in node.names if n.name not in ("*", name))
        return aliases, modules, star


def _owner_by_name(source: FixSource, node: ir.Name) -> ir.Function | ir.Module | None:
    """The function or module whose variable a name is; None for one that is rebound from elsewhere."""
    owner = scope_of(source, node)
    if owner is not None:
        return None if any(p.name == node.id for p in owner.params) else owner
    return None if node.id in source.module.rebound_names else source.module


def _imports_of(source: FixSource) -> list[ir.Import | ir.ImportFrom]:
    return source.remember(
        "all imports",
        source.module,
        lambda: [n for n in walk(source.module) if isinstance(n, (ir.Import, ir.ImportFrom))],
    )


def _folders(path: str) -> list[str]:
    return re.split(r"[/\\]", path)[:-1]


def _common_folders(paths: Iterable[str]) -> int:
    """How many folders all paths begin with."""
    columns = zip(*map(_folders, paths), strict=False)
    return next(
        (at for at, column in enumerate(columns) if len(set(column)) > 1),
        min(map(len, map(_folders, paths)), default=0),
    )


def _packages(paths: Iterable[str]) -> frozenset[str]:
    """The names that the project's own packages and modules may have."""
    parts = [re.split(r"[/\\]", os.path.splitext(path)[0]) for path in paths]
    return frozenset([part for names in parts for part in names])


def names(source: FixSource, name: str) -> list[ir.Name]:
    """Where a file reads or binds a plain name."""
    return source.remember("names", source.module, lambda: _by_text(source, ir.Name, "id")).get(name, [])


def attributes(source: FixSource, name: str) -> list[ir.Attribute]:
    """Where a file has ``….name``."""
    return source.remember("attributes", source.module, lambda: _by_text(source, ir.Attribute, "attr")).get(name, [])


def _by_text(source: FixSource, kind: type, field: str) -> dict[str, list]:  # type: ignore[type-arg]
    found: dict[str, list[msgspec.Struct]] = {}
    for node in walk(source.module):
        if isinstance(node, kind):
            found.setdefault(getattr(node, field), []).append(node)
    return found


def scope_of(source: FixSource, node: ir.Name) -> ir.Function | None:
    """The function whose variable a name is; None for the module's."""
    for function in source.functions(node):
        if node.id in function.global_names:
            return None
        if node.id not in function.nonlocal_names and (
            node.id in function.local_names or any(p.name == node.id for p in function.params)
        ):
            return function
    return None


def owner_of(source: FixSource, definition: ir.FunctionDef) -> ir.Function | ir.Module | None:
    """The function or module whose variable a function is; None for a method."""
    for above in source.ancestors(definition):
        if isinstance(above, ir.ClassDef):
            return None
        if isinstance(above, (ir.Function, ir.Module)):
            return above
    return None


def binders(source: FixSource, owner: ir.Function | ir.Module, name: str) -> list[ir.Stmt]:
    """The statements that bind a variable of a function or module, ``global`` and ``nonlocal`` ones elsewhere included."""
    table = source.remember("binders", owner, lambda: _binders(source, owner))
    return table.get(name, [])


def _binders(source: FixSource, owner: ir.Function | ir.Module) -> dict[str, list[ir.Stmt]]:
    found: dict[str, list[ir.Stmt]] = {}
    for statement in own_statements(owner):
        header = header_of(statement)
        for name in sorted(uses(*header).binds if header is not None else uses(statement).binds):
            found.setdefault(name, []).append(statement)
    return found
