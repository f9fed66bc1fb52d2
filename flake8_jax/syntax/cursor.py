"""The state of one lowering: where in the text it is, and which names the code met so far binds.

Vocabulary
----------
cursor      the text with a position. Walking functions expect it on the first character of their node and leave
            it just behind the last.
trivia      blanks, comments, newlines and backslash continuations.
scope       the names that a module, class or function body binds while it is walked. Comprehensions have none of
            their own here: their targets are simply not recorded, and ``:=`` inside binds where Python says.

LibCST's whitespace nodes are not read at all: the tree says which token comes next and the text says where it is,
so every position is the text's own, whatever the tree chose to leave implicit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

from flake8_jax.core import ir
from flake8_jax.syntax.errors import LoweringError

Matcher = Callable[[str, int], Optional["re.Match[str]"]]

TRIVIA = r"[ \t\f]*(?:(?:\\(?:\r\n|[\r\n])|#[^\r\n]*|[\r\n])[ \t\f]*)*"
TRIVIA_CHARACTERS = frozenset(" \t\f\r\n\\#")

_skip_trivia = re.compile(TRIVIA).match


def token(text: str) -> Matcher:
    """A matcher of optional trivia, the token, and optional trivia, which is group 1.

    Words of a two-word operator (``not in``) may have trivia between them.
    """
    words = TRIVIA.join(re.escape(word) for word in text.split())
    return re.compile(f"{TRIVIA}{words}({TRIVIA})").match


class Scope:
    """What one body binds. ``prefix`` comes before the qualified names of what is defined in it. ``loops``: the number of
    loops of this body that the cursor is inside of."""

    __slots__ = ("bound", "globals", "is_generator", "loops", "nonlocals", "prefix")

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.bound: dict[str, None] = {}
        self.globals: dict[str, None] = {}
        self.nonlocals: dict[str, None] = {}
        self.is_generator = False
        self.loops = 0

    def qualname(self, name: str) -> str:
        """The ``__qualname__`` of something called ``name`` defined here."""
        return name if name in self.globals else self.prefix + name

    def own_names(self) -> list[str]:
        """Names bound here that are neither global nor nonlocal, in the order of their first binding."""
        return [name for name in self.bound if name not in self.globals and name not in self.nonlocals]


class Cursor:
    """A text, a position in it, and what has been collected on the way.

    ``chains``: the first operand and the links of each long chain, by its stand-in (see ``chains``).

    ``scope`` is the body being walked. ``globally_bound`` are names that functions declare ``global`` and bind.
    """

    __slots__ = (
        "chains", "globally_bound", "line_break", "logical_lines", "n_functions", "pos", "scope", "text", "walrus_bound"
    )  # fmt: skip

    def __init__(self, text: str, line_break: str, chains: Mapping[str, Sequence[Any]] | None = None) -> None:
        self.text = text
        self.pos = 0
        self.scope = Scope("")
        self.n_functions = 0
        self.line_break = line_break
        self.logical_lines: list[tuple[int, int]] = []
        self.globally_bound: dict[str, None] = {}
        self.walrus_bound: dict[str, None] = {}
        self.chains = chains

    def skip(self) -> int:
        """Move over trivia; the new position."""
        text, pos = self.text, self.pos
        if pos < len(text) and text[pos] in TRIVIA_CHARACTERS:
            match = _skip_trivia(text, pos)
            if match is not None:  # it always matches, if only the empty string
                self.pos = pos = match.end()
        return pos

    def expect(self, matcher: Matcher, node: object) -> None:
        """Move over a token and the trivia on both sides of it."""
        match = matcher(self.text, self.pos)
        if match is None:
            raise LoweringError(type(node).__name__, self.pos)
        self.pos = match.end()

    def expect_last(self, matcher: Matcher, node: object) -> None:
        """Move over trivia and a token; stay right behind the token."""
        match = matcher(self.text, self.pos)
        if match is None:
            raise LoweringError(type(node).__name__, self.pos)
        self.pos = match.start(1)

    def advance(self, length: int) -> int:
        """Move over a token of this many code points and the trivia after it; the new position."""
        self.pos += length
        return self.skip()

    def end_logical_line(self, start: int) -> None:
        """Record the logical line from ``start`` to the end of the current physical line if it spans several."""
        text, pos, line_break = self.text, self.pos, self.line_break
        if text.find(line_break, start, pos) < 0:
            return
        end = text.find(line_break, pos)
        if end < 0:
            end = len(text)
        elif line_break == "\n" and text[end - 1] == "\r" and end - 1 >= pos:
            end -= 1
        self.logical_lines.append((start, end))

    def bind(self, target: ir.Expr) -> None:
        """Record the names that an assignment to ``target`` binds in the current scope."""
        if isinstance(target, ir.Name):
            self.scope.bound[target.id] = None
        elif isinstance(target, (ir.Tuple, ir.List)):
            for element in target.elts:
                self.bind(element)
        elif isinstance(target, ir.Starred):
            self.bind(target.value)
