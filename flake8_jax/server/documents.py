"""What the editor has open: texts and notebooks, kept up to date by its messages.

Vocabulary
----------
buffer   what is analyzed as one file: an open text, or the code cells of an open notebook. Named by ``uri``.
path     what a buffer is for the analysis. A text that was never saved gets a name that no file has.

Texts are kept here and not by pygls, which ends lines also where the protocol does not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from lsprotocol import types
from pygls import uris

from flake8_jax.pipeline.cache import digest
from flake8_jax.server.notebooks import Cells, joined
from flake8_jax.server.positions import Encoding, Places

_LONGEST_NAME = 100
_LONGEST_PATH = 4096
"""Bytes; no system opens longer ones."""


@dataclass(frozen=True)
class Buffer:
    """One version of one buffer. ``cells`` is None for a text; ``disk``: whether there may be a file of that name."""

    uri: str
    path: str
    version: int
    text: str
    cells: Cells | None = None
    disk: bool = True

    @property
    def documents(self) -> tuple[str, ...]:
        """The URIs of the documents with positions in it: its own, or those of its cells."""
        return (self.uri,) if self.cells is None else self.cells.uris


@dataclass(frozen=True)
class _Notebook:
    uri: str
    version: int
    order: tuple[types.NotebookCell, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)


def file_path(path: str) -> str | None:
    """A path as the analysis names it; None where no file can have it."""
    try:
        data = os.fsencode(path)
    except UnicodeEncodeError:
        return None
    possible = os.path.isabs(path) and b"\0" not in data and len(data) < _LONGEST_PATH
    return os.path.normpath(path) if possible else None


def path_of(uri: str, root: str) -> tuple[str, bool]:
    """The path that a URI is analyzed under, and whether it is that of a file."""
    try:
        found = uris.to_fs_path(uri) if uri.startswith("file:") else None
    except ValueError:  # not a URI
        found = None
    path = file_path(found) if found is not None else None
    if path is not None:
        return path, True
    return os.path.join(root, re.sub(r"\W+", "_", uri[:_LONGEST_NAME]) + f"_{digest(uri)[:8]}.py"), False


def readable(text: str) -> str:
    """A text that can be encoded. A surrogate by itself, which JSON can spell, is no character; the length in UTF-16 stays."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def edited(text: str, changes: Sequence[types.TextDocumentContentChangeEvent], encoding: Encoding) -> str:
    """A text after the changes of one message."""
    for change in changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            places = Places(text, encoding)
            start, end = sorted((places.offset(change.range.start), places.offset(change.range.end)))
            text = text[:start] + change.text + text[end:]
        else:
            text = change.text
    return readable(text)


def _is_python_cell(cell: types.NotebookCell, languages: dict[str, str]) -> bool:
    return cell.kind == types.NotebookCellKind.Code and languages.get(cell.document, "python") == "python"


class Documents:
    """The open buffers. ``root``: where buffers without a file of their own are taken to be."""

    def __init__(self, root: str, encoding: Encoding) -> None:
        self.root = root
        self.encoding: Encoding = encoding
        self._buffers: dict[str, Buffer] = {}
        self._notebooks: dict[str, _Notebook] = {}
        self._languages: dict[str, str] = {}
        self._notebook_of: dict[str, str] = {}

    def __iter__(self) -> Iterator[Buffer]:
        return iter(self._buffers.values())

    def get(self, uri: str) -> Buffer | None:
        """The buffer with this URI, or the notebook with this cell."""
        return self._buffers.get(uri) or self._buffers.get(self._notebook_of.get(uri, ""))

    def at_path(self, path: str) -> Buffer | None:
        return next((buffer for buffer in self if buffer.path == path), None)

    # --- texts ---------------------------------------------------------------------------------------

    def open(self, item: types.TextDocumentItem) -> Buffer:
        self.close_notebook(item.uri)
        path, disk = path_of(item.uri, self.root)
        self._buffers[item.uri] = Buffer(item.uri, path, item.version, readable(item.text), disk=disk)
        return self._buffers[item.uri]

    def change(self, params: types.DidChangeTextDocumentParams) -> Buffer | None:
        """The buffer after a change; None where it is not open."""
        uri = params.text_document.uri
        old = self._buffers.get(uri)
        if old is None or old.cells is not None:
            return None
        text = edited(old.text, params.content_changes, self.encoding)
        self._buffers[uri] = replace(old, version=params.text_document.version, text=text)
        return self._buffers[uri]

    def close(self, uri: str) -> Buffer | None:
        return self._buffers.pop(uri, None) if uri not in self._notebooks else None

    # --- notebooks -------------------------------------------------------------------------------------

    def open_notebook(self, params: types.DidOpenNotebookDocumentParams) -> Buffer:
        notebook = params.notebook_document
        self._remember(params.cell_text_documents)
        texts = {item.uri: readable(item.text) for item in params.cell_text_documents}
        return self._put(_Notebook(notebook.uri, notebook.version, tuple(notebook.cells), texts))

    def change_notebook(self, params: types.DidChangeNotebookDocumentParams) -> Buffer | None:
        old = self._notebooks.get(params.notebook_document.uri)
        if old is None:
            return None
        order, texts = list(old.order), dict(old.texts)
        cells = params.change.cells
        if cells is not None and cells.structure is not None:
            array = cells.structure.array
            order[array.start : array.start + array.delete_count] = array.cells or ()
            self._remember(cells.structure.did_open or ())
            texts.update((item.uri, readable(item.text)) for item in cells.structure.did_open or ())
            for closed in cells.structure.did_close or ():
                texts.pop(closed.uri, None)
                self._languages.pop(closed.uri, None)
        if cells is not None:
            changed = {cell.document: cell for cell in cells.data or ()}
            order = [changed.get(cell.document, cell) for cell in order]
            for content in cells.text_content or ():
                uri = content.document.uri
                texts[uri] = edited(texts.get(uri, ""), content.changes, self.encoding)
        return self._put(_Notebook(old.uri, params.notebook_document.version, tuple(order), texts))

    def close_notebook(self, uri: str) -> Buffer | None:
        closed = self._notebooks.pop(uri, None)
        for cell in closed.texts if closed is not None else ():
            self._languages.pop(cell, None)
        self._forget_cells(uri)
        return self._buffers.pop(uri, None)

    def _forget_cells(self, notebook: str) -> None:
        self._notebook_of = {cell: owner for cell, owner in self._notebook_of.items() if owner != notebook}

    def _remember(self, items: Sequence[types.TextDocumentItem]) -> None:
        self._languages.update((item.uri, item.language_id) for item in items)

    def _put(self, notebook: _Notebook) -> Buffer:
        cells = joined(
            [
                (number, cell.document, notebook.texts.get(cell.document, ""))
                for number, cell in enumerate(notebook.order, 1)
                if _is_python_cell(cell, self._languages)
            ]
        )
        path, disk = path_of(notebook.uri, self.root)
        self._notebooks[notebook.uri] = notebook
        self._forget_cells(notebook.uri)
        self._notebook_of.update(dict.fromkeys(cells.uris, notebook.uri))
        self._buffers[notebook.uri] = Buffer(notebook.uri, path, notebook.version, cells.joined, cells, disk)
        return self._buffers[notebook.uri]
