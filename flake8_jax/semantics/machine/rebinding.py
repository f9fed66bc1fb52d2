"""Names of modules and classes that code gives another value from outside: their first value is not their only one.

Vocabulary
----------
owner       the last component of the name of a module, or the name of a class.
anywhere    names that are set on an object that the text does not name: ``setattr(sys.modules[m], "backend", b)``.

Limitations: names that are computed, except for those of the module's own ``globals()``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import (
    Array,
    ClassValue,
    Const,
    DictValue,
    ExternalInstance,
    FunctionValue,
    HostArray,
    Instance,
    ListValue,
    Static,
    TupleValue,
    UnionValue,
    Value,
)

_MAY_SET_NAMES = re.compile(
    r"setattr|\bpatch\b|globals\(\)|\b__dict__|\bvars\(|\b__class__\.|\btype\(self\)\."
    r"|(?m:^[ \t]*(?!self\.)\w+(?:\.\w+)+[ \t]*(?::[^=\n]*)?[-+*/|&]?=[^=])"
)
"""What a text contains that sets names from outside; others are not searched."""
_DATA = frozenset(
    [Array, Const, DictValue, ExternalInstance, HostArray, Instance, ListValue, Static, TupleValue, UnionValue]
)
ALL = "*"


class Rebindings(msgspec.Struct, frozen=True):
    """What is set from outside. owned: names by owner. patched: those that ``setattr`` gives an owner that the text names,
    other than in tests."""

    anywhere: frozenset[str]
    owned: dict[str, set[str]]
    patched: frozenset[tuple[str, str]]

    def replaces(self, owner: ModuleScope | ClassValue, name: str, value: Value) -> bool:
        """The variable of a module or class may hold something else than this. A function stays the one that the code is
        written for, unless it is patched."""
        if type(value) is not FunctionValue and type(value) not in _DATA:
            return False
        if self.patched and self.patched & {(_name_of(owner), name), (_name_of(owner), ALL)}:
            return True
        if type(value) is FunctionValue:
            return False
        if name in self.anywhere or not self.owned:
            return name in self.anywhere
        named = self.owned.get(_name_of(owner), ())
        return name in named or ALL in named

    def sets_in_library(self, name: str) -> bool:
        """Some part of a dotted name is set in what stands before it: ``mock.patch.object(ocp, "PyTreeCheckpointer")``."""
        parts = name.split(".")
        return any(part in self.anywhere or part in self.owned.get(owner, ()) for owner, part in pairwise(parts))


def _name_of(owner: ModuleScope | ClassValue) -> str:
    return owner.node.name if isinstance(owner, ClassValue) else own_name(owner)


def rebindings(scopes: Iterable[ModuleScope]) -> Rebindings:
    """All names that some file of the project sets from outside."""
    anywhere: set[str] = set()
    owned: dict[str, set[str]] = {}
    patched: set[tuple[str, str]] = set()
    for scope in scopes:
        if _MAY_SET_NAMES.search(scope.text):
            nodes = list(walk(scope.tree))
            owners = _owners(nodes)
            for owner, name in _set_in(nodes, owners, own_name(scope)):
                if owner:
                    owned.setdefault(owner, set()).add(name)
                else:
                    anywhere.add(name)
            if not scope.is_test:
                patched.update(_patched_in(nodes, owners))
    return Rebindings(frozenset(anywhere), owned, frozenset(patched))


def own_name(scope: ModuleScope) -> str:
    """The module as an owner."""
    return scope.name.rpartition(".")[2]


def _set_in(nodes: list[Any], owners: dict[str, str], own: str) -> Iterator[tuple[str, str]]:
    """The owner, "" if the text names none, with each name that a file sets from outside."""
    for node in nodes:
        if isinstance(node, ir.Call):
            yield from _set_by_call(node, own)
        elif isinstance(node, (ir.Assign, ir.AugAssign, ir.AnnAssign)):
            for target in node.targets if isinstance(node, ir.Assign) else [node.target]:
                yield from _set_by_assignment(target, owners, own)


def _patched_in(nodes: list[Any], owners: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The module or class, and the name, of ``setattr(ops, "relu", …)``; a name that is no string may be any."""
    for node in nodes:
        if (
            isinstance(node, ir.Call)
            and isinstance(node.func, ir.Name)
            and node.func.id == "setattr"
            and len(node.args) > 1
        ):
            receiver, name = node.args[0].value, _text(node.args[1].value)
            if isinstance(receiver, ir.Name) and receiver.id in owners:
                yield owners[receiver.id], name or ALL


def _owners(nodes: list[Any]) -> dict[str, str]:
    """Names that stand for a module or a class in a file, with the owner."""
    found: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ir.Import):
            found.update({i.alias or i.name.partition(".")[0]: i.name.rpartition(".")[2] for i in node.names})
        elif isinstance(node, ir.ImportFrom):
            found.update({i.alias or i.name: i.name for i in node.names})
        elif isinstance(node, ir.ClassDef):
            found[node.name] = node.name
    return found


def _set_by_call(node: ir.Call, own: str) -> Iterator[tuple[str, str]]:
    func = node.func.attr if isinstance(node.func, ir.Attribute) else getattr(node.func, "id", "")
    texts = [_text(argument.value) for argument in node.args[:2]]
    if func in ("setattr", "delattr", "object", "patch") and texts:
        receiver = node.args[0].value
        if "." in texts[0]:  # ``monkeypatch.setattr("package.module.name", …)``
            owner, _, name = texts[0].rpartition(".")
            yield owner.rpartition(".")[2], name
        elif len(texts) > 1 and texts[1] and not _is_self(receiver):
            yield "", texts[1]
        elif len(texts) > 1 and not texts[1] and func == "setattr" and _is_own_module(receiver):
            yield own, ALL
    elif func == "update" and isinstance(node.func, ir.Attribute) and _namespace_of(node.func.value) is not None:
        named = [argument.keyword for argument in node.args if argument.keyword]
        yield from [(own, name) for name in named] if len(named) == len(node.args) else [(own, ALL)]


def _set_by_assignment(target: ir.Expr, owners: dict[str, str], own: str) -> Iterator[tuple[str, str]]:
    if isinstance(target, ir.Subscript):
        space = _namespace_of(target.value)
        if space is not None:
            name = _text(target.index)
            yield (own if space == "globals" else "", name) if name else (own, ALL)
    elif isinstance(target, ir.Attribute):
        value = target.value
        if isinstance(value, ir.Name) and value.id == "cls":
            yield "", target.attr
        elif isinstance(value, ir.Name) and value.id in owners:
            yield owners[value.id], target.attr
        elif isinstance(value, ir.Attribute) and _root(value) in owners:
            yield value.attr, target.attr
        elif _is_class_of_self(value):
            yield "", target.attr


def _namespace_of(node: ir.Expr) -> str | None:
    """``globals()``, ``vars(module)``, ``module.__dict__``: which of them."""
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Name):
        of_self = bool(node.args) and _is_self(node.args[0].value)
        return node.func.id if node.func.id in ("globals", "vars") and not of_self else None
    return "vars" if isinstance(node, ir.Attribute) and node.attr == "__dict__" and not _is_self(node.value) else None


def _is_own_module(node: ir.Expr) -> bool:
    """``sys.modules[__name__]``."""
    return isinstance(node, ir.Subscript) and isinstance(node.index, ir.Name) and node.index.id == "__name__"


def _is_class_of_self(node: ir.Expr) -> bool:
    """``type(self)``, ``self.__class__``."""
    if isinstance(node, ir.Call):
        return isinstance(node.func, ir.Name) and node.func.id == "type" and len(node.args) == 1
    return isinstance(node, ir.Attribute) and node.attr == "__class__"


def _is_self(node: ir.Expr) -> bool:
    return isinstance(node, ir.Name) and node.id == "self"


def _root(node: Any) -> str:
    while isinstance(node, ir.Attribute):
        node = node.value
    return node.id if isinstance(node, ir.Name) else ""


def _text(node: ir.Expr) -> str:
    return node.value if isinstance(node, ir.Constant) and isinstance(node.value, str) else ""
