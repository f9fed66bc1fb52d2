"""Calls that a fix writes, laid out on one line where they fit, else one argument a line.

Vocabulary
----------
piece       an expression to write: a text, or a call of pieces (``Laid``).
kept        a slice of the file that is written again. Its further lines move with its first one.
"""

from __future__ import annotations

from dataclasses import dataclass

from flake8_jax.core import ir
from flake8_jax.fixers._source import FixSource, Refused


@dataclass(frozen=True, slots=True)
class Laid:
    """A call to write. arguments: the keyword, or nothing, and what stands behind it. comment: behind its first line."""

    function: str
    arguments: tuple[tuple[str, Piece], ...]
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """A slice of the file that is written again. indentation: that of the line on which it starts."""

    text: str
    indentation: str


Piece = str | Laid | Kept


def kept(source: FixSource, node: ir.Expr) -> Kept:
    """An expression of the file as a call argument.

    Raises:
        Refused: it cannot stand there, or holds a string whose lines would move.
    """
    if source.has_multiline_string(node.start, node.end):
        raise Refused
    line = source.text[source.line_start(node.start) : node.start]
    return Kept(source.argument(node), line[: len(line) - len(line.lstrip(" \t"))])


def laid_out(source: FixSource, piece: Piece, indentation: str, before: int) -> str:
    """The text of a piece. ``indentation``: of the line that it starts on; ``before``: how many characters of this line
    stand in front of it."""
    if isinstance(piece, str):
        return piece
    if isinstance(piece, Kept):
        return _moved(piece, indentation, source.newline)
    flat = _flat(piece)
    if flat is not None and before + len(flat) <= source.style.line_length:
        return flat
    inner = indentation + source.indent_unit
    lines = [f"{piece.function}(" + (f"  {piece.comment}" if piece.comment else "")]
    for keyword, argument in piece.arguments:
        start = inner + (f"{keyword}=" if keyword else "")
        lines.append(f"{start}{laid_out(source, argument, inner, len(start) + 1)},")
    return source.newline.join([*lines, f"{indentation})"])


def _flat(piece: Piece) -> str | None:
    """A piece on one line; None where it needs several."""
    if not isinstance(piece, Laid):
        text = piece if isinstance(piece, str) else piece.text
        return None if "\n" in text or "\r" in text else text
    if piece.comment:
        return None
    parts: list[str] = []
    for keyword, argument in piece.arguments:
        flat = _flat(argument)
        if flat is None:
            return None
        parts.append(f"{keyword}={flat}" if keyword else flat)
    return f"{piece.function}({', '.join(parts)})"


def _moved(piece: Kept, indentation: str, newline: str) -> str:
    """A slice at its new place: lines that were indented at least as its first one keep their distance to that."""
    first, *rest = piece.text.splitlines()
    old = piece.indentation
    lines = [indentation + line[len(old) :] if line.startswith(old) and line.strip() else line for line in rest]
    return newline.join([first, *lines])
