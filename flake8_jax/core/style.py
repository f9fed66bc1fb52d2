"""How a project lays out its code, as far as a fix has to know it."""

from __future__ import annotations

import msgspec

LINE_LENGTH = 88


class CodeStyle(msgspec.Struct, frozen=True):
    """line_length: columns of a line. is_asked: the project asks for this length. mixed_imports: ``import`` and ``from`` lines
    of a section sort by module alone (``force-sort-within-sections``). single_imports: one name a line
    (``force-single-line``). from_first: ``from`` lines stand above the others (``from-first``). first_party: top-level modules
    of the project itself, as far as its settings name them.
    """

    line_length: int = LINE_LENGTH
    is_asked: bool = False
    mixed_imports: bool = False
    single_imports: bool = False
    from_first: bool = False
    first_party: tuple[str, ...] = ()


DEFAULT_STYLE = CodeStyle()
