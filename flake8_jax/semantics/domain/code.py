"""Which names an IR subtree reads: a plain walk over msgspec structs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from flake8_jax.core import ir

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import ModuleScope

_PLAIN = frozenset({int, str, bool, float, type(None)})


def names_read(node: Any) -> set[str]:
    """Every name that occurs in a subtree, nested functions included (what those bind themselves included too)."""
    found: set[str] = set()
    todo: list[Any] = [node]
    while todo:
        n = todo.pop()
        kind = type(n)
        if kind is ir.Name:
            found.add(n.id)
        elif kind is list or kind is tuple:
            todo += n
        elif kind not in _PLAIN:
            todo += [part for part in msgspec.structs.astuple(n) if type(part) not in _PLAIN]
    return found


def names_used(node: Any) -> set[str]:
    """Every name whose value a subtree does something with: more than to delete it or to return it as it is."""
    found: set[str] = set()
    todo: list[Any] = [node]
    while todo:
        n = todo.pop()
        kind = type(n)
        if kind is ir.Delete:
            continue
        if kind is ir.Return:
            n = n.value
            todo += [part for part in (n.elts if type(n) is ir.Tuple else [n]) if type(part) is not ir.Name]
        elif kind is ir.Name:
            found.add(n.id)
        elif kind is list or kind is tuple:
            todo += n
        elif kind not in _PLAIN:
            todo += [part for part in msgspec.structs.astuple(n) if type(part) not in _PLAIN]
    return found


def reads_itself(scope: ModuleScope, target: ir.Expr, source: ir.Expr | None) -> bool:
    """The new value is an expression over the old one: ``d[k] = d[k] + 1``, ``n = max(n, 1)``."""
    if source is None:
        return False
    wanted = scope.text[target.start : target.end]
    todo: list[Any] = [source]
    while todo:
        n = todo.pop()
        kind = type(n)
        if kind is list or kind is tuple:
            todo += n
        elif kind is type(target) and scope.text[n.start : n.end] == wanted:
            return True
        elif kind not in _PLAIN and kind is not ir.Lambda:
            todo += [part for part in msgspec.structs.astuple(n) if type(part) not in _PLAIN]
    return False


def path_of(node: Any) -> str:
    """``self.state.w`` of a name or of attributes of a name; else the empty string."""
    parts: list[str] = []
    while isinstance(node, ir.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ir.Name) else ""


def paths_read(node: Any) -> set[str]:
    """The names in a subtree and the attributes that are read of them, step by step: ``self``, ``self.w``."""
    found: set[str] = set()
    todo: list[Any] = [node]
    while todo:
        n = todo.pop()
        kind = type(n)
        if kind is ir.Name:
            found.add(n.id)
        elif kind is list or kind is tuple:
            todo += n
        elif kind not in _PLAIN:
            if kind is ir.Attribute:
                found.add(path_of(n))
            todo += [part for part in msgspec.structs.astuple(n) if type(part) not in _PLAIN]
    return found


def bound_paths(statement: Any, *, targets_of_loops: bool = True) -> set[str]:
    """The variables and attributes that running a statement (or a comprehension) binds, its own functions left out."""
    found: set[str] = set()
    todo: list[Any] = [statement]
    while todo:
        n = todo.pop()
        if isinstance(n, ir.Assign):
            for target in n.targets:
                found |= _targets(target)
        elif isinstance(n, (ir.AnnAssign, ir.AugAssign, ir.NamedExpr)) or (
            targets_of_loops and isinstance(n, (ir.For, ir.Generator))
        ):
            found |= _targets(n.target)
        if isinstance(n, (ir.FunctionDef, ir.ClassDef)):
            found.add(n.function.name if isinstance(n, ir.FunctionDef) else n.name)
        elif isinstance(n, list):
            todo += n
        elif type(n) not in _PLAIN and type(n) is not ir.Lambda:
            todo += [part for part in msgspec.structs.astuple(n) if type(part) not in _PLAIN]
    return found


def _targets(target: Any) -> set[str]:
    if isinstance(target, (ir.Tuple, ir.List)):
        return set().union(*[_targets(t) for t in target.elts])
    while isinstance(target, (ir.Subscript, ir.Starred)):
        target = target.value
    path = path_of(target)
    return {path} if path else set()


def blocks(statement: Any) -> list[ir.Stmt]:
    """The statements directly below one, those of functions and classes left out."""
    if isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
        return []
    found = [*getattr(statement, "body", []), *getattr(statement, "orelse", []), *getattr(statement, "finalbody", [])]
    for part in (*getattr(statement, "handlers", []), *getattr(statement, "cases", [])):
        found += part.body
    return found


def functions_of(tree: ir.Module) -> list[tuple[ir.Function, int, int]]:
    """Every function of a module with the offsets of its ``def`` (or lambda) and of its first decorator."""
    found: list[tuple[ir.Function, int, int]] = []
    todo: list[object] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ir.FunctionDef):
            first = min([d.start for d in node.decorators], default=node.start)
            found.append((node.function, node.start, first))
        elif isinstance(node, ir.Lambda):
            found.append((node.function, node.start, node.start))
        if type(node) is list or type(node) is tuple:
            todo += node
        elif isinstance(node, msgspec.Struct):
            todo += [
                v
                for v in (getattr(node, n) for n in node.__struct_fields__)
                if isinstance(v, (list, tuple, msgspec.Struct))
            ]
    found.sort(key=lambda item: item[1])
    return found
