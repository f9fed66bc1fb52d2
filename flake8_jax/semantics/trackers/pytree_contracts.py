"""What JAX passes to the functions that take a registered pytree apart and put it together again.

A pytree that crosses a staging boundary is flattened and made anew with tracers for children, so both functions see them,
whoever the caller is. Not so where a class has no children.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flake8_jax.semantics.domain.classes import find_in_class
from flake8_jax.semantics.domain.values import ClassValue, FunctionValue, StaticMethodValue, Value
from flake8_jax.semantics.trackers.derivative_contracts import contract
from flake8_jax.semantics.trackers.presumption import Presuming

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.arguments import Arguments
    from flake8_jax.semantics.machine.core import Machine

_FLATTENING = ("flatten_func", "flatten_with_keys", "flatten_with_keys_func")
_ORDER = ("nodetype", "flatten_func", "unflatten_func", "flatten_with_keys_func")
METHODS = ("tree_flatten", "tree_flatten_with_keys", "tree_unflatten")


def note_registration(m: Machine, args: Arguments) -> None:
    """``register_pytree_node(cls, flatten, unflatten)``: the object is an argument of one, the children of the other."""
    if m.trackers[Presuming].presumption is None:
        return
    given = {**dict(zip(_ORDER, args.values, strict=False)), **args.kwargs}
    owner = given.get("nodetype")
    if isinstance(owner, ClassValue) and owner.childless:
        return
    for name in _FLATTENING:
        if name in given:
            contract(m, given[name], (0, 1))
    if "unflatten_func" in given:
        contract(m, given["unflatten_func"], (1, 2))


def note_methods(m: Machine, cls: ClassValue) -> None:
    """``@register_pytree_node_class``: the same, by the names of the methods."""
    if m.trackers[Presuming].presumption is None or cls.childless:
        return
    for name in METHODS:
        found = find_in_class(cls, name)
        if found is not None:
            _note_method(m, found[1], name)


def _note_method(m: Machine, method: Value, name: str) -> None:
    leading = 0 if name == "tree_flatten" or name == "tree_flatten_with_keys" else 1
    if isinstance(method, StaticMethodValue):
        leading += method.to_class
        method = method.func
    if isinstance(method, FunctionValue):
        contract(m, method, (leading, leading + 1))
