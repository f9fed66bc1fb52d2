"""One name in place of another: where it is read, where it is imported, and the module of an import.

Not modelled: replacements that take other arguments, imports inside ``try`` or ``if`` (nothing is reported there).
"""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.core.findings import Applicability, Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._imports import Imports, add_import
from flake8_jax.fixers._source import FixSource, Refused
from flake8_jax.knowledge.history import load_histories
from flake8_jax.semantics.events import ApiUse


def replaced(event: ApiUse, source: FixSource) -> Fix | None:
    """Write the replacement that the table names, where every supported release has it."""
    change = event.change
    history = load_histories().of(event.name)
    if change is None or history is None or not change.rename:
        return None
    name = history.replacement(change, event.support)
    if name is None or (change.positional and not _called_by_position(event, source)):
        return None
    return renamed(event, source, name, "safe") if event.keyword is None else _keyword(event, event.keyword, name)


def renamed(event: ApiUse, source: FixSource, name: str, applicability: Applicability) -> Fix | None:
    """Write ``name`` in place of the name that was met."""
    at = event.at
    if isinstance(at, ir.Attribute):
        edits = _read(source, at, name)
    elif isinstance(at, ir.ImportFrom):
        edits = (_module(source, at, event.name, name),)
        known = load_histories().of(event.name)
        moved = [known.change(f"{event.name}.{imported.name}") if known else None for imported in at.names]
        if not all(c is not None and c.replacement.startswith(name + ".") for c in moved):
            applicability = "unsafe"  # the new module may lack what is imported
    else:
        edits, applicability = _imported(event, source, name, applicability)
    return Fix(f"Use `{name}`", applicability, tuple(sorted(edits)))


def _called_by_position(event: ApiUse, source: FixSource) -> bool:
    """The name is called on the spot, without keywords."""
    calls = [node for node in walk(source.module) if isinstance(node, ir.Call) and node.func is event.at]
    return bool(calls) and not any(a.keyword is not None or a.star for call in calls for a in call.args)


def _keyword(event: ApiUse, argument: ir.Argument, name: str) -> Fix | None:
    if not isinstance(event.at, ir.Call) or any(a.keyword == name or a.star for a in event.at.args):
        return None
    end = argument.start + len(argument.keyword or "")
    return Fix(f"Use `{name}`", "safe", (Edit(argument.start, end, name),))


def _read(source: FixSource, node: ir.Attribute, name: str) -> tuple[Edit, ...]:
    if source.comments(node.start, node.end):
        raise Refused
    imports = Imports(source, node)
    spelled = imports.spell(name)
    edits = [Edit(node.start, node.end, spelled), *imports.edits]
    module = load_histories().module_of(name + "." if load_histories().is_module(name) else name)
    if module is not None and not module[1] and spelled == name and not _is_imported(source, module[0]):
        edits.append(add_import(source, f"import {module[0]}"))
    return tuple(dict.fromkeys(edits))


def _is_imported(source: FixSource, module: str) -> bool:
    return any(
        isinstance(statement, ir.Import) and any(n.name == module and not n.alias for n in statement.names)
        for statement in source.module.body
    )


def _imported(
    event: ApiUse, source: FixSource, name: str, applicability: Applicability
) -> tuple[tuple[Edit, ...], Applicability]:
    for statement in walk(source.module):
        if isinstance(statement, ir.ImportFrom) and statement.start <= event.start < statement.end:
            return _from_import(source, statement, event.start, name), applicability
        if isinstance(statement, ir.Import) and statement.start <= event.start < statement.end:
            imported = next(n for n in statement.names if n.start == event.start)
            if imported.alias is None:
                raise Refused  # it is spelled in full wherever it is used
            end = imported.start + len(event.name)
            if source.text[imported.start : end] != event.name:
                raise Refused
            return (Edit(imported.start, end, name),), "unsafe"
    raise Refused


def _from_import(source: FixSource, statement: ir.ImportFrom, start: int, name: str) -> tuple[Edit, ...]:
    """Import the name from where it is now, under the name that the file knows it by."""
    module, _, last = name.rpartition(".")
    at = next(i for i, imported in enumerate(statement.names) if imported.start == start)
    local = statement.names[at].alias or statement.names[at].name
    if not load_histories().is_module(module) or source.comments(statement.start, statement.end):
        raise Refused
    line = f"from {module} import {last}" + (f" as {local}" if local != last else "")
    if len(statement.names) == 1:
        return (Edit(statement.start, statement.end, line),)
    if not source.starts_line(statement) or not source.ends_line(statement):
        raise Refused
    names = statement.names
    gap = (names[at].start, names[at + 1].start) if at + 1 < len(names) else (names[at - 1].end, names[at].end)
    below = source.newline + source.indentation(statement) + line
    end = source.line_end(statement.end)
    return Edit(*gap, ""), Edit(end, end, below)


def _module(source: FixSource, statement: ir.ImportFrom, old: str, new: str) -> Edit:
    found = re.match(r"from\s+" + re.escape(old) + r"(?=[\s.])", source.slice(statement))
    if found is None:
        raise Refused
    end = statement.start + found.end()
    return Edit(end - len(old), end, new)
