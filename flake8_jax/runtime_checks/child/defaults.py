"""Whether calls use the default of a parameter: it counts the calls that leave the argument out.

Limitation: of a function that is defined again and again inside another one, only some calls are counted.
"""

from __future__ import annotations

import ast
import gc
import inspect
from dataclasses import dataclass, field
from types import FrameType, FunctionType
from typing import Any, NamedTuple

_MOST_LOOKS = 8  # each asks Python for all that refers to a code object, which takes a while


class Parameter(NamedTuple):
    """One that has a default. function: the name of its function; row: where the code of that begins."""

    function: str
    row: int
    name: str


@dataclass
class Calls:
    """Of the function with a parameter. left_out: those that got its default; given: those that got another value."""

    parameter: Parameter
    left_out: int = 0
    given: int = 0
    _defaults: list[Any] = field(default_factory=list)
    _looks: int = 0

    def count(self, frame: FrameType) -> None:
        """A call begins."""
        value = frame.f_locals.get(self.parameter.name)
        nested = bool(frame.f_code.co_flags & inspect.CO_NESTED)
        if not self._is_default(value) and self._looks < (_MOST_LOOKS if nested else 1):
            self._looks += 1
            self._defaults += _defaults_of(frame)
        if self._is_default(value):
            self.left_out += 1
        elif not nested or self._looks < _MOST_LOOKS:
            self.given += 1

    def _is_default(self, value: Any) -> bool:
        return any(value is default for default in self._defaults)


def _defaults_of(frame: FrameType) -> list[Any]:
    functions = [one for one in gc.get_referrers(frame.f_code) if isinstance(one, FunctionType)]
    return [value for one in functions for value in (*(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values())]


def parameter_at(tree: ast.AST, place: tuple[int, int]) -> Parameter | None:
    """The parameter whose default stands at a place: row from 1, column in bytes from 0."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        given = node.args
        positional = [*given.posonlyargs, *given.args]
        pairs = [
            *zip(positional[len(positional) - len(given.defaults) :], given.defaults),
            *zip(given.kwonlyargs, given.kw_defaults),
        ]
        for parameter, default in pairs:
            if default is not None and _holds(default, place):
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                return Parameter(node.name, first, parameter.arg)
    return None


def _holds(node: ast.expr, place: tuple[int, int]) -> bool:
    return (node.lineno, node.col_offset) <= place < (node.end_lineno or 0, node.end_col_offset or 0)
