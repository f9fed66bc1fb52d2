"""JAX601: ``jax.pmap(f)`` becomes ``jax.jit(jax.shard_map(per_device(f), mesh=…, in_specs=…, out_specs=…))``.

That is what JAX itself makes of ``pmap`` since 0.8: the compiled program is the same. Arguments and results keep the mapped
axis, so no caller changes. The fix adds a function ``per_device`` to the file: ``shard_map`` leaves the mapped axis, with
length 1, in the part of an array that a device gets, and ``pmap`` removes it.

A mesh asks JAX for its devices, and then no setting of the platform has an effect any more. ``pmap`` asks when it is called.
So a map that a file makes while it is imported becomes ``shard_map_at_call(…)``, another function that the fix adds. It also
keeps static arguments away from ``shard_map``.

Limitations: see ``_pmaps``.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import SHARD_MAP, unsafe
from flake8_jax.fixers._comments import comments_above
from flake8_jax.fixers._imports import Imports, add_import, joined
from flake8_jax.fixers._names import identifiers
from flake8_jax.fixers._pmaps import PMAP, Pmap, pmap_at, pmaps_of
from flake8_jax.fixers._source import Comment, Declined, FixSource, Refused, repair
from flake8_jax.knowledge.history import Support, load_histories
from flake8_jax.semantics.events.events import NameUse

_SCOPES = (ir.For, ir.While, ir.Comprehension, ir.ClassDef)
_KEPT_OPTIONS = ("static_broadcasted_argnums", "donate_argnums")
_NEW, _OLD = "jax.shard_map", "jax.experimental.shard_map.shard_map"


@repair("pmap")
def fix(event: NameUse, source: FixSource) -> Fix | None:
    if event.name != PMAP:
        return None
    site = pmap_at(source, event.at)
    together = pmaps_of(source)
    if not any(other.replaced is site.replaced for other in together):
        raise Refused  # ``pmap_at`` has declined it
    library = _library(source, site)
    helpers = _helpers(source, together, library)
    if site.operand is None:
        rewritten = _decorators(source, site, library, helpers)
    else:
        rewritten = _call(source, site, library, helpers)
    edits = {*rewritten, *site.calls, *library.imports.edits, *helpers.edits}
    return unsafe("Use `jax.jit` with `jax.shard_map`", SHARD_MAP, sorted(_joined(source, edits)))


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
    if _has(support, _NEW):
        return _Library(imports, support, imports.spell(_NEW), "check_vma")
    return _Library(imports, support, _spell_old(source, imports, site.replaced.start), "check_rep")


def _has(support: Support, name: str) -> bool:
    """Every supported release has the name, as far as these are known."""
    history = load_histories().of(name)
    lacking = history.lacking(name) if history is not None else None
    return lacking is None or support.lowest is None or support.lowest > lacking


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
        raise Declined("jaxlint does not rewrite it, because the file has another `shard_map`")
    imports.edits.append(add_import(source, "from jax.experimental.shard_map import shard_map", before))
    return "shard_map"


# --- the functions that the file needs -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Helpers:
    """The names of the functions, and what adds those that are not there yet."""

    per_device: str
    at_call: str
    edits: tuple[Edit, ...]


_PER_DEVICE = """\
def {name}(fun):
{doc:Make `fun` a body of shard_map: the mapped axis has length 1 there.}

{i}@{wraps}(fun)
{i}def run(*args):
{i}{i}slices = {map}(lambda x: {squeeze}(x, (0,)), args)
{i}{i}return {map}(lambda x: {expand_dims}(x, (0,)), fun(*slices))

{i}return run
"""
_PER_DEVICE_WITH_WHOLE = """\
def {name}(fun, whole=()):
{doc:Make `fun` a body of shard_map: the mapped axis has length 1 there.|Arguments at positions in `whole` have no mapped axis.}

{i}@{wraps}(fun)
{i}def run(*args):
{i}{i}slices = [x if n in whole else {map}(lambda y: {squeeze}(y, (0,)), x) for n, x in enumerate(args)]
{i}{i}return {map}(lambda x: {expand_dims}(x, (0,)), fun(*slices))

{i}return run
"""
_AT_CALL = """\
def {name}(fun, mesh, **options):
{doc:Apply shard_map when `fun` is called: importing this file asks for no devices.}

{i}@{wraps}(fun)
{i}def run(*args):
{i}{i}return {shard_map}(fun, mesh=mesh(), **options)(*args)

{i}return run
"""
_AT_CALL_WITH_STATIC = """\
def {name}(fun, mesh, static=(), **options):
{doc:Apply shard_map when `fun` is called.|Arguments at the positions `static` are no arrays.}

{i}@{wraps}(fun)
{i}def run(*args):
{i}{i}def on_arrays(*arrays):
{i}{i}{i}rest = iter(arrays)
{i}{i}{i}return fun(*[x if n in static else next(rest) for n, x in enumerate(args)])

{i}{i}arrays = [x for n, x in enumerate(args) if n not in static]
{i}{i}return {shard_map}(on_arrays, mesh=mesh(), **options)(*arrays)

{i}return run
"""


@dataclass(frozen=True, slots=True)
class _Docstring:
    """Writes a docstring within the project's lines: a summary, and what follows it behind ``|``. indent: of the body."""

    indent: str
    width: int

    def __format__(self, text: str) -> str:
        line = f'{self.indent}"""{text}"""'
        if "|" not in text and len(line) <= self.width:
            return line
        summary, *more = text.split("|")
        width = self.width - len(self.indent)
        rows = textwrap.wrap(summary, width, initial_indent='"""', break_long_words=False)
        for part in more:
            rows += ["", *textwrap.wrap(part, width, break_long_words=False)]
        return "".join(f"{self.indent}{row}".rstrip() + "\n" for row in rows) + f'{self.indent}"""'


def _helpers(source: FixSource, together: list[Pmap], library: _Library) -> _Helpers:
    """The functions that all rewritten maps of the file share, in front of the first of these."""
    place = _top_level(source, together[0].replaced)
    imports = Imports(source, place)
    words = {
        "i": source.indent_unit,
        "doc": _Docstring(source.indent_unit, source.line_length),
        "wraps": imports.spell("functools.wraps"),
        "shard_map": library.shard_map,
        **{
            word: imports.spell(_available(library.support, name))
            for word, name in (
                ("map", "jax.tree.map"), ("squeeze", "jax.lax.squeeze"), ("expand_dims", "jax.lax.expand_dims"),
            )
        },
    }  # fmt: skip
    whole = any(pmap.whole for pmap in together)
    first = (_PER_DEVICE_WITH_WHOLE,) if whole else (_PER_DEVICE, _PER_DEVICE_WITH_WHOLE)
    per_device, text = _defined(source, "per_device", first, words)
    at_call, more = "", ""
    if any(_needs_call(source, pmap) for pmap in together):
        static = any(pmap.static for pmap in together)
        second = (_AT_CALL_WITH_STATIC,) if static else (_AT_CALL, _AT_CALL_WITH_STATIC)
        at_call, more = _defined(source, "shard_map_at_call", second, words)
    added = [part for part in (text, more) if part]
    edits = [*imports.edits]
    if added:
        edits.append(_insertion(source, place, added))
    return _Helpers(per_device, at_call, tuple(edits))


def _needs_call(source: FixSource, site: Pmap) -> bool:
    """``shard_map`` may only be applied once the mapped function is called."""
    return bool(site.static) or _is_imported(source, site)


def _is_imported(source: FixSource, site: Pmap) -> bool:
    """The map is made, and not called, while the file is imported."""
    if source.functions(site.replaced) or any(_is_main(source, above) for above in source.ancestors(site.replaced)):
        return False
    above = source.parent(site.replaced)
    return not (isinstance(above, ir.Call) and above.func is site.replaced)


def _is_main(source: FixSource, node: object) -> bool:
    """``if __name__ == "__main__":``"""
    return (
        isinstance(node, ir.If)
        and re.fullmatch(r"__name__\s*==\s*['\"]__main__['\"]", source.slice(node.test)) is not None
    )


def _defined(
    source: FixSource, wanted: str, templates: tuple[str, ...], words: Mapping[str, object]
) -> tuple[str, str]:
    """The name of a function of the file that reads like one of the templates, or a new name and its text."""
    for statement in source.module.body:
        if isinstance(statement, ir.FunctionDef) and re.fullmatch(rf"{wanted}(_\d+)?", statement.function.name):
            name = statement.function.name
            texts = [_without_layout(template.format(name=name, **words)) for template in templates]
            if _without_layout(source.slice(statement)) in texts:
                return name, ""
    taken, name, number = identifiers(source.module), wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name, templates[0].format(name=name, **words)


def _without_layout(text: str) -> str:
    return re.sub(r",([)\]])", r"\1", "".join(text.split()))


def _top_level(source: FixSource, node: ir.Expr) -> ir.Stmt:
    """The statement of the module that a node is in."""
    return next(statement for statement in source.module.body if _first(statement) <= node.start < statement.end)


def _first(statement: ir.Stmt) -> int:
    """Where a statement begins, its decorators included."""
    decorators = getattr(statement, "decorators", None)
    return decorators[0].start - 1 if decorators else statement.start


def _insertion(source: FixSource, place: ir.Stmt, functions: list[str]) -> Edit:
    """Put functions in front of a statement, and of the comment lines right above it.

    Raises:
        Refused: the statement does not start its line.
    """
    at = source.line_start(_first(place))
    if source.text[at : _first(place)].strip():
        raise Refused
    while at and source.text[source.line_start(at - 1) : at].startswith("#"):
        at = source.line_start(at - 1)
    before = source.text[:at].replace("\r\n", "\n")
    missing = 0 if not before.strip() else max(0, 3 - (len(before) - len(before.rstrip("\n"))))
    text = "\n" * missing + "".join(f"{function}\n\n" for function in functions)
    return Edit(at, at, text.replace("\n", source.newline))


# --- the rewritten map -----------------------------------------------------------------------------


def _call(source: FixSource, site: Pmap, library: _Library, helpers: _Helpers) -> list[Edit]:
    """``jax.jit(jax.shard_map(per_device(f), …), …)``."""
    assert site.operand is not None
    body = _written(helpers.per_device, [_kept(source, site.operand), *_whole(site)])
    mapped = _written(*_shard_map(source, site, library, helpers, [body]))
    comment, above = _carried(source, site, [site.operand])
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


def _written(function: str, arguments: list[str], comment: str = "") -> str:
    return f"{function}({'  ' * bool(comment)}{comment}{', '.join(arguments)})"


def _kept(source: FixSource, node: ir.Expr) -> str:
    """An expression of the file as an argument.

    Raises:
        Refused: it cannot stand there, or holds a string whose lines would move.
    """
    if source.has_multiline_string(node.start, node.end):
        raise Declined("jaxlint does not rewrite it, because a string over several lines is inside the call")
    return source.argument(node)


def _decorators(source: FixSource, site: Pmap, library: _Library, helpers: _Helpers) -> list[Edit]:
    """``@jax.jit``, ``@partial(jax.shard_map, …)`` and ``@per_device``, each on a line of its own."""
    start = site.replaced.start
    before = source.text[source.line_start(start) : start]
    if before.strip() != "@" or not before.endswith("@"):
        raise Declined("jaxlint does not rewrite it, because the decorator does not start its line")
    indentation = before[:-1]
    partial = library.spell("functools.partial")
    jit = library.spell("jax.jit")
    options, whole = _jit_options(source, site), _whole(site)
    function, mapping = _shard_map(source, site, library, helpers, [])
    lines = [
        _written(partial, [jit, *options]) if options else jit,
        _written(partial, [function, *mapping]),
        _written(partial, [helpers.per_device, *whole]) if whole else helpers.per_device,
    ]
    _, above = _carried(source, site, [])
    return [Edit(start, site.replaced.end, f"{source.newline}{indentation}@".join(lines)), *above]


def _carried(source: FixSource, site: Pmap, written: list[ir.Expr]) -> tuple[str, list[Edit]]:
    """The comment behind the first line of a call, or edits that put its comments above the statement, but for those of options
    that stay.

    Raises:
        Declined: there is no line above it.
    """
    spans = [(node.start, node.end) for node in written]
    stay = [option for name, option in site.options.items() if name in _KEPT_OPTIONS and site.donated != ()]
    of_options = [comment for option in stay for comment in _comments_above(source, option)]
    lost = [c for c in source.lost_comments(site.replaced.start, site.replaced.end, spans) if c not in of_options]
    if len(lost) == 1 and source.text[: lost[0].start].rstrip()[-1:] == "(" and written:
        return lost[0].text, []
    if not lost:
        return "", []
    at = site.replaced.start - 1 if not written else source.statement(site.replaced).start
    indentation = source.text[source.line_start(at) : at]
    if at == site.replaced.start or indentation.strip(" \t"):
        raise Declined("jaxlint does not rewrite it, because a comment inside the call would be lost")
    return "", [Edit(at, at, "".join(f"{comment.text}{source.newline}{indentation}" for comment in lost))]


def _comments_above(source: FixSource, option: ir.Expr) -> list[Comment]:
    """The comments on the lines directly above an option."""
    start = source.line_start(option.start)
    if source.text[start : option.start].split("=")[0].strip() not in _KEPT_OPTIONS:
        return []
    column = start + len(source.text[start : option.start]) - len(source.text[start : option.start].lstrip())
    return source.comments(comments_above(source, column, next_to=True), start)


def _with_comments(source: FixSource, option: ir.Expr, text: str) -> str:
    """An option of the new call below the comments that it had."""
    comments = [comment.text for comment in _comments_above(source, option)]
    return "".join([source.newline, *(f"{c}{source.newline}" for c in comments), text]) if comments else text


def _numbers(numbers: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, numbers))}{',' if len(numbers) == 1 else ''})"


def _whole(site: Pmap) -> list[str]:
    return [f"whole={_numbers(site.whole)}"] if site.whole else []


def _jit_options(source: FixSource, site: Pmap) -> list[str]:
    found: list[str] = []
    if site.static:
        given = site.options["static_broadcasted_argnums"]
        text = f"static_argnums={_kept(source, given)}"
        found.append(_with_comments(source, given, text) if site.donated != () else text)
    if "donate_argnums" in site.options and site.donated != ():
        given = site.options["donate_argnums"]
        numbers = _numbers(site.donated) if site.donated else _kept(source, given)
        found.append(_with_comments(source, given, f"donate_argnums={numbers}"))
    return found


def _shard_map(
    source: FixSource, site: Pmap, library: _Library, helpers: _Helpers, body: list[str]
) -> tuple[str, list[str]]:
    """The call that maps: its function and its arguments, the body first."""
    axis = _kept(source, site.options["axis_name"]) if "axis_name" in site.options else source.quoted("devices")
    spec = library.spell("jax.sharding.PartitionSpec")
    function = helpers.at_call if _needs_call(source, site) else library.shard_map
    return function, [
        *body,
        *([f"static={_numbers(site.static)}"] if site.static else []),
        f"mesh={_mesh(source, site, library, axis)}",
        f"in_specs={_in_specs(site, spec, axis)}",
        f"out_specs={spec}({axis})",
        f"{library.check}=False",
    ]


def _mesh(source: FixSource, site: Pmap, library: _Library, axis: str) -> str:
    """The mesh, or what makes it when the mapped function is called.

    Raises:
        Declined: what it is made of may be something else by then.
    """
    mesh = library.spell("jax.sharding.Mesh")
    arguments = [_devices(source, site, library), f"({axis},)"]
    if not _needs_call(source, site):
        return _written(mesh, arguments)
    if not _is_imported(source, site) or "devices" in site.options:
        return _written(library.spell("functools.partial"), [mesh, *arguments])
    options = [site.options[name] for name in ("axis_name", "backend", "axis_size") if name in site.options]
    if not all(isinstance(option, ir.Constant) for option in options):
        # A loop binds the names in them again, and a function does not see those of a class.
        if any(isinstance(above, _SCOPES) for above in source.ancestors(site.replaced)):
            raise Declined(
                "jaxlint does not rewrite it, because a name in its options may mean something else when it is called"
            )
    return f"lambda: {_written(mesh, arguments)}"


def _in_specs(site: Pmap, spec: str, axis: str) -> str:
    """One spec for all arguments, or one for each that is an array."""
    if site.axes is None:
        return f"{spec}({axis})"
    specs = [
        f"{spec}()" if one is None else f"{spec}({axis})"
        for position, one in enumerate(site.axes)
        if position not in site.static
    ]
    if all(spec_of == f"{spec}({axis})" for spec_of in specs):
        return f"{spec}({axis})"
    return f"({', '.join(specs)}{',' if len(specs) == 1 else ''})"


def _devices(source: FixSource, site: Pmap, library: _Library) -> str:
    given = site.options.get("devices")
    if given is not None:
        return _kept(source, given)
    backend = site.options.get("backend")
    text = f"{library.spell('jax.devices')}({source.argument(backend) if backend is not None else ''})"
    size = site.options.get("axis_size")
    if size is None:
        return text
    gap = "" if isinstance(size, (ir.Name, ir.Constant)) else " "
    return f"{text}[:{gap}{source.argument(size)}]"
