"""The texts and numbers that options of a program have where its user gives none.

Vocabulary
----------
option     a name that a command line or a configuration sets: ``ckpt_dir`` of ``args.ckpt_dir``.
default    the text or number that the program writes for it: in ``add_argument("--ckpt_dir", default="ckpt")``, in a call of
           ``DEFINE_string``, in a field of a class, or in an assignment to an attribute (``config.ckpt_dir = "ckpt"``).

Limitations: options that a file of another format sets, and names that a parser changes (``dest``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.scopes import ModuleScope

_DEFINING = frozenset({"DEFINE_string", "DEFINE_string_list", "DEFINE_integer", "DEFINE"})


def option_name(node: Any) -> str:
    """The option that an attribute of an object, or an item of a dictionary, reads; empty for other expressions."""
    if isinstance(node, ir.Subscript) and isinstance(node.index, ir.Constant) and isinstance(node.index.value, str):
        return node.index.value
    return node.attr if isinstance(node, ir.Attribute) else ""


def default_of_option(name: str, scope: ModuleScope, scopes: Iterable[ModuleScope]) -> str:
    """The text that a module, or else the whole project, writes for an option. Empty if they write none, or several that
    differ, or if the project computes the option anywhere, as in ``args.folder = os.path.abspath(args.folder)``."""
    written = list(_written(name, scopes))
    if any(isinstance(node, ir.Assign) and _is_computed(value) for _, node, value in written):
        return ""
    texts = [
        (one, value.value)
        for one, _, value in written
        if isinstance(value, ir.Constant) and isinstance(value.value, str)
    ]
    found = {text for one, text in texts if one is scope} or {text for _, text in texts}
    return found.pop() if len(found) == 1 else ""


def least_of_option(name: str, scope: ModuleScope, scopes: Iterable[ModuleScope]) -> int:
    """The smallest int that a module, or else the whole project, writes for an option; 0 if they write none."""
    written = [
        (one, value.value)
        for one, _, value in _written(name, scopes)
        if isinstance(value, ir.Constant) and type(value.value) is int
    ]
    found = [number for one, number in written if one is scope] or [number for _, number in written]
    return min(found, default=0)


def _written(name: str, scopes: Iterable[ModuleScope]) -> Iterator[tuple[ModuleScope, Any, ir.Expr]]:
    """What the modules write for the option: the module, the call or the assignment, and the value."""
    spellings = (name, name.replace("_", "-"))  # options of a command line may have hyphens
    for scope in scopes:
        if scope.is_test or not any(spelling in scope.text for spelling in spellings):
            continue
        for node in (node for statement in scope.tree.body for node in walk(statement)):
            value = _default(node, name)
            if value is not None:
                yield scope, node, value


def _is_computed(value: ir.Expr) -> bool:
    return any(isinstance(part, ir.Call) for part in walk(value))


def _default(node: Any, name: str) -> Any:
    """What a statement or a call writes as the default of the option; None if it is about something else."""
    if isinstance(node, ir.AnnAssign):
        return node.value if last_name(node.target) == name else None
    if isinstance(node, ir.Assign):
        return node.value if any(isinstance(t, ir.Attribute) and t.attr == name for t in node.targets) else None
    return _defined(node, name) if isinstance(node, ir.Call) else None


def _defined(node: ir.Call, name: str) -> Any:
    called = last_name(node.func)
    texts = [a.value.value for a in node.args if a.keyword is None and isinstance(a.value, ir.Constant)]
    if called == "add_argument":
        known = [text.lstrip("-").replace("-", "_") for text in texts if isinstance(text, str)]
        return next((a.value for a in node.args if a.keyword == "default"), None) if name in known else None
    if called in _DEFINING and texts[:1] == [name]:
        given = [a for a in node.args if a.keyword in (None, "default")]
        return given[1].value if len(given) > 1 else None
    return None
