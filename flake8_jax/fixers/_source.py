"""The file being fixed: its text and its IR, side by side.

Vocabulary
----------
slice       the source text of a node, byte for byte. Parentheses around an expression are not part of it.
place       where a statement stands: the block (list of statements) that holds it, its index there, its owner.
suite       the statements below a header line; a *one-line suite* stands on the header's own line.
carried     a comment inside a replaced range that is put back next to the replacement.
refused     the pattern is not fully understood, so there is no fix: helpers raise ``Refused`` and ``fixing`` turns
            that into None.

All offsets are code points into the text, end exclusive.

Limitations: form feeds inside indentation, comments between the pieces of an implicitly concatenated string that
spans lines (refused), Jupyter magics.
"""

from __future__ import annotations

import functools
import re
import typing
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix, Refusal
from flake8_jax.core.nodes import children, walk
from flake8_jax.core.registry import Build, mark_fixer
from flake8_jax.core.style import DEFAULT_STYLE, CodeStyle
from flake8_jax.knowledge.history import Support

STATEMENTS: tuple[type, ...] = typing.get_args(ir.Stmt)
_CLOSED = (ir.Name, ir.Attribute, ir.Call, ir.Subscript, ir.List, ir.Dict, ir.Set, ir.Comprehension)
_BRACKETED = (ir.List, ir.Dict, ir.Set, ir.Comprehension)

_HAS_TEXT = re.compile(r"[\"'#]")
_SEVERAL, _LONGEST = 3, 120
"""So many lines show how long the lines of a file are, up to so many columns."""

Event = TypeVar("Event")
Found = TypeVar("Found")


class Refused(Exception):
    """The pattern is not fully understood, so no edit may be made."""


class Declined(Refused):
    """There is no fix, and the message of the finding ends in the reason: the text of this exception."""


def fixer(rule_name: str) -> Callable[[Callable[[Event, FixSource], Fix | None]], Build]:
    """Declare that a function is a fixer, for the findings of the rule ``rule_name``. jaxlint calls the function with the event
    of each finding and the source of its file. The function returns a ``Fix``, or None if the finding has no fix."""

    def wrap(build: Callable[[Event, FixSource], Fix | None]) -> Build:
        @functools.wraps(build)
        def attempt(event: Any, source: Any) -> Fix | Refusal | None:
            try:
                return build(event, source)
            except Declined as declined:
                return Refusal(str(declined))
            except Refused:
                return None

        return mark_fixer(rule_name)(attempt)

    return wrap


@dataclass(frozen=True, slots=True)
class Place:
    """A statement within its block. ``owner``: the statement, function or module whose block it is."""

    statement: ir.Stmt
    block: list[ir.Stmt]
    index: int
    owner: msgspec.Struct

    @property
    def following(self) -> list[ir.Stmt]:
        return self.block[self.index + 1 :]


@dataclass(frozen=True, slots=True)
class Comment:
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Use:
    """A place that mentions a function: ``node`` in the file of ``source``."""

    source: FixSource
    node: ir.Expr


class WholeProgram(Protocol):
    """What fixers ask about the other files of the project; see ``_callers.Program``."""

    def source(self, path: str) -> FixSource: ...
    def uses(self, source: FixSource, definition: ir.FunctionDef) -> list[Use] | None: ...
    def beside(self, source: FixSource) -> list[FixSource]: ...
    def starts(self, source: FixSource) -> list[FixSource]: ...
    def starts_of(self, package: str) -> list[FixSource]: ...
    def says(self, pattern: str) -> bool: ...
    def called(self, source: FixSource, call: ir.Call) -> tuple[FixSource, ir.FunctionDef] | None: ...
    def definition(self, source: FixSource, func: ir.Expr) -> tuple[FixSource, ir.FunctionDef] | None: ...
    def imported_elsewhere(self, source: FixSource, name: str) -> bool: ...
    def is_own(self, root: str) -> bool: ...
    def is_library(self, module: str) -> bool: ...
    def says_near(self, source: FixSource, pattern: str, *, below: bool = False) -> bool: ...
    def supports(self, source: FixSource) -> Mapping[str, Support]: ...


def _start_of(node: Any) -> int:
    return node.start  # type: ignore[no-any-return]


class FixSource:
    """The file that a fixer changes.
    - ``path``: the path of the file, for messages only. A fixer reads nothing from disk.
    - ``text``: the text of the file. ``slice(node)`` returns the text of a node.
    - ``module``: the IR of the file.
    - ``program``: the other files of the project; None if jaxlint does not know them.
    - ``style``: the code style of the project, such as its line length."""

    def __init__(
        self,
        path: str,
        text: str,
        module: ir.Module,
        program: WholeProgram | None = None,
        style: CodeStyle = DEFAULT_STYLE,
    ) -> None:
        self.path = path
        self.style = style
        self.text = text
        self.module = module
        self.program = program
        self._remembered: dict[tuple[str, int], Any] = {}

    def remember(self, what: str, node: msgspec.Struct, compute: Callable[[], Found]) -> Found:
        """What ``compute`` says of a node, asked once. Nothing may change what it gives."""
        key = (what, id(node))
        if key not in self._remembered:
            self._remembered[key] = compute()
        return typing.cast("Found", self._remembered[key])

    # --- text ------------------------------------------------------------------------------------

    def slice(self, node: Any) -> str:
        """The text of anything with ``start`` and ``end``."""
        return self.text[node.start : node.end]

    @functools.cached_property
    def newline(self) -> str:
        """The file's newline: that of its first line."""
        starts = self.module.line_starts
        if len(starts) < 2:
            return "\n"
        head = self.text[: starts[1]]
        return "\r\n" if head.endswith("\r\n") else head[-1:] or "\n"

    def line_start(self, offset: int) -> int:
        starts = self.module.line_starts
        return starts[bisect_right(starts, offset) - 1]

    def line_end(self, offset: int) -> int:
        """Offset just behind the last character of the line, before its newline."""
        starts = self.module.line_starts
        row = bisect_right(starts, offset)
        end = starts[row] if row < len(starts) else len(self.text)
        while end > offset and self.text[end - 1] in "\r\n":
            end -= 1
        return end

    def next_line(self, offset: int) -> int:
        """Offset of the first character of the next line, or the end of the text."""
        starts = self.module.line_starts
        row = bisect_right(starts, offset)
        return starts[row] if row < len(starts) else len(self.text)

    def indentation(self, statement: ir.Node) -> str:
        """What precedes a statement that starts its line.

        Raises:
            Refused: something else stands before it on the line.
        """
        before = self.text[self.line_start(statement.start) : statement.start]
        if before.strip(" \t"):
            raise Refused
        return before

    def inner_indentation(self, statement: ir.Node) -> str:
        """The indentation of what replaces a statement: one step deeper for an ``elif``, which becomes an ``else:``."""
        deeper = isinstance(statement, ir.If) and statement.is_elif
        return self.indentation(statement) + (self.indent_unit if deeper else "")

    def starts_line(self, statement: ir.Node) -> bool:
        return not self.text[self.line_start(statement.start) : statement.start].strip(" \t")

    def ends_line(self, statement: ir.Node) -> bool:
        """Nothing but a comment follows on the line."""
        rest = self.text[statement.end : self.line_end(statement.end)].lstrip(" \t")
        return not rest or rest.startswith("#")

    @functools.cached_property
    def indent_unit(self) -> str:
        """One step of indentation: the most frequent one of the file's suites."""
        steps: Counter[str] = Counter()
        for node in walk(self.module):
            body: list[ir.Stmt]
            if isinstance(node, ir.FunctionDef):
                body = node.function.body
            elif isinstance(node, (ir.If, ir.For, ir.While, ir.With, ir.ClassDef)):
                body = node.body
            else:
                continue
            if self.starts_line(node) and self.starts_line(body[0]):
                deep, shallow = self.indentation(body[0]), self.indentation(node)
                if deep.startswith(shallow) and len(deep) > len(shallow):
                    steps[deep[len(shallow) :]] += 1
        return steps.most_common(1)[0][0] if steps else "    "

    def join(self, lines: Iterable[str], indent: str) -> str:
        """Lines joined by the file's newline, all but the first behind ``indent``; empty ones stay empty."""
        head, *rest = lines
        return "".join([head, *(self.newline + (indent + line if line else "") for line in rest)])

    @functools.cached_property
    def line_length(self) -> int:
        """The columns of a line: what the project asks for, else what several of the file's lines of code take."""
        if self.style.is_asked:
            return self.style.line_length
        rows = (row.rstrip() for row in self.text.splitlines())
        lengths = sorted(len(row) for row in rows if not _HAS_TEXT.search(row))
        usual = lengths[-_SEVERAL] if len(lengths) >= _SEVERAL else 0
        return max(self.style.line_length, min(usual, _LONGEST))

    @property
    def has_long_lines(self) -> bool:
        """No setting gives a length of lines, and the file's are longer than what formatters write by default."""
        return not self.style.is_asked and self.line_length > self.style.line_length

    # --- strings and comments --------------------------------------------------------------------

    @functools.cached_property
    def _strings(self) -> list[tuple[int, int]]:
        spans = [
            (n.start, n.end)
            for n in walk(self.module)
            if isinstance(n, ir.JoinedStr) or (isinstance(n, ir.Constant) and n.kind in ("str", "bytes"))
        ]
        outermost: list[tuple[int, int]] = []
        for start, end in sorted(spans, key=lambda s: (s[0], -s[1])):
            if not outermost or start >= outermost[-1][1]:
                outermost.append((start, end))
        return outermost

    @functools.cached_property
    def quote(self) -> str:
        """The quote that most of the file's plain strings have; those over several lines do not count."""
        counts: Counter[str] = Counter()
        for start, end in self._strings:
            text = self.text[start:end]
            if text[-1:] in "'\"" and not text.endswith(('"""', "'''")):
                counts[text[-1]] += 1
        return "'" if counts["'"] > counts['"'] else '"'

    def quoted(self, text: str) -> str:
        """A string literal of a text that needs no escapes."""
        return f"{self.quote}{text}{self.quote}"

    def string_around(self, offset: int) -> tuple[int, int] | None:
        """The span of the string literal that ``offset`` is in."""
        spans = self._strings
        at = bisect_right(spans, (offset, len(self.text) + 1)) - 1
        return spans[at] if at >= 0 and spans[at][0] <= offset < spans[at][1] else None

    def comments(self, start: int, end: int) -> list[Comment]:
        """The comments that begin in the range.

        Raises:
            Refused: a ``#`` stands where a comment and a string cannot be distinguished.
        """
        found: list[Comment] = []
        at = self.text.find("#", start, end)
        while at >= 0:
            inside = self.string_around(at)
            if inside is None:
                stop = self.line_end(at)
                found.append(Comment(at, stop, self.text[at:stop].rstrip()))
                at = self.text.find("#", stop, end)
                continue
            literal = self.text[inside[0] : inside[1]].lstrip("rRbBuUfFtT")
            if not literal.startswith(('"""', "'''")) and self.line_end(inside[0]) < inside[1]:
                raise Refused
            at = self.text.find("#", max(inside[1], at + 1), end)
        return found

    def lost_comments(self, start: int, end: int, kept: Iterable[tuple[int, int]]) -> list[Comment]:
        """Comments of a range that is to be replaced, but for those inside the slices that are kept."""
        spans = list(kept)
        return [c for c in self.comments(start, end) if not any(a <= c.start and c.end <= b for a, b in spans)]

    def has_multiline_string(self, start: int, end: int) -> bool:
        return any(a < end and b > start and self.line_end(a) < b for a, b in self._strings)

    # --- expressions -----------------------------------------------------------------------------

    def is_own_parenthesised(self, node: ir.Node) -> bool:
        """Whether the node's own first and last characters are a matching pair of parentheses."""
        if self.text[node.start] != "(" or self.text[node.end - 1] != ")":
            return False
        depth, at = 0, node.start
        while at < node.end:
            inside = self.string_around(at)
            if inside is not None:
                at = inside[1]
                continue
            depth += {"(": 1, ")": -1}.get(self.text[at], 0)
            at += 1
            if depth == 0:
                return at == node.end
        return False

    def argument(self, node: ir.Node) -> str:
        """The text of an expression as it can stand as a call argument or behind ``=``.

        Raises:
            Refused: it cannot (``yield``, ``:=``, ``*x``, a bare slice), or a comment ends a line of it.
        """
        if isinstance(node, (ir.Yield, ir.YieldFrom, ir.NamedExpr, ir.Starred, ir.Slice, ir.Await)):
            raise Refused
        text = self.slice(node)
        if isinstance(node, ir.Tuple) and not self.is_own_parenthesised(node):
            return f"({text})"
        return text

    def line_value(self, node: ir.Node) -> str:
        """The text of an expression as it can stand on a line of its own, outside all brackets."""
        text = self.argument(node)
        if self.breaks_outside_brackets(node):
            return text if text.startswith("(") and self.is_own_parenthesised(node) else f"({text})"
        return text

    def atom(self, node: ir.Node) -> str:
        """The text of an expression as it can stand before ``.name`` or as an operand of anything."""
        text = self.argument(node)
        if isinstance(node, ir.Tuple):
            return text
        closed = isinstance(node, _CLOSED) or (
            isinstance(node, ir.Constant) and node.kind in ("none", "bool", "ellipsis")
        )
        if closed and not self.breaks_outside_brackets(node):
            return text
        return f"({text})"

    def operand(self, node: ir.Node) -> str:
        """The text of an expression as an operand of ``+`` or behind a sign; a number needs no parentheses there."""
        is_number = isinstance(node, ir.Constant) and node.kind in ("int", "float")
        return self.argument(node) if is_number else self.atom(node)

    def breaks_outside_brackets(self, node: ir.Node) -> bool:
        """Whether a line of the slice ends outside every bracket of the slice itself."""
        if self.line_end(node.start) >= node.end:
            return False
        depth, at = 0, node.start
        while at < node.end:
            inside = self.string_around(at)
            if inside is not None:
                at = min(inside[1], node.end)
                continue
            char = self.text[at]
            if char == "#":
                at = self.line_end(at)
                continue
            if char in "([{":
                depth += 1
            elif char in ")]}":
                depth -= 1
            elif char in "\r\n" and depth == 0:
                return True
            at += 1
        return False

    # --- the tree --------------------------------------------------------------------------------

    @functools.cached_property
    def _parents(self) -> dict[int, msgspec.Struct]:
        parents: dict[int, msgspec.Struct] = {}
        stack: list[msgspec.Struct] = [self.module]
        while stack:
            current = stack.pop()
            for child in children(current):
                parents[id(child)] = current
                stack.append(child)
        return parents

    def parent(self, node: msgspec.Struct) -> msgspec.Struct:
        """What stands directly above.

        Raises:
            Refused: the node is not of this file's tree.
        """
        found = self._parents.get(id(node))
        if found is None:
            raise Refused
        return found

    def ancestors(self, node: msgspec.Struct) -> Iterator[msgspec.Struct]:
        """Everything above, innermost first, the module last."""
        while node is not self.module:
            node = self.parent(node)
            yield node

    def statement(self, node: msgspec.Struct) -> ir.Stmt:
        """The innermost statement that ``node`` belongs to (or is); a lambda's body is none."""
        candidate: msgspec.Struct = node
        for above in self.ancestors(node):
            if isinstance(candidate, STATEMENTS) and not (isinstance(above, ir.Function) and above.is_lambda):
                return typing.cast("ir.Stmt", candidate)
            candidate = above
        raise Refused

    def place(self, statement: ir.Stmt) -> Place:
        owner = self.parent(statement)
        for name in owner.__struct_fields__:
            block = getattr(owner, name)
            if type(block) is list and block and isinstance(block[0], STATEMENTS):
                index = bisect_left(block, statement.start, key=_start_of)
                if index < len(block) and block[index] is statement:
                    return Place(statement, block, index, owner)
        raise Refused

    def functions(self, node: msgspec.Struct) -> list[ir.Function]:
        """The functions around a node, innermost first; decorators, defaults and annotations are outside."""
        found: list[ir.Function] = []
        below: msgspec.Struct = node
        for above in self.ancestors(node):
            if isinstance(above, ir.Function) and not isinstance(below, ir.Parameter) and below is not above.returns:
                found.append(above)
            below = above
        return found

    def enclosing_function(self, node: msgspec.Struct) -> ir.Function:
        """The innermost function around a statement.

        Raises:
            Refused: there is none, or it is a lambda, or its control flow is not that of a plain function.
        """
        around = self.functions(node)
        if not around or around[0].is_lambda or around[0].is_generator or around[0].is_async:
            raise Refused
        return around[0]

    def definition(self, function: ir.Function) -> ir.FunctionDef:
        owner = self.parent(function)
        if not isinstance(owner, ir.FunctionDef):
            raise Refused
        return owner

    def between(self, node: msgspec.Struct, outer: msgspec.Struct) -> list[msgspec.Struct]:
        """The structs strictly between a node and one above it, innermost first."""
        found: list[msgspec.Struct] = []
        for above in self.ancestors(node):
            if above is outer:
                return found
            found.append(above)
        raise Refused

    @functools.cached_property
    def _nodes_by_start(self) -> dict[int, list[ir.Node]]:
        """All nodes by the offset of their first character. A file may have as many findings as nodes."""
        found: dict[int, list[ir.Node]] = {}
        for node in walk(self.module):
            if isinstance(node, ir.Node):
                found.setdefault(node.start, []).append(node)
        return found

    @functools.cached_property
    def _arguments_by_text(self) -> dict[str, list[ir.Argument]]:
        """The arguments that are names, attributes or subscripts, by their text, in the order of the file."""
        found: dict[str, list[ir.Argument]] = {}
        for node in walk(self.module):
            if isinstance(node, ir.Argument) and isinstance(node.value, (ir.Name, ir.Attribute, ir.Subscript)):
                found.setdefault(self.slice(node.value), []).append(node)
        for arguments in found.values():
            arguments.sort(key=_start_of)
        return found

    def nodes_at(self, start: int) -> list[ir.Node]:
        """The nodes that begin at an offset, in no particular order."""
        return self._nodes_by_start.get(start, [])

    def at_span(self, start: int, end: int, kind: type) -> msgspec.Struct | None:
        """The node of that class at exactly those offsets."""
        return next((n for n in self.nodes_at(start) if isinstance(n, kind) and n.end == end), None)

    def arguments_between(self, start: int, end: int, text: str) -> Iterator[ir.Argument]:
        """The arguments between two offsets that are written as ``text``: a name, an attribute or a subscript."""
        arguments = self._arguments_by_text.get(text, [])
        for index in range(bisect_left(arguments, start, key=_start_of), len(arguments)):
            if arguments[index].start >= end:
                return
            if arguments[index].end <= end:
                yield arguments[index]

    # --- edits -----------------------------------------------------------------------------------

    def insert_before(self, statement: ir.Stmt, lines: list[str]) -> Edit:
        """Put simple statements in front of one, on lines of their own or, in a one-line suite, before a ``;``.

        Raises:
            Refused: nothing can stand there (``elif``, a decorated definition).
        """
        if isinstance(statement, ir.If) and statement.is_elif:
            raise Refused
        if isinstance(statement, (ir.FunctionDef, ir.ClassDef)) and statement.decorators:
            raise Refused
        if not self.starts_line(statement):
            return Edit(statement.start, statement.start, "".join(line + "; " for line in lines))
        indent = self.indentation(statement)
        return Edit(statement.start, statement.start, "".join(line + self.newline + indent for line in lines))

    def delete_statement(self, statement: ir.Stmt) -> Edit:
        """Take a simple statement away; a comment on its line stays, an empty suite gets ``pass``."""
        place = self.place(statement)
        if len(place.block) == 1 and not isinstance(place.owner, ir.Module):
            return Edit(statement.start, statement.end, "pass")
        if not self.starts_line(statement) or not self.ends_line(statement):
            return Edit(statement.start, statement.end, "pass")
        end = self.line_end(statement.end)
        rest = self.text[statement.end : end]
        if rest.strip():
            return Edit(statement.start, statement.end + len(rest) - len(rest.lstrip()), "")
        return Edit(self.line_start(statement.start), self.next_line(statement.end), "")

    def replace_statement(
        self, statement: ir.Stmt, lines: list[str], kept: Iterable[tuple[int, int]], end: int | None = None
    ) -> Edit:
        """Replace a statement that starts its line by ``lines``, which leave out ``inner_indentation``. end: of the text that
        is replaced, if it is not that of the statement.

        Comments that would be lost are carried: a single one that is behind code goes behind the first line if that is the
        only one, all others above it. An ``elif`` becomes an ``else:`` with the lines below it.

        Raises:
            Refused: the statement does not start its line.
        """
        end = statement.end if end is None else end
        lost = self.lost_comments(statement.start, end, kept)
        tail = self.text[end : self.line_end(end)].strip()
        head, *rest = lines
        above: list[str] = []
        if len(lost) == 1 and self._is_behind_code(lost[0]) and not rest and not tail and self.newline not in head:
            head = f"{head}  {lost[0].text}"
        else:
            above = [c.text for c in lost]
        out = [*above, head, *rest]
        inner = self.inner_indentation(statement)
        text = self.join(out, inner)
        if isinstance(statement, ir.If) and statement.is_elif:
            text = f"else:{self.newline}{inner}{text}"
        return Edit(statement.start, end, text)

    def _is_behind_code(self, comment: Comment) -> bool:
        return bool(self.text[self.line_start(comment.start) : comment.start].strip())

    def block_text(self, block: list[ir.Stmt], indent: str, span: tuple[int, int]) -> str:
        """The statements of a block as lines behind ``indent``, the first one's indentation included.

        span: what moves, the comments around the block included.

        Raises:
            Refused: they cannot be moved (a string that spans lines, a suite on its header's line with more in it).
        """
        first, last = block[0], block[-1]
        if isinstance(first, (ir.FunctionDef, ir.ClassDef)) and first.decorators:
            raise Refused
        if not self.starts_line(first):
            if any(isinstance(s, (ir.FunctionDef, ir.ClassDef, ir.If, ir.For, ir.While)) for s in block):
                raise Refused
            return self.newline.join(indent + self.slice(s) for s in block)
        old = self.indentation(first)
        text = self.text[self.line_start(span[0]) : span[1]].rstrip(" \t")
        if old == indent:
            return text
        if self.has_multiline_string(first.start, last.end):
            raise Refused
        return "".join(self._moved_line(line, old, indent) for line in text.splitlines(keepends=True))

    @staticmethod
    def _moved_line(line: str, old: str, new: str) -> str:
        """A line that was indented at least by ``old``, or a comment, behind ``new``."""
        if line.startswith(old) and line.strip():
            return new + line[len(old) :]
        return new + line.lstrip() if line.lstrip().startswith("#") else line
