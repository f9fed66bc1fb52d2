"""Layers that get one field of a module in the place of another one: ``nn.Conv(…, param_dtype=self.dtype)`` in a class that has
the field ``param_dtype`` and never reads it. The code alone shows that the fields are mixed up.

Vocabulary
----------
field   an annotated name in the body of a class, which the constructor of a module or data class sets.

Limitations: fields of base classes, and fields that the class reads elsewhere, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._units import library_name
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.events.context import Context
from flake8_jax.semantics.events.files import FileRead

_LAYERS = re.compile(r"(?:flax\.(?:linen|nnx)|equinox\.nn)\.")
_BY_NAME = re.compile(r"getattr\(self|vars\(self|__dict__|asdict|fields\(")
"""Code that may read a field by a name that it does not spell."""


def crossed_fields(event: FileRead) -> list[Report]:
    """The layers of a file that get the wrong field."""
    scope = event.context.scope
    if is_test(event.context) or not any(library in scope.text for library in ("flax", "equinox")):
        return []
    nodes = (node for statement in scope.tree.body for node in walk(statement))
    return [report for node in nodes if isinstance(node, ir.ClassDef) for report in _of_class(event.context, node)]


def _of_class(context: Context, cls: ir.ClassDef) -> Iterator[Report]:
    scope = context.scope
    fields = {one.target.id for one in cls.body if isinstance(one, ir.AnnAssign) and isinstance(one.target, ir.Name)}
    if not fields or not cls.bases or not all(_is_of_library(base, scope) for base in cls.bases):
        return
    parts = [part for statement in cls.body for part in walk(statement)]
    unread = fields - {part.attr for part in parts if isinstance(part, ir.Attribute)}
    if not unread or _BY_NAME.search(scope.text, cls.start, cls.end):
        return
    for call in parts:
        if isinstance(call, ir.Call) and _LAYERS.match(library_name(call.func, scope)):
            for argument in call.args:
                if argument.keyword in unread and _field(argument.value) in fields:
                    yield _report(context, cls, call, argument)


def _is_of_library(base: ir.Argument, scope: ModuleScope) -> bool:
    return base.keyword is not None or bool(library_name(base.value, scope))


def _field(node: ir.Expr) -> str:
    """``dtype`` of ``self.dtype``"""
    is_own = isinstance(node, ir.Attribute) and isinstance(node.value, ir.Name) and node.value.id == "self"
    return last_name(node) if is_own else ""


def _report(context: Context, cls: ir.ClassDef, call: ir.Call, argument: ir.Argument) -> Report:
    name, layer = argument.keyword, quote(context, call.func)
    problem = f"{quote(context, argument.value)} is passed as `{name}` of {layer}"
    unread = f"but `{cls.name}` never reads its field `{name}`"
    return Report(argument.value, f"{problem}, {unread}; pass `self.{name}`", preview=True)
