"""JAX601: ``jax.pmap(f)`` becomes ``jax.jit(jax.shard_map(jax.vmap(f), mesh=…, in_specs=…, out_specs=…))``.

``shard_map`` leaves the mapped axis, with length 1, in the part of an array that a device gets. ``vmap`` removes it for ``f``
and adds it to the results, so arguments and results keep the mapped axis, and no caller changes.

Limitations: see ``_pmaps``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import SHARD_MAP, unsafe
from flake8_jax.fixers._comments import comments_above
from flake8_jax.fixers._imports import Imports, add_import, joined
from flake8_jax.fixers._late_maps import Written, check_late, static_call, static_function
from flake8_jax.fixers._names import binder_before, identifiers, target_names
from flake8_jax.fixers._newest import first_gone
from flake8_jax.fixers._pmap_texts import kept_name, renamed, renamed_texts
from flake8_jax.fixers._pmaps import PMAP, Pmap, is_pmap, pmap_at
from flake8_jax.fixers._shared_mesh import Shared, shared_by
from flake8_jax.fixers._source import Comment, Declined, FixSource, Refused, fixer
from flake8_jax.knowledge.history import Support, load_histories, show
from flake8_jax.semantics.events.events import NameUse

_NEW, _OLD = "jax.shard_map", "jax.experimental.shard_map.shard_map"
_FIRST = (0, 4, 3)
"""The first release with ``jax.experimental.shard_map`` (JAX's changelog)."""
_ALIKE = (0, 8, 0)
"""The first release whose ``jax.pmap`` is made of ``jax.jit`` and ``jax.shard_map`` (JAX's changelog)."""
_OF_A_DEVICE = re.compile(r"\.(addressable_shards|addressable_data|global_shards|device_buffers?)\b|\b(PmapSharding)\b")
"""Attributes that give the part of a device, from which an older ``jax.pmap`` removes the mapped axis."""


@fixer("pmap")
def fix(event: NameUse, source: FixSource) -> Fix | None:
    if event.name != PMAP:
        return None
    site = pmap_at(source, event.at)
    library = _library(source, site)
    _check_others(source, event.at, library)
    if site.names:
        rewritten = _late(source, site, library)
    else:
        rewritten = _decorators(source, site, library) if site.operand is None else _call(source, site, library)
    edits = {*rewritten, *site.calls, *library.imports.edits, *renamed_texts(source, site)}
    what = ["Use `jax.jit` with `jax.shard_map`"]
    if name := kept_name(source, site):
        what.append(f"keep the name `{name}`")
    if site.donated is not None and "donate_argnums" in site.options:
        what.append("leave out the donations that `jax.pmap` ignores")
    return unsafe(", and ".join(what), SHARD_MAP, sorted(_joined(source, edits)))


def _check_others(source: FixSource, node: ir.Node, library: _Library) -> None:
    """No other map of the file stays, if a supported release is older than those in which both forms are one: there,
    ``pmap`` copies an array of the new function through the host."""
    lowest = library.support.lowest
    is_new = library.check == "check_vma" if lowest is None else lowest >= _ALIKE
    if is_new:
        return
    for other in walk(source.module):
        if other is node or not is_pmap(source, other):
            continue
        try:
            pmap_at(source, other)  # type: ignore[arg-type]
        except Refused:
            raise Declined(
                "no automatic fix, because another pmap of this file stays, and before JAX 0.8 pmap copies the arrays of the "
                "new code through the host; first rewrite that one"
            ) from None


def _joined(source: FixSource, edits: set[Edit]) -> list[Edit]:
    """Edits of which no two insert at one place: imports stand before functions, and comments behind these."""
    by_place: dict[tuple[int, int], list[str]] = {}
    for edit in sorted(edits, key=lambda edit: edit.content.lstrip().startswith("#")):
        by_place.setdefault((edit.start, edit.end), []).append(edit.content)
    found: list[Edit] = []
    for place, contents in by_place.items():
        imports = [text for text in contents if text.lstrip().startswith(("import ", "from "))]
        others = [text for text in contents if text not in imports]
        found.append(Edit(*place, "".join([joined(source, imports), *others]) if place[0] == place[1] else contents[0]))
    return found


# --- what the supported releases have --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Library:
    """How a file spells what the rewritten code needs. check: the option of ``shard_map`` that turns its types off."""

    imports: Imports
    support: Support
    shard_map: str
    check: str

    def spell(self, name: str) -> str:
        """The name, or the older one where a supported release lacks it."""
        return self.imports.spell(_available(self.support, name))


def _library(source: FixSource, site: Pmap) -> _Library:
    assert source.program is not None
    support = source.program.supports(source)["jax"]
    imports = Imports(source, site.replaced)
    _check_parts(source, support)
    if _has(support, _NEW) and not _is_for_older(source, support):
        return _Library(imports, support, imports.spell(_NEW), "check_vma")
    if support.lowest is not None and support.lowest < _FIRST:
        raise Declined(
            "no automatic fix, because the project allows JAX releases that lack shard_map; first require jax>=0.4.3"
        )
    return _Library(imports, support, _spell_old(source, imports, site.replaced.start), "check_rep")


def _check_parts(source: FixSource, support: Support) -> None:
    """Nothing near reads the part of a device, if a supported release is older than those where both maps give the same."""
    if support.lowest is not None and support.lowest >= _ALIKE:
        return
    found = _OF_A_DEVICE.search(source.text)
    if found is not None:
        raise Declined(
            f"no automatic fix, because `{found[1] or found[2]}` shows that the results of pmap have another layout "
            "before JAX 0.8; first require jax>=0.8"
        )


def _is_for_older(source: FixSource, support: Support) -> bool:
    """The project does not say which JAX it supports, and the file has names that the first release with ``jax.shard_map``
    lacks.

    Raises:
        Declined: no release has both these names and any ``shard_map``.
    """
    if support.text:
        return False
    gone, of_flax = first_gone(source, "jax"), first_gone(source, "flax")
    for version, name in (*([gone] if gone and gone[0] <= _FIRST else []), *([of_flax] if of_flax else [])):
        library = "JAX" if name.startswith("jax.") else "Flax"
        raise Declined(
            f"no automatic fix, because this file is for a JAX without shard_map: it uses `{name}`, which {library} "
            f"{show(version)} removed; first update the file"
        )
    first = load_histories().of(_NEW)
    since = first.first(_NEW) if first is not None else None
    return gone is not None and since is not None and gone[0] <= since


def _has(support: Support, name: str) -> bool:
    """Every supported release has the name, as far as these are known."""
    history = load_histories().of(name)
    return history is None or not history.is_newer(name, support)


def _available(support: Support, name: str) -> str:
    history = load_histories().of(name)
    if _has(support, name) or history is None:
        return name
    return history.older(name) or name


def _spell_old(source: FixSource, imports: Imports, before: int) -> str:
    """``shard_map`` of ``jax.experimental``, which ``import jax`` does not load. before: where the name is needed."""
    if imports.resolve(ir.Name(0, 0, "shard_map")) == _OLD:
        return "shard_map"
    if "shard_map" in identifiers(source.module):
        raise Declined("no automatic fix, because the file has another `shard_map`")
    imports.edits.append(add_import(source, "from jax.experimental.shard_map import shard_map", before))
    return "shard_map"


# --- the rewritten map -----------------------------------------------------------------------------


def _late(source: FixSource, site: Pmap, library: _Library) -> list[Edit]:
    """A function that maps another one, of the arguments that are not static, when it is traced."""
    mapped = [axis for at, axis in enumerate(site.axes or ()) if at not in site.static]
    others = replace(site, axes=tuple(mapped) if None in mapped else None)
    options = [*_static_options(site), *_jit_options(source, site)]
    vmap, mapping = library.spell("jax.vmap"), _mapping(source, others, library)
    written = Written(
        library.spell, library.spell("jax.jit"), options, library.shard_map, mapping, vmap, _in_axes(others)
    )
    check_late(source, site)
    if site.operand is not None:
        text = static_call(source, site, written)
        comment, above = _carried(source, site, [site.operand])
        if comment:
            raise Declined("no automatic fix, because a comment inside the call would be lost")
        return [Edit(site.replaced.start, site.replaced.end, text), *above]
    _, carried = _carried(source, site, [])
    return [*static_function(source, site, written), *carried]


def _static_options(site: Pmap) -> list[str]:
    """The numbers as ``jax.jit`` takes them."""
    if not site.static:
        return []
    return [f"static_argnums={site.static[0] if len(site.static) == 1 else _tuple([str(n) for n in site.static])}"]


def _call(source: FixSource, site: Pmap, library: _Library) -> list[Edit]:
    """``jax.jit(jax.shard_map(jax.vmap(f), …), …)``."""
    assert site.operand is not None
    function = _without_jit(source, site.operand)
    body = _written(library.spell("jax.vmap"), [_kept(source, function), *_in_axes(site)])
    shared = shared_by(source, site)
    if shared is not None and shared.call is not None:
        mapped = _written(shared.call, [body])
    else:
        mapped = _written(library.shard_map, [body, *_mapping(source, site, library, shared)])
    comment, above = _carried(source, site, [function])
    if shared is not None:
        above.append(_above(source, shared.above, _shared_lines(source, site, library, shared)))
    options = _jit_options(source, site)
    if not options and not comment and _is_jitted(source, site):
        return [Edit(site.replaced.start, site.replaced.end, mapped), *above]
    compiled = _written(library.spell("jax.jit"), [mapped, *options], comment + source.newline * bool(comment))
    return [Edit(site.replaced.start, site.replaced.end, compiled), *above]


def _is_jitted(source: FixSource, site: Pmap) -> bool:
    """``jax.jit(jax.pmap(f))``: the map is compiled as it stands."""
    call = source.parent(source.parent(site.replaced))
    if not isinstance(call, ir.Call) or len(call.args) != 1 or call.args[0].value is not site.replaced:
        return False
    return not call.args[0].keyword and Imports(source, call).resolve(call.func) == "jax.jit"


def _without_jit(source: FixSource, operand: ir.Expr) -> ir.Expr:
    """``f`` of ``jax.jit(f)``: the result is compiled once."""
    if not isinstance(operand, ir.Call) or len(operand.args) != 1 or operand.args[0].keyword or operand.args[0].star:
        return operand
    is_jit = Imports(source, operand).resolve(operand.func) == "jax.jit"
    return operand.args[0].value if is_jit else operand


def _written(function: str, arguments: list[str], comment: str = "") -> str:
    return f"{function}({'  ' * bool(comment)}{comment}{', '.join(arguments)})"


def _kept(source: FixSource, node: ir.Expr) -> str:
    """An expression of the file as an argument.

    Raises:
        Refused: it cannot stand there, or holds a string whose lines would move.
    """
    if source.has_multiline_string(node.start, node.end):
        raise Declined("no automatic fix, because a string over several lines is inside the call")
    return source.argument(node)


def _decorators(source: FixSource, site: Pmap, library: _Library) -> list[Edit]:
    """``@jax.jit``, ``@partial(jax.shard_map, …)`` and ``@jax.vmap``, each on a line of its own."""
    start = site.replaced.start
    before = source.text[source.line_start(start) : start]
    if before.strip() != "@" or not before.endswith("@"):
        raise Declined("no automatic fix, because the decorator does not start its line")
    indentation = before[:-1]
    partial = library.spell("functools.partial")
    jit = library.spell("jax.jit")
    vmap = library.spell("jax.vmap")
    options, axes = _jit_options(source, site), _in_axes(site)
    above, below = _neighbors(source, site)
    lines = [
        *([_written(partial, [jit, *options]) if options else jit] if options or above is None else []),
        _written(partial, [library.shard_map, *_mapping(source, site, library)]),
        _written(partial, [vmap, *axes]) if axes else vmap,
    ]
    _, carried = _carried(source, site, [])
    end = site.replaced.end if below is None else below.end
    return [Edit(start, end, f"{source.newline}{indentation}@".join(lines)), *carried]


def _neighbors(source: FixSource, site: Pmap) -> tuple[ir.Expr | None, ir.Expr | None]:
    """The decorators ``@jax.jit`` directly above and below the map, which compile what it compiles."""
    assert site.definition is not None
    decorators = site.definition.decorators
    at = next(n for n, decorator in enumerate(decorators) if decorator is site.replaced)
    jits = [
        d if Imports(source, d).resolve(d) == "jax.jit" and not isinstance(d, ir.Call) else None for d in decorators
    ]
    above = jits[at - 1] if at else None
    below = jits[at + 1] if at + 1 < len(jits) else None
    between = below is not None and source.comments(site.replaced.end, below.end)
    return above, None if between else below


def _carried(source: FixSource, site: Pmap, written: list[ir.Expr]) -> tuple[str, list[Edit]]:
    """The comment behind the first line of a call, or edits that put its comments above the statement, but for those of
    ``donate_argnums``.

    Raises:
        Declined: there is no line above it.
    """
    spans = [(node.start, node.end) for node in written]
    stays = site.options.get("donate_argnums") if site.donated != () else None
    of_options = _comments_of(source, stays) if stays is not None else []
    lost = [c for c in source.lost_comments(site.replaced.start, site.replaced.end, spans) if c not in of_options]
    if len(lost) == 1 and source.text[: lost[0].start].rstrip()[-1:] == "(" and written:
        return renamed(lost[0].text), []
    if not lost:
        return "", []
    at = site.replaced.start - 1 if not written else source.statement(site.replaced).start
    indentation = source.text[source.line_start(at) : at]
    if at == site.replaced.start or indentation.strip(" \t"):
        raise Declined("no automatic fix, because a comment inside the call would be lost")
    return "", [Edit(at, at, "".join(f"{renamed(comment.text)}{source.newline}{indentation}" for comment in lost))]


def _comments_of(source: FixSource, option: ir.Expr) -> list[Comment]:
    """The comments on the lines directly above an option, and behind it on its own line."""
    start, end = source.line_start(option.start), source.line_end(option.end)
    if source.text[start : option.start].split("=")[0].strip() != "donate_argnums":
        return []
    alone = not source.text[option.end : end].partition("#")[0].strip(" \t,")
    behind = source.comments(option.end, end) if alone else []
    column = start + len(source.text[start : option.start]) - len(source.text[start : option.start].lstrip())
    return [*source.comments(comments_above(source, column, next_to=True), start), *behind]


def _with_comments(source: FixSource, option: ir.Expr, text: str) -> str:
    """An option of the new call below the comments that it had."""
    comments = [comment.text for comment in _comments_of(source, option)]
    return "".join([source.newline, *(f"{c}{source.newline}" for c in comments), text]) if comments else text


def _in_axes(site: Pmap) -> list[str]:
    return [] if site.axes is None else [f"in_axes={_tuple([str(axis) for axis in site.axes])}"]


def _tuple(elements: list[str]) -> str:
    return f"({', '.join(elements)}{',' if len(elements) == 1 else ''})"


def _jit_options(source: FixSource, site: Pmap) -> list[str]:
    given = site.options.get("donate_argnums")
    if given is None or site.donated == () or (isinstance(given, (ir.Tuple, ir.List)) and not given.elts):
        return []
    numbers = _tuple([str(number) for number in site.donated]) if site.donated else _kept(source, given)
    return [_with_comments(source, given, f"donate_argnums={numbers}")]


def _mapping(source: FixSource, site: Pmap, library: _Library, shared: Shared | None = None) -> list[str]:
    """The options of ``shard_map``."""
    axis = _axis(source, site, shared)
    partition = library.spell("jax.sharding.PartitionSpec")
    spec = shared.spec if shared is not None and shared.spec is not None else f"{partition}({axis})"
    mesh = shared.mesh if shared is not None and shared.mesh is not None else _mesh(source, site, library, axis)
    whole = f"{partition}()"
    return [
        f"mesh={mesh}",
        f"in_specs={spec if site.axes is None else _tuple([whole if one is None else spec for one in site.axes])}",
        f"out_specs={spec}",
        f"{library.check}=False",
    ]


def _above(source: FixSource, statement: ir.Stmt, lines: list[str]) -> Edit:
    """Lines above a statement, outside of its own: they are laid out by themselves, and so are the same for all maps."""
    at, indent = source.line_start(statement.start), source.indentation(statement)
    return Edit(at, at, "".join(f"{indent}{line}{source.newline}" for line in lines))


def _shared_lines(source: FixSource, site: Pmap, library: _Library, shared: Shared) -> list[str]:
    """The statements that name what several maps share."""
    axis = _axis(source, site, shared)
    lines = [f"{shared.mesh} = {_mesh(source, site, library, axis)}"] if shared.mesh is not None else []
    if shared.spec is not None:
        lines.append(f"{shared.spec} = {library.spell('jax.sharding.PartitionSpec')}({axis})")
    if shared.call is not None:
        partial = _written(
            library.spell("functools.partial"), [library.shard_map, *_mapping(source, site, library, shared)]
        )
        lines.append(f"{shared.call} = {partial}")
    return lines


def _axis(source: FixSource, site: Pmap, shared: Shared | None) -> str:
    """The text of the name of the axis."""
    if shared is not None and shared.axis is not None:
        return shared.axis
    return _kept(source, site.options["axis_name"]) if "axis_name" in site.options else source.quoted("devices")


def _mesh(source: FixSource, site: Pmap, library: _Library, axis: str) -> str:
    return _written(library.spell("jax.sharding.Mesh"), [_devices(source, site, library), f"({axis},)"])


def _devices(source: FixSource, site: Pmap, library: _Library) -> str:
    given = site.options.get("devices")
    if given is not None:
        return _kept(source, given)
    backend = site.options.get("backend")
    text = f"{library.spell('jax.devices')}({source.argument(backend) if backend is not None else ''})"
    size = site.options.get("axis_size")
    if size is None:
        return text if site.length is None else f"{text}[:{_spelled_length(source, site, site.length)}]"
    gap = "" if isinstance(size, (ir.Name, ir.Constant)) else " "
    return f"{text}[:{gap}{source.argument(size)}]"


def _spelled_length(source: FixSource, site: Pmap, length: int) -> str:
    """A number of devices, by the name that the function around gave it: ``n_devices``."""
    statement = source.statement(site.replaced)
    around = source.functions(statement)
    for name in around[0].local_names if around else ():
        binder = binder_before(source, statement, name) if "dev" in name.lower() else None
        value = binder.value if isinstance(binder, ir.Assign) and target_names(binder.targets[0]) == [name] else None
        if isinstance(value, ir.Constant) and value.kind == "int" and value.value == length:
            return name
    return str(length)
