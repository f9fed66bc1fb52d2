"""Messages that change what the server knows: the start, texts, notebooks, settings, files.

Handlers run on the event loop, one after the other, in the order of the messages.
"""

from __future__ import annotations

import os
from dataclasses import replace

import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from flake8_jax.server.checker import Setup
from flake8_jax.server.documents import Documents, file_path, path_of
from flake8_jax.server.preferences import ours, preferences, usable
from flake8_jax.server.schedule import Schedule
from flake8_jax.server.state import Server
from flake8_jax.settings.code_style import says_style
from flake8_jax.settings.options import FILE_NAMES
from flake8_jax.settings.requirements import says_versions

_WATCHED = (
    "**/pyproject.toml",
    "**/jaxlint.toml",
    "**/.gitignore",
    "**/setup.cfg",
    "**/*requirements*.txt",
    "**/*environment*.yml",
    "**/*.lock",
    "**/*.py",
    "**/*.pyi",
    "**/*.ipynb",
)
_CONFIGURING = frozenset({*FILE_NAMES, ".gitignore"})
"""Files that settings are read from, beside those that say which versions the project supports."""
_ENCODINGS = {"utf-8": "utf-8", "utf-32": "utf-32"}


def _configures(name: str) -> bool:
    """A file of this name holds settings."""
    return name in _CONFIGURING or says_versions(name) or says_style(name)


def register(server: Server) -> None:
    for method, handler in (
        (types.INITIALIZE, initialize),
        (types.INITIALIZED, initialized),
        (types.SHUTDOWN, shutdown),
        (types.TEXT_DOCUMENT_DID_OPEN, did_open),
        (types.TEXT_DOCUMENT_DID_CHANGE, did_change),
        (types.TEXT_DOCUMENT_DID_SAVE, did_save),
        (types.TEXT_DOCUMENT_DID_CLOSE, did_close),
        (types.NOTEBOOK_DOCUMENT_DID_OPEN, did_open_notebook),
        (types.NOTEBOOK_DOCUMENT_DID_CHANGE, did_change_notebook),
        (types.NOTEBOOK_DOCUMENT_DID_SAVE, did_save_notebook),
        (types.NOTEBOOK_DOCUMENT_DID_CLOSE, did_close_notebook),
        (types.WORKSPACE_DID_CHANGE_CONFIGURATION, did_change_configuration),
        (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, did_change_watched_files),
        (types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, did_change_workspace_folders),
    ):
        server.feature(method)(handler)


# --- start and end -----------------------------------------------------------------------------------


def initialize(ls: Server, params: types.InitializeParams) -> None:
    ls.folders = {
        folder.uri: path for folder in params.workspace_folders or () if (path := folder_path(folder.uri)) is not None
    }
    root = _root(ls, params)
    encoding = str(getattr(ls.workspace.position_encoding, "value", ls.workspace.position_encoding))
    ls.documents = Documents(root or os.getcwd(), _ENCODINGS.get(encoding, "utf-16"))  # type: ignore[arg-type]
    ls.options = params.initialization_options
    setup = Setup(ls.documents.root, opened=root is not None)
    ls.schedule = Schedule(ls.documents, setup, ls.listeners(), ls.background)
    _configure(ls, ls.options)
    ls.schedule.wants_functions = any(
        ls.can(f"text_document.{name}.dynamic_registration") or ls.can(f"workspace.{name}.refresh_support")
        for name in ("inlay_hint", "code_lens")
    )


def did_change_workspace_folders(ls: Server, params: types.DidChangeWorkspaceFoldersParams) -> None:
    for folder in params.event.removed:
        ls.folders.pop(folder.uri, None)
    for folder in params.event.added:
        path = folder_path(folder.uri)
        if path is not None:
            ls.folders[folder.uri] = path
    if ls.schedule.folders:
        ls.check_folders()


def _root(ls: Server, params: types.InitializeParams) -> str | None:
    if params.workspace_folders:
        return next(iter(ls.folders.values()), None)
    return folder_path(params.root_uri) if params.root_uri else file_path(params.root_path or "")


def folder_path(uri: str) -> str | None:
    path, disk = path_of(uri, "")
    return path if disk else None


def _configure(ls: Server, raw: object) -> None:
    """Take over settings; ones that cannot be used are reported, and the others hold."""
    settings, errors = usable(raw)
    ls.preferences, _ = preferences(settings)
    setup = replace(ls.schedule.setup, settings=msgspec.json.encode(settings))
    ls.schedule.reconfigured(setup, ls.preferences.debounce / 1000)
    for error in errors:
        ls.trouble(error, True)


async def initialized(ls: Server, params: types.InitializedParams) -> None:
    if ls.can("workspace.did_change_watched_files.dynamic_registration"):
        watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        registration = types.Registration("jaxlint-watched", method, options)
        try:
            await ls.client_register_capability_async(types.RegistrationParams([registration]))
        except JsonRpcException as error:
            # Eglot, for instance, where git cannot list the files. What is saved in the editor is sent without it.
            ls.trouble(f"the editor does not watch files: {error}", False)


def shutdown(ls: Server, params: None) -> None:
    ls.schedule.stop()


# --- texts -------------------------------------------------------------------------------------------


def did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    ls.schedule.opened(ls.documents.open(params.text_document))


def did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    buffer = ls.documents.change(params)
    if buffer is not None:
        ls.schedule.changed(buffer)


def did_save(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
    if _configures(os.path.basename(params.text_document.uri)):
        ls.schedule.reconfigured(ls.schedule.setup, ls.schedule.debounce)
    ls.schedule.saved(params.text_document.uri)


def did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    buffer = ls.documents.close(params.text_document.uri)
    if buffer is not None:
        ls.schedule.closed(buffer)
        ls.clear(buffer)


# --- notebooks ---------------------------------------------------------------------------------------


def did_open_notebook(ls: Server, params: types.DidOpenNotebookDocumentParams) -> None:
    ls.schedule.opened(ls.documents.open_notebook(params))


def did_change_notebook(ls: Server, params: types.DidChangeNotebookDocumentParams) -> None:
    buffer = ls.documents.change_notebook(params)
    if buffer is not None:
        ls.schedule.changed(buffer)


def did_save_notebook(ls: Server, params: types.DidSaveNotebookDocumentParams) -> None:
    ls.schedule.saved(params.notebook_document.uri)


def did_close_notebook(ls: Server, params: types.DidCloseNotebookDocumentParams) -> None:
    buffer = ls.documents.close_notebook(params.notebook_document.uri)
    if buffer is not None:
        ls.schedule.closed(buffer)
        ls.clear(buffer)


# --- settings and files ------------------------------------------------------------------------------


async def did_change_configuration(ls: Server, params: types.DidChangeConfigurationParams) -> None:
    said = ours(params.settings)
    if said is None and ls.can("workspace.configuration"):
        items = [types.ConfigurationItem(section="jaxlint")]
        try:
            answer = await ls.workspace_configuration_async(types.ConfigurationParams(items))
        except JsonRpcException as error:
            ls.trouble(f"the editor does not tell its settings: {error}", False)
            return
        said = ours(answer[0] if answer else None)
    # Eglot sends empty settings right after the start: what it said there still holds.
    _configure(ls, ls.options if said is None else said)


def did_change_watched_files(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
    names = {os.path.basename(change.uri) for change in params.changes}
    if any(map(_configures, names)):
        ls.schedule.reconfigured(ls.schedule.setup, ls.schedule.debounce)
    else:
        ls.schedule.files_changed()
