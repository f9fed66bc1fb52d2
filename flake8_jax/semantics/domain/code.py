"""What an IR subtree reads and binds by its syntax alone: walks over the lowered tree.

Vocabulary
----------
path        a name, or attributes of one: ``self.state.w``.
block       a list of statements below another statement.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.values import External

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import ModuleScope

_PLAIN = frozenset({int, str, bool, float, type(None)})


def below(node: Any) -> Iterable[Any]:
    """What stands directly below a node or in a list of them: nodes, lists, arguments. Nothing of a plain value."""
    kind = type(node)
    if kind is list or kind is tuple:
        return node  # type: ignore[no-any-return]
    if kind in _PLAIN:
        return ()
    return [part for part in msgspec.structs.astuple(node) if type(part) not in _PLAIN]


def names_read(node: Any) -> set[str]:
    """Every name that occurs in a subtree, nested functions included (what those bind themselves included too)."""
    found: set[str] = set()
    todo: list[Any] = [node]
    while todo:
        n = todo.pop()
        if type(n) is ir.Name:
            found.add(n.id)
        else:
            todo += below(n)
    return found


def free_names(function: ir.Function) -> set[str]:
    """Every name that the body of a function reads and that neither it nor a function in it binds."""
    found: set[str] = set()
    todo: list[Any] = list(function.body)
    while todo:
        n = todo.pop()
        if type(n) is ir.Name:
            found.add(n.id)
        elif type(n) is ir.Function:
            found |= free_names(n)
            todo += [part for p in n.params for part in (p.default, p.annotation) if part is not None]
        else:
            todo += below(n)
    return found - set(function.local_names)


def names_used(node: Any) -> set[str]:
    """Every name whose value a subtree does something with: more than to delete it or to return it as it is."""
    found: set[str] = set()
    todo: list[Any] = [node]
    while todo:
        n = todo.pop()
        kind = type(n)
        if kind is ir.Name:
            found.add(n.id)
        elif kind is ir.Return:
            n = n.value
            todo += [part for part in (n.elts if type(n) is ir.Tuple else [n]) if type(part) is not ir.Name]
        elif kind is not ir.Delete:
            todo += below(n)
    return found


def is_only_read_in(fn: ir.Function, made: Any, use: Any) -> bool:
    """The function binds the expression ``made`` to a variable, and from there on reads that inside of ``use`` alone, or
    once ``use`` is bound to it. Limitations: loops, other functions."""
    nodes = [n for statement in fn.body for n in walk(statement)]
    assigned = [
        n for n in nodes if isinstance(n, ir.Assign) and len(n.targets) == 1 and isinstance(n.targets[0], ir.Name)
    ]
    names = [path_of(n.targets[0]) for n in assigned if n.value.start <= made.start and made.end <= n.value.end]
    if len(names) != 1:
        return False
    bound = {n.targets[0].start for n in assigned}
    again = any(n.value.start <= use.start < n.value.end and path_of(n.targets[0]) == names[0] for n in assigned)
    reads = [n.start for n in nodes if isinstance(n, ir.Name) and n.id == names[0] and n.start not in bound]
    return not any(at > made.end and not use.start <= at < use.end and not (again and at > use.end) for at in reads)


def reads_itself(scope: ModuleScope, target: ir.Expr, source: ir.Expr | None) -> bool:
    """The new value differs from the old one each time: ``d[k] = d[k] + 1``, ``rows = [*rows, row]``. What a function makes
    of it may be the same again: ``n = float(n)``, ``n = max(n, 1)``."""
    if source is None:
        return False
    wanted = scope.text[target.start : target.end]
    todo: list[tuple[Any, bool]] = [(source, False)]
    while todo:
        n, counts = todo.pop()
        kind = type(n)
        if counts and kind is type(target) and scope.text[n.start : n.end] == wanted:
            return True
        if kind is not ir.Lambda:
            counts = counts or kind in _ACCUMULATING
            todo += [(part, counts) for part in below(n)]
    return False


_ACCUMULATING = frozenset({ir.BinOp, ir.Starred, ir.Dict})
"""Expressions that hold more than their operands."""


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
        if type(n) is ir.Name or type(n) is ir.Attribute:
            found.add(path_of(n))
        todo += below(n)
    return found


def bound_paths(statement: Any, *, targets_of_loops: bool = True) -> set[str]:
    """The variables and attributes that running a statement (or a comprehension) binds, its own functions left out."""
    found: set[str] = set()
    todo: list[Any] = [statement]
    while todo:
        n = todo.pop()
        found |= _bound_by(n, targets_of_loops)
        if not isinstance(n, (ir.FunctionDef, ir.ClassDef, ir.Lambda)):
            todo += below(n)
    return found


def _bound_by(node: Any, targets_of_loops: bool) -> set[str]:
    """The variables and attributes that a node binds itself."""
    if isinstance(node, ir.Assign):
        return set().union(*[_targets(target) for target in node.targets])
    if isinstance(node, (ir.AnnAssign, ir.AugAssign, ir.NamedExpr)):
        return _targets(node.target)
    if isinstance(node, (ir.For, ir.Generator)):
        return _targets(node.target) if targets_of_loops else set()
    if isinstance(node, ir.FunctionDef):
        return {node.function.name}
    return {node.name} if isinstance(node, ir.ClassDef) else set()


def _targets(target: Any) -> set[str]:
    if isinstance(target, (ir.Tuple, ir.List)):
        return set().union(*[_targets(t) for t in target.elts])
    while isinstance(target, (ir.Subscript, ir.Starred)):
        target = target.value
    path = path_of(target)
    return {path} if path else set()


def is_always_evaluated(statement: ir.Stmt, node: Any) -> bool:
    """Whenever a simple statement runs, so does this expression in it."""
    if not isinstance(statement, (ir.Assign, ir.AnnAssign, ir.AugAssign, ir.ExprStmt, ir.Return)):
        return False
    return not any(
        isinstance(part, (ir.Lambda, ir.Comprehension))
        or (isinstance(part, ir.BoolOp) and node.start >= part.values[0].end)
        or (isinstance(part, ir.IfExp) and not part.test.start <= node.start < part.test.end)
        for part in nodes_around([statement], node.start, node.end)
        if part is not node
    )


def names_tested_around(body: list[ir.Stmt], node: Any) -> set[str]:
    """The names, and the last parts of the attributes, that the tests of the ``if`` statements around a node read."""
    tests = [part.test for part in nodes_around(body, node.start, node.end) if isinstance(part, ir.If)]
    read = [part for test in tests for part in walk(test)]
    names = {part.id for part in read if isinstance(part, ir.Name)} | {
        p.attr for p in read if isinstance(p, ir.Attribute)
    }
    return names - {"self"}


def nodes_around(body: list[ir.Stmt], start: int, end: int) -> Iterator[Any]:
    """The nodes of a block around these offsets, outermost first, the innermost included."""
    parts: list[Any] = list(body)
    while parts:
        part = parts.pop()
        if isinstance(part, ir.Node):
            if not (part.start <= start and end <= part.end):
                continue
            yield part
            parts = []
        parts += below(part)


def blocks(statement: Any) -> list[ir.Stmt]:
    """The statements directly below one, those of functions and classes left out."""
    if isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
        return []
    found = [*getattr(statement, "body", []), *getattr(statement, "orelse", []), *getattr(statement, "finalbody", [])]
    for part in (*getattr(statement, "handlers", []), *getattr(statement, "cases", [])):
        found += part.body
    return found


def all_statements(body: Iterable[ir.Stmt]) -> Iterator[ir.Stmt]:
    """All statements of a body, those of its blocks as well, in the order of the text; none of other functions."""
    for statement in body:
        yield statement
        yield from all_statements(blocks(statement))


def functions_of(tree: ir.Module) -> list[tuple[ir.Function, int, int]]:
    """Every function of a module with the offsets of its ``def`` (or lambda) and of its first decorator."""
    found: list[tuple[ir.Function, int, int]] = []
    for statement in tree.body:
        for node in walk(statement):
            if isinstance(node, ir.FunctionDef):
                first = min([d.start for d in node.decorators], default=node.start)
                found.append((node.function, node.start, first))
            elif isinstance(node, ir.Lambda):
                found.append((node.function, node.start, node.start))
    found.sort(key=lambda item: item[1])
    return found


def statement_at(body: list[ir.Stmt], node: Any) -> ir.Stmt | None:
    """The innermost statement around a node, of a body and its blocks; none of other functions."""
    found = None
    for block, i in _blocks_around(body, node):
        found = block[i]
    return found


def rest_of_block(body: list[ir.Stmt], node: ir.Stmt) -> tuple[int, int]:
    """From where to where the statements stand that follow one in its own block; an empty span where none does."""
    span = (node.end, node.end)
    for block, i in _blocks_around(body, node):
        span = (block[i].end, block[-1].end)
    return span


def block_before(body: list[ir.Stmt], node: Any) -> list[ir.Stmt]:
    """The statements in front of the one that holds a node, in the innermost block around it."""
    found: list[ir.Stmt] = []
    for block, i in _blocks_around(body, node):
        found = block[:i]
    return found


def _blocks_around(body: list[ir.Stmt], node: Any) -> Iterator[tuple[list[ir.Stmt], int]]:
    """The blocks around a node, outermost first, each with the index of the statement that holds it."""
    while body:
        behind = bisect_right(body, node.start, key=lambda statement: statement.start)
        if behind == 0 or body[behind - 1].end < node.end:
            return
        found = body[behind - 1]
        yield body, behind - 1
        if isinstance(found, (ir.FunctionDef, ir.ClassDef)):
            return
        blocks = [getattr(found, name, ()) for name in ("body", "orelse", "finalbody")]
        blocks += [handler.body for handler in getattr(found, "handlers", ())]
        body = next((b for b in blocks if b and b[0].start <= node.start and node.end <= b[-1].end), [])


def function_around(body: list[ir.Stmt], node: Any, apart: Any) -> ir.FunctionDef | None:
    """The outermost function around ``node``, no constructor, that does not contain ``apart`` as well."""
    around = nodes_around(body, node.start, node.end)
    functions = (o for o in around if isinstance(o, ir.FunctionDef) and o.function.name != "__init__")
    return next((f for f in functions if not (f.start <= apart.start and apart.end <= f.end)), None)


def last_name(node: ir.Expr) -> str:
    """``c`` of ``c`` and of ``a.b.c``; empty for any other expression."""
    return node.attr if isinstance(node, ir.Attribute) else node.id if isinstance(node, ir.Name) else ""


def called_name(func: ir.Expr, scope: ModuleScope) -> str:
    """``where`` of ``jnp.where`` and of ``pick`` after ``from jax.numpy import where as pick``: the last part of the name
    of a library's function, whatever the module calls it; of anything else, the last part as it is written."""
    known = scope.slots.get(func.id) if isinstance(func, ir.Name) else None
    return known.name.rpartition(".")[2] if isinstance(known, External) else last_name(func)


def spelled(node: ir.Expr, text: str) -> str:
    """The expression in one spelling: brackets, spaces and quotes are left to who writes."""
    if isinstance(node, ir.Name):
        return node.id
    if isinstance(node, ir.Attribute):
        return f"{spelled(node.value, text)}.{node.attr}"
    if isinstance(node, ir.Subscript):
        return f"{spelled(node.value, text)}[{spelled(node.index, text)}]"
    if isinstance(node, ir.Constant):
        return repr(node.value)
    return "".join(text[node.start : node.end].split())


_STEP_WORDS = frozenset({"step", "update", "learn", "optimize", "optimise"})
_TRAINING_WORDS = frozenset({"train", "training", "fit", "gradient"})
_BATCH_WORDS = frozenset({"batch", "minibatch"})
_WHOLE_WORDS = frozenset(
    {"all", "current", "env", "epoch", "epochs", "full", "get", "global", "loop", "model", "network", "num", "target"}
)


def is_named_step(name: str) -> bool:
    """The name of a function says that it makes one step of a training: ``train_step``, ``update_critic``, ``fit_batch``."""
    words = set(_WORD.sub(r"\1_\2", name).lower().split("_"))
    steps = words & _STEP_WORDS or (words & _TRAINING_WORDS and words & _BATCH_WORDS)
    return bool(steps) and words.isdisjoint(_WHOLE_WORDS)


_WORD = re.compile(r"([a-z])([A-Z])")
