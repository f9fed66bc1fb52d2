"""Suppression comments: which findings they silence, and how to add and remove them.

Vocabulary
----------
directive   one suppression comment. A *line* directive (``# noqa``, ``# noqa: JAX101,JAX203``) counts for the whole
            logical line it stands on; a *file* directive (``# jaxlint: noqa``, alone on its line; flake8's own
            ``# flake8: noqa`` too) for the whole file.
codes       what a directive names, upper-case. No codes: everything. A code silences all codes that begin with it.
blanket     a directive without codes. As in flake8, text behind the colon that is no code makes a blanket one.
words       the text behind the colon of a blanket directive, if it looks like names of rules (``key-reuse``).

Only comments count, never strings that look like one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.syntax.spans import comment_row, comment_start, line_end

_CODES = r"[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*"
_candidate = re.compile(r"#[^\r\n]*?noqa", re.IGNORECASE)
_line_directive = re.compile(rf"#\s*(noqa)\b(?:\s*:\s*({_CODES})(?![\w-]))?", re.IGNORECASE)
_file_directive = re.compile(rf"#\s*(?:jaxlint|flake8)\s*:\s*(noqa)\b(?:\s*:\s*({_CODES})(?![\w-]))?", re.IGNORECASE)
_words = re.compile(r"\s*:\s*([a-z][a-z0-9]*(?:-[a-z0-9]+)+(?:[,\s]+[a-z][a-z0-9]*(?:-[a-z0-9]+)+)*)", re.IGNORECASE)
_reason = re.compile(r"\A(?:-+|\u2013|\u2014|:|\().*?(?=\s#\s|\Z)")
_separator = re.compile(r"[,\s]+")


class Directive(msgspec.Struct, frozen=True):
    """One suppression comment. ``start`` is at its ``#``, ``end`` behind its last code (or ``noqa``).

    codes_start: where the first code begins; ``end`` if there are none. words: see the vocabulary.
    """

    start: int
    end: int
    codes_start: int
    codes: tuple[str, ...]
    whole_file: bool
    words: tuple[str, ...] = ()

    def names(self, code: str) -> bool:
        """Whether a finding with this code is silenced, where the directive counts at all."""
        return not self.codes or code.upper().startswith(self.codes)


class Noqa:
    """All directives of one file. Immutable; the caller notes which directives it was answered with."""

    __slots__ = ("_by_line", "_module", "directives")

    def __init__(self, found: tuple[Directive, ...], module: ir.Module) -> None:
        self.directives = found
        self._module = module
        self._by_line: dict[int, list[Directive]] = {}
        for directive in found:
            if not directive.whole_file:
                self._by_line.setdefault(_line_key(module, directive.start), []).append(directive)

    def suppressing(self, code: str, start: int) -> Directive | None:
        """The directive that silences a finding of this code at this offset; those of its line go first."""
        if not self.directives:
            return None
        for directive in self._by_line.get(_line_key(self._module, start), ()):
            if directive.names(code):
                return directive
        for directive in self.directives:
            if directive.whole_file and directive.names(code):
                return directive
        return None


def directives(text: str, module: ir.Module) -> Noqa:
    """The suppression comments of a file."""
    return Noqa(tuple(_directives(text, module)), module)


def _directives(text: str, module: ir.Module) -> Iterator[Directive]:
    seen = -1
    for candidate in _candidate.finditer(text):
        comment = comment_start(text, module, candidate.start())
        if comment is None or comment == seen:
            continue
        seen = comment
        end = line_end(text, module, comment)
        alone = not text[module.line_starts[bisect_right(module.line_starts, comment) - 1] : comment].strip()
        match = _file_directive.search(text, comment, end) if alone else None
        whole_file = match is not None
        if match is None:
            match = _line_directive.search(text, comment, end)
        if match is not None:
            codes = tuple(code.upper() for code in _separator.split(match[2])) if match[2] else ()
            codes_start = match.start(2) if match[2] else match.end(1)
            behind = None if codes else _words.match(text, match.end(1), end)
            words = tuple(_separator.split(behind[1].lower())) if behind is not None else ()
            stop = match.end(2) if match[2] else match.end(1)
            yield Directive(match.start(), stop, codes_start, codes, whole_file, words)


def _line_key(module: ir.Module, offset: int) -> int:
    """The start of the logical line that holds an offset, or of its physical line."""
    index = bisect_right(module.logical_lines, offset, key=lambda line: line[0]) - 1
    if index >= 0 and offset <= module.logical_lines[index][1]:
        return module.logical_lines[index][0]
    return module.line_starts[bisect_right(module.line_starts, offset) - 1]


def noqa_row(text: str, module: ir.Module, start: int) -> int:
    """The 1-based row at whose end a ``# noqa`` silences a finding at ``start`` in flake8, ruff-lsp and here."""
    return comment_row(text, module, start)


def insert_noqa(
    text: str, codes_by_row: Mapping[int, Iterable[str]], module: ir.Module | None = None
) -> tuple[Edit, ...]:
    """Edits that silence these codes on these 1-based rows; ``module`` saves lowering the text again.

    Codes join a directive that the row already has; a blanket one needs none. Otherwise a comment is put at the end
    of the row, or of the multi-line string or backslash continuation that begins on it.
    """
    if module is None:
        from flake8_jax.syntax.lower import lower  # imports LibCST, which is not needed where the module is there

        module = lower(text)
    by_row: dict[int, dict[str, None]] = {}
    for row, codes in codes_by_row.items():
        target = comment_row(text, module, module.line_starts[row - 1])
        by_row.setdefault(target, {}).update(dict.fromkeys(codes))
    existing = {
        bisect_right(module.line_starts, directive.start): directive
        for directive in _directives(text, module)
        if not directive.whole_file
    }
    edits: list[Edit] = []
    for row, wanted in sorted(by_row.items()):
        directive = existing.get(row)
        if directive is None:
            edits.append(_new_comment(text, module, row, sorted(wanted)))
        elif directive.codes:
            missing = sorted(code for code in wanted if not directive.names(code))
            if missing:
                edits.append(Edit(directive.end, directive.end, "".join(f", {code}" for code in missing)))
    return tuple(edits)


def _new_comment(text: str, module: ir.Module, row: int, codes: list[str]) -> Edit:
    start = module.line_starts[row - 1]
    end = line_end(text, module, start)
    kept = start + len(text[start:end].rstrip())
    return Edit(kept, end, f"  # noqa: {', '.join(codes)}")


def remove_codes(text: str, module: ir.Module, directive: Directive, unused: Iterable[str]) -> Edit:
    """The edit that takes unused codes out of a directive; one that would be left without codes goes altogether, with its
    reason: the text behind a dash, a colon or an opening parenthesis."""
    dropped = {code.upper() for code in unused}
    kept = [code for code in directive.codes if code not in dropped]
    if kept:
        return Edit(directive.codes_start, directive.end, ", ".join(kept))
    line_start = module.line_starts[bisect_right(module.line_starts, directive.start) - 1]
    end = line_end(text, module, directive.start)
    before = text[line_start : directive.start].rstrip()
    rest = _reason.sub("", text[directive.end : end].lstrip(" \t")).lstrip(" \t")
    if rest and not rest.startswith("#"):
        rest = f"# {rest}"  # an explanation behind the codes stays a comment
    if not before and not rest:
        row = bisect_right(module.line_starts, directive.start)
        end = module.line_starts[row] if row < len(module.line_starts) else end
        return Edit(line_start, end, "")
    if not rest:
        return Edit(line_start + len(before), end, "")
    return Edit(directive.start, end, rest)
