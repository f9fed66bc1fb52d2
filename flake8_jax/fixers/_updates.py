"""Statements that update one place: a variable, an attribute or an item that is bound to a new value."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.fixers._expressions import Effect, effect
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._keys import is_local
from flake8_jax.fixers._source import FixSource, Refused


def rebindable(source: FixSource, node: ir.Expr) -> str:
    """The text of an expression that can stand on both sides of ``=``: a local name, or an attribute or item of
    something that is looked up without effect.

    Raises:
        Refused: it cannot, or assigning would bind another variable.
    """
    root = node
    while isinstance(root, (ir.Attribute, ir.Subscript)):
        root = root.value
    if not isinstance(root, ir.Name) or (root is node and not is_local(source, node, root.id)):
        raise Refused
    if effect(node, Imports(source, node)) is not Effect.PURE or source.breaks_outside_brackets(node):
        raise Refused
    return source.slice(node)
