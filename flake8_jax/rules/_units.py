"""The functions of a file, and what stands in each, for rules that read whole files.

Vocabulary
----------
unit        a function, or the top level of the file: statements that run one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import all_statements, blocks
from flake8_jax.semantics.domain.reading import Reading
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import External

Span = tuple[int, int]
_LIBRARIES = re.compile(
    r"^\s*(?:import|from)\s+(?:[\w. ]+,\s*)*(?:jax|flax|optax|equinox|haiku|distrax|rlax|chex|numpyro|blackjax)\b",
    re.MULTILINE,
)


@dataclass(frozen=True, eq=False)
class Unit:
    """function: None at the top level. owner: the class that the function is a method of."""

    scope: ModuleScope
    body: list[ir.Stmt]
    function: ir.Function | None = None
    owner: ir.ClassDef | None = None
    decorators: list[ir.Expr] = field(default_factory=list)

    @cached_property
    def statements(self) -> list[ir.Stmt]:
        """All statements of the unit in the order of the text, none of functions or classes in it."""
        return list(all_statements(self.body))

    @cached_property
    def reading(self) -> Reading:
        """Where the unit reads its variables."""
        return Reading(self.body)

    @cached_property
    def loops(self) -> list[Span]:
        """Where the loops stand."""
        return [(s.start, s.end) for s in self.statements if isinstance(s, (ir.For, ir.While))]

    @property
    def parameters(self) -> set[str]:
        """The names of the parameters."""
        return {p.name for p in self.function.params} if self.function is not None else set()

    def loops_around(self, node: ir.Node) -> list[Span]:
        """The loops around a node, outermost first."""
        return [(start, end) for start, end in self.loops if start < node.start and node.end <= end]


def imports_jax(scope: ModuleScope) -> bool:
    """The file imports JAX or a library for it."""
    return _LIBRARIES.search(scope.text) is not None


def units_of(scope: ModuleScope) -> Iterator[Unit]:
    """The top level of a file and every function with ``def`` in it."""
    yield Unit(scope, scope.tree.body)
    todo: list[tuple[list[ir.Stmt], ir.ClassDef | None]] = [(scope.tree.body, None)]
    while todo:
        body, owner = todo.pop()
        for statement in all_statements(body):
            if isinstance(statement, ir.FunctionDef):
                function = statement.function
                yield Unit(scope, function.body, function, owner, statement.decorators)
                todo.append((function.body, None))
            elif isinstance(statement, ir.ClassDef):
                todo.append((statement.body, statement))


def own_expressions(statement: ir.Stmt) -> Iterator[ir.Expr]:
    """The expressions of a statement, without those of the statements in its blocks, and without functions in it."""
    inner = {id(one) for one in blocks(statement)}
    if isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
        return
    stack: list[object] = [statement]
    while stack:
        node = stack.pop()
        if id(node) in inner or isinstance(node, ir.Function):
            continue
        if isinstance(node, ir.Node) and node is not statement:
            yield node  # type: ignore[misc]
        stack += _parts(node)


def _parts(node: object) -> list[object]:
    if isinstance(node, (list, tuple)):
        return list(node)
    fields = getattr(type(node), "__struct_fields__", ())
    return [
        part
        for name in fields
        if not isinstance(part := getattr(node, name), (int, str, float, bool)) and part is not None
    ]


def calls_in(node: ir.Node) -> Iterator[ir.Call]:
    """All calls below a node, itself included."""
    return (part for part in walk(node) if isinstance(part, ir.Call))


def library_name(node: ir.Expr, scope: ModuleScope) -> str:
    """``optax.apply_updates`` of what the code imports under any name; empty for what no import binds."""
    attributes: list[str] = []
    while isinstance(node, ir.Attribute):
        attributes.append(node.attr)
        node = node.value
    known = scope.slots.get(node.id) if isinstance(node, ir.Name) else None
    return ".".join([known.name, *reversed(attributes)]) if isinstance(known, External) else ""


def text_of(node: ir.Node, scope: ModuleScope) -> str:
    """The source of a node."""
    return scope.text[node.start : node.end]
