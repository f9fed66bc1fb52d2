"""JAX306: ``jax.random.PRNGKey`` becomes ``jax.random.key``. Limitations: code that indexes the raw key's words."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import TYPED_KEY, unsafe
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource, Refused, fixer
from flake8_jax.semantics.events.events import NameUse

_OLD = "jax.random.PRNGKey"
_MESSAGE = "Use `jax.random.key`"


@fixer("legacy-prng-key")
def fix(event: NameUse, source: FixSource) -> Fix | None:
    node = event.at
    if isinstance(node, ir.Attribute) and node.attr == "PRNGKey":
        edit = Edit(node.attr_start, node.attr_start + len(node.attr), "key")
        return unsafe(_MESSAGE, TYPED_KEY, (edit,))
    if isinstance(node, ir.Name):
        return _imported(source, node.id)
    return None


def _imported(source: FixSource, name: str) -> Fix:
    """``from jax.random import PRNGKey``: every use of the name at once, and the import.

    The name ``key`` is not imported in its place: variables are called that.
    """
    edits: dict[Edit, None] = {}
    for node in walk(source.module):
        if isinstance(node, ir.Name) and node.id == name:
            imports = Imports(source, node)
            if imports.resolve(node) != _OLD:
                raise Refused
            edits[Edit(node.start, node.end, imports.spell("jax.random.key"))] = None
            edits.update(dict.fromkeys(imports.edits))
    for statement in source.module.body:
        if isinstance(statement, ir.ImportFrom) and statement.module == "jax.random":
            for at, imported in enumerate(statement.names):
                if imported.name == "PRNGKey" and (imported.alias or imported.name) == name:
                    edits[_without(source, statement, at)] = None
    return unsafe(_MESSAGE, TYPED_KEY, sorted(edits))


def _without(source: FixSource, statement: ir.ImportFrom, at: int) -> Edit:
    """Take one name out of a ``from`` import."""
    names = statement.names
    if source.comments(statement.start, statement.end):
        raise Refused
    if len(names) == 1:
        return source.delete_statement(statement)
    if at + 1 < len(names):
        return Edit(names[at].start, names[at + 1].start, "")
    return Edit(names[at - 1].end, names[at].end, "")
