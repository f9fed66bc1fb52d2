"""Output in pages: a result is bounded, and the rest can be asked for until newer results take its place."""

from __future__ import annotations

from collections import OrderedDict

import msgspec

PAGE = 20_000
"""Characters of a page, at most."""
_KEPT = 16


class Page(msgspec.Struct, frozen=True):
    """A part of a text. next_offset: where the rest begins, None at the end. length: of the whole text, in characters."""

    text: str
    result: str
    offset: int
    next_offset: int | None
    length: int


class UnknownResult(ValueError):
    """A result that is not kept, or an offset that is not in it; the message says which."""


class Pages:
    """Texts that are kept, the oldest first."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._made = 0

    def keep(self, text: str) -> Page:
        """Keep a text and return its first page."""
        self._made += 1
        name = f"r{self._made}"
        self._texts[name] = text
        while len(self._texts) > _KEPT:
            self._texts.popitem(last=False)
        return self.page(name, 0)

    def page(self, result: str, offset: int) -> Page:
        """Return the page at an offset; it ends with a line where it can. Raises UnknownResult."""
        text = self._texts.get(result)
        if text is None:
            kept = ", ".join(self._texts) or "none"
            raise UnknownResult(f"there is no result `{result}` any more (kept are: {kept}); call the tool again")
        if not 0 <= offset <= len(text):
            raise UnknownResult(f"offset {offset} is not in result `{result}`, which has {len(text)} characters")
        end = min(len(text), offset + PAGE)
        if end < len(text):
            line = text.rfind("\n", offset, end) + 1
            end = line if line > offset else end
        return Page(text[offset:end], result, offset, end if end < len(text) else None, len(text))
