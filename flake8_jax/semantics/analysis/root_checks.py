"""Checks of what the program gives to transforms, made when all entries have run and every rule is set.

Vocabulary
----------
root            the call or decorator that stages a function.
derivative rule a function that the program sets for a ``custom_vjp`` or ``custom_jvp`` function.
"""

from __future__ import annotations

import functools
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.analysis.entries import run_guarded
from flake8_jax.semantics.analysis.receivers import carries_arrays
from flake8_jax.semantics.domain.classes import find_in_class, is_stub
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.signatures import opened, static_parameters
from flake8_jax.semantics.domain.values import (
    ClassValue,
    ExternalInstance,
    FunctionValue,
    Instance,
    TransformedValue,
    Value,
)
from flake8_jax.semantics.events.events import JittedMethod
from flake8_jax.semantics.interpreter.classes import generic_instance
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
        if tv.name == "equinox.filter_jit":
            run_guarded(m, scope, functools.partial(_check_filtered_method, m, tv, node, scope))
        if tv.fact.model == "custom" and not chain:
            run_guarded(m, scope, functools.partial(check_missing, m, tv, node, scope))


def _check_jitted_method(m: Machine, tv: TransformedValue, node: Any, scope: ModuleScope) -> None:
    """Check ``@jax.jit`` on a method: ``self`` is an argument that JAX cannot take if the class is not a pytree."""
    method, statics = _plain_method(m, tv), static_parameters(tv)
    if method is None or node is None or statics is None or 0 in statics[0]:
        return
    owner, fn = method
    is_module = "static_attributes" in owner.traits
    m.bus.emit(JittedMethod(m.path.context(scope), node, owner.node.name, fn.name, is_module))


def _check_filtered_method(m: Machine, tv: TransformedValue, node: Any, scope: ModuleScope) -> None:
    """Check ``@eqx.filter_jit`` on a method: ``self`` is static if the class is not a pytree, so arrays in it are constants."""
    method = _plain_method(m, tv)
    if method is None or node is None:
        return
    owner, fn = method
    made = generic_instance(m, owner)
    held = made.slots if isinstance(made, Instance) else {}
    model = next((name for name in _attributes_read(owner, fn) if _is_model(m, held.get(name))), "")
    if model:
        m.bus.emit(JittedMethod(m.path.context(scope), node, owner.node.name, fn.name, model=model))


def _plain_method(m: Machine, tv: TransformedValue) -> tuple[ClassValue, ir.Function] | None:
    """The method that a transform decorates, and its class, if that is surely not a pytree."""
    function = tv.operand
    if not m.bus.wants(JittedMethod) or not isinstance(function, FunctionValue) or function.owner is None:
        return None
    owner, fn = function.owner, function.fn
    if owner.namespace.get(fn.name) is not tv or m.program.may_be_pytree(owner):
        return None
    if owner.traits & {"namedtuple", "enum"} or not fn.params or fn.params[0].kind == "vararg":
        return None
    return (owner, fn) if _is_receiver(fn.params[0].name) and not is_stub(fn) else None


def _attributes_read(cls: ClassValue, fn: ir.Function) -> list[str]:
    """The attributes of ``self`` that a method reads, by itself or by way of other methods of the object, in order."""
    found: list[str] = []
    todo, seen = [fn], {id(fn)}
    for one in todo:
        receiver = one.params[0].name if one.params else ""
        parts = (node for statement in one.body for node in walk(statement))
        read = [
            n for n in parts if isinstance(n, ir.Attribute) and isinstance(n.value, ir.Name) and n.value.id == receiver
        ]
        for node in sorted(read, key=lambda node: node.start):
            method = find_in_class(cls, node.attr)
            called = opened(method[1]).function if method is not None else None
            if method is None:
                found.append(node.attr)
            elif isinstance(called, FunctionValue) and id(called.fn) not in seen:
                seen.add(id(called.fn))
                todo.append(called.fn)
    return found


def _is_model(m: Machine, value: Value | None, depth: int = 3) -> bool:
    """A layer of Equinox, or an object that is a pytree with arrays or layers in it."""
    if isinstance(value, ExternalInstance):
        fact = m.program.knowledge.class_(value.cls)
        return fact is not None and fact.pytree and value.cls.startswith("equinox.")
    if not isinstance(value, Instance) or "pytree" not in value.cls.traits or depth == 0:
        return False
    made = generic_instance(m, value.cls)
    parts = made.slots.values() if isinstance(made, Instance) else ()
    return carries_arrays(m, value.cls) or any(_is_model(m, part, depth - 1) for part in parts)


def _is_receiver(name: str) -> bool:
    """A first parameter that stands for the object, by its name: a function that is only called through its class
    (``Layer.apply(weight, x)``) has another one."""
    return name.strip("_") in ("self", "this", "cls", "")
