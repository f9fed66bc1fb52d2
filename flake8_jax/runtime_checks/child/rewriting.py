"""The user's modules, compiled with probes in them: no file changes, and no line number.

Vocabulary
----------
plan      for one file: the functions whose calls are captured (by qualified name, ``<module>`` for the variables of the
          module), and the places whose statements are counted.
probe     a decorator, innermost of its function, or a call before a statement. Probes are built-in names while the child
          lives.

Python hands every source to ``compile``: modules, scripts and what pytest rewrites all come by there. Not probed: ``async``
functions, lambdas (where ``jax.jit`` gets one, the jitted function is captured), code that was compiled before.
"""

from __future__ import annotations

import ast
import builtins
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from flake8_jax.runtime_checks.child.meanings import Meaning, Meant

CAPTURE, VISIT, MODULE = "__jaxlint_capture__", "__jaxlint_visit__", "__jaxlint_module__"
FAILED = "__jaxlint_failed__"
_FUTURES = 0x1FE0000  # ``CO_FUTURE_…``, what ``from __future__`` lines set in the flags of code (CPython 3.10 to 3.14)


@dataclass
class Plan:
    """functions: numbers by qualified name. places: number, row and column (1-based) of findings. meanings: see there."""

    functions: dict[str, int] = field(default_factory=dict)
    places: list[tuple[int, int, int]] = field(default_factory=list)
    meanings: list[Meaning] = field(default_factory=list)


def hook_compile(
    plans: dict[str, Plan],
    on_definition: Callable[[int, int], None],
    on_put: Callable[[int], None] = lambda number: None,
) -> None:
    """From now on, sources of these files are compiled with probes. on_put: called with meanings that were put in.

    on_definition: called with places that are part of a function's definition (its decorators, its parameters), which run when
    the function is called: the number of the place, and that of the function.
    """
    original = builtins.compile

    def compiling(
        source: Any, filename: Any, mode: str, flags: int = 0, dont_inherit: bool = False, *rest: Any, **more: Any
    ) -> Any:
        if not dont_inherit:  # what the caller's own ``from __future__`` lines ask for, not ours
            flags |= sys._getframe(1).f_code.co_flags & _FUTURES
        plan = None
        if mode == "exec" and not flags & ast.PyCF_ONLY_AST and isinstance(filename, (str, bytes, os.PathLike)):
            plan = plans.get(os.path.realpath(os.fsdecode(filename)))
        if plan is not None:
            tree = source
            if not isinstance(source, ast.AST):
                tree = original(source, filename, mode, flags | ast.PyCF_ONLY_AST, True)
            lines = _lines(os.fsdecode(filename))
            meant = [
                replace(meaning, column=_bytes_before(lines, meaning.row, meaning.column) + 1)
                for meaning in plan.meanings
            ]
            tree = Meant(meant, on_put).visit(_located(tree))
            source = _located(_Probing(plan, lines, on_definition).visit(tree))
        return original(source, filename, mode, flags, True, *rest, **more)

    builtins.compile = compiling


def _watched(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a module in a block that tells of an exception, which the command may catch: pytest does."""
    if not body:
        return []
    failed = ast.Expr(ast.Call(ast.Name(FAILED, ast.Load()), [], []))
    handler = ast.ExceptHandler(ast.Name("BaseException", ast.Load()), None, [failed, ast.Raise(None, None)])
    around = ast.Try(body, [handler], [], [])
    for made in (failed, *handler.body, handler, around):
        ast.copy_location(made, body[-1])
    ast.copy_location(around, body[0])
    return [around]


def _located(tree: Any) -> Any:
    """The tree with a last line at every node that has a first one. What pytest inserts has none; ``ast`` itself would put
    line 1 there, and nothing may end before it begins."""
    for node in ast.walk(tree):
        if hasattr(node, "lineno") and getattr(node, "end_lineno", None) is None:
            node.end_lineno, node.end_col_offset = node.lineno, node.col_offset  # type: ignore[attr-defined]
    return ast.fix_missing_locations(tree)


def _comes_first(statement: ast.stmt) -> bool:
    """A docstring or a line ``from __future__``: nothing may stand before it."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb") as file:
            return file.read().splitlines()
    except OSError:
        return []


class _Probing(ast.NodeTransformer):
    """Puts the probes of a plan into a module."""

    def __init__(self, plan: Plan, lines: list[bytes], on_definition: Callable[[int, int], None]) -> None:
        self.plan = plan
        self.scope: list[str] = []
        self.on_definition = on_definition
        self.places = [(number, row, _bytes_before(lines, row, column)) for number, row, column in plan.places]

    def visit_Module(self, node: ast.Module) -> ast.Module:
        self.generic_visit(node)
        number = self.plan.functions.get("<module>")
        if number is not None:
            everything = ast.Call(ast.Name("globals", ast.Load()), [], [])
            probe = ast.Expr(ast.Call(ast.Name(MODULE, ast.Load()), [ast.Constant(number), everything], []))
            first = next((n for n, statement in enumerate(node.body) if not _comes_first(statement)), len(node.body))
            where = node.body[first] if first < len(node.body) else node.body[-1] if node.body else None
            node.body[first:] = [
                probe if where is None else ast.copy_location(probe, where),
                *_watched(node.body[first:]),
            ]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self.scope.append(node.name)
        self.generic_visit(node)
        self.scope.pop()
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        self.scope += [node.name, "<locals>"]
        self.generic_visit(node)
        del self.scope[-2:]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        number = self.plan.functions.get(".".join([*self.scope, node.name]))
        if number is not None:
            for place in [p for p in self.places if _in_definition(node, p)]:
                self.places.remove(place)
                self.on_definition(place[0], number)
        self.scope += [node.name, "<locals>"]
        self.generic_visit(node)
        del self.scope[-2:]
        if number is not None:
            probe = ast.Call(ast.Name(CAPTURE, ast.Load()), [ast.Constant(number)], [])
            where = node.decorator_list[-1] if node.decorator_list else node
            node.decorator_list.append(ast.copy_location(probe, where))
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                setattr(node, name, [part for statement in block for part in self._with_probes(statement)])
        return node

    def _with_probes(self, statement: ast.stmt) -> list[ast.stmt]:
        """Inner statements were visited first, so each place belongs to the innermost one around it."""
        mine = [place for place in self.places if _holds(statement, place)]
        for place in mine:
            self.places.remove(place)
        probes = [ast.Expr(ast.Call(ast.Name(VISIT, ast.Load()), [ast.Constant(number)], [])) for number, _, _ in mine]
        return [*(ast.copy_location(probe, statement) for probe in probes), statement]


def _bytes_before(lines: list[bytes], row: int, column: int) -> int:
    """The offset in bytes, as ``ast`` counts columns."""
    if row > len(lines):
        return column - 1
    return len(lines[row - 1].decode("utf-8", "replace")[: column - 1].encode())


def _holds(statement: ast.stmt, place: tuple[int, int, int]) -> bool:
    decorators = getattr(statement, "decorator_list", [])
    first = min([(statement.lineno, statement.col_offset), *((d.lineno, 0) for d in decorators)])
    return first <= place[1:] < (statement.end_lineno or 0, statement.end_col_offset or 0)


def _in_definition(node: ast.FunctionDef, place: tuple[int, int, int]) -> bool:
    return _holds(node, place) and place[1:] < (node.body[0].lineno, node.body[0].col_offset)
