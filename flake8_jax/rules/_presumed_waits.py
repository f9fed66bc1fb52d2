"""Reads of results in code that only names show to be a step of a training: for notes of previews.

Vocabulary
----------
step        a function named ``train_step``, ``update`` and the like: a loop runs it, though none is in view.
presumed    the result of such a function, whose code is unknown: most likely the device still computes it.
made        a variable that the running iteration assigns the result of a dispatch (see ``_timed_walk``), or a number of it.
counter     a field of what was made that counts the steps, as Python could: ``state.step``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeGuard

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Candidate, Report
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._host_use import is_new, is_reduced, use_of, waits_anyway
from flake8_jax.rules._merging import apart_from
from flake8_jax.rules._timed_walk import File, file_of, kind_of_call
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._units import Unit, imports_jax, library_name, own_expressions, text_of, units_of
from flake8_jax.semantics.domain.code import all_statements, bound_paths, is_named_step, last_name, nodes_around
from flake8_jax.semantics.domain.dispatching import dispatched_in
from flake8_jax.semantics.domain.joining import members_of
from flake8_jax.semantics.domain.values import GRAD, Array, FunctionValue, Opaque, Tree, Value
from flake8_jax.semantics.events.events import FileRead, LibraryCall, MethodCall

_CASTS = frozenset({"builtins.float", "builtins.int", "builtins.bool"})
_COPYING = frozenset({"numpy.array", "numpy.asarray"})
_READING = frozenset({"item", "tolist"})
_OUTSIDE = 1


def read_at_once(event: object) -> Value | None:
    """What ``float(x)``, ``x.item()`` or ``np.asarray(x)`` brings to the host."""
    if isinstance(event, MethodCall):
        return event.value if event.method in _READING else None
    if not isinstance(event, LibraryCall) or not event.args or event.name not in _CASTS | _COPYING:
        return None
    return event.args[0]


def is_presumed_wait(event: object) -> TypeGuard[LibraryCall | MethodCall]:
    """The code reads the result of a step that only its name shows."""
    value = read_at_once(event)
    return value is not None and any(dispatched_in(member) < 0 for member in members_of(value))


def is_made_in_loop(event: LibraryCall | MethodCall) -> bool:
    """The running loop made the result: the innermost loop of this function, if it has one."""
    value, context = read_at_once(event), event.context
    if value is None or not any(context.fresh_from_loop(-dispatched_in(member)) for member in members_of(value)):
        return False
    around = nodes_around(context.scope.tree.body, event.at.start, event.at.end)
    return not any(isinstance(node, (ir.For, ir.While)) for node in around) or is_new(context.scope, event.at)


def report_in_step(event: object) -> Report | None:
    """``loss.item()`` in a method ``train_batch`` that calls a jitted step, and that no loop in view calls."""
    value = read_at_once(event)
    if value is None or not isinstance(event, (LibraryCall, MethodCall)):
        return None
    context = event.context
    if context.staged or context.presumed or context.inner is None or is_test(context):
        return None
    name = context.inner.name
    if not is_named_step(name) or not all(map(_is_computed, members_of(value))):
        return None
    if isinstance(event, LibraryCall) and event.name in _COPYING and not _is_number(event, value):
        return None
    if use_of(context.scope, event.at, lenient=True) == "needed":
        return None
    problem = f"{quote(context, event.at)} waits for the device in each call of `{name}`"
    return Report(event.at, f"{problem}; return the array, and read it every N steps", preview=True)


def _is_computed(value: Value) -> bool:
    """The device computes it, or most likely does."""
    if not isinstance(value, (Array, Opaque)) or (isinstance(value, (Array, Tree)) and value.level >= GRAD):
        return False
    return abs(dispatched_in(value)) == _OUTSIDE


def _is_number(event: LibraryCall, value: Value) -> bool:
    scalar = names_number(event) or all(isinstance(member, Array) and member.ndim == 0 for member in members_of(value))
    return scalar or is_reduced(event.context.scope, event.at)


def names_number(event: LibraryCall) -> bool:
    """The argument is named after one number: ``np.asarray(loss)``, ``np.array(metrics["accuracy"])``."""
    node = event.nodes[0] if event.nodes else None
    return node is not None and _NUMBER.search(event.context.scope.text[node.start : node.end]) is not None


_NUMBER = re.compile(r"(?i)(loss|acc|accuracy|norm|reward|score|entropy|mse|rmse|elbo|nll|cost)(_?\w{0,4})?[\"']?\]?$")


# --- read in the code alone ---------------------------------------------------------------------------------------


Made = dict[str, ir.Call]


def waits_of_loops(event: FileRead) -> list[Report]:
    """Reports on the first place of each loop that reads what the iteration has made, by the code of the function alone."""
    scope = event.context.scope
    if is_test(event.context) or scope.is_test or not imports_jax(scope):
        return []
    file = file_of(scope)
    found: list[Report] = []
    for unit in units_of(scope):
        for loop in unit.statements:
            if isinstance(loop, (ir.For, ir.While)) and not _is_short_or_outer(file, unit, loop):
                first = next(_reads_in(file, unit, loop), None)
                if first is not None and not _is_needed_at_once(unit, loop, first[0]):
                    found.append(_report_read(file, unit, *first))
    return found


def _is_needed_at_once(unit: Unit, loop: ir.For | ir.While, node: ir.Expr) -> bool:
    """The loop waits for results in any case, or cannot go on without this one, or a user reads what it prints."""
    scope = unit.scope
    if waits_anyway(scope, node) or any(isinstance(s, ir.Assert) for s in all_statements(loop.body)):
        return True
    if isinstance(node, ir.Compare):
        return False
    around = nodes_around(scope.tree.body, node.start, node.end)
    if any(isinstance(n, ir.Call) and last_name(n.func) == "print" for n in around):
        return True
    if _is_count(node):
        return False
    return not isinstance(node, ir.FormattedValue) and use_of(scope, node, lenient=True) in ("needed", "returned")


def _is_short_or_outer(file: File, unit: Unit, loop: ir.For | ir.While) -> bool:
    """It has few iterations, or its iterations are epochs."""
    header = text_of(loop.iter, unit.scope) + text_of(loop.target, unit.scope) if isinstance(loop, ir.For) else ""
    if "epoch" in header.lower() or "trial" in header.lower() or "seed" in header.lower():
        return True
    if isinstance(loop, ir.For) and isinstance(loop.iter, (ir.Tuple, ir.List)):
        return True
    counts = [n.value for n in walk(loop.iter) if isinstance(n, ir.Constant)] if isinstance(loop, ir.For) else []
    if any(isinstance(count, int) and count <= _FEW for count in counts) and "range" in header:
        return True
    inner = [s for s in all_statements(loop.body) if isinstance(s, (ir.For, ir.While))]
    calls = (n for s in inner for one in all_statements(s.body) for n in own_expressions(one) if isinstance(n, ir.Call))
    return any(kind_of_call(file, unit, call) == "dispatch" for call in calls) or any(
        "epoch" in last_name(n.func).lower() for s in loop.body for n in own_expressions(s) if isinstance(n, ir.Call)
    )


_FEW = 100


def _reads_in(file: File, unit: Unit, loop: ir.For | ir.While) -> Iterator[tuple[ir.Expr, ir.Call]]:
    """What the body reads in each iteration, with the call that made it."""
    made: Made = {}
    for statement in _in_each_iteration(loop.body):
        for node in own_expressions(statement):
            read = _read_by(unit, statement, node, made)
            if read is not None and not (_is_count(node) and _is_unjitted(file, unit, read)):
                yield node, read
        if isinstance(statement, ir.Assign):
            calls = [(target, _maker(file, unit, value, made)) for target, value in _pairs(statement)]
            for path in bound_paths(statement):
                made.pop(path, None)
            made.update({path: call for target, call in calls if call is not None for path in _paths(target)})


def _pairs(statement: ir.Assign) -> list[tuple[ir.Expr, ir.Expr]]:
    """The targets of an assignment with their values: of ``a, b = f(a), g(b)`` each by itself."""
    target, value = statement.targets[0], statement.value
    if isinstance(target, ir.Tuple) and isinstance(value, ir.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(one, value) for one in statement.targets]


def _paths(target: ir.Expr) -> set[str]:
    return {node.id for node in walk(target) if isinstance(node, ir.Name)}


def _in_each_iteration(body: list[ir.Stmt]) -> Iterator[ir.Stmt]:
    """The statements of a loop that every iteration runs, and the ``if`` statements of which it runs the tests."""
    for statement in body:
        if isinstance(statement, (ir.For, ir.While, ir.Try, ir.Match)):
            continue
        yield statement
        if isinstance(statement, ir.With):
            yield from _in_each_iteration(statement.body)
        if isinstance(statement, ir.If) and any(isinstance(s, ir.Continue) for s in all_statements(statement.body)):
            return


def _maker(file: File, unit: Unit, value: ir.Expr, made: Made) -> ir.Call | None:
    """The dispatch whose result the value is, or is computed from."""
    while isinstance(value, (ir.Subscript, ir.Attribute)):
        value = value.value
    if isinstance(value, ir.Call):
        func = value.func
        if isinstance(func, ir.Attribute) and func.attr in _METHODS and isinstance(func.value, ir.Name):
            return made.get(func.value.id)
        is_dispatch = kind_of_call(file, unit, value) == "dispatch" and _is_named(file, func)
        return value if is_dispatch and not library_name(func, unit.scope).startswith("jax.") else None
    if isinstance(value, ir.BinOp):
        return _maker(file, unit, value.left, made) or _maker(file, unit, value.right, made)
    return made.get(value.id) if isinstance(value, ir.Name) else None


def _is_named(file: File, func: ir.Expr) -> bool:
    """A function that the file has or jits, or one that is named after a step of a training: not ``env.step``."""
    name = last_name(func)
    return (
        isinstance(func, ir.Call)
        or name in file.jitted
        or name in file.functions
        or (is_named_step(name) and (isinstance(func, ir.Name) or "_" in name))
    )


_METHODS = frozenset({"mean", "sum", "squeeze", "reshape", "max", "min"})


def _read_by(unit: Unit, statement: ir.Stmt, node: ir.Expr, made: Made) -> ir.Call | None:
    """The call that made what the node brings to the host."""
    if isinstance(statement, (ir.If, ir.While)):
        if any(isinstance(s, (ir.Break, ir.Return, ir.Raise)) for s in all_statements(statement.body)):
            return None  # the loop needs to know whether it goes on
        if isinstance(node, ir.BinOp) and node.op == "%":
            return _named(node.left, made)
        if not isinstance(node, ir.Compare) or set(node.ops) & {"is", "is not", "in", "not in"}:
            return None
        return _named(node.left, made) or _named(node.comparators[0], made)
    if isinstance(node, ir.FormattedValue):
        return _named(node.value, made)
    if not isinstance(node, ir.Call):
        return None
    if isinstance(node.func, ir.Attribute) and node.func.attr in _READING and not node.args:
        return _named(node.func.value, made)
    if len(node.args) != 1 or not (
        library_name(node.func, unit.scope) in _COPYING or (isinstance(node.func, ir.Name) and node.func.id in _NAMES)
    ):
        return None
    is_number = _NUMBER.search(text_of(node.args[0].value, unit.scope)) or _is_count(node)
    return _named(node.args[0].value, made) if is_number else None


def _is_count(node: ir.Expr) -> bool:
    """``state.step % n``, ``state.step.item()``, ``int(state.step[0])``: a number that the host can count itself."""
    if isinstance(node, ir.BinOp):
        return True
    if isinstance(node, ir.Call) and node.args:
        node = node.args[0].value
    while isinstance(node, (ir.Subscript, ir.Attribute)) or (isinstance(node, ir.Call) and not node.args):
        if isinstance(node, ir.Attribute) and node.attr in _COUNTERS:
            return True
        node = node.func if isinstance(node, ir.Call) else node.value
    return False


def _is_unjitted(file: File, unit: Unit, call: ir.Call) -> bool:
    """The call is one of a function in view that nothing jits: what it counts may be a number of Python."""
    name = last_name(call.func)
    value = unit.scope.slots.get(name) if isinstance(call.func, ir.Name) else None
    return name not in file.jitted and (name in file.functions or isinstance(value, FunctionValue))


_COUNTERS = frozenset({"step", "steps", "global_step", "iteration", "count"})


_NAMES = frozenset({"float", "int", "bool"})


def _named(node: ir.Expr, made: Made) -> ir.Call | None:
    """``loss``, ``loss.mean()``, ``metrics["loss"]`` of what was made."""
    while isinstance(node, (ir.Subscript, ir.Attribute)) or (isinstance(node, ir.Call) and not node.args):
        node = node.func if isinstance(node, ir.Call) else node.value
    return made.get(node.id) if isinstance(node, ir.Name) else None


def _report_read(file: File, unit: Unit, node: ir.Expr, call: ir.Call) -> Report:
    scope, name = unit.scope, last_name(call.func)
    shown = " ".join(text_of(node, scope).split())
    subject = f"`{shown}`" if len(shown) <= _LONGEST else "this"
    verb, advice = "Reading", "read it every N steps or after the loop"
    if _is_count(node):
        verb, advice = "Testing" if isinstance(node, ir.BinOp) else verb, "count the steps in Python"
    elif isinstance(node, ir.Compare):
        verb, advice = "Testing", "test it every N steps, or keep the best with jnp.where"
    elif isinstance(node, ir.FormattedValue):
        verb, subject, advice = (
            "Formatting",
            f"`{text_of(node.value, scope)}`",
            "show it every N steps or after the loop",
        )
    is_known = name in file.jitted or name in file.functions or not name
    problem = f"{verb} {subject} waits for the device in every iteration"
    if not is_known:
        problem = f"If `{name}` is jitted, {problem[0].lower()}{problem[1:]}"
    return Report(node, f"{problem}; {advice}", "info", preview=True)


_LONGEST = 40


def without_known_waits(candidates: list[Candidate]) -> list[Candidate]:
    """Of what the code of a file shows, what no other report near it tells."""
    others = [candidate for candidate in candidates if not isinstance(candidate.event, FileRead)]
    walked = [candidate for candidate in candidates if isinstance(candidate.event, FileRead)]
    return others + apart_from(walked, others, _NEAR, lambda candidate: candidate.path)


_NEAR = 6
