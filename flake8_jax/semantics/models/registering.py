"""Classes that code registers as pytrees, by a decorator or by a call.

Vocabulary
----------
options     ``data_fields`` and ``meta_fields`` of ``register_dataclass``: by name or by position.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import NONE, ClassValue, ExternalInstance, FunctionValue, UnionValue, Value
from flake8_jax.semantics.interpreter.classes import apply_class_decorator, read_flatten, track_leaves
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.tables import library
from flake8_jax.semantics.trackers.contracts import track_methods, track_registration


def register_class(m: Machine, name: str, args: Arguments) -> Value:
    """``register_dataclass(cls, data_fields, meta_fields)`` and other decorators of classes; without the class a
    decorator with options."""
    if not args.values or not isinstance(args.values[0], ClassValue):
        return ExternalInstance(name, dict(_options(args)))
    options = {**_options(args), **dict(zip(("data_fields", "meta_fields"), args.values[1:], strict=False))}
    apply_class_decorator(m, args.values[0], name, options)
    return args.values[0]


def _options(args: Arguments) -> dict[str, Value]:
    """What is given by name; where it is not known what else, the hash may be anything."""
    return args.kwargs if args.double_star is None else {**args.kwargs, "unsafe_hash": args.double_star}


@library("jax.tree_util.register_dataclass")
def _register_dataclass(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return register_class(m, "jax.tree_util.register_dataclass", args)


@library("jax.tree_util.register_static")
def _register_static(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    return register_class(m, "jax.tree_util.register_static", args)


@library(
    "jax.tree_util.register_pytree_node",
    "jax.tree_util.register_pytree_with_keys",
    "jax.tree_util.register_pytree_node_class",
    "jax.tree_util.register_pytree_with_keys_class",
)
def _register_node(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``register_pytree_node(cls, flatten, unflatten)``."""
    if args.values and isinstance(args.values[0], UnionValue):
        for member in args.values[0].members:
            _register_node(m, frame, node, Arguments([member, *args.values[1:]], args.kwargs))
        return NONE
    if not args.values or not isinstance(args.values[0], ClassValue):
        track_registration(m, args)
        if frame.fn is None and args.values and args.nodes:
            m.program.registered |= _methods_named(args.nodes[0], args.nodes[1:])
        return NONE
    cls = args.values[0]
    cls.traits.add("pytree")
    flatten = args.values[1] if len(args.values) > 1 else _named_flatten(args)
    if isinstance(flatten, FunctionValue):
        track_leaves(cls, flatten.fn.body)
    elif flatten is not None:
        cls.leaf_names = frozenset()
    if len(args.values) == 1 and not args.kwargs:
        read_flatten(cls)
        track_methods(m, cls)
    else:
        track_registration(m, args)
    return cls


def _named_flatten(args: Arguments) -> Value | None:
    """The flatten function, where it is given by keyword."""
    given = (args.kwargs.get(name) for name in ("flatten_func", "flatten_with_keys"))
    return next((value for value in given if value is not None), None)


def _methods_named(cls: ir.Expr | None, functions: list[ir.Expr | None]) -> set[str]:
    """``for cls in models: register_pytree_node(cls, cls.flatten, cls.unflatten)``: the methods by which classes that
    are not seen here are known; empty where any class may be meant."""
    if not isinstance(cls, ir.Name):
        return {""}
    named = {
        f.attr
        for f in functions
        if isinstance(f, ir.Attribute) and isinstance(f.value, ir.Name) and f.value.id == cls.id
    }
    return named or {""}
