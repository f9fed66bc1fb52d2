"""Edits of a text, applied. Offsets are code points, end exclusive.

Limitations: an edit leaves blanks and newlines next to it as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

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
