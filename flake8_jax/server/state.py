"""The state of the server, and the notifications that it sends without a request."""

from __future__ import annotations

import asyncio
import functools
import traceback
import uuid
from collections.abc import Awaitable
from typing import Any

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException, JsonRpcInternalError
from pygls.lsp.server import LanguageServer

from flake8_jax import __version__
from flake8_jax.core.findings import Finding
from flake8_jax.core.pages import own_page, page_address
from flake8_jax.core.report import Diagnostic, RuleInfo
from flake8_jax.pipeline.backend import default_backend
from flake8_jax.server.background import Background
from flake8_jax.server.documents import Buffer, Documents
from flake8_jax.server.messages import View, diagnostics_by_uri
from flake8_jax.server.preferences import Preferences
from flake8_jax.server.schedule import Listeners, Schedule
from flake8_jax.settings.tables import ConfigError

_PATIENCE = 0.5
"""Seconds of analysis from which the editor learns that one is going on."""
_FRAMES = 20
"""Of a traceback that is reported."""


class Server(LanguageServer):
    """``documents`` and ``schedule`` are there once the editor has said hello."""

    documents: Documents
    schedule: Schedule

    def __init__(self, background: Background) -> None:
        super().__init__(
            "jaxlint",
            __version__,
            types.TextDocumentSyncKind.Incremental,
            types.NotebookDocumentSyncOptions(
                [
                    types.NotebookDocumentFilterWithNotebook(
                        notebook=types.NotebookDocumentFilterNotebookType("jupyter-notebook", scheme),
                        cells=[types.NotebookCellLanguage("python")],
                    )
                    for scheme in ("file", "untitled")  # not the other side of a diff
                ],
                save=True,
            ),
        )
        self.preferences = Preferences()
        self.options: object = None
        """What the editor said at the start; it holds as long as its settings do not mention us."""
        self.background = background
        self.folders: dict[str, str] = {}
        """The paths of the folders that the editor has open, by URI."""
        self._published: dict[str, set[str]] = {}
        self._asks_for_cells = False

    @functools.cached_property
    def rules(self) -> dict[str, RuleInfo]:
        try:
            return default_backend().rules
        except ConfigError:  # two rules have one code: the checker, which meets the same, tells the user
            return {}

    def can(self, capability: str) -> bool:
        """Whether the editor said that it has this."""
        return bool(get_capability(self.client_capabilities, capability, None))

    @property
    def pulls(self) -> bool:
        """Whether the editor asks for diagnostics by itself; sent unasked as well, it would show them twice."""
        return get_capability(self.client_capabilities, "text_document.diagnostic", None) is not None

    @property
    def reads_markdown(self) -> bool:
        """Eglot does only where a package for Markdown is installed. One who names no format is taken to."""
        formats = get_capability(self.client_capabilities, "text_document.hover.content_format", None)
        return formats is None or types.MarkupKind.Markdown in formats

    def pulled(self, buffer: Buffer) -> bool:
        """Whether the editor asks for those of this buffer. VS Code's client asks for no cells, so these are sent to
        everyone who has not asked for one."""
        return self.pulls and (buffer.cells is None or self._asks_for_cells)

    def asked_for_cell(self) -> None:
        """From now on cells are reported as other texts are; what was sent of them would be shown twice."""
        if not self._asks_for_cells:
            for buffer in self.documents:
                self.clear(buffer)
            self._asks_for_cells = True

    def view(self, buffer: Buffer) -> View:
        return View(buffer, self.documents.encoding)

    def by_uri(self, buffer: Buffer, said: tuple[Diagnostic, ...]) -> dict[str, list[types.Diagnostic]]:
        related = self.can("text_document.publish_diagnostics.related_information") or self.can(
            "text_document.diagnostic.related_information"
        )
        return diagnostics_by_uri(self.view(buffer), said, related=related, page_of=self.page_of)

    def page_of(self, finding: Finding) -> str:
        """The address of the page of a finding's rule. The rules are only loaded for those of other packages."""
        if finding.code.startswith("JAX"):
            return own_page(finding.name)
        rule = self.rules.get(finding.code)
        return page_address(rule) if rule is not None else ""

    def check_folders(self) -> None:
        """From now on check all that the editor has open as folders."""
        paths = tuple(self.folders.values())
        self.schedule.folders = paths if paths or not self.schedule.setup.opened else (self.documents.root,)
        self.schedule.want_whole(0)

    # --- what the schedule says --------------------------------------------------------------------------

    def listeners(self) -> Listeners:
        return Listeners(self.show, self.finished, self.trouble, self.busy, self.learned)

    def show(self, buffer: Buffer, said: tuple[Diagnostic, ...]) -> None:
        """Publish what is known of a version of a buffer."""
        if self.pulled(buffer):
            return
        found = self.by_uri(buffer, said)
        for gone in self._published.get(buffer.uri, set()) - found.keys():
            self._publish(gone, [], None)
        self._published[buffer.uri] = set(found)
        for uri, diagnostics in found.items():
            self._publish(uri, diagnostics, buffer.version if buffer.cells is None else None)

    def clear(self, buffer: Buffer) -> None:
        """A buffer was closed: nothing is shown of it any more."""
        for uri in self._published.pop(buffer.uri, set()) if not self.pulled(buffer) else ():
            self._publish(uri, [], None)

    def _publish(self, uri: str, diagnostics: list[types.Diagnostic], version: int | None) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))

    def finished(self, changed: bool) -> None:
        """A whole answer is there; one who asks for diagnostics has to learn that others have changed."""
        if changed and self.pulls and self.can("workspace.diagnostics.refresh_support"):
            self.workspace_diagnostic_refresh(None)

    def learned(self) -> None:
        if self.can("workspace.inlay_hint.refresh_support"):
            self.workspace_inlay_hint_refresh(None)
        if self.can("workspace.code_lens.refresh_support"):
            self.workspace_code_lens_refresh(None)

    def trouble(self, text: str, for_user: bool) -> None:
        kind = types.MessageType.Error if for_user else types.MessageType.Warning
        self.window_log_message(types.LogMessageParams(kind, text))
        if for_user:
            self.window_show_message(types.ShowMessageParams(kind, f"jaxlint: {text}"))

    async def busy(self, work: Awaitable[object]) -> None:
        """Show progress while this goes on, if it takes long; how it ends is not for here."""
        future = asyncio.ensure_future(work)
        if not self.can("window.work_done_progress"):
            return
        done, _ = await asyncio.wait({future}, timeout=_PATIENCE)
        if done:
            return
        token = str(uuid.uuid4())
        try:
            await self.work_done_progress.create_async(token)
        except JsonRpcException:
            return  # the editor shows none
        self.work_done_progress.begin(token, types.WorkDoneProgressBegin("jaxlint: checking the project"))
        await asyncio.wait({future})
        self.work_done_progress.end(token, types.WorkDoneProgressEnd())
        self.work_done_progress.tokens.pop(token, None)

    # --- failures ------------------------------------------------------------------------------------------

    def report_server_error(self, error: Exception, source: Any) -> None:
        """A failure of ours goes to the log, with all that is known of it; the server goes on."""
        if isinstance(error, JsonRpcException) and error.code != JsonRpcInternalError.CODE:
            return  # the answer says it
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=-_FRAMES))
        data = getattr(error, "data", None)  # where pygls keeps the traceback of what it wraps
        if isinstance(data, dict) and isinstance(data.get("traceback"), list):
            text = "".join(["Traceback (most recent call last):\n", *map(str, data["traceback"][-_FRAMES:]), text])
        self.window_log_message(
            types.LogMessageParams(types.MessageType.Error, f"jaxlint failed (please report it)\n{text}")
        )

    def expects(self, identifier: object) -> bool:
        """Whether the editor has been asked something under this identifier and has not answered."""
        return isinstance(identifier, str) and identifier in self.protocol._result_types

    def stop(self) -> None:
        """End everything that was started."""
        if hasattr(self, "schedule"):
            self.schedule.stop()
        self.background.stop()

    def catch_failures(self) -> None:
        """Have failures of what no request waits for reported in the same way."""

        def report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            error = context.get("exception")
            if isinstance(error, Exception):
                self.report_server_error(error, None)

        asyncio.get_running_loop().set_exception_handler(report)
