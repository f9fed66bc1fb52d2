"""Several modules of a project as one script: what is needed of them, in the order of their imports.

Vocabulary
----------
entity    a global name of a module, as path and name. Imports of the project are other names of entities and vanish.
needed    a top-level statement that binds an entity which something needed mentions; and a statement that acts on such an
          entity or on libraries (``TABLE["a"] = 1``, ``jax.config.update(…)``), in a module of which something is needed.
piece     a needed statement in the script: the user's own text, in which only names are exchanged.

Where two modules use a name for two things, one of them gets the name of its module in front. Limitations: names in
strings, ``importlib``, attributes set on a module, and modules that look at their own ``__file__``. What is left unsaid here
shows when the script is run, and it always is.
"""

from __future__ import annotations

import ast
import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from flake8_jax.runtime_checks.names import BUILTINS, Mention, Text, bindings, mentions

Entity = tuple[str, str]
Find = Callable[[str], str | None]


class FlatteningError(Exception):
    """The modules cannot be put into one script; the message says where and why."""


@dataclass(frozen=True)
class Place:
    """A row (1-based) of a file."""

    path: str
    row: int


@dataclass(frozen=True)
class Piece:
    """A statement in the script. source: its first row in its file; row: its first row in the script."""

    path: str
    source: int
    row: int
    text: str


@dataclass(frozen=True)
class Script:
    """One program. names: what each entity is called in it."""

    text: str
    pieces: tuple[Piece, ...]
    names: dict[Entity, str]
    modules: int

    def row_of(self, place: Place) -> int | None:
        """Return the row of the script (1-based) that holds a row of the project; None if it was left out."""
        for piece in self.pieces:
            if piece.path == place.path and 0 <= place.row - piece.source < piece.text.count("\n") + 1:
                return piece.row + place.row - piece.source
        return None


@dataclass(frozen=True)
class _Use:
    """A mention of an entity, as the text from start to end."""

    entity: Entity
    start: int
    end: int
    shadows: frozenset[str]


@dataclass
class _Statement:
    """A top-level statement of a module. trouble: why it cannot be taken over."""

    node: ast.stmt
    binds: frozenset[str]
    start: int
    end: int
    uses: list[_Use] = field(default_factory=list)
    edits: list[tuple[int, int, str]] = field(default_factory=list)
    assigned: list[tuple[int, int, list[tuple[str, Entity]]]] = field(default_factory=list)
    trouble: str = ""


class _Module:
    """A file of the project. aliases: global names that only imports of the project bind, and what they mean: an entity,
    or a dotted module name. order: the modules that it imports, as they are written."""

    def __init__(self, path: str, dotted: str, is_package: bool) -> None:
        self.path = path
        self.dotted = dotted
        self.package = dotted if is_package else dotted.rpartition(".")[0]
        try:
            with open(path, encoding="utf-8-sig", newline=None) as file:
                source = file.read()
            self.tree = ast.parse(source)
        except (SyntaxError, ValueError) as error:
            raise FlatteningError(f"{path}: {error}") from error
        self.source = Text(source)
        self.mentions = mentions(source, self.tree)
        self.bound = bindings(self.tree.body)
        self.statements: list[_Statement] = []
        for node in self.tree.body:
            start, end = self.source.whole_span(node)
            self.statements.append(_Statement(node, frozenset(bindings([node])), start, end))

    def absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.package.split(".") if self.package else []
        base = parts[: len(parts) - node.level + 1]
        return ".".join([*base, *([node.module] if node.module else [])])


def _is_future(node: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _import_line(module: _Module, node: ast.Import | ast.ImportFrom, alias: ast.alias, name: str) -> str:
    """The import of one name, which the script calls ``name``."""
    origin = f"from {module.absolute(node)} " if isinstance(node, ast.ImportFrom) else ""
    plain = name == alias.name or (not alias.asname and name == alias.name.partition(".")[0])
    return f"{origin}import {alias.name}" + ("" if plain else f" as {name}")


def _shadows(kept: dict[str, list[_Statement]]) -> dict[Entity, set[str]]:
    """What is used or bound, and the names that mean something else where it is used."""
    shadows: dict[Entity, set[str]] = {}
    for path, statements in kept.items():
        for statement in statements:
            for use in statement.uses:
                shadows.setdefault(use.entity, set()).update(use.shadows)
            for name in statement.binds:
                shadows.setdefault((path, name), set())
    return shadows


class Project:
    """Modules that import each other. find: the file of a dotted name, a folder for a package without a file, or None."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._modules: dict[str, _Module] = {}
        self._order: list[str] = []
        self._all_imports = False

    def flatten(self, places: Iterable[Place], *, main: str | None = None, imports: bool = False) -> Script:
        """Join the statements that some places need into one script.

        main: a module whose top-level code runs too, also below ``if __name__ == "__main__"``. imports: keep those of
        libraries that nothing uses. Raises FlatteningError.
        """
        self._all_imports = imports
        wanted: list[tuple[str, _Statement]] = []
        first = ""
        for place in places:
            first = first or place.path
            module = self._load_file(place.path)
            wanted += [(module.path, s) for s in module.statements if _holds(module, s, place.row)]
            if imports:
                wanted += [
                    (module.path, s) for s in module.statements if isinstance(s.node, (ast.Import, ast.ImportFrom))
                ]
        if main is not None:
            module = self._load_file(main)
            wanted += [(module.path, s) for s in module.statements if _runs(s.node)]
        kept = self._needed(wanted, main)
        return self._written(kept, main or first)

    def callers(self, place: Place, most: int = 12) -> list[Place]:
        """Return the top-level statements, in the files read so far, that use what the statement at a place defines,
        directly or through others; the nearest come first. most: how many at most.
        """
        found: list[Place] = []
        wanted = {
            (place.path, name)
            for statement in self._load_file(place.path).statements
            if _holds(self._modules[place.path], statement, place.row)
            for name in statement.binds
        }
        done: set[int] = set()
        while wanted and len(found) < most:
            users = [
                (module, statement)
                for module in self._modules.values()
                for statement in module.statements
                if id(statement) not in done and not statement.trouble and wanted & {u.entity for u in statement.uses}
            ]
            done |= {id(statement) for _, statement in users}
            wanted = {(module.path, name) for module, statement in users for name in statement.binds}
            found += [Place(m.path, m.source.row(s.start)) for m, s in users if not _is_main_guard(s.node)]
        return [other for other in found if other != place][:most]

    def lines(self) -> int:
        """Count the lines of the files read so far."""
        return sum(module.source.text.count("\n") for module in self._modules.values())

    def count(self) -> int:
        """Count the files read so far."""
        return len(self._modules)

    # --- reading ----------------------------------------------------------------------------------------------

    def _load_file(self, path: str) -> _Module:
        dotted, is_package = _dotted(path)
        return self._load(path, dotted, is_package)

    def _load(self, path: str, dotted: str, is_package: bool) -> _Module:
        if path not in self._modules:
            module = self._modules[path] = _Module(path, dotted, is_package)
            for name in self._imported(module):
                found = self._find(name)
                if found is not None and found.endswith(".py"):
                    self._load(found, name, found.endswith("__init__.py"))
            self._order.append(path)
            self._resolve(module)
        return self._modules[path]

    def _imported(self, module: _Module) -> Iterator[str]:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                name = module.absolute(node)
                yield name
                yield from (f"{name}.{alias.name}" for alias in node.names)

    def _module(self, dotted: str) -> _Module | None:
        found = self._find(dotted)
        return self._load(found, dotted, found.endswith("__init__.py")) if found and found.endswith(".py") else None

    # --- what names mean --------------------------------------------------------------------------------------

    def _meaning(self, module: _Module, name: str, seen: frozenset[Entity] = frozenset()) -> Entity | str | None:
        """The entity or dotted module that a global name of a module stands for; None for builtins and unknown names."""
        if (module.path, name) in seen:
            return None
        seen = seen | {(module.path, name)}
        if name in module.bound:
            binders = module.bound[name]
            targets = {self._import_target(module, node, name, seen) for node in binders}
            if len(targets) == 1 and (target := targets.pop()) is not None:
                return target
            return (module.path, name)
        for node in module.tree.body:
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                other = self._module(module.absolute(node))
                found = self._meaning(other, name, seen) if other is not None else None
                if found is not None:
                    return found
        return None

    def _import_target(
        self, module: _Module, node: ast.AST, name: str, seen: frozenset[Entity] = frozenset()
    ) -> Entity | str | None:
        """What an import of the project binds a name to; None for other statements and other imports."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname == name and self._find(alias.name):
                    return alias.name
                top = alias.name.partition(".")[0]
                if alias.asname is None and top == name and self._find(top) and self._find(alias.name):
                    return top
        elif isinstance(node, ast.ImportFrom):
            base = module.absolute(node)
            for alias in node.names:
                if (alias.asname or alias.name) == name and self._find(base):
                    return self._member(base, alias.name, seen)
        return None

    def _member(self, dotted: str, name: str, seen: frozenset[Entity] = frozenset()) -> Entity | str | None:
        """What an attribute of a module of the project is."""
        module = self._module(dotted)
        if module is not None and (name in module.bound or not self._find(f"{dotted}.{name}")):
            return self._meaning(module, name, seen)
        return f"{dotted}.{name}" if self._find(f"{dotted}.{name}") else None

    def _resolve(self, module: _Module) -> None:
        """Find out for every statement which entities it uses, and how its imports of the project are replaced."""
        parents = {id(child): node for node in ast.walk(module.tree) for child in ast.iter_child_nodes(node)}
        for mention in module.mentions:
            statement = next((s for s in module.statements if s.start <= mention.start < s.end), None)
            if statement is not None:
                self._use(module, statement, mention, parents)
        for statement in module.statements:
            for node in ast.walk(statement.node):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    self._replace(module, statement, node)

    def _use(self, module: _Module, statement: _Statement, mention: Mention, parents: dict[int, ast.AST]) -> None:
        if isinstance(mention.node, (ast.Import, ast.ImportFrom)) and mention.bound_by is not None:
            return
        if mention.bound_by is not None:
            meaning = self._import_target(module, mention.bound_by, mention.name)
        else:
            meaning = self._meaning(module, mention.name)
        node, end = mention.node, mention.end
        if (
            isinstance(node, (ast.Import, ast.ImportFrom))
            and self._import_target(module, node, mention.name) is not None
        ):
            return
        while isinstance(meaning, str):
            outer = parents.get(id(node))
            if not isinstance(outer, ast.Attribute) or outer.value is not node:
                statement.trouble = self._at(module, node, f"the module {meaning} is used as a value")
                return
            member = self._member(meaning, outer.attr)
            if member is None:
                statement.trouble = self._at(
                    module, node, f"{meaning} has no `{outer.attr}` that can be found in its text"
                )
                return
            if not isinstance(outer.ctx, ast.Load) and not isinstance(member, str):
                statement.trouble = self._at(
                    module, node, f"`{outer.attr}` of the module {meaning} is set from outside"
                )
                return
            meaning, node = member, outer
            end = module.source.span(outer)[1]
        if meaning is not None:
            statement.uses.append(_Use(meaning, mention.start, end, mention.shadows))

    def _replace(self, module: _Module, statement: _Statement, node: ast.Import | ast.ImportFrom) -> None:
        """An import of the project in a statement: nothing, or assignments where other statements bind its names too."""
        ours = [alias for alias in node.names if self._is_ours(module, node, alias)]
        if not ours:
            return
        if len(ours) < len(node.names) and node is not statement.node:
            statement.trouble = self._at(module, node, "one import of the project and of a library")
            return
        start, end = module.source.span(node)
        assigned: list[tuple[str, Entity]] = []
        for alias in ours:
            name = (alias.asname or alias.name).partition(".")[0]
            if node in module.bound.get(name, ()) and self._meaning(module, name) == (module.path, name):
                target = self._import_target(module, node, name)
                if not isinstance(target, tuple):
                    statement.trouble = self._at(
                        module, node, f"`{name}` is a module here and something else elsewhere"
                    )
                    return
                assigned.append((name, target))
                statement.uses.append(_Use(target, -1, -1, frozenset()))
        statement.assigned.append((start, end, assigned))

    def _is_ours(self, module: _Module, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
        name = alias.name if isinstance(node, ast.Import) else module.absolute(node)
        return self._find(name) is not None

    def _at(self, module: _Module, node: ast.AST, text: str) -> str:
        return f"{module.path}:{getattr(node, 'lineno', 1)}: {text}"

    # --- what is needed ---------------------------------------------------------------------------------------

    def _needed(self, wanted: list[tuple[str, _Statement]], main: str | None) -> dict[str, list[_Statement]]:
        kept: set[int] = set()
        entities: set[Entity] = set()
        reached: set[str] = set()
        queue = list(wanted)
        while True:
            while queue:
                path, statement = queue.pop()
                if id(statement) in kept:
                    continue
                if statement.trouble:
                    raise FlatteningError(statement.trouble)
                kept.add(id(statement))
                reached.add(path)
                entities |= {(path, name) for name in statement.binds}
                for use in statement.uses:
                    if use.entity not in entities:
                        entities.add(use.entity)
                    owner = self._modules[use.entity[0]]
                    queue += [
                        (owner.path, s) for s in owner.statements if use.entity[1] in s.binds and id(s) not in kept
                    ]
            for path in list(reached):
                queue += [
                    (path, s)
                    for s in self._modules[path].statements
                    if id(s) not in kept and not s.trouble and self._acts(path, s, entities)
                ]
            if not queue:
                break
        return {p: [s for s in self._modules[p].statements if id(s) in kept] for p in self._order if p in reached}

    def _acts(self, path: str, statement: _Statement, entities: set[Entity]) -> bool:
        """Whether a statement changes what is needed, or only uses libraries and what is needed."""
        node = statement.node
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return False
        if not _runs(node) or _is_main_guard(node):
            return False
        others = {use.entity for use in statement.uses} - {(path, name) for name in statement.binds} - entities
        return all(isinstance(self._binder(entity), (ast.Import, ast.ImportFrom)) for entity in others)

    def _uses_libraries(self, statement: _Statement) -> bool:
        return any(isinstance(self._binder(use.entity), (ast.Import, ast.ImportFrom)) for use in statement.uses)

    def _binder(self, entity: Entity) -> ast.AST | None:
        return next(iter(self._modules[entity[0]].bound.get(entity[1], ())), None)

    # --- writing ------------------------------------------------------------------------------------------------

    def _written(self, kept: dict[str, list[_Statement]], first: str) -> Script:
        names = self._names(kept, first)
        head: list[str] = []
        futures: list[str] = []
        body: list[tuple[str, int, str]] = []
        done: set[str] = set()
        acted = False
        for path, statements in kept.items():
            module = self._modules[path]
            for statement in statements:
                if isinstance(statement.node, (ast.Import, ast.ImportFrom)):
                    for line in self._import_lines(module, statement, kept, names):
                        if line not in done:
                            done.add(line)
                            into_futures = line.startswith("from __future__")
                            (futures if into_futures else head).append(
                                line
                            ) if not acted or into_futures else body.append(
                                (path, module.source.row(statement.start), line)
                            )
                    continue
                text = self._text(module, statement, names)
                if text:
                    acted = acted or (_runs(statement.node) and self._uses_libraries(statement))
                    body.append((path, module.source.row(statement.start), text))
        out = "".join(f"{line}\n" for line in [*futures, *head])
        pieces: list[Piece] = []
        before = ""
        for path, source, text in body:
            gap = _gap(before, text) if before else ("\n\n" if _is_definition(text) else "\n") if out else ""
            out += gap
            pieces.append(Piece(path, source, out.count("\n") + 1, text))
            out += text + "\n"
            before = text
        return Script(out, tuple(pieces), names, len(kept))

    def _text(self, module: _Module, statement: _Statement, names: dict[Entity, str]) -> str:
        edits = [(use.start, use.end, names[use.entity]) for use in statement.uses if use.start >= 0]
        for start, end, assigned in statement.assigned:
            parts = [f"{names[(module.path, name)]} = {names[target]}" for name, target in assigned]
            edits.append((start, end, "; ".join(parts) or "pass"))
        text = module.source.text
        out, at = "", statement.start
        for start, end, content in sorted(set(edits)):
            if start >= at:
                out += text[at:start] + content
                at = end
        return out + text[at : statement.end]

    def _import_lines(
        self, module: _Module, statement: _Statement, kept: dict[str, list[_Statement]], names: dict[Entity, str]
    ) -> Iterator[str]:
        node = statement.node
        assert isinstance(node, (ast.Import, ast.ImportFrom))
        used = {use.entity for statements in kept.values() for s in statements if s is not statement for use in s.uses}
        for alias in node.names:
            bound = (alias.asname or alias.name).partition(".")[0]
            entity = (module.path, bound)
            if self._import_target(module, node, bound) is not None:
                for start, _, assigned in statement.assigned:
                    yield from (f"{names[entity]} = {names[t]}" for name, t in assigned if name == bound and start >= 0)
            elif alias.name == "*" or _is_future(node):
                yield _import_line(module, node, alias, alias.name)
            elif entity in used or self._all_imports:
                yield _import_line(module, node, alias, names[entity])

    def _names(self, kept: dict[str, list[_Statement]], first: str) -> dict[Entity, str]:
        """A name for every entity, its own where that is free. The module ``first`` chooses first."""
        shadows = _shadows(kept)
        words = {m.name for p in kept for m in self._modules[p].mentions} | {w for s in shadows.values() for w in s}
        names: dict[Entity, str] = {}
        taken: dict[str, object] = {}
        for entity in sorted(shadows, key=lambda e: (e[0] != first, self._order.index(e[0]), e[1])):
            what = self._identity(entity)
            for candidate in self._candidates(entity, words, alone=len(kept) == 1):
                if taken.get(candidate, what) == what and candidate not in shadows[entity]:
                    names[entity] = candidate
                    taken[candidate] = what
                    break
        return names

    def _candidates(self, entity: Entity, words: set[str], *, alone: bool) -> Iterator[str]:
        """Names that an entity may have, the best first: its own, unless it hides a builtin from other modules, and then
        ones that no module mentions."""
        path, name = entity
        if alone or name not in BUILTINS:
            yield name
        stem = self._modules[path].dotted.rpartition(".")[2] or "module"
        made = f"{stem}_{name}"
        yield from (
            new for new in itertools.chain([made], (f"{made}{n}" for n in itertools.count(2))) if new not in words
        )

    def _identity(self, entity: Entity) -> object:
        """Equal for imports of the same thing, so that they may share a name."""
        binder = self._binder(entity)
        module = self._modules[entity[0]]
        if len({id(b) for b in module.bound.get(entity[1], ())}) == 1 or isinstance(binder, ast.Import):
            if isinstance(binder, ast.ImportFrom):
                found = next((a.name for a in binder.names if (a.asname or a.name) == entity[1]), entity[1])
                return f"import {module.absolute(binder)}.{found}"
            if isinstance(binder, ast.Import):
                found = next((a.name for a in binder.names if a.asname == entity[1]), entity[1])
                return f"import {found}"
        return entity


def _holds(module: _Module, statement: _Statement, row: int) -> bool:
    return module.source.row(statement.start) <= row <= (statement.node.end_lineno or statement.node.lineno)


def _runs(node: ast.stmt) -> bool:
    """Whether a top-level statement does something besides defining names."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return False
    if isinstance(node, ast.Assign):
        return not all(isinstance(t, (ast.Name, ast.Tuple)) for t in node.targets)
    if isinstance(node, ast.AnnAssign):
        return not isinstance(node.target, ast.Name)
    return not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_main_guard(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))


def _is_definition(text: str) -> bool:
    return text.startswith(("def ", "class ", "@", "async def "))


def _gap(before: str, after: str) -> str:
    """Empty lines between two pieces."""
    return "\n\n" if _is_definition(before) or _is_definition(after) else ""


def _dotted(path: str) -> tuple[str, bool]:
    """The dotted name of the module in a file, and whether it is a package."""
    folder, file = os.path.split(path)
    is_package = file == "__init__.py"
    parts = [] if is_package else [file.removesuffix(".py")]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    return ".".join(parts), is_package


def finder(folders: Iterable[str]) -> Find:
    """Return a function that finds the file of a dotted module name below folders on the import path."""
    bases = list(dict.fromkeys(folders))
    known: dict[str, str | None] = {}

    def look(name: str) -> str | None:
        for folder in bases if name else ():
            base = os.path.join(folder, *name.split("."))
            for candidate in (os.path.join(base, "__init__.py"), f"{base}.py"):
                if os.path.isfile(candidate):
                    return candidate
        for folder in bases if name else ():  # a package without a file of its own
            base = os.path.join(folder, *name.split("."))
            if os.path.isdir(base) and any(entry.endswith(".py") for entry in os.listdir(base)):
                return base
        return None

    def find(name: str) -> str | None:
        if name not in known:
            known[name] = look(name)
        return known[name]

    return find
