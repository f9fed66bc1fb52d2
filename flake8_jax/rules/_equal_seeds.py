"""Draws from one constant seed in statements that stand apart, such as the cells of a notebook.

    X = jax.random.normal(jax.random.key(0), (100, 3))
    W = jax.random.normal(jax.random.key(0), (3, 4))      the first numbers of W are those of X

    samples = guide.sample_posterior(jax.random.key(0), params)
    y = Binomial(9, samples).sample(jax.random.key(0))    the noise of y is that of the samples

Vocabulary
----------
drawn       a variable whose value depends on the numbers of a seed: with the seed and the call that used it.

Limitations: draws in different functions.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._key_walk import kind_of_use
from flake8_jax.rules._units import Unit, calls_in, imports_jax, library_name, own_expressions, text_of, units_of
from flake8_jax.semantics.domain.code import bound_paths, last_name, path_of
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
        for at, report in (*_of_unit(units, unit), *_depending(unit)):
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
            if last_name(draw.func) == last_name(other[1].func) == "permutation":
                continue  # the rows of both arrays stay together
            apart = scope.cell_of(draw.start) - scope.cell_of(other[1].start)
            if apart <= _CELLS and _are_read_together(units, unit, other[0], target.id):
                yield draw.start, _report(unit, made, other)


Drawn = dict[object, tuple[ir.Call, ir.Call]]
"""The seeds on whose numbers a variable depends, each with the call that used it, and the one that made the key."""


def _depending(unit: Unit) -> Iterator[tuple[int, Report]]:
    """Draws from a seed whose numbers their arguments depend on already."""
    drawn: dict[str, Drawn] = {}
    held: dict[str, ir.Call] = {}
    for statement in unit.statements:
        if isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
            continue
        read = _read_by(statement, drawn)
        used: Drawn = {}
        for call, made in _seeded_calls(unit, statement, held):
            used[_seed_of(made)] = call, made
            if _begins(unit, call):
                continue
            earlier, first = _read_by(call, drawn).get(_seed_of(made), (call, made))
            if first is not made and earlier.end <= call.start and not _are_alternatives(unit, earlier, call):
                yield call.start, _report_depending(unit, made, earlier, call)
        _bind(statement, {**read, **used}, drawn)
        _hold(unit, statement, held)


_BEGINNING = re.compile(r"fit|train|run|init|make|create")


def _begins(unit: Unit, call: ir.Call) -> bool:
    """A draw of JAX takes a shape besides its key, and a training begins on data: neither adds its numbers to an argument."""
    name = last_name(call.func)
    return library_name(call.func, unit.scope).startswith("jax.random.") or _BEGINNING.search(name) is not None


def _read_by(node: ir.Stmt | ir.Call, drawn: dict[str, Drawn]) -> Drawn:
    """The seeds on which the variables depend that a statement or a call reads."""
    inner = walk(node) if isinstance(node, ir.Call) else own_expressions(node)
    names = {part.id for part in inner if isinstance(part, ir.Name)}
    return {seed: call for name in names for seed, call in drawn.get(name, {}).items()}


def _bind(statement: ir.Stmt, seeds: Drawn, drawn: dict[str, Drawn]) -> None:
    """What the statement assigns depends on these seeds, and so does the object whose method it calls for nothing."""
    names = {path.partition(".")[0] for path in bound_paths(statement)} if not hasattr(statement, "body") else set()
    if isinstance(statement, ir.ExprStmt) and isinstance(statement.value, ir.Call):
        func = statement.value.func
        names = {path_of(func.value).partition(".")[0]} if isinstance(func, ir.Attribute) else set()
        seeds = {**drawn.get(next(iter(names), ""), {}), **seeds}
    for name in names - {"", "self"}:
        drawn[name] = seeds


def _hold(unit: Unit, statement: ir.Stmt, held: dict[str, ir.Call]) -> None:
    """``key = jax.random.key(0)`` until the variable gets another value."""
    if hasattr(statement, "body"):
        return
    for path in bound_paths(statement):
        held.pop(path, None)
    if isinstance(statement, ir.Assign) and isinstance(statement.targets[0], ir.Name):
        if (made := _constant_key(unit, statement.value)) is not None:
            held[statement.targets[0].id] = made


def _seeded_calls(unit: Unit, statement: ir.Stmt, held: dict[str, ir.Call]) -> list[tuple[ir.Call, ir.Call]]:
    """The calls of a statement that may draw from a key of a constant seed, each with the call that made the key."""
    found: list[tuple[ir.Call, ir.Call]] = []
    for call in (node for node in own_expressions(statement) if isinstance(node, ir.Call)):
        name = library_name(call.func, unit.scope)
        if name in _MAKING or (name.startswith("jax.random.") and name.rpartition(".")[2] in _NO_DRAW):
            continue
        kind = kind_of_use(unit, call)
        for argument in call.args if kind in ("draw", "given") else ():
            value = argument.value
            made = held.get(value.id) if isinstance(value, ir.Name) else _constant_key(unit, value)
            if made is not None and "init" not in last_name(call.func):
                found.append((call, made))
    return found


def _constant_key(unit: Unit, value: ir.Expr) -> ir.Call | None:
    """``jax.random.key(0)``."""
    is_made = isinstance(value, ir.Call) and library_name(value.func, unit.scope) in _MAKING and len(value.args) == 1
    return value if is_made and isinstance(value.args[0].value, ir.Constant) else None  # type: ignore[union-attr,return-value]


def _seed_of(made: ir.Call) -> object:
    seed = made.args[0].value
    return seed.value if isinstance(seed, ir.Constant) else None


def _are_alternatives(unit: Unit, one: ir.Call, other: ir.Call) -> bool:
    """They stand in the two branches of one ``if``."""
    return any(
        isinstance(s, ir.If) and s.start < one.start < s.orelse[0].start <= other.start < s.end
        for s in unit.statements
        if isinstance(s, ir.If) and s.orelse
    )


def _report_depending(unit: Unit, made: ir.Call, earlier: ir.Call, call: ir.Call) -> Report:
    scope = unit.scope
    row = bisect_right(scope.tree.line_starts, earlier.start)
    used = last_name(call.func) or "this call"
    return Report(
        call,
        f"`{used}` gets a key of the seed in `{text_of(made, scope)}`, as did the call on line {row}, on whose result its "
        "arguments depend, so the two draws may not be independent; make one key and split it",
        preview=True,
    )


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
