"""Checks of what the program gives to transforms, made when all entries have run and every rule is set.

Vocabulary
----------
root            the call or decorator that stages a function.
derivative rule a function that the program sets for a ``custom_vjp`` or ``custom_jvp`` function.
"""

from __future__ import annotations

import functools
from typing import Any

from flake8_jax.semantics.analysis.entries import run_guarded
from flake8_jax.semantics.domain.classes import is_stub
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.signatures import static_parameters
from flake8_jax.semantics.domain.values import FunctionValue, TransformedValue
from flake8_jax.semantics.events.events import JittedMethod
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.custom_rules import check_missing, check_settings


def check_derivative_rules(m: Machine) -> None:
    """Check each derivative rule that the program sets, once for each place."""
    done: set[int] = set()
    for tv, name, args, node, scope in list(m.worklist.rule_settings):
        if id(node) not in done:
            done.add(id(node))
            run_guarded(m, scope, functools.partial(check_settings, m, tv, name, args, node, scope))


def check_roots(m: Machine) -> None:
    """Check the roots: ``jit`` on methods, and functions that need a derivative rule and have none."""
    for tv, node, scope, chain, _staged in list(m.worklist.roots):
        if tv.name == "jax.jit":
            run_guarded(m, scope, functools.partial(_check_jitted_method, m, tv, node, scope))
        if tv.fact.model == "custom" and not chain:
            run_guarded(m, scope, functools.partial(check_missing, m, tv, node, scope))


def _check_jitted_method(m: Machine, tv: TransformedValue, node: Any, scope: ModuleScope) -> None:
    """Check ``@jax.jit`` on a method: ``self`` is an argument that JAX cannot take if the class is not a pytree."""
    function = tv.operand
    if not m.bus.wants(JittedMethod) or node is None:
        return
    if not isinstance(function, FunctionValue) or function.owner is None:
        return
    owner, statics = function.owner, static_parameters(tv)
    if owner.namespace.get(function.fn.name) is not tv or statics is None or 0 in statics[0]:
        return
    if m.program.may_be_pytree(owner):
        return
    if owner.traits & {"namedtuple", "enum"} or not function.fn.params or function.fn.params[0].kind == "vararg":
        return
    if not _is_receiver(function.fn.params[0].name) or is_stub(function.fn):
        return
    is_module = "static_attributes" in owner.traits
    m.bus.emit(JittedMethod(m.path.context(scope), node, owner.node.name, function.fn.name, is_module))


def _is_receiver(name: str) -> bool:
    """A first parameter that stands for the object, by its name: a function that is only called through its class
    (``Layer.apply(weight, x)``) has another one."""
    return name.strip("_") in ("self", "this", "cls", "")
