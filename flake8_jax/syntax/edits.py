"""Edits of a text, applied. Offsets are code points, end exclusive.

Limitations: an edit leaves blanks and newlines next to it as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flake8_jax.core.findings import Edit
from flake8_jax.syntax.errors import OverlapError

_indentation = re.compile(r"[ \t\f]*")


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made; insertions at the same place stay in the order given.

    Raises OverlapError where an edit begins before the one in front of it ends, ValueError where one lies outside.
    """
    parts: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < done:
            raise OverlapError(edit.start, edit.end)
        if not edit.start <= edit.end <= len(text):
            raise ValueError(f"an edit of {edit.start}..{edit.end} in a text of {len(text)} characters")
        parts += (text[done : edit.start], edit.content)
        done = edit.end
    parts.append(text[done:])
    return "".join(parts)


# --- edits on top of edits ---------------------------------------------------------------------------

_Piece = tuple[int, int] | str
"""A span of the old text that is kept, or new text."""


def compose(text: str, first: Sequence[Edit], second: Sequence[Edit]) -> list[Edit]:
    """One set of edits of ``text`` that does what ``first`` and then, on the result, ``second`` do."""
    made: list[Edit] = []
    done, content = 0, ""
    for piece in [*_edited(_edited([(0, len(text))], first), second), (len(text), len(text))]:
        if isinstance(piece, str):
            content += piece
            continue
        if content or piece[0] > done:
            made.append(Edit(done, piece[0], content))
        done, content = piece[1], ""
    return made


def _edited(pieces: Sequence[_Piece], edits: Sequence[Edit]) -> list[_Piece]:
    """The pieces of a text after edits of it."""
    result: list[_Piece] = []
    rest = list(pieces)
    position = 0
    for edit in sorted(edits):
        before, rest = _split(rest, edit.start - position)
        _, rest = _split(rest, edit.end - edit.start)
        result += [*before, edit.content]
        position = edit.end
    return [*result, *rest]


def _split(pieces: Sequence[_Piece], length: int) -> tuple[list[_Piece], list[_Piece]]:
    """The pieces of the first ``length`` characters, and the others."""
    head: list[_Piece] = []
    for at, piece in enumerate(pieces):
        size = len(piece) if isinstance(piece, str) else piece[1] - piece[0]
        if size > length:
            if isinstance(piece, str):
                return [*head, piece[:length]], [piece[length:], *pieces[at + 1 :]]
            middle = piece[0] + length
            return [*head, (piece[0], middle)], [(middle, piece[1]), *pieces[at + 1 :]]
        head.append(piece)
        length -= size
    return head, []
