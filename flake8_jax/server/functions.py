"""What hover, inlay hints and code lenses say of functions: from the records of ``inspect``.

Vocabulary
----------
record   what the whole analysis knows of one function, perhaps of an earlier text: it is found again by its name.

Parameters that are traced in some calls and static in others are reported as both. Limitations: lambdas, whose names say
nothing; functions of which several in a file have one qualified name, beyond their order.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import children, walk
from flake8_jax.core.report import RuleInfo

Record = Mapping[str, Any]
_CODE = re.compile(r"\b[A-Z]{2,3}\d{3}\b", re.IGNORECASE)
_NOQA = re.compile(r"#[^#]*?\bnoqa\b", re.IGNORECASE)
_BOLD_START = re.compile(r"\A\*\*(.+?)\*\*")
_FENCE = re.compile(r"^```\w*\n?", re.MULTILINE)
_TRACED = frozenset({"traced", "pytree"})
_MEANINGS = {
    "traced": "a tracer",
    "pytree": "a pytree of tracers",
    "concrete": "an array with a value",
    "key": "a PRNG key",
    "static": "a Python value, known at trace time",
    "function": "a function",
    "unknown": "unknown",
}


@dataclass(frozen=True)
class Known:
    """A function of the present text with its record."""

    definition: ir.FunctionDef
    record: Record

    @property
    def traced(self) -> list[ir.Parameter]:
        kinds = {param["name"]: frozenset(param["kinds"]) for param in self.record["params"]}
        return [param for param in self.definition.function.params if kinds.get(param.name, frozenset()) & _TRACED]


def definitions(module: ir.Module) -> list[ir.FunctionDef]:
    """All function definitions of a file, outer ones first."""
    return sorted((node for node in walk(module) if isinstance(node, ir.FunctionDef)), key=lambda node: node.start)


def known_functions(module: ir.Module, records: Sequence[Record]) -> list[Known]:
    """The functions of a text that there are records of."""
    by_name: dict[str, list[Record]] = {}
    for record in sorted(records, key=lambda record: record["first_line"]):
        by_name.setdefault(record["qualname"], []).append(record)
    found: list[Known] = []
    for definition in definitions(module):
        left = by_name.get(definition.function.qualname)
        if left:
            found.append(Known(definition, left.pop(0)))
    return found


def chain(root: Record, base: str) -> str:
    """``jax.jit at train.py:40 → step``, with paths as they are below ``base``."""
    prefix = base.rstrip(os.sep) + os.sep
    where = f"{root['filename'].removeprefix(prefix)}:{root['line']}"
    steps = [step["function"] for step in root["chain"]]
    return " → ".join([f"{root['transform']} at {where}", *steps])


def function_text(known: Known, base: str) -> str:
    """What hover says of a function, in Markdown."""
    record = known.record
    roots = [f"traced by `{chain(root, base)}`" for root in record["roots"]]
    state = "traced" if record["staged"] else "outside tracing: no code of the project traces it"
    kinds = [f"`{param['name']}` {_kinds(param)}" for param in record["params"]]
    lines = [f"**{record['qualname']}** ({state})", *roots, "; ".join(kinds)]
    if record.get("presumed") and not record["staged"]:
        lines.append("Also analyzed as users of this module may trace it.")
    return "\n\n".join(line for line in lines if line)


def parameter_text(known: Known, name: str, base: str) -> str | None:
    param = next((param for param in known.record["params"] if param["name"] == name), None)
    if param is None:
        return None
    meanings = [f"`{kind}`: {_MEANINGS[kind]}" for kind in _known_kinds(param)]
    roots = [f"`{known.record['qualname']}` is traced by `{chain(r, base)}`" for r in known.record["roots"]]
    return "\n\n".join([f"**{name}**: {_kinds(param)}", *meanings, *roots])


def _kinds(param: Record) -> str:
    return " or ".join(_known_kinds(param))


def _known_kinds(param: Record) -> list[str]:
    """What a parameter is in the calls in sight; an unknown caller adds nothing to those."""
    return [kind for kind in param["kinds"] if kind != "unknown"] or ["unknown"]


def hovered(functions: Sequence[Known], offset: int, base: str) -> tuple[int, int, str] | None:
    """The stretch under the cursor and what to say of it: the name of a function, or a parameter wherever it is used."""
    inside: Known | None = None
    for known in functions:
        definition = known.definition
        if definition.name_start <= offset <= definition.name_start + len(definition.function.name):
            end = definition.name_start + len(definition.function.name)
            return definition.name_start, end, function_text(known, base)
        for param in definition.function.params:
            if param.start <= offset <= param.end:
                text = parameter_text(known, param.name, base)
                return (param.start, param.end, text) if text is not None else None
        if definition.start <= offset <= definition.end:
            inside = known  # the innermost comes last
    return _used(inside, offset, base) if inside is not None else None


def _used(known: Known, offset: int, base: str) -> tuple[int, int, str] | None:
    """A parameter where the body reads it."""
    names = {param.name for param in known.definition.function.params}
    for node in _names(known.definition.function.body):
        if node.start <= offset <= node.end and node.id in names:
            text = parameter_text(known, node.id, base)
            return (node.start, node.end, text) if text is not None else None
    return None


def _names(body: Sequence[msgspec.Struct]) -> Iterator[ir.Name]:
    """The names in a body, in no particular order; those in functions within are their own."""
    stack = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Name):
            yield node
        elif not isinstance(node, ir.FunctionDef):
            stack.extend(children(node))


@dataclass(frozen=True)
class Hint:
    """A word behind a parameter that is traced. annotated: it has an annotation. roots: what traces it."""

    offset: int
    annotated: bool
    roots: str


def hints(functions: Sequence[Known], base: str) -> list[Hint]:
    """One for every parameter that is traced."""
    return [
        Hint(param.end, param.annotation is not None, "; ".join(chain(root, base) for root in known.record["roots"]))
        for known in functions
        if known.record["staged"]
        for param in known.traced
    ]


@dataclass(frozen=True)
class Lens:
    """Above a function: the transform that traces it, and where."""

    offset: int
    title: str
    filename: str
    line: int


def lenses(functions: Sequence[Known], base: str) -> list[Lens]:
    """One for every traced function."""
    found: list[Lens] = []
    for known in functions:
        roots = known.record["roots"] if known.record["staged"] else ()
        if roots:
            more = f" (and {len(roots) - 1} more)" if len(roots) > 1 else ""
            title = f"traced by {chain(roots[0], base)}{more}"
            found.append(Lens(known.definition.name_start, title, roots[0]["filename"], roots[0]["line"]))
    return found


def code_under(line: str, column: int) -> tuple[int, int, str] | None:
    """The code in a ``# noqa`` comment at this column of a line: its ends, and the code in upper case."""
    comment = _NOQA.search(line)
    if comment is None:
        return None
    for match in _CODE.finditer(line, comment.end()):
        if match.start() <= column <= match.end():
            return match.start(), match.end(), match[0].upper()
    return None


def plain(markdown: str) -> str:
    """What hover says for an editor that shows it as it stands. Backticks stay: they quote there as well."""
    return _FENCE.sub("", _BOLD_START.sub(r"\1", markdown))


def rule_text(rule: RuleInfo) -> str:
    """A rule's page, in Markdown."""
    return f"**{rule.code} {rule.name}** ({rule.shown_level})\n\n{rule.doc or rule.summary}"
