"""New states and parameters that a function computes and nothing keeps, read in the code of one file.

Vocabulary
----------
update      ``optimizer.update(grads, state)``, which returns changes of the parameters and the new state of the optimizer.
step        a call that returns new parameters or a new state: ``params = step(params, batch)``.

Names say what an optimizer, a step or a state is: the object comes from unknown code more often than not.

Limitations: states in containers; an optimizer without a state (``optax.sgd``) is known only in the same file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._units import Unit, calls_in, imports_jax, library_name, text_of, units_of
from flake8_jax.semantics.domain.code import bound_paths, last_name, path_of
from flake8_jax.semantics.events.files import FileRead

_OPTIMIZER = re.compile(
    r"(?i)(?:^|_)(?:opt|optim|optimi[sz]er|tx|solver|adam\w*|sgd)(?:_|\d|$)|_(?:opt|tx)$|^opt|(?:opt|optimi[sz]er)$"
)
_GRADIENT = re.compile(r"(?i)grad|updates|(?:^|_)g(?:_|s?$)")
_STATELESS = re.compile(r"optax\.sgd\((?![^)]*momentum)")
_STATEFUL = re.compile(r"(?i)adam|momentum|rmsprop|lion|lamb|adagrad|adabelief|chain")
_STATE = re.compile(
    r"(?i)(?:^|_)(?:params?|parameters|weights|theta|(?:train_?|opt_?|optimi[sz]er_?|model_?|agent_?)?state|variables|opt_states?)$"
)
_STEP = re.compile(r"(?i)(?:^|_)(?:(?:train|update|optimi[sz]e)(?:_|$)|step$|update\w*$)")
_DELIVERS = re.compile(
    r"(?i)save|dump|store|write|checkpoint|append|put|send|export|plot|show|draw|render|set|update_dict|copy|push|log$|insert|"
    r"pickle|assert|block_until_ready|visuali|report|eval_and|callback|tree_leaves|swap|replace"
)
_COMPUTED = (ir.Call, ir.BinOp, ir.Comprehension)
_KEEPS = re.compile(r"(?i)save|checkpoint|dump|serialize|pickle")
_MEASURES = re.compile(r"(?i)bench|time|timing|profile|warm|demo|example|speed|compile|run_once|test|main")


def lost_states(event: FileRead) -> list[Report]:
    """Reports on the states that the functions of a file lose."""
    scope = event.context.scope
    if is_test(event.context) or scope.is_test or not imports_jax(scope):
        return []
    found: list[Report] = []
    for unit in units_of(scope):
        for statement in unit.statements:
            if isinstance(statement, ir.Assign):
                found += _of_optimizer(unit, statement)
                found += _of_step(unit, statement)
            elif isinstance(statement, ir.ExprStmt) and isinstance(statement.value, ir.Call):
                if unit.function is not None or unit.loops_around(statement) or not scope.cells:
                    found += _dropped(unit, statement.value)
        found += _kept_nowhere(unit)
    return found


# --- the state of an optimizer --------------------------------------------------------------------------------


def _of_optimizer(unit: Unit, statement: ir.Assign) -> Iterator[Report]:
    """``updates, _ = optimizer.update(grads, state)``."""
    call, position = _taken(statement.value)
    if call is None or position == 1 or not _is_update(call, unit):
        return
    state = text_of(call.args[1].value, unit.scope)
    first = f"`{text_of(call.func, unit.scope)}` returns the new state of the optimizer"
    if position == 0:
        yield _report(
            call, f"{first}, but `[0]` drops it, so the next step starts from the old `{state}`; keep both results"
        )
        return
    target = _second(statement)
    if target is None or not _is_unread(unit, statement, target):
        return
    made = _made_here(unit, call)
    if made is not None and (unit.function is None or not _STEP.search(unit.function.name)):
        return  # one step, of a state of its own
    if made is not None:
        yield _report(
            made,
            f"`{text_of(made, unit.scope)}` makes a new state of the optimizer for each step, and nothing keeps the updated "
            "one, so moments and step counts never grow; make it once and pass it from step to step",
        )
        return
    yield _report(
        call,
        f"{first}, but no code reads `{target.id}`, so the next step starts from the old `{state}`; return or store it",
    )


def _taken(value: ir.Expr) -> tuple[ir.Call | None, int | None]:
    """The call that gives a value, and which element of its result is taken."""
    if isinstance(value, ir.Subscript) and isinstance(value.value, ir.Call) and isinstance(value.index, ir.Constant):
        return value.value, value.index.value if type(value.index.value) is int else None
    return (value if isinstance(value, ir.Call) else None), None


def _is_update(call: ir.Call, unit: Unit) -> bool:
    """A call of ``update`` of what is named like an optimizer, with gradients and a state."""
    func = call.func
    if not isinstance(func, ir.Attribute) or func.attr != "update" or len(call.args) < 2 or call.args[1].keyword:
        return False
    owner, first = last_name(func.value), text_of(call.args[0].value, unit.scope)
    if not _OPTIMIZER.search(owner) or not _GRADIENT.search(first):
        return False
    text = unit.scope.text
    return not (_STATELESS.search(text) and not _STATEFUL.search(text))


def _second(statement: ir.Assign) -> ir.Name | None:
    """The name of the second of two results."""
    target = statement.targets[0]
    if len(statement.targets) != 1 or not isinstance(target, (ir.Tuple, ir.List)) or len(target.elts) != 2:
        return None
    return target.elts[1] if isinstance(target.elts[1], ir.Name) else None


def _is_unread(unit: Unit, statement: ir.Stmt, target: ir.Name) -> bool:
    """No code reads the variable after the statement: below it, or in the next iteration of a loop around it."""
    name, function = target.id, unit.function
    if name == "_":
        return True
    if function is None or name in (*function.global_names, *function.nonlocal_names):
        return False
    if unit.reading.is_read(name, statement.end) or unit.reading.is_captured(name):
        return False
    around = unit.loops_around(statement)
    return not (around and unit.reading.within(name, around[0][0], statement.end))


def _made_here(unit: Unit, call: ir.Call) -> ir.Call | None:
    """``state = optimizer.init(params)`` in the same function, as often as the update."""
    path = path_of(call.args[1].value)
    if unit.function is None or not path:
        return None
    for statement in unit.statements:
        value = statement.value if isinstance(statement, ir.Assign) else None
        if isinstance(value, ir.Call) and path in bound_paths(statement) and last_name(value.func) == "init":
            same = unit.loops_around(statement) == unit.loops_around(call)
            return value if same and value.end <= call.start else None
    return None


# --- results of steps -------------------------------------------------------------------------------------------


def _of_step(unit: Unit, statement: ir.Assign) -> Iterator[Report]:
    """``new_state, loss = step(state, batch)`` in a loop that never reads ``new_state``."""
    call, target = statement.value, statement.targets[0]
    around = unit.loops_around(statement)
    if not isinstance(call, ir.Call) or not around or len(statement.targets) != 1 or unit.function is None:
        return
    for element in target.elts if isinstance(target, (ir.Tuple, ir.List)) else [target]:
        old = re.sub(r"^(?:new|updated)_|_new$", "", element.id) if isinstance(element, ir.Name) else ""
        if not isinstance(element, ir.Name) or old == element.id or not _STATE.search(old):
            continue
        passed = any(isinstance(a.value, ir.Name) and a.value.id == old for a in call.args)
        rebound = any(old in bound_paths(s) for s in unit.statements if around[0][0] <= s.start < around[0][1])
        if passed and not rebound and _is_unread(unit, statement, element):
            yield _report(
                call,
                f"No code reads `{element.id}`, so every iteration of the loop passes the same `{old}`; assign it to `{old}`",
            )


def _dropped(unit: Unit, call: ir.Call) -> Iterator[Report]:
    """A statement that only calls a function without side effects on states."""
    if unit.function is not None and _MEASURES.search(unit.function.name):
        return
    name, func, scope = library_name(call.func, unit.scope), call.func, unit.scope
    words = [argument.keyword for argument in call.args if argument.keyword]
    subject = f"`{text_of(func, scope)}`"
    if name in ("optax.apply_updates", "equinox.apply_updates"):
        yield _report(
            call, f"{subject} returns the new parameters and changes nothing, but nothing uses them; assign them"
        )
    elif isinstance(func, ir.Attribute) and func.attr == "apply_gradients" and "grads" in words:
        if not re.search(r"tensorflow|torch", scope.text):
            yield _report(call, f"{subject} returns a new state and does not change the old one; assign its result")
    elif isinstance(func, ir.Attribute) and func.attr == "replace" and words and len(words) == len(call.args):
        if _STATE.search(last_name(func.value)):
            yield _report(call, f"{subject} returns a new object and does not change the old one; assign its result")
    elif name in ("jax.tree.map", "jax.tree_map", "jax.tree_util.tree_map") and call.args:
        mapped = call.args[0].value
        if isinstance(mapped, ir.Lambda) and not any(_may_act(c, scope.text) for c in calls_in(mapped)):
            yield _report(call, f"{subject} returns a new tree and changes nothing, but nothing uses it; assign it")
    elif lost := _lost_arguments(unit, call):
        yield _report(
            call, f"Nothing uses the new `{lost}` that {subject} returns, so `{lost}` stays as it is; assign it"
        )
    elif isinstance(func, ir.Name) and _is_idle_jit(unit, func.id):
        yield _report(
            call,
            f"Nothing uses what {subject} returns, and a jitted function can store nothing itself; assign its result",
        )


def _is_idle_jit(unit: Unit, name: str) -> bool:
    """A training that is jitted as a whole, and called nowhere but in statements that drop its result."""
    text = unit.scope.text
    if (
        not re.search(r"(?i)train|fit|optimi|learn", name)
        or unit.scope.cells
        or re.search(r"callback|debug\.|time\w*\(", text)
    ):
        return False
    made = [s for s in unit.statements if isinstance(s, ir.Assign) and name in bound_paths(s)]
    jitted = made and all(
        isinstance(s.value, ir.Call) and last_name(s.value.func) in ("jit", "filter_jit") for s in made
    )
    calls = len(re.findall(rf"(?<![\w.]){re.escape(name)}\(", text))
    return bool(jitted) and calls == len(re.findall(rf"(?m)^[ \t]*{re.escape(name)}\(", text)) == 1


def _may_act(call: ir.Call, text: str) -> bool:
    """A call in a mapped function that may do more than compute."""
    return (
        re.match(r"(?:jnp|np|jax|lax)\.", text[call.start : call.end]) is None or "debug" in text[call.start : call.end]
    )


def _lost_arguments(unit: Unit, call: ir.Call) -> str:
    """The argument that a function of this file, or one named like a step, returns as a new one."""
    if isinstance(call.func, ir.Name):
        function = _function_named(unit, call.func.id)
        if function is not None:
            return _returned_state(unit, function, call)
    return ""


def _function_named(unit: Unit, name: str) -> ir.Function | None:
    """The one function of that name at the top level of the file."""
    found = [s.function for s in unit.scope.tree.body if isinstance(s, ir.FunctionDef) and s.function.name == name]
    return found[0] if len(found) == 1 else None


def _returned_state(unit: Unit, function: ir.Function, call: ir.Call) -> str:
    """The argument whose parameter the function binds to a new value and returns, if it stores nothing elsewhere."""
    body = Unit(unit.scope, function.body, function)
    returns = [s for s in body.statements if isinstance(s, ir.Return) and s.value is not None]
    if not returns or function.global_names or function.nonlocal_names or function.is_generator:
        return ""
    for statement in body.statements:
        stored = statement.targets if isinstance(statement, ir.Assign) else []
        if any(isinstance(target, (ir.Attribute, ir.Subscript)) for target in stored):
            return ""
        if isinstance(statement, ir.ExprStmt) and any(_DELIVERS.search(last_name(c.func)) for c in calls_in(statement)):
            return ""
    for parameter, argument in zip(function.params, call.args):
        name = parameter.name
        rebinds = any(
            isinstance(s, ir.Assign)
            and name in bound_paths(s)
            and any(isinstance(n, ir.Name) and n.id == name for n in walk(s.value))
            for s in body.statements
        )
        values = [r.value for r in returns if r.value is not None]
        elements = [e for v in values for e in (v.elts if isinstance(v, ir.Tuple) else [v])]
        if rebinds and _STATE.search(name) and any(isinstance(e, ir.Name) and e.id == name for e in elements):
            return path_of(argument.value) if isinstance(argument.value, ir.Name) else ""
    return ""


# --- functions that keep nothing ----------------------------------------------------------------------------------


def _kept_nowhere(unit: Unit) -> Iterator[Report]:
    """A function whose loop trains a parameter of it, and which returns nothing."""
    function = unit.function
    if function is None or function.is_generator or function.is_lambda or _MEASURES.search(function.name):
        return
    if not function.body or _KEEPS.search(unit.scope.text[function.body[0].start : function.body[-1].end]):
        return
    statements = unit.statements
    if any(isinstance(s, ir.Return) and s.value is not None for s in statements):
        return
    if any(isinstance(target, ir.Attribute) for s in statements if isinstance(s, ir.Assign) for target in s.targets):
        return
    for statement in statements:
        around = unit.loops_around(statement)
        if not isinstance(statement, ir.Assign) or not around or not isinstance(statement.value, _COMPUTED):
            continue
        passed = {n.id for n in walk(statement.value) if isinstance(n, ir.Name)}
        bound = {t.id for t in _elements(statement.targets[0]) if isinstance(t, ir.Name)}
        lost = sorted(n for n in bound & passed & unit.parameters if _STATE.search(n))
        lost = [n for n in lost if not _is_delivered(unit, n, statement, around[0])]
        if lost:
            names = " and ".join(f"`{n}`" for n in lost)
            yield _report(
                statement.value,
                f"`{function.name}` returns nothing, so the new {names} of this loop {'is' if len(lost) == 1 else 'are'} lost "
                f"for its caller; return {'it' if len(lost) == 1 else 'them'}",
            )
            return


def _elements(target: ir.Expr) -> list[ir.Expr]:
    if isinstance(target, (ir.Tuple, ir.List)):
        return [part for element in target.elts for part in _elements(element)]
    return [target]


def _is_delivered(unit: Unit, name: str, update: ir.Assign, loop: tuple[int, int]) -> bool:
    """Some code hands the variable on: after the loop, in a function within, or in a call that may store it."""
    function = unit.function
    if function is not None and name in (*function.global_names, *function.nonlocal_names):
        return True
    if unit.reading.is_read(name, loop[1]) or unit.reading.is_captured(name):
        return True
    for statement in unit.statements:
        if (
            statement is update
            or not loop[0] <= statement.start < loop[1]
            or isinstance(statement, (ir.For, ir.While, ir.If))
        ):
            continue
        for call in calls_in(statement):
            passed = any(isinstance(n, ir.Name) and n.id == name for a in call.args for n in walk(a.value))
            if passed and _DELIVERS.search(last_name(call.func)):
                return True
    return False


def _report(at: ir.Node, message: str) -> Report:
    return Report(at, message, preview=True)
