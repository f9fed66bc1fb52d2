"""Long chains of operators, attributes, calls and subscripts, and brackets in brackets: LibCST cannot read them in time.

LibCST's parser copies all that it has read of ``a + b + c …`` at every further link, so its time is quadratic in the
number of links. A long chain is therefore replaced by a name before the file is parsed. The links are parsed on their own,
``name + b``, ``name + c``, in one more text, and put together again when the tree is lowered. Its time is quadratic in the
depth of brackets as well, so an expression with deep brackets in it is replaced in the same way, at every so many levels.
Patterns of ``case`` it reads twice at every level of nesting, so their depth is bounded.

Vocabulary
----------
chain      a first operand and links that all lean to the left: ``a + b - c`` or ``x.at[0].set(1)``. One that stands for
           deep brackets may have few links, or none.
height     so many brackets a pair of brackets has in it, one in the other, itself included.
link       what is added to what stands before it: ``- c``, ``.at``, ``[0]``, ``(1)``.
cut        an end of the first operand or of a link.
stand-in   the name that stands for a chain in the text that is parsed.
level      how tightly operators bind; a chain has operators of one level, or none.

Only logical lines with very many operators or deep brackets are looked at. Where the text is not understood there is no
chain, and a text that cannot be parsed with stand-ins is parsed without.

Limitations: chains inside f-strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

MIN_LINKS = 100
"""LibCST reads shorter chains fast enough."""
TALL = 20
"""At every so many levels of brackets a name stands for what is in them; LibCST reads fewer fast enough."""
MAX_NESTED = 500
"""So many ``-``, ``not``, ``**``, ``lambda`` or ``else`` in a row are deeper than the lowering can recurse."""
MAX_BRACKETS = 200
"""CPython refuses more brackets in brackets."""
MAX_PATTERN_WORK = 1 << 18
"""So often LibCST may enter a bracket in the patterns of a file; it does so twice as often at every level."""

_LONG_STRING = r"""\"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"{3}|'{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3}"""
_SHORT_STRING = r"""\"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*\"|'[^'\\\r\n]*(?:\\.[^'\\\r\n]*)*'"""
_STRING = f"(?:{_LONG_STRING}|{_SHORT_STRING})"
_structure = re.compile(rf"{_STRING}|#[^\r\n]*|\\(?:\r\n|[\r\n])|[()\[\]{{}}]|\r\n|[\r\n]", re.DOTALL)
_token = re.compile(
    rf"""(?P<trivia>(?:[ \t\f]+|\\(?:\r\n|[\r\n])|\#[^\r\n]*|[\r\n])+)
    |(?P<string>[A-Za-z]{{0,3}}{_STRING})
    |(?P<number>0[xX][\da-fA-F_]+|\.?\d(?:[eE][+-]?\d|[\w.])*)
    |(?P<name>[^\W\d]\w*)
    |(?P<mark>\*\*=?|//=?|<<=?|>>=?|->|:=|\.\.\.|[-+*/%@&|^=<>!]=|[-+*/%@&|^~<>=.,:;!()\[\]{{}}])""",
    re.DOTALL | re.VERBOSE,
)
_case = re.compile(r"[ \t\f]*case\b(?![ \t\f]*[=.,:)\]}])")
_other_grammar = re.compile(r"[ \t\f]*(?:case|import|from|global|nonlocal)\b")
_MARKS = "+-*/%@&|^.(["
_LEVELS = {"|": 0, "^": 1, "&": 2, "<<": 3, ">>": 3, "+": 4, "-": 4, "*": 5, "/": 5, "//": 5, "%": 5, "@": 5, "**": 6}
_POWER = 6
_KEYWORDS = frozenset(
    [
        "and",
        "or",
        "not",
        "if",
        "else",
        "for",
        "in",
        "is",
        "lambda",
        "async",
        "return",
        "yield",
        "from",
        "del",
        "assert",
        "raise",
        "import",
        "as",
        "with",
        "while",
        "elif",
        "except",
        "global",
        "nonlocal",
        "class",
        "def",
        "try",
        "finally",
        "pass",
        "break",
        "continue",
    ]
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class NestingError(Exception):
    """The text is nested deeper than a tool can follow at this offset."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


@dataclass(frozen=True)
class Chain:
    """``cuts``: where the first operand and each link end; the last is the end of the chain."""

    start: int
    cuts: tuple[int, ...]

    @property
    def end(self) -> int:
        return self.cuts[-1]


@dataclass
class Outline:
    """What brackets and line breaks alone show of a text. lines: logical lines that may have long chains. brackets: the
    offset of the first bracket that has too many others around it, or -1."""

    lines: list[tuple[int, int]] = field(default_factory=list)
    brackets: int = -1


def outline(text: str) -> Outline:
    """Look over a text. Raises NestingError where patterns are nested too deeply for LibCST."""
    found = Outline()
    depth, start, work, deepest = 0, 0, 0, 0
    levels: list[int] = []
    for match in _structure.finditer(text):
        first = match[0][0]
        if first in "\r\n":
            if depth == 0:
                end = match.start()
                many = end - start > 2 * MIN_LINKS and sum(text.count(m, start, end) for m in _MARKS) >= MIN_LINKS
                if many or deepest >= 2 * TALL:
                    found.lines.append((start, end))
                start, levels, deepest = match.end(), [], 0
        elif first in "([{":
            depth += 1
            deepest = max(deepest, depth)
            if depth > MAX_BRACKETS and found.brackets < 0:
                found.brackets = match.start()
            if depth == 1:
                levels = [0] if _case.match(text, start) else []
            if levels:
                levels.append(levels[-1] + (2 if first == "{" else 1))
                work += 1 << min(levels[-1], 64)
                if work > MAX_PATTERN_WORK:
                    raise NestingError(
                        "patterns are nested too deeply; bind parts to names and match these", match.start()
                    )
        elif first in ")]}":
            depth = max(depth - 1, 0)
            if len(levels) > 1:
                levels.pop()
    if len(text) - start > 2 * MIN_LINKS or deepest >= 2 * TALL:
        found.lines.append((start, len(text)))
    return found


def chains_in(text: str, lines: list[tuple[int, int]], least: int = MIN_LINKS, tall: int = TALL) -> list[Chain]:
    """The chains of at least so many links in these logical lines, the outer before the inner; and those with brackets of
    such a height, or a multiple of it.

    Raises NestingError where operators that lean to the right are too many in a row.
    """
    found: list[Chain] = []
    for start, end in lines:
        if _other_grammar.match(text, start):
            continue
        items = _items(text, start, end)
        if items is not None:
            _Line(least, tall, found).level(items)
    return sorted(found, key=lambda chain: (chain.start, -chain.end))


# --- tokens ----------------------------------------------------------------------------------------


@dataclass
class _Item:
    """A token, or a pair of brackets with all that is in them. height: 0 of a token."""

    kind: str
    text: str
    start: int
    end: int
    items: list[_Item] = field(default_factory=list)
    height: int = 0


def _items(text: str, start: int, end: int) -> list[_Item] | None:
    """The tokens of a logical line, brackets paired; None where they are not understood."""
    position = start
    top: list[_Item] = []
    open_groups: list[_Item] = []
    while position < end:
        match = _token.match(text, position, end)
        if match is None:
            return None
        kind, word = match.lastgroup or "", match[0]
        position = match.end()
        if kind == "trivia":
            continue
        into = open_groups[-1].items if open_groups else top
        if word in _CLOSING:
            group = _Item("group", word, match.start(), position)
            into.append(group)
            open_groups.append(group)
        elif kind == "mark" and word in ")]}":
            if not open_groups or _CLOSING[open_groups[-1].text] != word:
                return None
            closed = open_groups.pop()
            closed.end = position
            closed.height = 1 + max((item.height for item in closed.items), default=0)
        else:
            into.append(_Item(kind, word, match.start(), position))
    return None if open_groups else top


# --- chains ----------------------------------------------------------------------------------------


@dataclass
class _Operand:
    """start: with what stands before it (``-``, ``await``). atom: the offsets of what its trailers follow. cuts: where each
    of these ends. heights: of the brackets that it consists of."""

    start: int
    atom: tuple[int, int]
    cuts: list[int] = field(default_factory=list)
    heights: list[int] = field(default_factory=list)

    @property
    def end(self) -> int:
        return self.cuts[-1] if self.cuts else self.atom[1]


class _Line:
    """The walk through one logical line."""

    def __init__(self, least: int, tall: int, found: list[Chain]) -> None:
        self.least = least
        self.tall = tall
        self.found = found

    def level(self, items: list[_Item]) -> None:
        """What stands between two brackets: expressions, and what separates them."""
        self._check_nesting(items)
        position = 0
        while position < len(items):
            position = self._expression(items, position)
        for item in items:
            if item.items:
                self.level(item.items)

    def _check_nesting(self, items: list[_Item]) -> None:
        """Conditional expressions and lambdas in the last part of one another, ``not not …``."""
        counts = dict.fromkeys(("else", "lambda", "not"), 0)
        in_parameters = False
        for item in items:
            word = item.text if item.kind != "string" else ""
            if word in counts and item.kind == "name":
                counts[word] += 1
                if counts[word] > MAX_NESTED:
                    raise NestingError("the code is nested too deeply", item.start)
            in_parameters = word == "lambda" or (in_parameters and word != ":")
            if (word == "," and not in_parameters) or word in (";", "=", "and", "or"):
                counts = dict.fromkeys(counts, 0)

    def _expression(self, items: list[_Item], position: int) -> int:
        """One arithmetic expression from here on, or one item that is none; the position after it."""
        if items[position].kind == "name" and items[position].text in ("def", "class"):
            position += 2
            while position < len(items) and items[position].kind == "group":
                position += 1
            return position
        operands: list[_Operand] = []
        levels: list[int] = []
        while True:
            operand, after = _operand(items, position)
            if operand is None:
                break
            operands.append(operand)
            position = after
            if position >= len(items) or items[position].kind != "mark" or items[position].text not in _LEVELS:
                break
            levels.append(_LEVELS[items[position].text])
            position += 1
        if not operands:
            return position + 1
        self._split(operands, levels[: len(operands) - 1], 0)
        for operand in operands:
            if len(operand.cuts) < self.least and any(height % self.tall == 0 for height in operand.heights):
                self.found.append(Chain(operand.atom[0], (operand.atom[1], *operand.cuts)))
        return position

    def _split(self, operands: list[_Operand], levels: list[int], level: int) -> None:
        """Take a sum of products apart: the sum is a chain, and so may be each product."""
        if not levels:
            self._add(operands[0].atom[0], [operands[0].atom[1], *operands[0].cuts])
            return
        if len(levels) < self.least and not any(len(operand.cuts) >= self.least for operand in operands):
            return
        if level == _POWER:
            if len(levels) > MAX_NESTED:
                raise NestingError("the code is nested too deeply", operands[MAX_NESTED].start)
            for operand in operands:
                self._split([operand], [], level)
            return
        bounds = [-1, *[i for i, found in enumerate(levels) if found == level], len(levels)]
        pieces = [(first + 1, last + 1) for first, last in pairwise(bounds)]
        self._add(operands[0].start, [operands[last - 1].end for _first, last in pieces])
        for first, last in pieces:
            self._split(operands[first:last], levels[first : last - 1], level + 1)

    def _add(self, start: int, cuts: list[int]) -> None:
        if len(cuts) > self.least:
            self.found.append(Chain(start, tuple(cuts)))


def _operand(items: list[_Item], position: int) -> tuple[_Operand | None, int]:
    """The operand that begins here, and the position after it; None where something else does."""
    first = position
    while (
        position < len(items) and items[position].text in ("-", "+", "~", "await") and items[position].kind != "string"
    ):
        position += 1
        if position - first > MAX_NESTED:
            raise NestingError("the code is nested too deeply", items[position - 1].start)
    if position >= len(items) or not _is_atom(items[position]):
        return None, position
    atom = items[position]
    end, position = atom.end, position + 1
    while atom.kind == "string" and position < len(items) and items[position].kind == "string":
        end, position = items[position].end, position + 1
    operand = _Operand(items[first].start, (atom.start, end))
    if atom.kind == "group":
        operand.heights.append(atom.height)
    while position < len(items):
        item = items[position]
        if item.kind == "group" and item.text in "([":
            operand.cuts.append(item.end)
            operand.heights.append(item.height)
            position += 1
        elif item.text == "." and position + 1 < len(items) and items[position + 1].kind == "name":
            operand.cuts.append(items[position + 1].end)
            position += 2
        else:
            break
    return operand, position


def _is_atom(item: _Item) -> bool:
    if item.kind == "name":
        return item.text not in _KEYWORDS
    return item.kind in ("string", "number", "group") or item.text == "..."


# --- texts with stand-ins --------------------------------------------------------------------------


_TOGETHER = 200
"""So many pieces are parsed at once: LibCST needs more than twice as long for all of a very long chain."""


def _tuple_text(pieces: list[str]) -> str:
    return "(" + ",\n".join(pieces) + ",)\n"


class StandIns:
    """The texts that are parsed in place of one with long chains."""

    def __init__(self, text: str, chains: list[Chain]) -> None:
        self.text = text
        self.chains = chains
        self._prefix = "_chain"
        while self._prefix in text:
            self._prefix += "_"
        self._next = 0

    def name(self, number: int) -> str:
        """The stand-in of a chain."""
        return f"{self._prefix}{number}"

    def module(self) -> str:
        """The whole text."""
        self._next = 0
        return self._replaced(0, len(self.text))

    def parts(self, number: int) -> Iterator[str]:
        """Tuples of a chain's first operand and its links, each of them as if it followed the stand-in."""
        chain = self.chains[number]
        self._next = number + 1
        pieces = [self._replaced(chain.start, chain.cuts[0])]
        for start, end in pairwise(chain.cuts):
            pieces.append(self.name(number) + self._replaced(start, end))
            if len(pieces) == _TOGETHER:
                yield _tuple_text(pieces)
                pieces = []
        if pieces:
            yield _tuple_text(pieces)

    def _replaced(self, start: int, end: int) -> str:
        return "".join(self._pieces(start, end))

    def _pieces(self, position: int, end: int) -> Iterator[str]:
        """The text of a span, with the outermost chains in it replaced. Spans are asked for from left to right."""
        chains = self.chains
        while self._next < len(chains) and chains[self._next].start < end:
            number = self._next
            yield self.text[position : chains[number].start]
            yield self.name(number)
            position = chains[number].end
            self._next += 1
            while self._next < len(chains) and chains[self._next].start < position:
                self._next += 1
        yield self.text[position:end]
