"""Checks of what the program gives to transforms, made when all entries have run and every rule is set.

Vocabulary
----------
root            the call or decorator that stages a function.
derivative rule a function that the program sets for a ``custom_vjp`` or ``custom_jvp`` function.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.analysis.entries import run_guarded
from flake8_jax.semantics.analysis.receivers import carries_arrays
from flake8_jax.semantics.domain.classes import find_in_class, is_stub
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.signatures import opened, static_parameters
from flake8_jax.semantics.domain.values import (
    ClassValue,
    DictValue,
    ExternalInstance,
    FunctionValue,
    Instance,
    ListValue,
    TransformedValue,
    TupleValue,
    Value,
    known_elements,
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
    model = next((name for name in _attributes_called(owner, fn) if _is_model(m, held.get(name))), "")
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


def _attributes_called(cls: ClassValue, fn: ir.Function) -> list[str]:
    """The attributes of ``self`` that a method calls, or maps, by itself or by way of other methods of the object, in order."""
    found: list[str] = []
    todo, seen = [fn], {id(fn)}
    for one in todo:
        receiver = one.params[0].name if one.params else ""
        calls = [part for statement in one.body for part in walk(statement) if isinstance(part, ir.Call)]
        for call in sorted(calls, key=lambda call: call.start):
            mapped = call.args[0].value if call.args and last_name(call.func) in _MAPPING else None
            for node in (call.func, mapped):
                name = _attribute_behind(node, receiver)
                method = find_in_class(cls, name) if name else None
                called = opened(method[1]).function if method is not None else None
                if name and method is None:
                    found.append(name)
                elif isinstance(called, FunctionValue) and id(called.fn) not in seen:
                    seen.add(id(called.fn))
                    todo.append(called.fn)
    return found


_MAPPING = frozenset(
    {"vmap", "filter_vmap", "pmap", "filter_pmap", "checkpoint", "filter_checkpoint", "remat", "partial"}
)
"""The last names of functions whose result calls their first argument."""


def _attribute_behind(node: ir.Expr | None, receiver: str) -> str:
    """``model`` of ``self.model``, ``self.model.decoder`` and ``self.model["q"]``; empty for anything else."""
    while isinstance(node, (ir.Attribute, ir.Subscript)):
        if isinstance(node, ir.Attribute) and isinstance(node.value, ir.Name) and node.value.id == receiver:
            return node.attr
        node = node.value
    return ""


_WITH_ARRAYS = re.compile(r"equinox\.nn\.(?:Linear|Conv\w*|MLP|\w+Norm|Embedding|\w+Cell|MultiheadAttention|PReLU)")
"""Layers of Equinox that have parameters, whatever their options."""


def _is_model(m: Machine, value: Value | None, depth: int = 4) -> bool:
    """A layer of Equinox with parameters, or an object that is a pytree with arrays or such layers in it."""
    if isinstance(value, ExternalInstance):
        return _WITH_ARRAYS.fullmatch(value.cls) is not None
    parts = known_elements(value) if isinstance(value, (ListValue, TupleValue)) else None
    if isinstance(value, DictValue):
        parts = tuple(part for _, part in value.items())
    if isinstance(value, Instance) and "pytree" in value.cls.traits and depth > 0:
        if carries_arrays(m, value.cls):
            return True
        made = generic_instance(m, value.cls)
        parts = tuple(made.slots.values()) if isinstance(made, Instance) else ()
    return depth > 0 and any(_is_model(m, part, depth - 1) for part in parts or ())


def _is_receiver(name: str) -> bool:
    """A first parameter that stands for the object, by its name: a function that is only called through its class
    (``Layer.apply(weight, x)``) has another one."""
    return name.strip("_") in ("self", "this", "cls", "")
