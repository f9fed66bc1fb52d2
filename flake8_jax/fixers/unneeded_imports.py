"""Imports that nothing needs once fixes are made.

An import goes if the file used its name before the fixes and does not afterwards. It stays in a package's ``__init__`` unless
it is one of JAX's names, in ``__all__``, behind ``# noqa``, in ``try`` and ``if`` (but for ``if __name__ == "__main__"``),
where another file or code in a string may take the name from this one, and where importing may do something: only the
libraries that the tables know and the standard library count.

Limitations: names that other projects import from this file; notebooks, whose magics may use anything.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator

from flake8_jax.core import ir
from flake8_jax.core.cells import SUFFIX
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.core.style import CodeStyle
from flake8_jax.fixers._layout import laid_out
from flake8_jax.fixers._names import imported_name
from flake8_jax.fixers._source import FixSource
from flake8_jax.knowledge import load
from flake8_jax.syntax.lower import SyntaxProblem, lower

_WORD = re.compile(r"\w+")

_RUNNING_TEXT = frozenset({"eval", "exec", "compile", "timeit", "Timer", "Template"})
"""Names of what runs code that a string holds. The string may be put together from parts that are no code."""


def unneeded_imports(path: str, before: str, after: str, others: Iterable[str], style: CodeStyle) -> tuple[Edit, ...]:
    """Edits of the text ``after`` that take away the imports which only ``before`` needed. others: the other files' texts."""
    if path.endswith(SUFFIX):
        return ()
    source = FixSource(path, after, lower(after), style=style)
    statements = list(_statements(source))
    bound = [(s, n, imported_name(n, from_import=_is_from(s))) for s in statements for n in _bound_by(s)]
    spelled = {name for _, _, name in bound}
    gone = needed_names(lower(before), spelled) - needed_names(source.module, spelled)
    gone -= set(source.module.star_exports or ())
    candidates = [(s, n) for s, n, name in bound if name in gone]
    if not candidates:
        return ()
    stem = os.path.splitext(os.path.basename(path))[0]
    if stem == "__init__":
        stem = os.path.basename(os.path.dirname(os.path.abspath(path)))
        candidates = [(s, n) for s, n in candidates if _is_part_of_jax(s)]
        texts = [text.replace("from . import", f"from {stem} import") for text in others]
    else:
        texts = [text for text in others if stem in text]
    taken = {name for _, one in candidates for name in [_name(one)] if any(_takes(text, stem, name) for text in texts)}
    edits: list[Edit] = []
    for statement in dict.fromkeys(id(s) for s, _ in candidates):
        here = next(s for s, _ in candidates if id(s) == statement)
        names = [n for s, n in candidates if s is here and _name(n) not in taken]
        if names:
            edits += _without(source, here, names)
    return laid_out(source, Fix("", "safe", tuple(edits))).edits if edits else ()


def _statements(source: FixSource) -> Iterator[ir.Stmt]:
    """The statements of a module, of its functions and below ``if __name__ == …``; those that are alone in their block stay."""
    blocks = [node.body for node in walk(source.module) if isinstance(node, ir.Function) and not node.is_lambda]
    programs = [s.body for s in source.module.body if isinstance(s, ir.If) and "__name__" in source.slice(s.test)]
    yield from source.module.body
    for block in [*blocks, *programs]:
        if len(block) > 1:
            yield from block


def _is_from(statement: ir.Stmt) -> bool:
    return isinstance(statement, ir.ImportFrom)


def _is_part_of_jax(statement: ir.Stmt) -> bool:
    """``from jax import core``: no one takes it from a package that needed it itself."""
    return isinstance(statement, ir.ImportFrom) and statement.module.partition(".")[0] == "jax"


def _name(name: ir.ImportedName) -> str:
    return name.alias or name.name


def needed_names(module: ir.Module, candidates: Collection[str]) -> set[str]:
    """Those of the names that a file reads, or that a string may read: any word where the file runs text, else a word of a
    string that is Python. Documentation reads nothing."""
    read = {node.id for node in walk(module) if isinstance(node, ir.Name)}
    documentation = {id(n.value) for n in walk(module) if isinstance(n, ir.ExprStmt)}
    runs_text = not _RUNNING_TEXT.isdisjoint(read)
    found = read.intersection(candidates)
    for node in walk(module):
        if isinstance(node, ir.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            words = set(_WORD.findall(node.value)).intersection(candidates) - found
            if words and (runs_text or _is_python(node.value)):
                found |= words
    return found


def _is_python(text: str) -> bool:
    """Whether a string is code, such as a name or an annotation, and not prose."""
    try:
        lower(textwrap.dedent(text).strip())
    except SyntaxProblem:
        return False
    return True


def _bound_by(statement: ir.Stmt) -> Iterator[ir.ImportedName]:
    """The names that an import of a known library binds and that may go."""
    if not isinstance(statement, (ir.Import, ir.ImportFrom)):
        return
    for name in statement.names:
        module = statement.module if isinstance(statement, ir.ImportFrom) else name.name
        root = module.partition(".")[0]
        if isinstance(statement, ir.ImportFrom) and (statement.level or root == "__future__"):
            continue
        dotted = isinstance(statement, ir.Import) and "." in name.name and not name.alias
        if dotted or name.name == "*" or name.alias == name.name:
            continue
        if root in load().libraries or root in ("numpy", "scipy") or root in sys.stdlib_module_names:
            yield name


def _takes(text: str, stem: str, name: str) -> bool:
    """Whether a file may take a name from the module ``stem``."""
    if re.search(rf"\b{re.escape(stem)}\.{re.escape(name)}\b", text):
        return True
    imports = re.findall(rf"from\s+[\w.]*\b{re.escape(stem)}\s+import\s+(\([^)]*\)|[^\n]*)", text)
    return any("*" in taken or re.search(rf"\b{re.escape(name)}\b", taken) for taken in imports)


def _without(source: FixSource, statement: ir.Stmt, names: list[ir.ImportedName]) -> list[Edit]:
    """Take names out of an import statement, or all of it."""
    assert isinstance(statement, (ir.Import, ir.ImportFrom))
    if not source.starts_line(statement) or not source.ends_line(statement):
        return []
    if source.comments(statement.start, source.line_end(statement.end)):
        return []
    left = [n for n in statement.names if not any(n is one for one in names)]
    if not left:
        return [_whole_lines(source, statement)]
    edits = [Edit(left[-1].end, statement.names[-1].end, "")] if left[-1] is not statement.names[-1] else []
    for name, following in zip(statement.names, statement.names[1:]):
        if name.start < left[-1].start and not any(name is one for one in left):
            edits.append(Edit(name.start, following.start, ""))
    return edits


def _whole_lines(source: FixSource, statement: ir.Stmt) -> Edit:
    """Delete a statement's lines, and an empty one if two would stand next to each other, or one at the start of a block."""
    start, end = source.line_start(statement.start), source.next_line(statement.end)
    above = source.text[source.line_start(start - 1) : start] if start else "\n"
    below = source.text[end : source.next_line(end)]
    opens_block = above.rstrip().endswith(":")
    if (opens_block or not above.strip()) and not below.strip():
        end = source.next_line(end)
    return Edit(start, end, "")
