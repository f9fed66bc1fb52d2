"""Functions that a recorded run saw JAX trace, run once more on arguments like those.

A record shows what the code does not: that code outside the project jits a function, which parameters a
computed ``static_argnames`` makes static, of what type they are. So every function that ran while JAX built a jaxpr is an
entry of its own, its parameters what they were in *every* such call that was observed.

Limitations: pytrees (that they held a tracer says nothing of their other leaves), ``*args`` and ``**kwargs``, functions
that ran under ``jax.grad`` or ``jax.vmap`` alone.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from flake8_jax.core.findings import Positions
from flake8_jax.core.recorded import MOST_AVALS, RecordedFunction, RecordedParameter
from flake8_jax.semantics.analysis.entries import run_guarded
from flake8_jax.semantics.domain.arguments import Arguments, CallingContext
from flake8_jax.semantics.domain.code import functions_of
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.stack import Mode
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    CONCRETE,
    FALSE,
    NONE,
    TRUE,
    Array,
    FunctionValue,
    Level,
    Static,
    StaticKind,
    Unknown,
    Value,
)
from flake8_jax.semantics.interpreter.classes import generic_instance
from flake8_jax.semantics.interpreter.running import call_function_value
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.replicas import ANY

_ARRAY = re.compile(r"(bf|f|i|u|c)(\d+)\[([\d,]*)\]|(bool)\[([\d,]*)\]|key(?:\[([\d,]*)\])?")
_DTYPES = {"f": "float", "bf": "float", "i": "int", "u": "int", "c": "complex", "bool": "bool"}
_PLAIN: dict[str, StaticKind] = {"int": "int", "float": "float", "str": "str", "complex": "complex"}
_CONSTANTS = {"NoneType": NONE, "True": TRUE, "False": FALSE}


class _Place(msgspec.Struct, frozen=True):
    start: int
    end: int


def run_recorded(m: Machine, scopes: Iterable[ModuleScope], recorded: Iterable[RecordedFunction]) -> None:
    """Run the recorded functions of these files."""
    wanted = {(one.path, one.line): one for one in recorded if one.observed}
    places: dict[int, tuple[RecordedFunction, _Place]] = {}
    for scope in scopes:
        if any(path == scope.path for path, _ in wanted):
            positions = Positions(scope.tree.line_starts)
            for fn, start, first in functions_of(scope.tree):
                one = wanted.get((scope.path, positions.row(first)))
                if one is not None and one.qualname.rpartition(".")[2] == fn.name:
                    places[id(fn)] = one, _Place(start, start)
    for function in list(m.worklist.deferred_functions):
        if id(function.fn) in places:
            one, place = places[id(function.fn)]
            run_guarded(m, function.scope, functools.partial(_run, m, function, one, place))


def _run(m: Machine, function: FunctionValue, recorded: RecordedFunction, place: _Place) -> None:
    m.path.traces += 1
    mode = Mode(True, True, m.path.traces, compiled=m.path.traces, axes=frozenset({ANY}))
    values = {one.name: value_of(one, recorded.observed) for one in recorded.params}
    args = _arguments(m, function, values)
    frame = Frame(None, function.scope, None)
    text = f"recorded: JAX traced `{function.fn.qualname}`"
    call_function_value(m, frame, place, function, args, CallingContext("contract", text, mode))


def _arguments(m: Machine, function: FunctionValue, values: dict[str, Value]) -> Arguments:
    params = function.fn.params
    given: list[Value] = []
    keywords: dict[str, Value] = {}
    for i, parameter in enumerate(params):
        value: Any = values.get(parameter.name, Unknown(parameter.name))
        if i == 0 and function.owner is not None and parameter.name == "self":
            value = generic_instance(m, function.owner)
        if parameter.kind in ("posonly", "positional"):
            given.append(value)
        elif parameter.kind == "kwonly":
            keywords[parameter.name] = value
    variadic = any(parameter.kind in ("vararg", "kwarg") for parameter in params)
    return Arguments(given, keywords, unknown_rest=variadic)


def value_of(recorded: RecordedParameter, observed: int) -> Value:
    """What the argument was in every observed call, as far as the record says."""
    avals = recorded.avals
    if recorded.count("traced") == observed:
        return _array(avals, ABSTRACT)
    if recorded.count("array") == observed:
        return _array(avals, CONCRETE)
    if recorded.count("other") == observed:
        return _plain(avals) or Unknown(recorded.name)
    return Unknown(recorded.name)


def _plain(avals: tuple[str, ...]) -> Value | None:
    """A flag is what it was in all calls: another setting of it may be what keeps checks out of traced code."""
    if len(avals) == 1:
        return Static(_PLAIN[avals[0]]) if avals[0] in _PLAIN else _CONSTANTS.get(avals[0])
    return Static("bool") if set(avals) == {"True", "False"} else None


def _array(avals: tuple[str, ...], level: Level) -> Value:
    """What the avals have in common."""
    found = [match for aval in avals if (match := _ARRAY.fullmatch(aval)) is not None]
    if not found or not len(found) == len(avals) < MOST_AVALS:
        return Array(level)
    dtypes = {"key" if match[0].startswith("key") else _DTYPES[match[1] or match[4]] for match in found}
    shapes = [[int(size) for size in (match[3] or match[5] or match[6] or "").split(",") if size] for match in found]
    ranks = {len(shape) for shape in shapes}
    return Array(level, dtypes.pop() if len(dtypes) == 1 else "", ranks.pop() if len(ranks) == 1 else None)
