"""``def``, ``class``, ``import``: statements that make functions, classes and modules.

Vocabulary
----------
altered     an unknown decorator may have made something else of a function or class.
replaced    that decorator was computed, so what a call gives is not known either.
lost        a decorator of the project was not run to its end, because it ran often enough: it is not known what it gives.
disguised   a function behind such a decorator: it is not known whether Python runs it again.
"""

from __future__ import annotations

from functools import partial

from flake8_jax.core import ir
from flake8_jax.semantics.domain.arguments import Arguments, Call
from flake8_jax.semantics.domain.code import last_name, path_of
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import (
    BoundMethod,
    BuiltinValue,
    ClassValue,
    Const,
    External,
    ExternalInstance,
    FunctionValue,
    PartialValue,
    PropertyValue,
    Static,
    StaticMethodValue,
    Unknown,
    Value,
)
from flake8_jax.semantics.events.events import NameUse
from flake8_jax.semantics.interpreter.asserting import expects_failure, rewrites_source
from flake8_jax.semantics.interpreter.classes import (
    PLAIN_METACLASSES,
    apply_class_decorator,
    decorate_alike,
    finish_class,
    is_known_decorator,
)
from flake8_jax.semantics.interpreter.operations import call, emit_name, perform, resolve_name
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import evaluate, lookup, run_block
from flake8_jax.semantics.trackers.array_defaults import check_defaults
from flake8_jax.semantics.trackers.contracts import track_methods
from flake8_jax.semantics.trackers.freshness import Freshness, now
from flake8_jax.semantics.trackers.late_binding import track_function
from flake8_jax.semantics.trackers.process import track_import
from flake8_jax.semantics.trackers.runs import Runs
from flake8_jax.semantics.trackers.staleness import track_made
from flake8_jax.semantics.trackers.versions import ApiUses


def make_function(m: Machine, frame: Frame, fn: ir.Function, owner: ClassValue | None = None) -> FunctionValue:
    """The function value of a ``def`` or ``lambda`` met in ``frame``; its defaults are evaluated here."""
    defaults: dict[str, Value] = {}
    for parameter in fn.params:
        if parameter.default is not None:
            defaults[parameter.name] = evaluate(m, frame, parameter.default)
    closure: Frame | None = frame
    while closure is not None and closure.owner is not None and closure.fn is None:
        closure = closure.parent  # class bodies are no scope for the functions in them
    if closure is not None and closure.fn is None and closure.parent is None:
        closure = None  # the module itself
    made = FunctionValue(fn, frame.scope, closure, defaults, owner)
    made.made = now(m)
    if closure is not None:
        track_made(m, made)
    if m.path.loops:
        track_function(m, frame, made)
    outer = fn.is_lambda and closure is None
    (m.worklist.outer_lambdas if outer else m.worklist.deferred_functions).append(made)
    return made


def define_function(m: Machine, frame: Frame, node: ir.FunctionDef) -> Value:
    """A ``def`` with its decorators applied, innermost first."""
    owner = frame.owner if frame.fn is None else None
    versions = m.trackers[ApiUses].versions
    if versions is not None and versions.is_wanted(frame.scope):
        annotations = (parameter.annotation for parameter in node.function.params)
        value_of = partial(resolve_name, m, frame.scope, frame)
        versions.annotations(m, frame, (*annotations, node.function.returns), value_of)
    function = make_function(m, frame, node.function, owner)
    value: Value = function
    for decorator in reversed(node.decorators):
        value = _decorated(m, frame, node, decorator, value, function)
    if (
        owner is not None
        and value is function
        and node.function.name in ("__new__", "__init_subclass__", "__class_getitem__")
    ):
        return StaticMethodValue(function, to_class=node.function.name != "__new__")
    return value


def _decorated(
    m: Machine, frame: Frame, node: ir.FunctionDef, decorator: ir.Expr, value: Value, function: FunctionValue
) -> Value:
    if isinstance(decorator, ir.Attribute) and decorator.attr in ("setter", "deleter", "getter", "register"):
        evaluate(m, frame, decorator.value)
        existing = frame.slots.get(node.function.name)
        if isinstance(existing, PropertyValue) and decorator.attr == "setter":
            return PropertyValue(existing.fget, cached=existing.cached, fset=value)
        return existing if isinstance(existing, PropertyValue) and decorator.attr != "getter" else value
    lost = m.trackers[Runs].lost
    applied = evaluate(m, frame, decorator)
    _track_dispatch(m, frame, decorator, function)
    if expects_failure(decorator) or rewrites_source(decorator):
        m.trackers[Runs].dared.add(id(function.fn))
    if rewrites_source(decorator):
        function.altered = True
        return Unknown("decorated", host_test=True)
    if isinstance(applied, (Unknown, Const, Static, ExternalInstance)):
        _track_disguise(m, frame, decorator, function)
        function.altered = not is_context(m, applied)
        function.replaced = isinstance(applied, Unknown) and _is_computed(frame, decorator)
        return (
            Unknown("decorated", host_test=True) if m.trackers[Runs].lost > lost else _or_overloads(frame, node, value)
        )
    result = perform(m, applied, Call(frame, decorator, Arguments([value]), decorating=True))
    if isinstance(applied, FunctionValue) and _gives_back(m, applied, value, result, lost):
        return value
    if isinstance(result, (Unknown, Const, Static, ExternalInstance)) or (
        isinstance(applied, External)
        and m.program.knowledge.transform(applied.name) is None
        and isinstance(result, BuiltinValue)
    ):
        _track_disguise(m, frame, decorator, function)
        function.altered = True
        return (
            Unknown("decorated", host_test=True) if m.trackers[Runs].lost > lost else _or_overloads(frame, node, value)
        )
    return result


def _track_disguise(m: Machine, frame: Frame, decorator: ir.Expr, function: FunctionValue) -> None:
    """An unknown decorator may stage the function, unless it is one that runs it as the program or as it is."""
    func = decorator.func if isinstance(decorator, ir.Call) else decorator
    root = lookup(m, frame, path_of(func).partition(".")[0])
    package = root.name.partition(".")[0] if isinstance(root, External) else ""
    of_object = isinstance(root, (Unknown, FunctionValue)) and isinstance(func, ir.Attribute)
    starts = package in _STARTING or (of_object and last_name(func) in _COMMANDS)
    if starts:
        m.trackers[Freshness].started.add(id(function.fn))
    elif package not in _RUNNING:
        m.trackers[Freshness].disguised.add(id(function.fn))


_STARTING = frozenset({"hydra", "click", "typer", "pyrallis", "draccus", "tyro", "jsonargparse", "sacred", "marimo"})
"""Packages whose decorators make the program's start, or a command of it, of a function."""
_COMMANDS = frozenset({"command", "main", "automain", "cell"})
"""Methods that do so: ``@cli.command()``, ``@experiment.automain``, ``@app.cell``."""
_RUNNING = frozenset(
    {"beartype", "typeguard", "loguru", "tenacity", "retry", "torch", "line_profiler", "memory_profiler"}
)
"""Packages whose decorators check or repeat what they decorate, and stage nothing of JAX."""


def _track_dispatch(m: Machine, frame: Frame, decorator: ir.Expr, function: FunctionValue) -> None:
    """``@area.register(Circle)``: the first argument of the function is of that class."""
    if not isinstance(decorator, ir.Call) or len(decorator.args) != 1 or last_name(decorator.func) != "register":
        return
    said = decorator.args[0].value
    if isinstance(said, (ir.Name, ir.Attribute)) and isinstance(evaluate(m, frame, said), ClassValue):
        m.program.dispatched[id(function.fn)] = said


def _gives_back(m: Machine, decorator: FunctionValue, value: Value, result: Value, lost: int) -> bool:
    """A decorator of the project hands the function itself back: this run shows it or, where that was one too many, those
    before."""
    runs = m.trackers[Runs]
    if runs.lost == lost:
        known = runs.giving_back.get(id(decorator.fn), True)
        runs.giving_back[id(decorator.fn)] = known and result is value
    return runs.giving_back.get(id(decorator.fn), False)


_OVERLOADS = "overloads"


def _or_overloads(frame: Frame, node: ir.FunctionDef, value: Value) -> Value:
    """Functions of one name that something unknown decorates may be the forms of one that looks at its arguments
    (``@dispatch``): it is not known which form a call runs."""
    before = frame.slots.get(node.function.name)
    if frame.scope.cells or not isinstance(before, (FunctionValue, Unknown)):
        return value
    is_form = before.label == _OVERLOADS if isinstance(before, Unknown) else before.altered
    return Unknown(_OVERLOADS, host_test=True) if is_form else value


def _is_computed(frame: Frame, decorator: ir.Expr) -> bool:
    """A variable of the function around: as likely a transform that was chosen there as a decorator that changes little."""
    return isinstance(decorator, ir.Name) and frame.fn is not None and decorator.id in frame.fn.local_names


def is_context(m: Machine, value: Value) -> bool:
    """A context manager of a library: used as a decorator, it leaves the function as it is."""
    fact = m.program.knowledge.function(value.cls) if isinstance(value, ExternalInstance) else None
    return fact is not None and fact.returns == "context"


def define_class(m: Machine, frame: Frame, node: ir.ClassDef) -> Value:
    """A ``class`` statement: bases, body, decorators."""
    bases: list[Value] = []
    metaclass: Value = External("builtins.type")
    for argument in node.bases:
        value = evaluate(m, frame, argument.value)
        if argument.keyword is None:
            bases.append(value)
        elif argument.keyword == "metaclass":
            metaclass = value
    closure: Frame | None = frame if frame.fn is not None or frame.parent is not None else None
    cls = ClassValue(node, frame.scope, bases, closure)
    if not isinstance(metaclass, External) or metaclass.name not in PLAIN_METACLASSES:
        cls.traits.add("metaclass")
    body = Frame(None, frame.scope, frame if frame.fn is not None or frame.parent is not None else None, owner=cls)
    run_block(m, body, node.body)
    cls.namespace.update({k: v for k, v in body.slots.items() if isinstance(v, Value)})
    m.program.add_class(cls)
    finish_class(m, cls)
    decorated: Value = cls
    for decorator in reversed(node.decorators):
        decorated = _decorated_class(m, frame, decorator, cls, decorated)
    check_defaults(m, cls)
    return decorated


def _decorated_class(m: Machine, frame: Frame, decorator: ir.Expr, cls: ClassValue, value: Value) -> Value:
    applied = evaluate(m, frame, decorator)
    name = ""
    options: dict[str, Value] = {}
    if isinstance(applied, External):
        name = applied.name
    elif isinstance(applied, PartialValue) and isinstance(applied.func, External):
        name, options = applied.func.name, applied.kwargs
    elif isinstance(applied, ExternalInstance):
        name, options = applied.cls, {k: v for k, v in applied.slots.items() if isinstance(v, Value)}
    if not is_known_decorator(m, name):
        cls.traits.add("altered")
    if name:
        apply_class_decorator(m, cls, name, options)
        if "register_pytree" in name:
            track_methods(m, cls)
        return value
    function = applied.func if isinstance(applied, PartialValue) else applied
    if isinstance(function, (FunctionValue, ClassValue, BoundMethod)):
        runs, before = m.trackers[Runs], (m.trackers[Runs].lost, frozenset(cls.traits))
        result = call(m, frame, decorator, applied, Arguments([value]))
        if isinstance(function, FunctionValue):
            if runs.lost == before[0]:
                runs.class_decorators[id(function.fn)] = (cls.traits - before[1], cls)
            elif id(function.fn) in runs.class_decorators:
                decorate_alike(m, cls, *runs.class_decorators[id(function.fn)])
        return result if isinstance(result, (ClassValue, FunctionValue)) else value
    return value


def import_from(m: Machine, frame: Frame, node: ir.ImportFrom) -> None:
    """``from module import names``."""
    module = m.program.absolute(frame.scope, node.module, node.level)
    versions = m.trackers[ApiUses].versions
    if versions is not None and node.level == 0:
        versions.imported_from(m, frame.scope, node, module)
    for name in node.names:
        if name.name == "*":
            for key, value in m.program.star(module).items():
                m.journal.write(frame.slots, key, value)
            continue
        value = m.program.imported(frame.scope, node, name.name)
        m.journal.write(frame.slots, name.alias or name.name, value)
        if isinstance(value, External) and m.bus.wants(NameUse):
            emit_name(m, frame, name, value, f"{module}.{name.name}", is_import=True)
    track_import(m, frame, node, module)
