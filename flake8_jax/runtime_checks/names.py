"""Which names of a module mean its global variables, found in the text alone.

Vocabulary
----------
mention   a place where a global name of the module (or a builtin) stands: read, bound or deleted. shadows: the names that
          the functions around it bind; what takes the place of the mention must be none of them.
local import  an import inside of a function whose names nothing else in that function binds.

Limitations: names in strings (annotations in quotes, ``globals()``), ``exec``, and star imports inside of functions.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef)
BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__spec__", "__builtins__", "__path__"}


@dataclass(frozen=True)
class Mention:
    """node: what names it; start, end: offsets of the name in the text. bound_by: the import in a function that binds it,
    if it is no global name at all but what a local import brought."""

    name: str
    node: ast.AST
    start: int
    end: int
    shadows: frozenset[str]
    bound_by: ast.stmt | None = None


class Text:
    """A text with the offsets of its rows, for the positions that ``ast`` gives (columns are bytes of UTF-8)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = text.split("\n")  # as ``ast`` counts; ``splitlines`` also splits at form feeds
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def offset(self, row: int, column: int) -> int:
        """Return the offset of a 1-based row and a column in bytes of UTF-8."""
        if row > len(self._lines):
            return len(self.text)
        line = self._lines[row - 1]
        return self._starts[row - 1] + (column if line.isascii() else len(line.encode()[:column].decode()))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the start and the end of a node; of a function or class without its decorators."""
        row, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
        end_row, end_column = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        return self.offset(row, column), self.offset(end_row, end_column)

    def whole_span(self, statement: ast.stmt) -> tuple[int, int]:
        """Return the start and the end of a statement with its decorators."""
        start, end = self.span(statement)
        for decorator in getattr(statement, "decorator_list", ()):
            at = self.text.rfind("@", 0, self.span(decorator)[0])
            start = min(start, at)
        return start, end

    def row(self, offset: int) -> int:
        """Return the 1-based row of an offset."""
        return self.text.count("\n", 0, offset) + 1


@dataclass
class _Scope:
    """bound: the names that it binds, with the nodes that do."""

    kind: str
    parent: _Scope | None
    bound: dict[str, list[ast.AST]] = field(default_factory=dict)
    declared_global: set[str] = field(default_factory=set)
    declared_nonlocal: set[str] = field(default_factory=set)

    def bind(self, name: str, node: ast.AST) -> None:
        self.bound.setdefault(name, []).append(node)


def mentions(text: str, tree: ast.Module) -> list[Mention]:
    """Find all mentions of global names and builtins, and of names that local imports bind."""
    return _Reader(Text(text)).read(tree)


def bindings(statements: Iterable[ast.stmt]) -> dict[str, list[ast.AST]]:
    """Return the names that statements bind in their own scope, with the nodes that bind them."""
    scope = _Scope("module", None)
    for statement in statements:
        _collect(statement, scope)
    return scope.bound


def unbound(text: str, tree: ast.Module) -> set[str]:
    """Return the names that the module reads but never binds."""
    found = mentions(text, tree)
    known = set(bindings(tree.body)) | BUILTINS
    known |= {mention.name for mention in found if not _is_read(mention.node)}
    return {mention.name for mention in found if mention.bound_by is None} - known


def _is_read(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


class _Reader:
    def __init__(self, text: Text) -> None:
        self._text = text
        self._found: list[Mention] = []

    def read(self, tree: ast.Module) -> list[Mention]:
        scope = _Scope("module", None)
        for statement in tree.body:
            _collect(statement, scope)
        for statement in tree.body:
            self._visit(statement, scope)
        return self._found

    def _visit(self, node: ast.AST, scope: _Scope) -> None:
        if isinstance(node, ast.Name):
            self._mention(node.id, node, scope, self._text.span(node))
        elif isinstance(node, _COMPREHENSIONS):
            self._comprehension(node, scope)
        elif isinstance(node, _SCOPES):
            self._definition(node, scope)
        else:
            for name in _names_of(node):
                for span in _spans_of_name(self._text, node, name):
                    self._mention(name, node, scope, span)
            for child in ast.iter_child_nodes(node):
                self._visit(child, scope)

    def _comprehension(self, node: ast.AST, scope: _Scope) -> None:
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        inner = _Scope("function", scope)
        for generator in generators:
            for target in ast.walk(generator.target):
                if isinstance(target, ast.Name):
                    inner.bind(target.id, target)
        self._visit(generators[0].iter, scope)
        for child in ast.iter_child_nodes(node):
            if child is not generators[0]:
                self._visit(child, inner)
        for child in (generators[0].target, *generators[0].ifs):
            self._visit(child, inner)

    def _definition(self, node: ast.AST, scope: _Scope) -> None:
        inner = _Scope("class" if isinstance(node, ast.ClassDef) else "function", scope)
        outside: list[ast.AST] = list(getattr(node, "decorator_list", ()))
        if isinstance(node, ast.ClassDef):
            outside += [*node.bases, *node.keywords]
        else:
            arguments: ast.arguments = node.args  # type: ignore[attr-defined]
            parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            parameters += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
            for parameter in parameters:
                inner.bind(parameter.arg, parameter)
            outside += [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]
            outside += [p.annotation for p in parameters if p.annotation is not None]
            returned = getattr(node, "returns", None)
            outside += [returned] if returned is not None else []
        for parameter in getattr(node, "type_params", ()):
            inner.bind(parameter.name, parameter)
        if not isinstance(node, ast.Lambda):
            self._mention(node.name, node, scope, *_spans_of_name(self._text, node, node.name))  # type: ignore[attr-defined]
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)  # type: ignore[attr-defined]
        for statement in body:
            _collect(statement, inner)
        for child in outside:
            self._visit(child, inner if getattr(node, "type_params", ()) else scope)
        for statement in body:
            self._visit(statement, inner)

    def _mention(self, name: str, node: ast.AST, scope: _Scope, span: tuple[int, int]) -> None:
        shadows: set[str] = set()
        current: _Scope | None = scope
        innermost = True
        bound_by: ast.stmt | None = None
        while current is not None and current.kind != "module":
            if current.kind == "function" or innermost:
                if name in current.declared_global:
                    break
                if name in current.bound and name not in current.declared_nonlocal:
                    binders = current.bound[name]
                    if len({id(b) for b in binders}) != 1 or not isinstance(binders[0], (ast.Import, ast.ImportFrom)):
                        return
                    bound_by = binders[0]
                    break
                shadows |= set(current.bound)
            innermost = False
            current = current.parent
        self._found.append(Mention(name, node, *span, frozenset(shadows), bound_by))


def _collect(node: ast.AST, scope: _Scope) -> None:
    """Note what a node binds in a scope, without looking into the scopes that it opens."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        scope.bind(node.name, node)
        for decorator in node.decorator_list:
            _collect(decorator, scope)
        return
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, _COMPREHENSIONS):
        for child in ast.walk(node):
            if isinstance(child, ast.NamedExpr):
                scope.bind(child.target.id, child)
        return
    if isinstance(node, ast.Global):
        scope.declared_global |= set(node.names)
    elif isinstance(node, ast.Nonlocal):
        scope.declared_nonlocal |= set(node.names)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        scope.bind(node.id, node)
    else:
        for name in _names_of(node):
            scope.bind(name, node)
    for child in ast.iter_child_nodes(node):
        _collect(child, scope)


def _names_of(node: ast.AST) -> Iterator[str]:
    """Names that a node binds or declares and that are no nodes of their own."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield (alias.asname or alias.name).partition(".")[0]
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name is not None:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest is not None:
        yield node.rest
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from node.names


def _spans_of_name(text: Text, node: ast.AST, name: str) -> Iterator[tuple[int, int]]:
    """Where a name stands that is no node of its own."""
    start, end = text.span(node)
    pattern = rf"\b{re.escape(name)}\b"
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        match = re.compile(rf"(?:def|class)\s+({re.escape(name)})\b").search(text.text, start)
        yield match.span(1) if match else (start, start)
        return
    found = [match.span() for match in re.finditer(pattern, text.text[start:end])]
    if isinstance(node, ast.ExceptHandler):
        found = [match.span(1) for match in re.finditer(rf"\bas\s+({re.escape(name)})\s*:", text.text[start:end])][:1]
    elif not isinstance(node, (ast.Global, ast.Nonlocal)):
        found = found[-1:]  # ``import a as b``, ``case x as b``: the last one is what is bound
    yield from ((start + first, start + last) for first, last in found)
