"""Draws from one constant seed in statements that stand apart, such as the cells of a notebook.

    X = jax.random.normal(jax.random.key(0), (100, 3))
    W = jax.random.normal(jax.random.key(0), (3, 4))      the first numbers of W are those of X

Limitations: keys that a variable holds; draws in different functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._units import Unit, calls_in, imports_jax, library_name, text_of, units_of
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.equal_draws import mentions_equal_draws
from flake8_jax.semantics.events.files import FileRead

_MAKING = frozenset({"jax.random.PRNGKey", "jax.random.key"})
_NO_DRAW = frozenset({"split", "fold_in", "PRNGKey", "key", "clone", "key_data", "permutation", "shuffle", "choice"})
_CELLS = 3
"""So many cells apart, a notebook starts something else."""
_COMPARES = re.compile(r"allclose|array_equal|isclose|assert_")


def equal_seeds(event: FileRead) -> list[Report]:
    """Reports on the second of two draws from one seed, if one statement of the file reads both results."""
    scope = event.context.scope
    if is_test(event.context) or scope.is_test or not imports_jax(scope) or mentions_equal_draws(scope.text[:2000]):
        return []
    units = list(units_of(scope))
    found: dict[tuple[int, int], Report] = {}
    for unit in units:
        for at, report in _of_unit(units, unit):
            found.setdefault((id(unit), scope.cell_of(at)), report)
    return list(found.values())


def _of_unit(units: list[Unit], unit: Unit) -> Iterator[tuple[int, Report]]:
    """The second draws of a function, each with where it stands."""
    scope = unit.scope
    first: dict[object, tuple[str, ir.Call]] = {}
    for statement in unit.statements:
        target = statement.targets[0] if isinstance(statement, ir.Assign) and len(statement.targets) == 1 else None
        if not isinstance(target, ir.Name) or not isinstance(statement, ir.Assign):
            continue
        for made, draw in _draws(unit, statement):
            seed = made.args[0].value
            key = (seed.value if isinstance(seed, ir.Constant) else None, _row_block(unit, statement))
            other = first.setdefault(key, (target.id, draw))
            if other[1] is draw or other[0] == target.id or text_of(other[1], scope) == text_of(draw, scope):
                continue
            apart = scope.cell_of(draw.start) - scope.cell_of(other[1].start)
            if apart <= _CELLS and _are_read_together(units, unit, other[0], target.id):
                yield draw.start, _report(unit, made, other)


def _row_block(unit: Unit, statement: ir.Stmt) -> int:
    """Draws in different branches do not meet: the innermost block of an ``if``."""
    around = [
        s for s in unit.statements if isinstance(s, ir.If) and s.start < statement.start and statement.end <= s.end
    ]
    if not around:
        return 0
    inner = around[-1]
    return inner.start if not inner.orelse or statement.start < inner.orelse[0].start else inner.orelse[0].start


def _draws(unit: Unit, statement: ir.Assign) -> list[tuple[ir.Call, ir.Call]]:
    """The keys of constant seeds that the statement draws from, each with the draw."""
    found: list[tuple[ir.Call, ir.Call]] = []
    for call in calls_in(statement.value):
        name = library_name(call.func, unit.scope)
        if not name.startswith("jax.random.") or name.rpartition(".")[2] in _NO_DRAW or not call.args:
            continue
        made = call.args[0].value
        if isinstance(made, ir.Call) and library_name(made.func, unit.scope) in _MAKING and len(made.args) == 1:
            if isinstance(made.args[0].value, ir.Constant):
                found.append((made, call))
    return found


def _are_read_together(units: list[Unit], unit: Unit, one: str, other: str) -> bool:
    """A statement reads both variables, or a function that the file defines, and none compares them."""
    seen = False
    for around in (u for u in units if u is unit or unit.function is None):
        for statement in around.statements:
            if isinstance(statement, (ir.FunctionDef, ir.ClassDef, ir.For, ir.While, ir.If, ir.With, ir.Try)):
                continue
            names = {n.id for n in walk(statement) if isinstance(n, ir.Name)}
            if {one, other} <= names:
                called = [last_name(c.func) for c in calls_in(statement)]
                if any(_COMPARES.search(name) for name in called):
                    return False
                seen = seen or "print" not in called
    return seen


def _report(unit: Unit, made: ir.Call, other: tuple[str, ir.Call]) -> Report:
    row = sum(start <= other[1].start for start in unit.scope.tree.line_starts)
    return Report(
        made,
        f"`{text_of(made, unit.scope)}` equals the key of `{other[0]}` on line {row}, so both draws use the same random bits; "
        "make one key and split it",
        preview=True,
    )
