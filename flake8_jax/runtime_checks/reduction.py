"""Make a script smaller, as long as a test says that it still shows what it is to show.

Vocabulary
----------
unit       a part that may be left out: a statement, a decorator, an entry of a dict, a keyword of a call; or a compound
           statement that may be replaced by one of its blocks. What stays is the text as it was.
candidate  a smaller text. It is looked at (``accept``: parsing, linting; cheap) before it is yielded to be run (dear).
prune      leave out top-level definitions, imports and assignments that nothing mentions.

The search is delta debugging: large groups of units first, then halves, down to single ones, from the end of the text to its
beginning, because what stands further down needs what stands above. Limitations: parameters and parts of expressions.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

from flake8_jax.runtime_checks.names import Text, bindings, mentions

Edit = tuple[int, int, str]
Units = Callable[[Text, ast.Module], list["Unit"]]
Search = Generator[str, bool, None]
_COMPOUND = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)


@dataclass(frozen=True)
class Unit:
    """What may be left out. block: the statements among which it stands, by identity; alone: of so many."""

    edit: Edit
    block: int = 0
    of: int = 0


class Reducer:
    """Holds the smallest text so far that was accepted and confirmed.

    accept: whether a text is worth to be run. A search yields candidates and is sent whether they still show it.
    """

    def __init__(self, text: str, accept: Callable[[str], bool]) -> None:
        self.text = text
        self.tried = 0
        self._accept = accept
        self._seen = {text}
        self._prunes: tuple[type[ast.stmt], ...] = ()

    def search(self) -> Search:
        """Leave out units until nothing more can be left out."""
        for kinds in (_DEFINITIONS + _IMPORTS + _ASSIGNMENTS, _DEFINITIONS + _IMPORTS, _IMPORTS):
            if (yield from self.attempt(pruned(self.text, kinds), unchanged=True)):
                self._prunes = kinds
                break
        yield from self.attempt(without_comments(self.text))
        while True:
            before = self.text
            yield from self._groups(lambda text, tree: statements(text, tree, 0))
            for depth in range(1, 1 + _depth(ast.parse(self.text))):
                yield from self._groups(lambda text, tree, depth=depth: statements(text, tree, depth))  # type: ignore[misc]
            for units in (decorators, unwrappings, entries, operands):
                yield from self._groups(units, most=1)
            if self.text == before:
                return

    def _groups(self, units: Units, most: int | None = None) -> Search:
        found = self._units(units)
        size = most or max(1, len(found) // 2)
        while found:
            end = len(found)
            while end > 0:
                group = found[max(0, end - size) : end]
                if (yield from self._leave_out(group)):
                    found = self._units(units)
                    end = min(end - 1 if size == 1 else end - size, len(found))
                else:
                    end -= size
            if size == 1:
                return
            size = max(1, size // 2)
            found = self._units(units)

    def _leave_out(self, group: Sequence[Unit]) -> Generator[str, bool, bool]:
        """With all that no code mentions then; where that is too much, without the group alone."""
        left = without(self.text, group)
        for kinds in (self._prunes, _IMPORTS, ()):
            candidate = pruned(left, kinds)
            if candidate is not None and self._accept(tidied(candidate)):
                return (yield from self.attempt(candidate))
        return False

    def _units(self, units: Units) -> list[Unit]:
        return units(Text(self.text), ast.parse(self.text))

    def attempt(self, candidate: str | None, *, unchanged: bool = False) -> Generator[str, bool, bool]:
        """Keep a smaller text if it still shows the finding. unchanged: what to return for a candidate that is the text
        itself.
        """
        if candidate is None:
            return False
        candidate = tidied(candidate)
        if candidate == self.text:
            return unchanged
        if candidate in self._seen:
            return False
        self._seen.add(candidate)
        if not self._accept(candidate):
            return False
        self.tried += 1
        if (yield candidate):
            self.text = candidate
            return True
        return False


# --- units ---------------------------------------------------------------------------------------------------------


def statements(text: Text, tree: ast.Module, depth: int) -> list[Unit]:
    """Return the statements at a depth of nesting."""
    found = [unit for at, unit in _walk(text, tree.body, 0) if at == depth]
    return sorted(found, key=lambda unit: unit.edit)


def _walk(text: Text, block: Sequence[ast.stmt], depth: int) -> Iterator[tuple[int, Unit]]:
    for statement in block:
        if not _is_elif(text, statement):
            start, end = text.whole_span(statement)
            if not (isinstance(statement, ast.Pass) and len(block) == 1):
                yield depth, Unit((start, end, ""), id(block) if depth else 0, len(block))
        for inner in _blocks(statement):
            # An ``elif`` is a statement inside of an invisible ``else``.
            hidden = len(inner) == 1 and _is_elif(text, inner[0])
            yield from _walk(text, inner, depth if hidden else depth + 1)


def _blocks(statement: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list) and block:
            yield block
    for name in ("handlers", "cases"):
        for part in getattr(statement, name, ()):
            yield part.body


def _is_elif(text: Text, statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and text.text.startswith("elif", text.span(statement)[0])


def decorators(text: Text, tree: ast.Module) -> list[Unit]:
    """Return the decorators of the text."""
    found = []
    for node in ast.walk(tree):
        for decorator in getattr(node, "decorator_list", ()):
            start, end = text.span(decorator)
            found.append(Unit((text.text.rfind("@", 0, start), end, "")))
    return sorted(found, key=lambda unit: unit.edit)


def unwrappings(text: Text, tree: ast.Module) -> list[Unit]:
    """Return edits that replace a compound statement by one of its blocks, or leave out its ``else``."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, _COMPOUND) or _is_elif(text, node):
            continue
        start, end = text.whole_span(node)
        for block in _blocks(node):
            inner = _dedented(text, node, block)
            if inner is not None:
                found.append(Unit((start, end, inner)))
        rest = getattr(node, "orelse", None)
        if rest:
            found.append(Unit((text.whole_span(node.body[-1])[1], text.whole_span(rest[-1])[1], "")))
    return sorted(found, key=lambda unit: unit.edit)


def _dedented(text: Text, outer: ast.stmt, block: Sequence[ast.stmt]) -> str | None:
    """The text of a block with the indentation of the statement around it; None where that is not plain to do."""
    if block[0].lineno == outer.lineno or (len(block) == 1 and _is_elif(text, block[0])):
        return None
    for node in (inner for statement in block for inner in ast.walk(statement)):
        is_text = isinstance(node, (ast.Constant, ast.JoinedStr)) and getattr(node, "end_lineno", 0) != node.lineno
        if is_text:
            return None
    start, end = text.whole_span(block[0])[0], text.whole_span(block[-1])[1]
    less = block[0].col_offset - outer.col_offset
    return re.sub(rf"\n[ \t]{{0,{less}}}", "\n", text.text[start:end]) if less > 0 else None


def entries(text: Text, tree: ast.Module) -> list[Unit]:
    """Return the entries of dicts and the keyword arguments of calls."""
    found = []
    for node in ast.walk(tree):
        spans: list[tuple[int, int]] = []
        if isinstance(node, ast.Dict) and len(node.values) > 1:
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None:
                    spans.append((text.span(key)[0], text.span(value)[1]))
        elif isinstance(node, ast.Call):
            spans = [text.span(keyword) for keyword in node.keywords if keyword.arg is not None]
        for start, end in spans:
            found.append(Unit((*_with_comma(text.text, start, end), "")))
    return sorted(found, key=lambda unit: unit.edit)


def operands(text: Text, tree: ast.Module) -> list[Unit]:
    """Return edits that replace an operation by one of its operands."""
    found = []
    for node in ast.walk(tree):
        parts: list[ast.expr] = []
        if isinstance(node, ast.BinOp):
            parts = [node.left, node.right]
        elif isinstance(node, ast.IfExp):
            parts = [node.body, node.orelse]
        elif isinstance(node, ast.UnaryOp):
            parts = [node.operand]
        for part in parts:
            start, end = text.span(part)
            if not isinstance(part, ast.Constant):
                found.append(Unit((*text.span(node), text.text[start:end])))
    return sorted(found, key=lambda unit: (unit.edit[0], -unit.edit[1]))


def _with_comma(text: str, start: int, end: int) -> tuple[int, int]:
    after = re.compile(r"\s*,[ \t]*(?:\n[ \t]*)?").match(text, end)
    if after is not None and text[after.end() : after.end() + 1] not in (")", "}"):
        return start, after.end()
    before = re.compile(r",\s*$").search(text, 0, start)
    return (before.start() if before else start), end


def without(text: str, units: Sequence[Unit]) -> str | None:
    """Return the text without some units, with ``pass`` in a block that loses all its statements; None if that is no
    program.
    """
    gone: dict[int, int] = {}
    for unit in units:
        gone[unit.block] = gone.get(unit.block, 0) + 1
    edits: list[Edit] = []
    last = -1
    for unit in sorted(units, key=lambda unit: (unit.edit[0], -unit.edit[1])):
        start, end, content = unit.edit
        if start < last:
            continue  # inside of one that goes anyway
        last = end
        if unit.block and gone[unit.block] == unit.of:
            gone[unit.block] = 0
            content = "pass"
        edits.append((start, end, content) if content else (*_whole_lines(text, start, end), ""))
    return applied(text, edits)


def without_row(text: str, row: int) -> str | None:
    """Return the text without the innermost statement that begins in a row."""
    where, tree = Text(text), ast.parse(text)
    units = [unit for depth in range(_depth(tree) + 1) for unit in statements(where, tree, depth)]
    mine = [unit for unit in units if where.row(unit.edit[0]) == row]
    return without(text, mine[-1:]) if mine else None


def _whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """The span with its line breaks, where nothing else stands on its lines."""
    head = text.rfind("\n", 0, start) + 1
    tail = text.find("\n", end)
    tail = len(text) if tail < 0 else tail + 1
    if not text[head:start].strip() and not text[end:tail].partition("#")[0].strip():
        return head, tail
    after = re.compile(r"[ \t]*;[ \t]*").match(text, end)
    return (start, after.end()) if after else (start, end)


def applied(text: str, edits: Sequence[Edit]) -> str:
    """Return the text after edits; an edit inside another one is left out."""
    out, at = "", 0
    for start, end, content in sorted(edits):
        if start >= at:
            out += text[at:start] + content
            at = end
    return out + text[at:]


# --- what no code mentions --------------------------------------------------------------------------------------------

_DEFINITIONS: tuple[type[ast.stmt], ...] = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS: tuple[type[ast.stmt], ...] = (ast.Import, ast.ImportFrom)
_ASSIGNMENTS: tuple[type[ast.stmt], ...] = (ast.Assign, ast.AnnAssign)


def pruned(text: str | None, kinds: tuple[type[ast.stmt], ...]) -> str | None:
    """Leave out top-level statements of some kinds whose names nothing else mentions; None if the text does not parse."""
    while text is not None:
        try:
            tree = ast.parse(text)
        except SyntaxError:
            return None
        shorter = _pruned_once(text, tree, kinds)
        if shorter == text:
            return text
        text = shorter
    return None


def _pruned_once(text: str, tree: ast.Module, kinds: tuple[type[ast.stmt], ...]) -> str | None:
    where = Text(text)
    found = mentions(text, tree)
    units: list[Unit] = []
    for statement in tree.body:
        if not isinstance(statement, kinds) or getattr(statement, "module", "") == "__future__":
            continue
        names = set(bindings([statement]))
        start, end = where.whole_span(statement)
        used = {m.name for m in found if m.name in names and not start <= m.start < end}
        if not used and names and "*" not in names:
            units.append(Unit((start, end, "")))
        elif isinstance(statement, (ast.Import, ast.ImportFrom)) and len(statement.names) > 1:
            left = [a for a in statement.names if (a.asname or a.name).partition(".")[0] in used]
            if len(left) < len(statement.names):
                kept = ", ".join(f"{a.name} as {a.asname}" if a.asname else a.name for a in left)
                origin = (
                    f"from {'.' * statement.level}{statement.module or ''} "
                    if isinstance(statement, ast.ImportFrom)
                    else ""
                )
                units.append(Unit((start, end, f"{origin}import {kept}")))
    return without(text, units)


# --- the looks of it -------------------------------------------------------------------------------------------------


def without_comments(text: str) -> str | None:
    """Remove comments and docstrings."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    where = Text(text)
    edits: list[Edit] = []
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and body:
            first = body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                start, end = where.span(first)
                edits.append((start, end, "pass") if len(body) == 1 else (*_whole_lines(text, start, end), ""))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            line_start = where.offset(token.start[0], 0)
            start, end = line_start + token.start[1], line_start + token.end[1]
            if token.line[: token.start[1]].strip():
                start = len(text[:start].rstrip(" \t"))
                edits.append((start, end, ""))
            else:
                edits.append((line_start, min(end + 1, len(text)), ""))
    return applied(text, edits)


def tidied(text: str) -> str:
    """Remove empty lines at the start and the end of the text and of blocks; keep two at most elsewhere, and one inside
    functions.
    """
    inside: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.start[0] != token.end[0]:  # a string of several lines
                inside |= set(range(token.start[0], token.end[0]))
    except (tokenize.TokenError, SyntaxError):
        return text
    lines = text.split("\n")
    out: list[str] = []
    empty = 0
    for number, line in enumerate(lines, start=1):
        if line.strip() or number - 1 in inside:
            if out and not out[-1].rstrip().endswith(":"):
                out += [""] * min(empty, 1 if line[:1].isspace() else 2)
            out.append(line if number in inside else line.rstrip())
            empty = 0
        else:
            empty += 1
    return "\n".join(out).strip("\n") + "\n"


def _depth(tree: ast.AST) -> int:
    def of(node: ast.AST) -> int:
        blocks = [of(inner) for block in _blocks(node) for inner in block]
        return 1 + max(blocks, default=-1) if blocks else 0

    return of(tree)
