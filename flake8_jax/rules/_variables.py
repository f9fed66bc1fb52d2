"""Collections of Flax beside the parameters, as the code of one file treats them.

Vocabulary
----------
variables   what ``init`` of a linen module returns: ``params``, and the other collections.
collection  ``batch_stats`` of ``nn.BatchNorm``, or what ``self.variable("cache", …)`` names.

Limitations: classes that the file neither defines nor imports from the project; variables in containers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._units import Unit, calls_in, imports_jax, text_of, units_of
from flake8_jax.semantics.domain.code import bound_paths, last_name, path_of
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import ClassValue
from flake8_jax.semantics.events.files import FileRead

_MAX_CLASSES = 24
_EVALUATES = re.compile(r"(?i)eval|valid|test|predict|infer|accuracy|sample|generate|init")
_SPLITS = re.compile(r"(?:\[|\.pop\(|\.get\(|pop\(\s*\w+,\s*)[\"']params[\"']")


def variables_of_file(event: FileRead) -> list[Report]:
    """Reports on collections that a file trains, or drops."""
    scope = event.context.scope
    if is_test(event.context) or scope.is_test or not imports_jax(scope) or "flax" not in _all_text(scope):
        return []
    units = list(units_of(scope))
    assignments = [(unit, s) for unit in units for s in unit.statements if isinstance(s, ir.Assign)]
    updates = [(unit, s, call) for unit, s in assignments if (call := _updating(s)) is not None]
    keeping = {path_of(call.func) for unit, s, call in updates if not _drops(unit, s)}
    dropped: dict[str, Report] = {}
    for unit, statement, call in updates:
        if _drops(unit, statement) and path_of(call.func) not in keeping and not _is_evaluation(unit, call):
            dropped.setdefault(path_of(call.func), _report_dropped(unit, statement, call))
    trained = [report for unit, statement in assignments for report in _trained(unit, units, statement)]
    return [*dropped.values(), *trained]


def _all_text(scope: ModuleScope) -> str:
    known = [v.scope.text for v in scope.slots.values() if isinstance(v, ClassValue) and v.scope is not scope]
    return "\n".join([scope.text, *known[:_MAX_CLASSES]])


# --- updated collections that nothing keeps ------------------------------------------------------------------


def _updating(statement: ir.Assign) -> ir.Call | None:
    """``logits, _ = model.apply(variables, x, mutable=["batch_stats"])``."""
    call, target = statement.value, statement.targets[0]
    if not isinstance(call, ir.Call) or last_name(call.func) not in ("apply", "apply_fn", "_apply"):
        return None
    pair = isinstance(target, ir.Tuple) and len(target.elts) == 2
    return call if pair and _kept_collection(call) else None


def _kept_collection(call: ir.Call) -> str:
    """The collection whose next values the code needs."""
    mutable = next((a.value for a in call.args if a.keyword == "mutable"), None)
    names = _strings(mutable) if mutable is not None else []
    return next((name for name in names if name in ("batch_stats", "cache")), "")


def _drops(unit: Unit, statement: ir.Assign) -> bool:
    """No code of the function reads the second result."""
    second = statement.targets[0].elts[1] if isinstance(statement.targets[0], ir.Tuple) else None
    if not isinstance(second, ir.Name) or unit.function is None:
        return False
    read = unit.reading.is_read(second.id, statement.end) or unit.reading.is_captured(second.id)
    return second.id == "_" or not (read or unit.loops_around(statement))


def _report_dropped(unit: Unit, statement: ir.Assign, call: ir.Call) -> Report:
    target = statement.targets[0]
    second = text_of(target.elts[1], unit.scope) if isinstance(target, ir.Tuple) else ""
    return Report(
        call,
        f"`{text_of(call.func, unit.scope)}` returns the updated `{_kept_collection(call)}`, but no code reads `{second}`, so "
        "they keep their initial values; return them and pass them to the next step",
        preview=True,
    )


def _strings(node: ir.Expr) -> list[str]:
    return [n.value for n in walk(node) if isinstance(n, ir.Constant) and isinstance(n.value, str)]


def _is_evaluation(unit: Unit, call: ir.Call) -> bool:
    off = {"train": False, "training": False, "is_training": False, "use_running_average": True}
    said = {a.keyword: a.value for a in call.args if a.keyword in off}
    switched = any(isinstance(v, ir.Constant) and v.value is off[k] for k, v in said.items() if k is not None)
    return switched or (unit.function is not None and _EVALUATES.search(unit.function.name) is not None)


# --- collections that an optimizer changes ----------------------------------------------------------------------


def _trained(unit: Unit, units: list[Unit], statement: ir.Assign) -> Iterator[Report]:
    """``params = model.init(key, x)`` with all collections, and ``optimizer.init(params)``."""
    call, target = statement.value, statement.targets[0]
    path = path_of(target) if len(statement.targets) == 1 else ""
    if not path or not isinstance(call, ir.Call) or len(call.args) < 2 or not isinstance(call.func, ir.Attribute):
        return
    if call.func.attr != "init" or "jit" in text_of(call.func.value, unit.scope):
        return
    collections = _collections_of(unit, units, call.func.value)
    if not collections:
        return
    text = unit.scope.text
    body = text[unit.body[0].start : unit.body[-1].end]
    if re.search(rf"(?<![\w.]){re.escape(path)}\s*{_SPLITS.pattern}", body) or re.search(
        r"pop\(\s*" + re.escape(path), body
    ):
        return
    user = next(
        (c for s in unit.statements if s.start > statement.end for c in calls_in(s) if _optimizes(c, path)), None
    )
    if user is None:
        return
    names = " and ".join(f"`{name}`" for name in sorted(collections))
    yield Report(
        call,
        f"`{path}` holds {names} beside the parameters, and the optimizer of line {_row(unit.scope, user)} changes all of it; "
        f'pass only `{path}["params"]` to the optimizer',
        preview=True,
    )


def _row(scope: ModuleScope, node: ir.Node) -> int:
    return sum(start <= node.start for start in scope.tree.line_starts)


def _optimizes(call: ir.Call, path: str) -> bool:
    """``optimizer.init(params)``, ``TrainState.create(params=params, …)``."""
    name = last_name(call.func)
    if name == "create":
        return any(a.keyword == "params" and path_of(a.value) == path for a in call.args)
    return name == "init" and len(call.args) == 1 and path_of(call.args[0].value) == path


def _collections_of(unit: Unit, units: list[Unit], model: ir.Expr) -> set[str]:
    """The collections beside ``params`` of the class of a model."""
    made = _made(unit, units, model)
    name = last_name(made.func) if made is not None else ""
    if name == "BatchNorm":
        return {"batch_stats"}
    known = unit.scope.slots.get(name)
    if made is not None:
        return _of_class(known) if isinstance(known, ClassValue) else set()
    return set()


def _made(unit: Unit, units: list[Unit], model: ir.Expr) -> ir.Call | None:
    """The call that makes the model, where one assignment of this function, of the file or of the class tells."""
    if isinstance(model, ir.Call):
        return model
    path = path_of(model)
    around = [u for u in units if path.startswith("self.") or u.function is None]
    for one in (unit, *around):
        for statement in one.statements:
            if (
                isinstance(statement, ir.Assign)
                and path in bound_paths(statement)
                and isinstance(statement.value, ir.Call)
            ):
                return statement.value
    return None


def _of_class(known: ClassValue) -> set[str]:
    """The collections that a class and the classes it makes name."""
    found: set[str] = set()
    todo, seen = [known], {id(known)}
    while todo and len(seen) < _MAX_CLASSES:
        current = todo.pop()
        for call in calls_in(current.node):
            name = last_name(call.func)
            if name == "BatchNorm":
                found.add("batch_stats")
            elif (
                name == "variable"
                and isinstance(call.func, ir.Attribute)
                and path_of(call.func.value) == "self"
                and call.args
            ):
                first = call.args[0].value
                found |= {first.value} if isinstance(first, ir.Constant) and isinstance(first.value, str) else set()
        names = {n.id for n in walk(current.node) if isinstance(n, ir.Name)}
        for other in (current.scope.slots.get(name) for name in sorted(names)):
            if isinstance(other, ClassValue) and id(other) not in seen:
                seen.add(id(other))
                todo.append(other)
    return found - {"params"}
