"""A program with fixes, and what spoils them.

spoil   what is spoiled, a part of the fixed text, and what stands in its place.
"""

from __future__ import annotations

from typing import NamedTuple


class Spoil(NamedTuple):
    """``old`` occurs once in the fixed text."""

    what: str
    old: str
    new: str


class Spoiled(NamedTuple):
    """A program, by the rule or the kind of fix that it is about. is_decided: ``prove`` can tell what the
    results should be; is_preview: the rule is one."""

    name: str
    text: str
    spoils: tuple[Spoil, ...]
    is_decided: bool = True
    is_preview: bool = False
