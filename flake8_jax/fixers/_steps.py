"""Blocks of statements that become local functions, for ``lax.cond`` and the structured loops.

Vocabulary
----------
step        a statement that binds names and does nothing else that JAX could see; it may run in another function.
out         a name that a block binds and that is used after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._comments import block_span
from flake8_jax.fixers._expressions import Effect, Kind
from flake8_jax.fixers._names import target_names, uses
from flake8_jax.fixers._selection import Setting
from flake8_jax.fixers._source import FixSource, Refused


def check_steps(use: Setting, block: list[ir.Stmt], *, may_return: bool = False) -> None:
    """Statements that can move into a function of their own: they bind names and nothing else.

    Raises:
        Refused: one of them does more.
    """
    for at, statement in enumerate(block):
        if any(use.effect(expr) is Effect.EFFECT for expr in expressions_of(statement)):
            raise Refused
        if isinstance(statement, ir.Return):
            if not may_return or at < len(block) - 1:
                raise Refused
        elif not _is_step(use, statement):
            raise Refused
        if isinstance(statement, (ir.If, ir.For)):
            check_steps(use, statement.body)
            check_steps(use, statement.orelse)


def _is_step(use: Setting, statement: ir.Stmt) -> bool:
    """Whether a statement by itself, apart from the blocks in it, binds names and nothing else."""
    if isinstance(statement, (ir.Assign, ir.AnnAssign, ir.AugAssign)):
        return binds_only_names(statement)
    if isinstance(statement, ir.ExprStmt):
        return is_harmless(use, statement.value)
    if isinstance(statement, ir.For):
        return not statement.is_async and _only_names(statement.target)
    return isinstance(statement, (ir.If, ir.Pass, ir.FunctionDef))


def expressions_of(statement: ir.Stmt) -> Iterator[ir.Expr]:
    for name in statement.__struct_fields__:
        value = getattr(statement, name)
        if isinstance(value, ir.Node) and not isinstance(statement, ir.FunctionDef):
            yield value  # type: ignore[misc]


def binds_only_names(statement: ir.Assign | ir.AnnAssign | ir.AugAssign) -> bool:
    targets = statement.targets if isinstance(statement, ir.Assign) else [statement.target]
    return all(_only_names(t) for t in targets)


def _only_names(target: ir.Expr) -> bool:
    if isinstance(target, (ir.Tuple, ir.List)):
        return all(_only_names(t) for t in target.elts)
    return isinstance(target, ir.Name)


def is_harmless(use: Setting, node: ir.Expr) -> bool:
    if isinstance(node, ir.Constant):
        return True
    return isinstance(node, ir.Call) and (use.imports.resolve(node.func) or "").startswith("jax.debug.")


def bound_names(blocks: list[list[ir.Stmt]]) -> list[str]:
    """Names that the blocks bind, in order of appearance."""
    names: dict[str, None] = {}
    for block in blocks:
        for statement in block:
            for item in walk(statement):
                if isinstance(item, ir.Assign):
                    for target in item.targets:
                        names.update(dict.fromkeys(target_names(target)))
                elif isinstance(item, (ir.AnnAssign, ir.AugAssign, ir.For)):
                    names.update(dict.fromkeys(target_names(item.target)))
            names.update(dict.fromkeys(sorted(uses(statement).binds)))
    bound = {n for b in blocks for s in b for n in uses(s).binds}
    return [n for n in names if n in bound]


def check_fit(use: Setting, blocks: list[list[ir.Stmt]], name: str) -> None:
    """An out must be something that a branch of ``lax.cond`` can return."""
    for block in blocks:
        for statement in block:
            if isinstance(statement, ir.FunctionDef) and statement.function.name == name:
                raise Refused
            if not isinstance(statement, ir.Assign) or not any(name in target_names(t) for t in statement.targets):
                continue
            if use.kind(statement.value) is Kind.UNFIT:
                raise Refused


def moved(source: FixSource, block: list[ir.Stmt], limit: int) -> list[ir.Node]:
    """The span of a block that moves, with its comments. limit: the end of the text that is replaced."""
    return [ir.Pass(*block_span(source, block, limit))] if block else []


@dataclass(frozen=True, slots=True)
class LocalFunction:
    """A function whose body is a block that stood elsewhere. above: comments that open it. tail: lines behind the block."""

    name: str
    params: str
    block: list[ir.Stmt]
    tail: tuple[str, ...] = ()
    above: tuple[str, ...] = ()

    def lines(self, source: FixSource, node: ir.Stmt, end: int) -> list[str]:
        """Its lines where ``node`` stands, and an empty one. end: of the text that is replaced; a comment after it stays."""
        outer = source.inner_indentation(node)
        inner = outer + source.indent_unit
        span = block_span(source, self.block, end) if self.block else (0, 0)
        lines = [f"def {self.name}({self.params}):", *(source.indent_unit + line for line in self.above)]
        if not all(isinstance(s, ir.Pass) for s in self.block) or source.comments(*span):
            lines.append(source.block_text(self.block, inner, span)[len(outer) :])
        return [*lines, *(source.indent_unit + line for line in self.tail), ""]
