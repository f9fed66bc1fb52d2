"""Writes of a function that a transform of the same file traces, read in the code alone: its objects are not in view.

Vocabulary
----------
traced      a function of the file that a call or decorator of ``jit``, ``grad``, ``vmap`` … gets, and what it calls by name.
setter      a method that stores what it gets, by its name: ``model.set_parameters(params)``.

The analysis of values tells what a method does to ``self``. Limitations: transforms in other files; setters with other names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._units import Unit, calls_in, imports_jax, library_name, text_of, units_of
from flake8_jax.semantics.domain.code import last_name, path_of
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.events.files import FileRead

_TRANSFORMS = frozenset({
    *("jax.jit", "jax.grad", "jax.value_and_grad", "jax.vmap", "jax.pmap", "jax.jacfwd", "jax.jacrev", "jax.hessian"),
    *("jax.lax.scan", "jax.lax.fori_loop", "jax.lax.while_loop", "jax.checkpoint", "jax.remat"),
})  # fmt: skip
_SETTER = re.compile(r"(?i)^_?(?:set|load|assign)_?(?:\w*(?:param|weight|state_?dict|theta|variables)\w*)$")
_STATEFUL = re.compile(r"\bnnx\b|\bobjax\b|\bhaiku\b|\bninjax\b|torch\.nn|\bkeras\b")
_DEPTH = 3


@dataclass(frozen=True)
class _Traced:
    """by: the transform. names: what the function computes from its arguments."""

    unit: Unit
    by: str
    names: frozenset[str]


def traced_setters(event: FileRead) -> list[Report]:
    """Reports on setters that traced functions of the file call with what they are traced with."""
    found: list[Report] = []
    for traced in _traced_functions(event):
        for statement in traced.unit.statements:
            call = statement.value if isinstance(statement, ir.ExprStmt) else None
            if not isinstance(call, ir.Call) or not isinstance(call.func, ir.Attribute) or not call.args:
                continue
            owner = path_of(call.func.value)
            passed = {n.id for a in call.args for n in walk(a.value) if isinstance(n, ir.Name)}
            if (
                not owner
                or not _SETTER.match(call.func.attr)
                or not passed & traced.names
                or owner in _made_inside(traced.unit)
                or _is_rebuilt(traced, owner)
            ):
                continue
            found.append(
                _report(traced, call, f"`{text_of(call.func, traced.unit.scope)}` stores tracers in `{owner}`")
            )
    return found


def traced_attributes(event: FileRead) -> list[Report]:
    """Reports on attributes of arguments that traced functions of the file assign: ``env.controller.params = params``."""
    found: list[Report] = []
    for traced in _traced_functions(event):
        inside = _made_inside(traced.unit)
        for statement in traced.unit.statements:
            target = statement.targets[0] if isinstance(statement, ir.Assign) else None
            path = path_of(target) if isinstance(target, ir.Attribute) else ""
            owner = path.partition(".")[0]
            if target is None or not path or owner in (*inside, "self", "cls") or _is_rebuilt(traced, owner):
                continue
            value = statement.value if isinstance(statement, ir.Assign) else target
            if not {n.id for n in walk(value) if isinstance(n, ir.Name)} & traced.names:
                continue
            found.append(_report(traced, target, f"This assignment stores a tracer in `{path}`"))
    return found


def _is_rebuilt(traced: _Traced, name: str) -> bool:
    """JAX makes a new object for each trace: of all arguments, or under ``grad`` of the first one."""
    function = traced.unit.function
    params = [p.name for p in function.params] if function is not None else []
    return name in (params[:1] if traced.by in _OF_FIRST else params)


_OF_FIRST = frozenset({"jax.grad", "jax.value_and_grad"})


def _report(traced: _Traced, at: ir.Node, problem: str) -> Report:
    function = traced.unit.function
    name = function.name if function is not None else ""
    problem = f"{problem} while `{traced.by}` traces `{name}`"
    return Report(at, f"{problem}; pass the value as an argument and return what changes", "warning", preview=True)


# --- what is traced ---------------------------------------------------------------------------------------------


def _traced_functions(event: FileRead) -> Iterator[_Traced]:
    scope = event.context.scope
    if is_test(event.context) or scope.is_test or not imports_jax(scope) or _STATEFUL.search(scope.text):
        return
    units = [unit for unit in units_of(scope) if unit.function is not None]
    by_name: dict[str, list[Unit]] = {}
    for unit in units:
        if unit.function is not None:
            by_name.setdefault(unit.function.name, []).append(unit)
    todo = [(name, by, _DEPTH) for name, by in _operands(scope, units)]
    seen: set[int] = set()
    while todo:
        name, by, depth = todo.pop()
        for unit in by_name.get(name, ())[:2]:
            if id(unit) in seen or not depth or unit.function is None:
                continue
            seen.add(id(unit))
            yield _Traced(unit, by, _computed(unit))
            for call in (c for s in unit.statements for c in calls_in(s)):
                called = last_name(call.func)
                if path_of(call.func) in (called, f"self.{called}"):
                    todo.append((called, by, depth - 1))


def _operands(scope: ModuleScope, units: list[Unit]) -> Iterator[tuple[str, str]]:
    """The names of the functions that transforms of the file get, with the transform."""
    for statement in scope.tree.body:
        for call in calls_in(statement):
            name = library_name(call.func, scope)
            if name in _TRANSFORMS and call.args:
                operand = call.args[0].value
                inner = operand.args[0].value if isinstance(operand, ir.Call) and operand.args else operand
                path = path_of(inner) if isinstance(inner, (ir.Name, ir.Attribute)) else ""
                if path and path in (last_name(inner), f"self.{last_name(inner)}"):
                    yield last_name(inner), name
    for unit in units:
        for decorator in unit.decorators:
            inner = decorator
            if isinstance(decorator, ir.Call):
                inner = (
                    decorator.args[0].value
                    if last_name(decorator.func) == "partial" and decorator.args
                    else decorator.func
                )
            name = library_name(inner, scope)
            if name in _TRANSFORMS and unit.function is not None:
                yield unit.function.name, name


def _computed(unit: Unit) -> frozenset[str]:
    """The parameters but ``self``, and the variables that the function computes of them."""
    known = unit.parameters - {"self", "cls"}
    for statement in unit.statements:
        if isinstance(statement, (ir.Assign, ir.AugAssign)):
            targets = statement.targets if isinstance(statement, ir.Assign) else [statement.target]
            if any(isinstance(n, ir.Name) and n.id in known for n in walk(statement.value)):
                known |= {
                    n.id
                    for t in targets
                    for n in walk(t)
                    if isinstance(n, ir.Name) and isinstance(t, (ir.Name, ir.Tuple))
                }
    return frozenset(known)


def _made_inside(unit: Unit) -> set[str]:
    """Variables that the function binds to what it makes itself."""
    made = (s for s in unit.statements if isinstance(s, ir.Assign) and isinstance(s.value, ir.Call))
    return {
        n.id
        for s in made
        for t in s.targets
        for n in walk(t)
        if isinstance(n, ir.Name) and isinstance(t, (ir.Name, ir.Tuple))
    }
