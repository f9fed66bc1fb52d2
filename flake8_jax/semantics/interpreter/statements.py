"""Running statements; ``branches`` and ``loops`` have modules of their own.

Vocabulary
----------
flow        how a block ends: NORMAL (falls through), RETURN, RAISE, BREAK, CONTINUE.

Limitations: exceptions that a call may raise outside ``try``, ``async`` interleavings.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.classes import find_in_class
from flake8_jax.semantics.domain.code import path_of
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.stack import NORMAL, RAISE, RETURN, Flow, Tried, Watched
from flake8_jax.semantics.domain.values import (
    NONE,
    Array,
    BuiltinValue,
    Condition,
    DictValue,
    External,
    ExternalInstance,
    FunctionValue,
    GeneratorValue,
    Instance,
    ListValue,
    Static,
    Tree,
    TupleValue,
    Unknown,
    Value,
)
from flake8_jax.semantics.events.events import Discarded, KeyUse, LateBinding, NanComparison, OverwrittenBuffer, Store
from flake8_jax.semantics.interpreter.asserting import expects_error, waited_for
from flake8_jax.semantics.interpreter.assignment import assign, store_item
from flake8_jax.semantics.interpreter.branches import Branch, run_branches
from flake8_jax.semantics.interpreter.conditions import condition_of, hold
from flake8_jax.semantics.interpreter.containers import delete_item, extend_list
from flake8_jax.semantics.interpreter.expressions import load_item
from flake8_jax.semantics.interpreter.operations import call_method, resolve_name
from flake8_jax.semantics.interpreter.operators import binary
from flake8_jax.semantics.interpreter.stopwatches import run_timed_magic, start_watch
from flake8_jax.semantics.interpreter.types import has_attribute
from flake8_jax.semantics.machine.bus import Emission
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import RUN, evaluate, run_block
from flake8_jax.semantics.trackers.allocations import Change, emit_change, undo_changes
from flake8_jax.semantics.trackers.globals import GlobalReads
from flake8_jax.semantics.trackers.host_buffers import is_buffer, track_overwritten
from flake8_jax.semantics.trackers.keys import uses_left_by_exception
from flake8_jax.semantics.trackers.plain_containers import check_augmented
from flake8_jax.semantics.trackers.process import ENVIRON, set_variables, track_import, track_written
from flake8_jax.semantics.trackers.runs import Runs, track_probed_failures
from flake8_jax.semantics.trackers.steps import TrainingSteps, emit_steps, give_back, track_bound
from flake8_jax.semantics.trackers.variation import Variations, track_augmented, track_self_update, vary_binary
from flake8_jax.semantics.trackers.versions import ApiUses

CATCHES_TRACER_ERRORS = frozenset(
    {"builtins.Exception", "builtins.BaseException", "builtins.TypeError", "builtins.ValueError", "builtins.IndexError",
     "builtins.AttributeError", "builtins.NameError", "builtins.RuntimeError"}
)  # fmt: skip


def _expression(m: Machine, frame: Frame, node: ir.ExprStmt) -> Flow:
    from flake8_jax.semantics.interpreter.expressions import evaluate_statement

    evaluate_statement(m, frame, node)
    return NORMAL


def _assign(m: Machine, frame: Frame, node: ir.Assign) -> Flow:
    if frame.fn is None and frame.scope.cells and run_timed_magic(m, frame, node):
        return NORMAL
    value = evaluate(m, frame, node.value)
    if frame.loops and type(node.value) in (ir.BinOp, ir.Call):
        track_self_update(m, frame, node)
    if m.trackers[TrainingSteps].taken is not None:
        emit_steps(m, frame, node, value)
    for target in node.targets:
        assign(m, frame, target, value, node.value)
    if m.trackers[TrainingSteps].taken is not None:
        track_bound(m)
    return NORMAL


def _annotated(m: Machine, frame: Frame, node: ir.AnnAssign) -> Flow:
    versions = m.trackers[ApiUses].versions
    if versions is not None and frame.fn is None:
        versions.annotations(m, frame, [node.annotation], partial(resolve_name, m, frame.scope, frame))
    if node.value is None:
        return NORMAL
    value = evaluate(m, frame, node.value)
    if isinstance(value, Unknown) and value.parent is None:
        from flake8_jax.semantics.interpreter.operations import value_of_annotation

        value = value_of_annotation(m, frame.scope, frame, node.annotation) or value
    assign(m, frame, node.target, value, node.value)
    return NORMAL


def _augmented(m: Machine, frame: Frame, node: ir.AugAssign) -> Flow:
    target = node.target
    right = None
    if isinstance(target, ir.Subscript):
        base = evaluate(m, frame, target.value)
        index = evaluate(m, frame, target.index)
        old = load_item(m, frame, target, base, index, without_events=True)
        check_augmented(m, frame, node, old)
        right = evaluate(m, frame, node.value)
        result = binary(m, frame, node, old, node.op, right)
        store_item(m, Change(frame, target, "item-augmented", base, result, op=node.op, itself=bool(node.op)), index)
        return NORMAL
    old = evaluate(m, frame, target)
    right = evaluate(m, frame, node.value)
    if node.op == "+" and isinstance(old, ListValue) and not old.is_tuple:
        emit_change(m, Change(frame, target, "method", old, right, "+="))
        extend_list(m, frame, old, right, node)
        return NORMAL
    check_augmented(m, frame, node, old)
    if node.op == "|" and isinstance(old, External) and old.name == ENVIRON:
        set_variables(m, frame, target, right)
    if node.op == "|" and (isinstance(old, DictValue) or (isinstance(old, Static) and old.kind == "set")):
        emit_change(m, Change(frame, target, "method", old, right, "|="))
    result = binary(m, frame, node, old, node.op, right)
    if is_buffer(m, old):
        track_overwritten(m, frame, node, old)
        result = old
    if m.trackers[Variations].known:
        vary_binary(m, node.op, old, right, result)
    if frame.loops:
        track_augmented(m, frame, target, node.op, old, right)
    assign(m, frame, target, result, node.value, op=node.op)
    return NORMAL


def _return(m: Machine, frame: Frame, node: ir.Return) -> Flow:
    loop = frame.loops[-1] if frame.loops else None
    if loop is not None:
        loop.leaving = True
    frame.returns.append(evaluate(m, frame, node.value) if node.value is not None else NONE)
    if loop is not None:
        loop.leaving = False
    frame.vague = frame.vague or frame.guesses > 0
    frame.answers = frame.answers or frame.guesses > frame.setups
    if m.trackers[TrainingSteps].taken is not None:
        give_back(m, frame.returns[-1])
    if frame.branches:
        frame.exits.append(m.journal.since(frame.mark))
    else:
        frame.ended = True
    return RETURN


def _raise(m: Machine, frame: Frame, node: ir.Raise) -> Flow:
    if node.exc is not None:
        evaluate(m, frame, node.exc)
    return RAISE


def _assert(m: Machine, frame: Frame, node: ir.Assert) -> Flow:
    with waited_for(m):
        condition = condition_of(m, frame, node.test, "assert", node)
    for narrow in condition.when_true:
        narrow(m)
    if condition.key is not None:
        hold(m, Condition(condition.key, True))
    return RAISE if isinstance(node.test, ir.Constant) and condition.truth is False else NORMAL


def _delete(m: Machine, frame: Frame, node: ir.Delete) -> Flow:
    for target in node.targets:
        if isinstance(target, ir.Subscript):
            base = evaluate(m, frame, target.value)
            index = evaluate(m, frame, target.index)
            if m.bus.wants(Store) and isinstance(base, (Array, Tree)):
                m.bus.emit(Store(m.path.context(frame.scope), target, "item-delete", base, None, "", ""))
            undo_changes(m, base)
            if isinstance(base, External) and base.name == ENVIRON:
                track_written(m, frame, target)
            delete_item(m, base, index)
        elif isinstance(target, ir.Name) and target.id in frame.slots:
            m.journal.write(frame.slots, target.id, Unknown("deleted"))
    return NORMAL


def _pass(m: Machine, frame: Frame, node: ir.Stmt) -> Flow:
    return NORMAL


# --- branches -------------------------------------------------------------------------------------


# --- loops ----------------------------------------------------------------------------------------


# --- try, with ------------------------------------------------------------------------------------


def _try(m: Machine, frame: Frame, node: ir.Try) -> Flow:
    catching = [h for h in node.handlers if _catches_tracer_errors(m, frame, h.type) and not _raises_again(h)]
    catches, around, probing = bool(catching), m.path.tried, m.path.probing
    named = catches and not any(_catches_all(m, frame, handler.type) for handler in catching)

    def body() -> Flow:
        reports, probes = len(m.bus.emissions), m.trackers[Runs].probes
        frame.attempts += bool(node.handlers)
        if catches and frame.fn is None:  # a script shows an error; a function may just be careful
            m.path.tried = Tried(len(m.path.stack), named)
        if any(not _raises_another(handler) for handler in catching):
            m.path.probing = len(m.path.stack)
        flow = run_block(m, frame, node.body)
        m.path.tried, m.path.probing = around, probing
        frame.attempts -= bool(node.handlers)
        if m.trackers[Runs].probes > probes:
            track_probed_failures(m, m.bus.emissions[reports:])
        if catches and _drop_caught(m, frame, node, reports) and flow == NORMAL:
            return RAISE  # the body fails on a tracer: what goes on are the handlers
        if flow == NORMAL and node.orelse:
            flow = run_block(m, frame, node.orelse)
        return flow

    seen: Watched = {}

    def watched() -> Flow:
        nonlocal seen
        flow, seen = m.journal.watch(body)
        return flow

    branches = [Branch(watched)]
    for handler in node.handlers:

        def handle(handler: ir.ExceptHandler = handler) -> Flow:
            m.journal.interrupted(uses_left_by_exception(m, seen))
            caught = evaluate(m, frame, handler.type) if handler.type is not None else None
            if isinstance(caught, (External, BuiltinValue)) and caught.name.rpartition(".")[2] == "AttributeError":
                _forget_arrays(m, frame, node.body)
            if handler.name:
                m.journal.write(frame.slots, handler.name, Unknown("exception"))
            return run_block(m, frame, handler.body)

        setup = handler not in catching or any(isinstance(s, (ir.Import, ir.ImportFrom)) for s in node.body)
        branches.append(Branch(handle, guess=True, setup=setup))
    flow = body() if not node.handlers else run_branches(m, frame, branches)
    if node.finalbody:
        final = run_block(m, frame, node.finalbody)
        if final != NORMAL:
            return final
    return flow


def _forget_arrays(m: Machine, frame: Frame, body: list[ir.Stmt]) -> None:
    """``x.astype`` raised AttributeError: then x is not an array, although one would have come here."""
    for node in (n for statement in body for n in walk(statement)):
        if not isinstance(node, ir.Attribute) or not isinstance(node.value, ir.Name):
            continue
        value = frame.slots.get(node.value.id)
        if isinstance(value, Array) and has_attribute(m, value, node.attr):
            m.journal.write(frame.slots, node.value.id, Unknown("not an array"))


def _drop_caught(m: Machine, frame: Frame, node: ir.Try | ir.With, reports: int) -> bool:
    """Forget the errors reported since: a handler or a context manager catches them. Whether one of them says that JAX
    raises here.

    A silent error raises nothing, so it stays. JAX raises on key reuse if asked to: code that asks catches it here.
    """
    found = [e for e in m.bus.emissions[reports:] if (e.report.level or e.rule.level) == "error"]
    m.bus.drop_errors(reports)
    handlers = node.handlers if isinstance(node, ir.Try) else []
    looks = "debug_key_reuse" in frame.scope.text or any(_is_key_error(m, frame, h.type) for h in handlers)
    m.bus.emissions += [
        e
        for e in found
        if isinstance(e.event, _SILENT) and not (looks and isinstance(e.event, KeyUse) and _is_in(node, frame, e))
    ]
    return any(e.rule.raises == "tracer error" for e in found)


_SILENT = (KeyUse, Discarded, LateBinding, NanComparison, OverwrittenBuffer)


def _is_key_error(m: Machine, frame: Frame, kind: ir.Expr | None) -> bool:
    """Whether a handler is for the error by which JAX shows that a key is used twice."""
    value = evaluate(m, frame, kind) if kind is not None else None
    members = value.elts if isinstance(value, TupleValue) else (value,)
    return any(isinstance(member, External) and member.name.endswith("KeyReuseError") for member in members)


def _is_in(node: ir.Try | ir.With, frame: Frame, emission: Emission) -> bool:
    return emission.scope is frame.scope and node.start <= emission.report.at.start < node.end


def _catches_tracer_errors(m: Machine, frame: Frame, kind: ir.Expr | None) -> bool:
    if kind is None:
        return True
    value = evaluate(m, frame, kind)
    for member in value.elts if isinstance(value, TupleValue) else (value,):
        name = member.name if isinstance(member, External) else getattr(member, "name", "")
        if name in CATCHES_TRACER_ERRORS or f"builtins.{name}" in CATCHES_TRACER_ERRORS:
            return True
        if name.startswith(("jax.errors.", "jax.core.")):
            return True
        if isinstance(member, Unknown):
            return True
    return False


def _catches_all(m: Machine, frame: Frame, kind: ir.Expr | None) -> bool:
    """``except Exception``: whatever goes wrong, rather than an error that is expected."""
    value = evaluate(m, frame, kind) if kind is not None else None
    name = value.name if isinstance(value, (External, BuiltinValue)) else ""
    return value is None or name.rpartition(".")[2] in ("Exception", "BaseException")


def _raises_again(handler: ir.ExceptHandler) -> bool:
    """The handler ends with ``raise``, with ``raise e`` of the error itself or with ``sys.exit(1)``: the program fails."""
    last = handler.body[-1] if handler.body else None
    if isinstance(last, ir.ExprStmt):
        return isinstance(last.value, ir.Call) and path_of(last.value.func) == "sys.exit" and bool(last.value.args)
    if not isinstance(last, ir.Raise):
        return False
    return last.exc is None or (isinstance(last.exc, ir.Name) and last.exc.id == handler.name)


def _raises_another(handler: ir.ExceptHandler) -> bool:
    """The handler ends with a ``raise``."""
    return bool(handler.body) and isinstance(handler.body[-1], ir.Raise)


def _with(m: Machine, frame: Frame, node: ir.With) -> Flow:
    saved_mode, saved_caught, saved_attempts = m.path.mode, m.path.caught, frame.attempts
    leaving: list[Callable[[], object]] = []
    swallows = False
    for item in node.items:
        manager = evaluate(m, frame, item.context)
        swallows = swallows or _swallows_tracer_errors(m, frame, item.context, manager)
        if isinstance(manager, ExternalInstance):
            if manager.cls == "jax.ensure_compile_time_eval":
                m.path.mode = msgspec.structs.replace(m.path.mode, ambient=False)
            elif manager.cls == "jax.core.eval_context":
                m.path.mode = msgspec.structs.replace(m.path.mode, ambient=False, staged=False)
            elif manager.cls in ("jax.disable_jit", "chex.fake_jit"):
                m.path.mode = msgspec.structs.replace(m.path.mode, presumed=True)
            elif manager.cls == "contextlib.suppress":
                m.path.caught += 1
                frame.attempts += 1
        elif isinstance(manager, Unknown):
            frame.attempts += 1
        if expects_error(m, frame, item.context):
            m.path.caught += 1
            frame.attempts += 1
        watch = start_watch(m, frame, node, item, manager)
        value = _entered(m, frame, item.context, manager)
        if isinstance(manager, Instance):
            leaving.append(partial(call_method, m, frame, item.context, manager, "__exit__", NONE, NONE, NONE))
        elif watch is not None:
            leaving.append(watch)
        if item.target is not None:
            assign(m, frame, item.target, value, item.context)
    reports = len(m.bus.emissions)
    flow = run_block(m, frame, node.body)
    if swallows and _drop_caught(m, frame, node, reports):
        flow = NORMAL  # the block fails on a tracer, and what stands after it runs
    m.path.mode, m.path.caught, frame.attempts = saved_mode, saved_caught, saved_attempts
    for leave in reversed(leaving):
        leave()
    return flow


def _swallows_tracer_errors(m: Machine, frame: Frame, node: ir.Expr, manager: Value) -> bool:
    """The block of a ``with`` may end with an error of JAX that goes no further: an ``__exit__`` of the project that may
    return True, or a generator function with a ``try`` around its ``yield``."""
    if isinstance(manager, Instance):
        found = find_in_class(manager.cls, "__exit__")
        leave = found[1].fn.body if found is not None and isinstance(found[1], FunctionValue) else []
        returns = [part for statement in leave for part in walk(statement) if isinstance(part, ir.Return)]
        return any(_may_be_true(part.value) for part in returns)
    if not isinstance(manager, GeneratorValue) or not isinstance(node, ir.Call):
        return False
    function = resolve_name(m, frame.scope, frame, node.func)
    if not isinstance(function, FunctionValue):
        return False
    inside = Frame(function.fn, function.scope, function.closure)
    return any(
        any(isinstance(part, ir.Yield) for inner in attempt.body for part in walk(inner))
        and any(_catches_tracer_errors(m, inside, h.type) and not _raises_again(h) for h in attempt.handlers)
        for statement in function.fn.body
        for attempt in walk(statement)
        if isinstance(attempt, ir.Try)
    )


def _may_be_true(node: ir.Expr | None) -> bool:
    """What an ``__exit__`` returns may be true; that of another manager, to which it passes its arguments on, is not asked."""
    if node is None or isinstance(node, ir.Call):
        return isinstance(node, ir.Call) and getattr(node.func, "attr", "") != "__exit__"
    return not isinstance(node, ir.Constant) or bool(node.value)


def _entered(m: Machine, frame: Frame, node: ir.Expr, manager: Value) -> Value:
    if isinstance(manager, GeneratorValue):
        return manager.element
    if isinstance(manager, Instance):
        entered = call_method(m, frame, node, manager, "__enter__")
        return entered if entered is not None else manager
    if isinstance(manager, ExternalInstance):
        fact = m.program.knowledge.function(manager.cls)
        if fact is not None and fact.returns == "context":
            entered = manager.slots.get("enter_result")
            return entered if isinstance(entered, Value) else Unknown("with")
        return manager
    return Unknown("with")


# --- definitions ----------------------------------------------------------------------------------


def _function(m: Machine, frame: Frame, node: ir.FunctionDef) -> Flow:
    from flake8_jax.semantics.interpreter.definitions import define_function

    name, value = node.function.name, define_function(m, frame, node)
    if frame.fn is None and not m.trackers[GlobalReads].staged:
        m.journal.write(frame.slots, name, value)  # nearly all of them, and there are many
    else:
        assign(m, frame, ir.Name(node.name_start, node.name_start + len(name), name), value, None)
    return NORMAL


def _class(m: Machine, frame: Frame, node: ir.ClassDef) -> Flow:
    from flake8_jax.semantics.interpreter.definitions import define_class

    assign(m, frame, ir.Name(node.name_start, node.name_start + len(node.name), node.name),
           define_class(m, frame, node), None)  # fmt: skip
    return NORMAL


def _import(m: Machine, frame: Frame, node: ir.Import) -> Flow:
    versions = m.trackers[ApiUses].versions
    for name in node.names:
        if versions is not None:
            versions.imported(m, frame.scope, name)
        module = m.program.absolute(frame.scope, name.name, 0)
        if name.alias:
            m.journal.write(frame.slots, name.alias, m.program.load(module))
        else:
            m.journal.write(frame.slots, name.name.split(".")[0], m.program.load_top(frame.scope, name.name))
        track_import(m, frame, node, module)
    return NORMAL


def _import_from(m: Machine, frame: Frame, node: ir.ImportFrom) -> Flow:
    from flake8_jax.semantics.interpreter.definitions import import_from

    import_from(m, frame, node)
    return NORMAL


def _type_alias(m: Machine, frame: Frame, node: ir.TypeAlias) -> Flow:
    m.journal.write(frame.slots, node.name, Unknown("type alias"))
    return NORMAL


RUN.update(
    {
        ir.ExprStmt: _expression,
        ir.Assign: _assign,
        ir.AnnAssign: _annotated,
        ir.AugAssign: _augmented,
        ir.Return: _return,
        ir.Raise: _raise,
        ir.Assert: _assert,
        ir.Delete: _delete,
        ir.Pass: _pass,
        ir.Global: _pass,
        ir.Nonlocal: _pass,
        ir.Try: _try,
        ir.With: _with,
        ir.FunctionDef: _function,
        ir.ClassDef: _class,
        ir.Import: _import,
        ir.ImportFrom: _import_from,
        ir.TypeAlias: _type_alias,
    }
)
