"""Presumed entries: every function once more, as the users of a library would trace it.

Vocabulary
----------
presumed   run as if a transform traced it, because jaxlint found no caller that does. ``inspect`` shows it of all functions;
           in previews rules hear of losses, activations and densities, which are presumed to be differentiated as well,
           of functions of JAX arrays that mix NumPy with JAX (``roles``), and of methods of carriers.
carrier    a class whose instances carry arrays into traced code (``receivers``).

Limitations: see ``trackers.presumption``.
"""

from __future__ import annotations

import functools

from flake8_jax.semantics.analysis.entries import enter, first_argument, function_in_class, run_guarded
from flake8_jax.semantics.analysis.receivers import carries_arrays
from flake8_jax.semantics.analysis.roles import has_role, is_helper, mixes_numpy
from flake8_jax.semantics.domain.boundary import to_tracers
from flake8_jax.semantics.domain.classes import mro_of
from flake8_jax.semantics.domain.stack import Mode
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    Array,
    ClassValue,
    FunctionValue,
    Instance,
    StaticMethodValue,
    Tree,
    TupleValue,
    Value,
)
from flake8_jax.semantics.interpreter.classes import generic_instance, library_name
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.limits import PRESUMED_CAPS
from flake8_jax.semantics.trackers.presumption import Presuming
from flake8_jax.semantics.trackers.records import Recording
from flake8_jax.semantics.trackers.runs import Runs

_CONSTRUCTORS = ("__init__", "__post_init__", "__new__", "setup", "tree_unflatten")


def run_presumed(m: Machine) -> None:
    """Run every function once more, as the users of a library would stage it."""
    presumption, runs = m.trackers[Presuming].presumption, m.trackers[Runs]
    assert presumption is not None
    presumption.settle(runs.callees)
    if m.trackers[Recording].records is None:
        m.bus.presume()
        runs.caps = PRESUMED_CAPS
    runs.contexts.clear()
    runs.apart.clear()
    presumption.carriers.update(cls for cls in m.program.classes if carries_arrays(m, cls))
    for func in list(m.worklist.deferred_functions):
        if func.closure is None and func.owner is None and _is_run(m, func):
            run_guarded(m, func.scope, functools.partial(_presumed_entry, m, func, []))
    for cls in list(m.program.classes):
        for value in list(cls.namespace.values()):
            run_guarded(m, cls.scope, functools.partial(_presumed_method, m, cls, value))
    for func in list(presumption.rules) if m.trackers[Recording].records is not None else ():
        run_guarded(m, func.scope, functools.partial(_presumed_entry, m, func, []))
    for func in list(m.worklist.deferred_functions):
        seen = any(runs.has_run(id(func.fn), staged=staged) for staged in (True, False))
        if func.closure is not None and not seen:
            if _is_run(m, func):
                run_guarded(m, func.scope, functools.partial(_presumed_entry, m, func, []))


def _is_run(m: Machine, func: FunctionValue) -> bool:
    """``inspect`` shows every function; rules only hear of those that users surely stage."""
    presumption = m.trackers[Presuming].presumption
    assert presumption is not None
    shown = m.trackers[Recording].records is not None
    return presumption.applies_to(func.scope, func.fn) and (shown or has_role(func) or mixes_numpy(func))


def _presumed_method(m: Machine, cls: ClassValue, value: Value) -> None:
    """Run a method. ``self`` is bare in a constructor; only a caller could tell whether its leaves are traced."""
    target = function_in_class(value)
    presumption = m.trackers[Presuming].presumption
    assert presumption is not None
    if target is None or not (_is_run(m, target) or _is_staged_method(m, cls, target)):
        return
    self_value: Value = Instance(cls, exact=False)
    if not isinstance(value, StaticMethodValue) and target.fn.name not in _CONSTRUCTORS:
        self_value = _presumed_receiver(m, cls)
    is_staged = _is_staged_method(m, cls, target)
    _presumed_entry(m, target, first_argument(cls, value, self_value), of_carrier=is_staged)


def _is_staged_method(m: Machine, cls: ClassValue, func: FunctionValue) -> bool:
    """Users call it in code that they stage: a method of an object that carries arrays, or one that a library's own base
    class stages."""
    presumption = m.trackers[Presuming].presumption
    assert presumption is not None
    if is_helper(func) or not presumption.applies_to(func.scope, func.fn):
        return False
    if cls in presumption.carriers and not func.fn.name.startswith("__"):
        return True
    facts = [m.program.knowledge.class_(library_name(m, base)) for base in mro_of(cls)[1:]]
    return any(fact is not None and func.fn.name in fact.staged_methods for fact in facts)


def _presumed_receiver(m: Machine, cls: ClassValue) -> Value:
    """``self``: of a pytree, those of its leaves that surely are arrays are tracers."""
    known = generic_instance(m, cls)
    presumption = m.trackers[Presuming].presumption
    assert presumption is not None
    if isinstance(known, TupleValue):
        held = (to_tracers(v, ABSTRACT) if isinstance(v, (Array, Tree)) else v for v in known.elts)
        return TupleValue(tuple(held), known.cls, known.names)
    if not isinstance(known, Instance) or "pytree" not in cls.traits:
        return known
    made = Instance(cls, exact=False)
    if cls in presumption.carriers:
        presumption.holding.add(made)
    made.slots.update(known.slots)
    for name, value in known.slots.items():
        if name not in cls.static_names and isinstance(value, (Array, Tree)):
            made.slots[name] = to_tracers(value, ABSTRACT)
    return made


def _presumed_entry(m: Machine, func: FunctionValue, first: list[Value], *, of_carrier: bool = False) -> None:
    presumption = m.trackers[Presuming].presumption
    assert presumption is not None
    m.path.traces += 1
    differentiated = has_role(func)
    m.bus.raising_only = not differentiated
    is_api = of_carrier or (differentiated and id(func.fn) not in presumption.called)
    compiled = m.path.traces if is_api else 0
    m.path.mode = Mode(True, True, m.path.traces, True, differentiated=differentiated, compiled=compiled)
    enter(m, func, first)
    if m.trackers[Recording].records is None and presumption.learn(func.fn):
        enter(m, func, first)
