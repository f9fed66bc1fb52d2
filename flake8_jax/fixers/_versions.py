"""One name in place of another: where it is read, where it is imported, and the module of an import.

Where a replacement takes other arguments than the old name, or means something else by them, the calls of the old name decide
(``_SAME_CALLS``): the fix is safe if every one of them is known and takes only what both understand.

Limitations: imports inside ``try`` or ``if`` (nothing is reported there).
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import (
    LACKED_BEFORE,
    NEW_MODULE,
    NO_MESH,
    REPLACED_IN_TESTS,
    SETS_MESH,
    Announced,
    decided,
    unsafe,
)
from flake8_jax.fixers._callers import names as names_of
from flake8_jax.fixers._callers import scope_of
from flake8_jax.fixers._conditions import every_release_has, is_patched
from flake8_jax.fixers._imports import Imports, add_import
from flake8_jax.fixers._names import identifiers
from flake8_jax.fixers._newest import lacks, said_of, shown_older, spells, stays_broken
from flake8_jax.fixers._old_names import is_private, last_uses, renamed_remarks, without_name
from flake8_jax.fixers._source import Declined, FixSource, Refused
from flake8_jax.fixers.unneeded_imports import needed_names
from flake8_jax.knowledge import load
from flake8_jax.knowledge.history import Change, load_histories
from flake8_jax.semantics.events.events import ApiUse

_SPEAKING = (
    "jit",
    "vmap",
    "grad",
    "shard_map",
    "make_mesh",
    "set_mesh",
    "Array",
    "Device",
    *(f"tree_{name}" for name in ("all", "flatten", "leaves", "map", "reduce", "structure", "transpose", "unflatten")),
)
"""Names of ``jax`` that need no other name in a file."""
_OF_PJIT = ("fun", "in_axis_resources", "out_axis_resources")
"""Options that ``jax.jit`` does not have."""
_UNUSED = "Remove the unused import"
_STAYS = "no automatic fix, because this file is for older releases: {}; first update that line"
_MOVED_WHOLE = frozenset({"jax.experimental.optimizers", "jax.experimental.stax"})
"""Modules that moved with all that is in them."""


def replaced(event: ApiUse, source: FixSource) -> Fix | None:
    """Write the replacement that the table names, where every supported release has it."""
    change = event.change
    history = load_histories().of(event.name)
    if change is None or history is None:
        return None
    if not change.rename:
        is_alone = stays_broken(source, event.name, change.removed) is None
        unused = _unused_import(event, source) if is_alone else ()
        return Fix(_UNUSED, "safe", unused) if unused else None
    broken = stays_broken(source, event.name, change.removed or change.deprecated)
    if broken is not None:
        raise Declined(_STAYS.format(said_of(broken)))
    name = history.replacement(change, event.support)
    if name is None or (change.positional and not _called_by_position(event, source)):
        return None
    plain = _by_position(event, source, change)
    if plain is not None:
        return plain
    name = _for_the_file(event, source, change, name)
    if event.keyword is not None:
        return _keyword(event, event.keyword, name)
    if _is_spelled_out(event, source):
        return None
    fix = renamed(event, source, name)
    last = event.name.rpartition(".")[2]
    if fix is None:
        return None
    if is_patched(source, last):
        return decided(fix, safe=False, otherwise=REPLACED_IN_TESTS)
    if not every_release_has(event, change):
        return decided(fix, safe=False, otherwise=LACKED_BEFORE)
    judge = _SAME_CALLS.get(event.name)
    if judge is None:
        return fix
    certain, otherwise = judge
    return decided(fix, safe=all(certain(source, use) for use in _uses(event, source)), otherwise=otherwise)


def _for_the_file(event: ApiUse, source: FixSource, change: Change, name: str) -> str:
    """The replacement as the file can spell it: a project that does not say which releases it supports may be for those before
    the replacement, as other names in the file show.

    Raises:
        Declined: these releases have no name for it that newer ones have, too.
    """
    history = load_histories().of(event.name)
    if event.support.text or event.support.lowest is not None or not change.since or history is None:
        return name
    older = history.older(name)
    if older is not None:
        if spells(source, older.rpartition(".")[0], name.rpartition(".")[0]):
            return older
        return older if lacks(source, event.name, name, change.since) else name
    shown = shown_older(source, event.name, name, change.since, after_fixes=True)
    if shown is not None:
        raise Declined(_STAYS.format(said_of(shown)))
    return name


def _is_spelled_out(event: ApiUse, source: FixSource) -> bool:
    """``("jax.core.Jaxpr", lambda: jax.core.Jaxpr)``: the code asks for the old name itself."""
    if not isinstance(event.at, ir.Attribute):
        return False
    statement = source.statement(event.at)
    for above in source.between(event.at, statement):
        if isinstance(above, (ir.Tuple, ir.List, ir.Dict, ir.Call)):
            texts = (node.value for node in walk(above) if isinstance(node, ir.Constant) and node.kind == "str")
            return event.name in texts
    return False


def renamed(event: ApiUse, source: FixSource, name: str, announced: Announced | None = None) -> Fix | None:
    """Write ``name`` in place of the name that was met. announced: what that may change, None for nothing."""
    at = event.at
    if isinstance(at, ir.Attribute):
        edits = _read(source, at, name)
    elif isinstance(at, ir.ImportFrom):
        edits = (_module(source, at, event.name, name),)
        known = load_histories().of(event.name)
        moved = [known.change(f"{event.name}.{imported.name}") if known else None for imported in at.names]
        if event.name not in _MOVED_WHOLE and not all(
            c is not None and c.replacement.startswith(name + ".") for c in moved
        ):
            announced = NEW_MODULE
    else:
        name = _name_for_import(event.name, name)
        unused = _unused_import(event, source)
        if unused:
            return Fix(_UNUSED, "safe", unused)
        edits, announced = _imported(event, source, name, announced)
    fix = Fix(f"Use `{name}`", "safe", tuple(sorted(edits)))
    return fix if announced is None else unsafe(fix.message, announced, fix.edits)


def _name_for_import(old: str, name: str) -> str:
    """``tree_map`` for ``jax.tree.map``, if a file imports the old name by itself: ``map`` alone would hide Python's own."""
    module, _, last = name.rpartition(".")
    if module == "jax.tree" and old.rpartition(".")[2].startswith("tree_"):
        return f"jax.tree_util.tree_{last}"
    return name


def _unused_import(event: ApiUse, source: FixSource) -> tuple[Edit, ...]:
    """Take away the old name where the file imports it and nothing uses it; empty where something may."""
    for statement in walk(source.module):
        if isinstance(statement, ir.ImportFrom) and statement.start <= event.start < statement.end:
            at = next((i for i, imported in enumerate(statement.names) if imported.start == event.start), None)
            if at is None:
                return ()
            local = statement.names[at].alias or statement.names[at].name
            is_alone = len(statement.names) == 1
            commented = source.comments(statement.start, source.line_end(statement.end))
            if commented or not is_private(source, statement, local) or local in needed_names(source.module, {local}):
                return ()
            if is_alone and len(source.place(statement).block) == 1:
                return ()
            return (without_name(source, statement, at),)
    return ()


def _called_by_position(event: ApiUse, source: FixSource) -> bool:
    """The name is called on the spot, without keywords."""
    calls = [node for node in walk(source.module) if isinstance(node, ir.Call) and node.func is event.at]
    return bool(calls) and not any(a.keyword is not None or a.star for call in calls for a in call.args)


def _keyword(event: ApiUse, argument: ir.Argument, name: str) -> Fix | None:
    if not isinstance(event.at, ir.Call) or any(a.keyword == name or a.star for a in event.at.args):
        return None
    renamed_ones = {argument.start: (argument, name), **_renamed_beside(event, event.at)}
    edits = [Edit(one.start, one.start + len(one.keyword or ""), new) for one, new in renamed_ones.values()]
    used = " and ".join(f"`{edit.content}`" for edit in sorted(edits))
    return Fix(f"Use {used}", "safe", tuple(sorted(edits)))


def _by_position(event: ApiUse, source: FixSource, change: Change) -> Fix | None:
    """``clip(x, a_min=0)`` becomes ``clip(x, 0)`` where the project says nothing of its releases, and names of the file show
    that it runs on those without ``min``; None elsewhere, and where the arguments stand in another order."""
    call, bounds = event.at, ("a_min", "a_max")
    if not isinstance(call, ir.Call) or event.name.partition("(")[0] != "jax.numpy.clip" or not change.since:
        return None
    if event.support.text or not lacks(source, event.name, change.replacement, change.since):
        return None
    first, *others = call.args
    keywords = [argument.keyword for argument in others]
    if first.keyword or first.star or not keywords or keywords != [name for name in bounds if name in keywords]:
        return None
    edits = [Edit(argument.start, argument.value.start, "") for argument in others]
    if keywords == ["a_max"]:
        edits = [Edit(others[0].start, others[0].value.start, "None, ")]
    if source.comments(call.start, call.end):
        return None
    return Fix("Pass the bounds by position", "safe", tuple(edits))


def _renamed_beside(event: ApiUse, call: ir.Call) -> dict[int, tuple[ir.Argument, str]]:
    """Further keywords of a call that the same release renamed, by where they start: ``a_max`` beside ``a_min``."""
    history, callee, found = load_histories().of(event.name), event.name.partition("(")[0], {}
    for argument in call.args:
        change = history.change(f"{callee}({argument.keyword}=)") if history is not None and argument.keyword else None
        if change is not None and event.change is not None and change.rename:
            alike = (change.since, change.removed) == (event.change.since, event.change.removed)
            if alike and not any(other.keyword == change.replacement for other in call.args):
                found[argument.start] = argument, change.replacement
    return found


def _read(source: FixSource, node: ir.Attribute, name: str) -> tuple[Edit, ...]:
    imports = Imports(source, node)
    spelled = imports.spell(name)
    others, removal = last_uses(source, node, spelled)
    if any(source.comments(one.start, one.end) for one in (node, *others)):
        raise Refused
    added = list(imports.edits)
    module = load_histories().module_of(name + "." if load_histories().is_module(name) else name)
    if module is not None and not module[1] and spelled == name and not _is_imported(source, module[0]):
        # It binds the name of the library as well.
        added = [add_import(source, f"import {module[0]}", node.start)]
    edits = [Edit(one.start, one.end, spelled) for one in (node, *others)]
    remarks = renamed_remarks(source, node, spelled)
    return tuple(dict.fromkeys([*edits, *added, *removal, *remarks]))


def _is_imported(source: FixSource, module: str) -> bool:
    return any(
        isinstance(statement, ir.Import) and any(n.name == module and not n.alias for n in statement.names)
        for statement in source.module.body
    )


def _imported(
    event: ApiUse, source: FixSource, name: str, announced: Announced | None
) -> tuple[tuple[Edit, ...], Announced | None]:
    for statement in walk(source.module):
        if isinstance(statement, ir.ImportFrom) and statement.start <= event.start < statement.end:
            return _from_import(source, statement, event.start, name), announced
        if isinstance(statement, ir.Import) and statement.start <= event.start < statement.end:
            imported = next(n for n in statement.names if n.start == event.start)
            if imported.alias is None:
                raise Refused  # it is spelled in full wherever it is used
            end = imported.start + len(event.name)
            if source.text[imported.start : end] != event.name:
                raise Refused
            return (Edit(imported.start, end, name),), NEW_MODULE
    raise Refused


def _from_import(source: FixSource, statement: ir.ImportFrom, start: int, name: str) -> tuple[Edit, ...]:
    """Import the name from where it is now, under the name that the file knows it by."""
    module, _, last = name.rpartition(".")
    at = next(i for i, imported in enumerate(statement.names) if imported.start == start)
    local = statement.names[at].alias or statement.names[at].name
    if not load_histories().is_module(module) or source.comments(statement.start, statement.end):
        raise Refused
    is_known = Imports(source, statement).means(last, name)
    renamed = _renamed_uses(source, statement, local, last, known=is_known) if local != last else ()
    if renamed and is_known:
        return (without_name(source, statement, at), *renamed)
    line = f"from {module} import {last}" + (f" as {local}" if local != last and not renamed else "")
    beside = _beside(source, statement, module, last) if "as" not in line.split() else None
    if beside is not None:
        return (without_name(source, statement, at), beside, *renamed)
    if len(statement.names) == 1:
        return (Edit(statement.start, statement.end, line), *renamed)
    if not source.starts_line(statement) or not source.ends_line(statement):
        raise Refused
    names = statement.names
    gap = (names[at].start, names[at + 1].start) if at + 1 < len(names) else (names[at - 1].end, names[at].end)
    below = source.newline + source.indentation(statement) + line
    end = source.line_end(statement.end)
    return Edit(*gap, ""), Edit(end, end, below), *renamed


def _beside(source: FixSource, statement: ir.ImportFrom, module: str, name: str) -> Edit | None:
    """Add a name to the line that imports from its module already; None if there is none, or no room, or the old import
    stands in a function or block: the new one stays there."""
    if not any(one is statement for one in source.module.body):
        return None
    for other in source.module.body:
        if not isinstance(other, ir.ImportFrom) or other.module != module or other.level or other is statement:
            continue
        between = [s for s in source.module.body if statement.start < s.start < other.start]
        if not all(isinstance(s, (ir.Import, ir.ImportFrom)) for s in between):
            return None  # the code in between may use the name
        names = [n.name for n in other.names]
        text = source.slice(other)
        if "*" in names or "\n" in text or "(" in text or source.comments(other.start, source.line_end(other.end)):
            return None
        width = source.line_end(other.end) - source.line_start(other.start) + len(name) + 2
        if source.style.single_imports or width > source.line_length or any(n.alias for n in other.names):
            return None
        following = next((n for n in other.names if n.name > name), None) if names == sorted(names) else None
        if following is None:
            return Edit(other.names[-1].end, other.names[-1].end, f", {name}")
        return Edit(following.start, following.start, f"{name}, ")
    return None


def _renamed_uses(
    source: FixSource, statement: ir.ImportFrom, local: str, name: str, *, known: bool
) -> tuple[Edit, ...]:
    """Edits that respell every use of an imported name: ``jit`` says more than ``pjit`` for what is ``jax.jit`` by then.
    known: the file has the new name for it already.

    None where the author chose the old name, where the new one says little (``map``) or means something else in the file,
    or where other files, strings or functions with names of their own may use the old one.
    """
    taken = identifiers(source.module) | set(dir(builtins)) | set(source.module.bound_names)
    if not known and (statement.module.partition(".")[0] != "jax" or name in taken or name not in _SPEAKING):
        return ()
    if any(n.alias == local for n in statement.names) or not is_private(source, statement, local):
        return ()
    uses = names_of(source, local)
    if any(scope_of(source, node) is not None for node in uses):
        return ()
    return tuple(Edit(node.start, node.end, name) for node in uses)


def _module(source: FixSource, statement: ir.ImportFrom, old: str, new: str) -> Edit:
    found = re.match(r"from\s+" + re.escape(old) + r"(?=[\s.])", source.slice(statement))
    if found is None:
        raise Refused
    end = statement.start + found.end()
    return Edit(end - len(old), end, new)


# --- calls that both names understand --------------------------------------------------------------


def _uses(event: ApiUse, source: FixSource) -> list[ir.Expr | None]:
    """The expressions that stand for the old name once it is renamed; None for those that are out of sight."""
    if isinstance(event.at, ir.Attribute):
        return [event.at]
    for statement in walk(source.module):
        if isinstance(statement, ir.ImportFrom) and statement.start <= event.start < statement.end:
            local = next(n.alias or n.name for n in statement.names if n.start == event.start)
            around = source.functions(statement)
            if not around and (source.program is None or source.program.imported_elsewhere(source, local)):
                return [None]
            return [
                node for node in names_of(source, local) if scope_of(source, node) is (around[0] if around else None)
            ]
    return [None]


def _is_jit_of_known_shardings(source: FixSource, use: ir.Expr | None) -> bool:
    """``pjit`` reads a ``PartitionSpec`` in the mesh of the context, which ``jax.jit`` does not, and takes its options by
    position. Without shardings, or with ``NamedSharding`` written out, they do the same.

    Raises:
        Refused: ``jax.jit`` surely does not take the call.
    """
    if use is None:
        return False
    above = source.parent(use)
    if isinstance(above, ir.FunctionDef) and any(use is decorator for decorator in above.decorators):
        return True
    call = source.parent(above) if isinstance(above, ir.Argument) else above
    if isinstance(call, ir.Call) and any(a.keyword in _OF_PJIT for a in call.args):
        raise Refused  # ``functools.partial(pjit, in_axis_resources=…)``
    if not isinstance(above, ir.Call) or above.func is not use:
        return False
    return _has_known_shardings(source, above)


def _has_known_shardings(source: FixSource, call: ir.Call) -> bool:
    """Whether ``jax.jit`` takes the arguments of a call, and its shardings name their meshes.

    Raises:
        Refused: it surely does not take them, or a sharding names no mesh.
    """
    if sum(not a.keyword for a in call.args) > 1 or any(a.keyword in _OF_PJIT for a in call.args):
        raise Refused
    if any(a.star for a in call.args):
        return False
    shardings = [a.value for a in call.args if a.keyword in ("in_shardings", "out_shardings")]
    known = [_names_mesh(source, node) for node in shardings]
    if any(names is False for names in known):
        raise Refused
    return all(known)


def _names_mesh(source: FixSource, node: ir.Expr) -> bool | None:
    """Whether all shardings in an expression name their mesh; None where that cannot be seen."""
    if isinstance(node, (ir.Tuple, ir.List)):
        found = [_names_mesh(source, element) for element in node.elts]
        return False if False in found else None if None in found else True
    if isinstance(node, ir.Constant):
        return node.kind == "none" or None
    if not isinstance(node, ir.Call):
        return None
    name = load().canonical(Imports(source, node).resolve(node.func) or "")
    return {"jax.sharding.NamedSharding": True, "jax.sharding.PartitionSpec": False}.get(name)


def _is_context(source: FixSource, use: ir.Expr | None) -> bool:
    """``use_mesh(…)`` in a ``with`` statement: ``set_mesh`` sets the mesh as soon as it is called."""
    above = source.parent(use) if use is not None else None
    return isinstance(above, ir.Call) and above.func is use and isinstance(source.parent(above), ir.WithItem)


_SAME_CALLS: dict[str, tuple[Callable[[FixSource, ir.Expr | None], bool], Announced]] = {
    "jax.experimental.pjit.pjit": (
        _is_jit_of_known_shardings,
        NO_MESH,
    ),
    "jax.sharding.use_mesh": (_is_context, SETS_MESH),
}
