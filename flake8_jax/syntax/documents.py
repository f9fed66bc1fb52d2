"""Texts that may break into lines, and the printer that decides where they do.

Vocabulary
----------
document    a tree of texts, lines and groups.
line        a place where the text may break; flat, it is a space or nothing.
group       the lines of a group all break, or none does. It breaks where it does not fit, or where it is *expanded*.
flat        how a group is printed that does not break.
overflow    text beyond the width. It is accepted inside a *loose* document only.
loose       a document that may break although the group around it is flat, such as the arguments in ``x = f(…)``. It
            counts only while the group that it names is flat.

The algorithm is that of Wadler's and Oppen's printers, with the additions that the formatter of ruff has.

Limitations: the width of a text is its number of code points.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Union

FLAT, BROKEN = False, True


@dataclass(frozen=True, slots=True)
class Line:
    """Flat, this is ``flat``. named: the group that must be broken as well for the line to break."""

    flat: str = ""
    named: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """expanded: it breaks in any case. named: what other documents call it by; 0 for no name. only_in: the named group
    outside of which, broken, this is no group of its own."""

    body: Document
    expanded: bool = False
    name: int = 0
    only_in: int = 0


@dataclass(frozen=True, slots=True)
class Indent:
    """The lines of the body are one step deeper. only_in: if this named group is broken, where one is named."""

    body: Document
    only_in: int = 0


@dataclass(frozen=True, slots=True)
class IfBroken:
    """A text that only a broken group has."""

    text: str


@dataclass(frozen=True, slots=True)
class Loose:
    """A body that may break while the group ``named`` is flat."""

    body: Document
    named: int


@dataclass(frozen=True, slots=True)
class Choice:
    """The body on the line if that fits; else in parentheses on a line of its own if it fits there; else on the line."""

    body: str


Document = Union[str, Line, Group, Indent, IfBroken, Loose, Choice, "tuple[Document, ...]"]


@dataclass(frozen=True, slots=True)
class _Item:
    """A document on the stack, with the mode of its group and its indentation. measured: it is loose text, so overflow
    counts no more."""

    body: Document
    broken: bool
    depth: int
    loose: bool = False


_Stack = Union["tuple[_Item, _Stack]", None]


@dataclass
class _Printer:
    width: int
    unit: str
    indent: str
    column: int
    out: list[str] = field(default_factory=list)
    broken: dict[int, bool] = field(default_factory=dict)

    def print(self, body: Document) -> str:
        stack: _Stack = (_Item(body, BROKEN, 0), None)
        while stack is not None:
            item, stack = stack
            for pushed in reversed(list(self._step(item, stack))):
                stack = (pushed, stack)
        return "".join(self.out)

    def _step(self, item: _Item, rest: _Stack) -> Iterator[_Item]:
        """Print an item, or say what it consists of."""
        body = item.body
        if isinstance(body, Group) and self._is_group(body):
            yield _Item(body.body, self._breaks(body, item, rest), item.depth)
        elif isinstance(body, Line) and item.broken and self.broken.get(body.named, True):
            self.out.append("\n" + self._margin(item.depth))
            self.column = len(self._margin(item.depth))
        elif isinstance(body, Choice):
            yield from self._chosen(body, item, rest)
        else:
            text, parts = self._parts(item)
            self.out.append(text)
            self.column += len(text)
            yield from parts

    def _margin(self, depth: int) -> str:
        return self.indent + self.unit * depth

    def _is_group(self, body: Group) -> bool:
        return not body.only_in or self.broken[body.only_in]

    def _parts(self, item: _Item) -> tuple[str, list[_Item]]:
        """The text of an item that prints as it stands, and its parts."""
        body = item.body
        if isinstance(body, str):
            return body, []
        if isinstance(body, tuple):
            return "", [_Item(part, item.broken, item.depth, item.loose) for part in body]
        if isinstance(body, Line):
            return body.flat, []
        if isinstance(body, IfBroken):
            return body.text if item.broken else "", []
        if isinstance(body, Indent):
            deeper = not body.only_in or self.broken[body.only_in]
            return "", [_Item(body.body, item.broken, item.depth + deeper, item.loose)]
        if isinstance(body, Loose):
            loose = not self.broken[body.named]
            return "", [_Item(body.body, item.broken or loose, item.depth, item.loose or loose)]
        assert isinstance(body, Group)
        return "", [_Item(body.body, item.broken, item.depth, item.loose)]

    def _breaks(self, group: Group, item: _Item, rest: _Stack) -> bool:
        """Whether a group breaks here; recorded under its name."""
        if not item.broken:
            breaks = False
        elif group.expanded:
            breaks = True
        else:
            if group.name:
                self.broken[group.name] = FLAT
            breaks = not self._fits(_Item(group.body, FLAT, item.depth), rest)
        if group.name:
            self.broken[group.name] = breaks
        return breaks

    def _chosen(self, body: Choice, item: _Item, rest: _Stack) -> Iterator[_Item]:
        margin = self._margin(item.depth + 1)
        if self._fits(_Item(body.body, FLAT, item.depth), rest) or len(margin) + len(body.body) > self.width:
            yield _Item(body.body, FLAT, item.depth)
        else:
            self.out.append(f"(\n{margin}{body.body}\n{self._margin(item.depth)})")
            self.column = len(self._margin(item.depth)) + 1

    def _fits(self, first: _Item, rest: _Stack) -> bool:
        """Whether an item, and what follows it up to the next line, stays within the width."""
        column, broken = self.column, dict(self.broken)
        stack: _Stack = (first, rest)
        try:
            while stack is not None:
                item, stack = stack
                body = item.body
                if isinstance(body, Line) and item.broken and self.broken.get(body.named, True):
                    if not item.loose:
                        return True
                    column = len(self._margin(item.depth))
                    continue
                if isinstance(body, Group) and self._is_group(body):
                    if body.expanded and not item.broken:
                        return False
                    if body.name:
                        self.broken[body.name] = item.broken
                if isinstance(body, Choice):
                    body = body.body
                    item = _Item(body, item.broken, item.depth, item.loose)
                text, parts = self._parts(item)
                column += len(text)
                if column > self.width and text and not item.loose:
                    return False
                for part in reversed(parts):
                    stack = (part, stack)
            return True
        finally:
            self.broken = broken


def printed(body: Document, *, width: int, indent: str, unit: str, column: int | None = None) -> str:
    """The document as text that starts behind ``indent``. width: columns of a line. unit: one step of indentation."""
    return _Printer(width, unit, indent, len(indent) if column is None else column).print(body)
