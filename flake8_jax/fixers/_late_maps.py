"""Maps that are made when their function is traced: inside of a function that takes all arguments, ``shard_map`` maps one of
those that are arrays. So it is with static arguments, and where the mesh would else be made at import.

Vocabulary
----------
others      the arguments that are not static.
late        what says which devices there are is computed when the new function is traced, and no longer when it is made.

Limitations: functions with ``*args`` or arguments by keyword alone, generators, bodies with strings over several lines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._comments import block_span
from flake8_jax.fixers._names import fresh, identifiers, uses
from flake8_jax.fixers._pmaps import Pmap
from flake8_jax.fixers._shared_mesh import is_bound_once
from flake8_jax.fixers._source import Declined, FixSource, Refused

_NAME = "per_device"
_PARTIAL = "functools.partial"
_LATE = ("devices", "axis_size", "backend", "axis_name")


@dataclass(frozen=True, slots=True)
class Written:
    """How the file spells the parts of the new code. spell: of other names, for which it may need an import. options, mapping,
    axes: of ``jit``, ``shard_map`` and ``vmap``."""

    spell: Callable[[str], str]
    jit: str
    options: list[str]
    shard_map: str
    mapping: list[str]
    vmap: str
    axes: list[str]


def _called(function: str, *arguments: str) -> str:
    return f"{function}({', '.join(arguments)})"


def check_late(source: FixSource, site: Pmap) -> None:
    """The function that is mapped, and what says which devices there are, are the same when the new function is traced.

    Raises:
        Declined: one may be another by then, such as ``f`` behind ``f = jax.pmap(f)``.
    """
    given = [*(site.options.get(name) for name in _LATE), site.operand]
    own = {p.name for p in site.operand.function.params} if isinstance(site.operand, ir.Lambda) else set[str]()
    for node in (part for expression in given if expression is not None for part in walk(expression)):
        if isinstance(node, ir.Name) and node.id not in own and not _stays(source, site, node):
            raise Declined(f"no automatic fix, because `{node.id}` may change before the new function is traced")
    made = site.operand.args if isinstance(site.operand, ir.Call) else []
    if any(isinstance(node, (ir.Call, ir.Subscript)) for argument in made for node in walk(argument)):
        raise Declined(
            "no automatic fix, because what the mapped function is made of would be computed when it is traced"
        )
    statement = source.statement(site.replaced)
    targets = statement.targets if isinstance(statement, ir.Assign) else []
    if site.operand is not None and source.slice(site.operand) in [source.slice(target) for target in targets]:
        raise Declined(
            "no automatic fix, because the result takes the place of the function; first give it another name"
        )


def _stays(source: FixSource, site: Pmap, node: ir.Name) -> bool:
    """A name means the same in the new function, whenever that is traced."""
    imported = node.id in source.module.bound_names and not _is_bound_elsewhere(source, node)
    is_hidden = node.id in _inside(site)
    return not is_hidden and (imported or is_bound_once(source, node))


def _is_bound_elsewhere(source: FixSource, node: ir.Name) -> bool:
    """More than one statement of the module binds the name, or a function around does."""
    around = any(node.id in f.local_names or any(p.name == node.id for p in f.params) for f in source.functions(node))
    return around or node.id in source.module.rebound_names


def _inside(site: Pmap) -> set[str]:
    """The names that mean something else inside of the new function."""
    own = (
        set(site.definition.function.local_names)
        if site.operand is None and site.definition is not None
        else set[str]()
    )
    return own | set(site.names)


def _others(site: Pmap) -> list[str]:
    return [name for at, name in enumerate(site.names) if at not in site.static]


def static_call(source: FixSource, site: Pmap, written: Written) -> str:
    """``jit(lambda x, n: shard_map(vmap(partial(f, n=n)), …)(x), static_argnums=1)``.

    Raises:
        Declined: a parameter has a name that the expression needs for something else.
    """
    operand, others = site.operand, ", ".join(_others(site))
    assert operand is not None
    text = source.argument(operand)
    if isinstance(operand, ir.Lambda) and site.static:
        body = source.text[operand.function.body[0].start : operand.end] if operand.function.body else ""
        mapped = f"lambda {others}: {body.removeprefix('return ')}"
    else:
        own = {p.name for p in operand.function.params} if isinstance(operand, ir.Lambda) else set[str]()
        taken = {
            *(identifiers(operand) - own),
            *(root.partition(".")[0] for root in (written.shard_map, written.vmap)),
        }
        if taken & set(site.names):
            raise Declined(
                f"no automatic fix, because `{min(taken & set(site.names))}` has two meanings in the new code"
            )
        last = range(len(site.names) - len(site.static), len(site.names))
        if not site.static:
            mapped = text
        elif set(site.static) == set(last) and isinstance(operand, (ir.Name, ir.Attribute)):
            mapped = _called(
                written.spell(_PARTIAL), text, *(f"{site.names[at]}={site.names[at]}" for at in sorted(site.static))
            )
        else:
            mapped = f"lambda {others}: {text}({', '.join(site.names)})"
    inner = _called(written.shard_map, _called(written.vmap, mapped, *written.axes), *written.mapping)
    return _called(written.jit, f"lambda {', '.join(site.names)}: {inner}({others})", *written.options)


def static_function(source: FixSource, site: Pmap, written: Written) -> list[Edit]:
    """The body of a decorated function becomes a function of its own in it, which is mapped.

    Raises:
        Declined: the body cannot move into another function.
    """
    definition = site.definition
    assert definition is not None
    function = definition.function
    body = function.body[1:] if _is_docstring(function.body[0]) else function.body
    _check_body(source, site, body)
    indent, unit, end = source.indentation(body[0]), source.indent_unit, source.newline
    [name] = fresh(source, body[0], _NAME)
    others = ", ".join(_others(site))
    mapped = _called(written.shard_map, _called(written.vmap, name, *written.axes), *written.mapping)
    first, last = block_span(source, body, definition.end)
    last = max(last, source.line_end(body[-1].end))
    moved = source.block_text(body, indent + unit, (first, last)).rstrip()
    gap = end if body is not function.body else ""
    text = f"{gap}{indent}def {name}({others}):{end}{moved}{end}{end}{indent}return {mapped}({others})"
    start = source.line_start(first)
    jit = _called(written.spell(_PARTIAL), written.jit, *written.options) if written.options else written.jit
    return [Edit(site.replaced.start, site.replaced.end, jit), Edit(start, last, text)]


def _is_docstring(statement: ir.Stmt) -> bool:
    value = statement.value if isinstance(statement, ir.ExprStmt) else None
    return isinstance(value, ir.Constant) and value.kind == "str"


def _check_body(source: FixSource, site: Pmap, body: list[ir.Stmt]) -> None:
    """The statements mean the same in a function inside.

    Raises:
        Declined: they do not.
        Refused: there are none, or they are on the line of the header.
    """
    definition = site.definition
    if definition is None or not body or not source.starts_line(body[0]) or source.text[body[0].start] == "@":
        raise Refused
    if len(definition.decorators) != 1:
        raise Declined("no automatic fix, because it needs a function inside, and there are other decorators")
    function, text = definition.function, source.text[body[0].start : body[-1].end]
    static = {site.names[at] for at in site.static}
    moves = "super()" in text or function.is_generator or function.global_names or function.nonlocal_names
    if moves or static & uses(*body).binds or source.has_multiline_string(body[0].start, body[-1].end):
        raise Declined("no automatic fix, because its body would have to move into a function inside, and cannot")
