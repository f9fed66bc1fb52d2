"""Diagnostics as the protocol says them.

A notebook's findings are reported by cell. Evidence becomes related information; a row is all that is known of a step in a
text that is not open.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Sequence

from lsprotocol import types
from pygls import uris

from flake8_jax.core.cells import SUFFIX
from flake8_jax.core.findings import Finding, Step
from flake8_jax.core.report import Diagnostic
from flake8_jax.pipeline.cache import digest
from flake8_jax.pipeline.lowering import read_text
from flake8_jax.server.documents import Buffer
from flake8_jax.server.positions import Encoding, Places

SOURCE = "jaxlint"
PageOf = Callable[[Finding], str]
"""The address of the page of a finding's rule; empty if there is none."""
_LARGEST = 20 << 20
"""Bytes of a file that is read to place its findings."""
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}


def no_page(finding: Finding) -> str:
    return ""


def uri_of(path: str) -> str:
    return uris.from_fs_path(path) or path


class View:
    """Offsets of a buffer as positions: in the buffer itself, or in a cell of it."""

    def __init__(self, buffer: Buffer, encoding: Encoding) -> None:
        self.buffer = buffer
        self.encoding: Encoding = encoding
        cells = buffer.cells
        self.uris = buffer.documents
        self._places = [Places(text, encoding) for text in ((buffer.text,) if cells is None else cells.texts)]

    def location(self, start: int, end: int) -> types.Location | None:
        """Where a stretch of the buffer is; None where it is in no single cell."""
        cells = self.buffer.cells
        if cells is None:
            return types.Location(self.buffer.uri, self._places[0].range(start, end))
        index = cells.cell_of(start, end)
        if index is None:
            return None
        first = cells.starts[index]
        return types.Location(cells.uris[index], self._places[index].range(start - first, end - first))

    def offset(self, uri: str, position: types.Position) -> int:
        """The offset in the buffer of a position in one of its documents."""
        index = self.uris.index(uri)
        start = self.buffer.cells.starts[index] if self.buffer.cells is not None else 0
        return start + self._places[index].offset(position)


def diagnostics_by_uri(
    view: View, said: Sequence[Diagnostic], *, related: bool, page_of: PageOf = no_page
) -> dict[str, list[types.Diagnostic]]:
    """The diagnostics of each document of a buffer; those with none are named too."""
    found: dict[str, list[types.Diagnostic]] = {uri: [] for uri in view.uris}
    for item in said:
        finding = item.finding
        place = view.location(finding.start, max(finding.start, finding.end))
        if place is None:
            place = view.location(finding.start, finding.start)
        if place is not None:
            found[place.uri].append(_diagnostic(item, place.range, view if related else None, page_of))
    return found


def placed_diagnostics(
    path: str, said: Sequence[Diagnostic], encoding: Encoding, page_of: PageOf = no_page
) -> list[types.Diagnostic]:
    """The diagnostics of a file that is not open, in positions of the text that it has now.

    A row says nothing of a notebook, so the message says which cell.
    """
    places = Places(_text_at(path) if said and not path.endswith(SUFFIX) else "", encoding)
    found = []
    for item in said:
        start, end = places.of(item.row, item.column), places.of(item.end_row, item.end_column)
        diagnostic = _diagnostic(item, types.Range(start, end), None, page_of)
        if item.cell is not None:
            diagnostic.message = f"cell {item.cell}: {diagnostic.message}"
        found.append(diagnostic)
    return found


def _text_at(path: str) -> str:
    """The text of a file; "" if there is none. A device, or a file that is no source, might have no end."""
    with contextlib.suppress(OSError):  # it is gone: so are its findings, as soon as that is known
        found = os.stat(path)
        if stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST:
            return read_text(path)[0]
    return ""


def _diagnostic(item: Diagnostic, at: types.Range, view: View | None, page_of: PageOf) -> types.Diagnostic:
    """view: of the buffer, if the editor shows related information."""
    finding = item.finding
    steps = [step for step in finding.evidence if step.path] if view is not None else []
    page = page_of(finding)
    return types.Diagnostic(
        range=at,
        message=finding.message,
        severity=_SEVERITIES.get(finding.level, types.DiagnosticSeverity.Warning),
        code=finding.code,
        code_description=types.CodeDescription(page) if page else None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if finding.code == "JAX002" else None,
        related_information=[_related(step, view) for step in steps] or None,
        data={"code": finding.code, "start": finding.start, "fixable": finding.fix is not None},
    )


def _related(step: Step, view: View | None) -> types.DiagnosticRelatedInformation:
    row = max(step.row - 1, 0)
    place = types.Location(uri_of(step.path), types.Range(types.Position(row, 0), types.Position(row, 0)))
    if view is not None and step.path == view.buffer.path:
        start = min(step.start, len(view.buffer.text))
        place = view.location(start, start) or place
    return types.DiagnosticRelatedInformation(place, step.text)


def result_id(said: Sequence[Diagnostic], version: int | None) -> str:
    """Names an answer to a pull, so that the same one need not be sent twice."""
    return digest(str(version), *map(_name, said))


def _name(item: Diagnostic) -> str:
    return f"{item.code} {item.row}:{item.column} {item.end_row}:{item.end_column} {item.finding.message}"
