"""What the editor asks for: diagnostics, actions, hover, hints, lenses, commands.

Handlers that wait are coroutines, so that a request that the editor cancels ends with -32800 at once.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified, JsonRpcException, JsonRpcInvalidParams

from flake8_jax import __version__
from flake8_jax.core.report import Diagnostic
from flake8_jax.server import actions
from flake8_jax.server.checker import FocusedChecker
from flake8_jax.server.documents import Buffer, path_of
from flake8_jax.server.functions import Known, code_under, hints, hovered, lenses, plain, rule_text
from flake8_jax.server.messages import View, placed_diagnostics, result_id, uri_of
from flake8_jax.server.state import Server
from flake8_jax.server.worker import Interrupted, WorkerFailed
from flake8_jax.settings.tables import ConfigError

Answer = TypeVar("Answer")

_LINE_END = 2**31 - 1
"""A column behind every line: positions behind the end of a line are at its end."""


def register(server: Server) -> None:
    server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier="jaxlint"),
    )(diagnostic)
    server.feature(types.WORKSPACE_DIAGNOSTIC)(workspace_diagnostic)
    server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=list(actions.KINDS), resolve_provider=True),
    )(code_action)
    server.feature(types.CODE_ACTION_RESOLVE)(resolve)
    server.feature(types.TEXT_DOCUMENT_HOVER)(hover)
    server.feature(types.TEXT_DOCUMENT_INLAY_HINT)(inlay_hints)
    server.feature(types.TEXT_DOCUMENT_CODE_LENS)(code_lens)
    server.command("jaxlint.applyAutofix")(apply_autofix)
    server.command("jaxlint.printDebugInformation")(print_debug_information)
    server.command(actions.EXPLAIN)(explain)
    server.command("jaxlint.showRoot")(show_root)


def _buffer(ls: Server, uri: str) -> Buffer | None:
    """The buffer in which a URI names a document with positions: a text, or a Python cell."""
    buffer = ls.documents.get(uri)
    return buffer if buffer is not None and uri in buffer.documents else None


async def _on_worker(ls: Server, buffer: Buffer, work: Callable[[FocusedChecker], Answer]) -> Answer:
    """Ask the focused checker. Raises ConfigError; what else goes wrong becomes an error of the protocol."""
    try:
        return await ls.schedule.on_worker(work, buffer.path)
    except Interrupted as error:
        raise JsonRpcContentModified("the text was changed") from error
    except WorkerFailed as error:
        ls.trouble(str(error), False)
        raise JsonRpcException(str(error).partition("\n")[0], types.LSPErrorCodes.RequestFailed.value) from error


# --- diagnostics ---------------------------------------------------------------------------------------


async def diagnostic(ls: Server, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    uri = params.text_document.uri
    buffer = ls.documents.get(uri)
    if buffer is None:
        path, _ = path_of(uri, ls.documents.root)
        said = (await ls.schedule.idle()).diagnostics.get(path, ())
        return types.RelatedFullDocumentDiagnosticReport(
            placed_diagnostics(path, said, ls.documents.encoding, ls.page_of)
        )
    if buffer.cells is not None:
        ls.asked_for_cell()
    said = await ls.schedule.settled(buffer.uri)
    present = ls.documents.get(uri) or buffer
    name = result_id(said, present.version)
    if params.previous_result_id == name:
        return types.RelatedUnchangedDocumentDiagnosticReport(name)
    found = ls.by_uri(present, said).get(uri, [])
    return types.RelatedFullDocumentDiagnosticReport(found, result_id=name)


async def workspace_diagnostic(ls: Server, params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
    ls.check_folders()
    whole = await ls.schedule.idle()
    known = {previous.uri: previous.value for previous in params.previous_result_ids}
    names = {path_of(uri, ls.documents.root)[0]: uri for uri in known}
    reports: list[types.WorkspaceDocumentDiagnosticReport] = []
    for path in sorted(whole.diagnostics.keys() | names.keys()):
        said = whole.diagnostics.get(path, ())
        buffer = ls.documents.at_path(path)
        uri, version = (names.get(path) or uri_of(path), None) if buffer is None else (buffer.uri, buffer.version)
        name = result_id(said, version)
        if known.get(uri) == name:
            reports.append(types.WorkspaceUnchangedDocumentDiagnosticReport(uri, name, version))
        else:
            # What was said of a notebook while it was closed is said by cell once it is open.
            items = placed_diagnostics(path, said, ls.documents.encoding, ls.page_of) if buffer is None else []
            if buffer is not None and ls.pulled(buffer):
                items = ls.by_uri(buffer, await ls.schedule.settled(buffer.uri)).get(uri, [])
            reports.append(types.WorkspaceFullDocumentDiagnosticReport(uri, items, version, result_id=name))
    return types.WorkspaceDiagnosticReport(reports)


# --- code actions --------------------------------------------------------------------------------------


def _versioned(ls: Server) -> bool:
    return ls.can("workspace.workspace_edit.document_changes")


def _resolves(ls: Server) -> bool:
    support = ls.client_capabilities.text_document
    action = support.code_action if support is not None else None
    resolve = action.resolve_support if action is not None else None
    return resolve is not None and "edit" in resolve.properties and bool(action and action.data_support)


async def code_action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    uri = params.text_document.uri
    buffer = _buffer(ls, uri)
    if buffer is None:
        return []
    said = await ls.schedule.settled(buffer.uri)
    buffer = _buffer(ls, uri)
    if buffer is None or not said:
        return []
    only = [str(getattr(kind, "value", kind)) for kind in params.context.only] if params.context.only else None
    view = ls.view(buffer)
    # Whole lines: some editors send no more than where the cursor is.
    first = types.Position(params.range.start.line, 0)
    last = types.Position(params.range.end.line, _LINE_END)
    near = actions.touched(said, view.offset(uri, first), view.offset(uri, last))
    try:
        fixable = await _on_worker(ls, buffer, partial(FocusedChecker.fixable, path=buffer.path))
    except ConfigError:
        return []  # the whole answer tells what is wrong
    found: list[types.CodeAction] = []
    if near and actions.wanted(types.CodeActionKind.QuickFix.value, only):
        found += await _actions_near(ls, buffer, view, near, fixable)
    if any(item.finding.fix is not None and item.code in fixable for item in said):
        found += await _fix_all(ls, buffer, view, only)
    return found


async def _actions_near(
    ls: Server, buffer: Buffer, view: View, near: list[Diagnostic], fixable: frozenset[str]
) -> list[types.CodeAction]:
    """What can be done about single findings: fix, suppress or explain them."""
    places = [(item.code, item.finding.start) for item in near]
    silencing = await _on_worker(ls, buffer, partial(FocusedChecker.silencing, text=buffer.text, places=places))
    return [
        *actions.quick_fixes(view, near, fixable, resolves=_resolves(ls), versioned=_versioned(ls)),
        *actions.silencers(view, silencing, versioned=_versioned(ls)),
        *actions.explanations(near),
    ]


async def _fix_all(ls: Server, buffer: Buffer, view: View, only: list[str] | None) -> list[types.CodeAction]:
    """The action that fixes all of a buffer, if it is asked for and changes something."""
    kind = actions.FIX_ALL if buffer.cells is None else actions.NOTEBOOK_FIX_ALL
    kinds = [kind] if buffer.cells is None or only is None else [kind, actions.FIX_ALL]
    asked = next((kind for kind in kinds if actions.wanted(kind, only)), None)
    if asked is None:
        return []
    action = actions.fix_all(view, asked)
    return [action] if _resolves(ls) or (await resolve(ls, action)).edit is not None else []


async def resolve(ls: Server, params: types.CodeAction) -> types.CodeAction:
    """The action with its edit; without one where the text has changed since, or the fix does not hold."""
    data: dict[str, Any] = params.data if isinstance(params.data, dict) else {}
    buffer = ls.documents.get(str(data.get("uri")))
    if params.edit is not None or buffer is None or data.get("version") != buffer.version:
        return params
    code, start = data.get("code", ""), data.get("start", 0)
    if not isinstance(code, str) or not isinstance(start, int) or ("code" in data) != ("start" in data):
        raise JsonRpcInvalidParams("`data` of a code action has to be what the server sent")
    params.edit = await _edit_of_fixes(ls, buffer, (code, start) if code else None)
    return params


async def _edit_of_fixes(ls: Server, buffer: Buffer, only: tuple[str, int] | None) -> types.WorkspaceEdit | None:
    """The edit that fixes a buffer, or one finding in it."""
    work = partial(
        FocusedChecker.fixed,
        path=buffer.path,
        snapshot=ls.schedule.snapshot(),
        reaching=ls.schedule.reaching(buffer.path),
        only=only,
        unsafe=None if only is None else True,
    )
    if ls.documents.get(buffer.uri) is not buffer:
        return None
    try:
        fixed = await _on_worker(ls, buffer, work)
    except ConfigError as error:
        ls.trouble(str(error), True)
        return None
    for item in fixed.withdrawn:
        if only is not None and item.code == only[0]:
            ls.trouble(f"{item.code}: the fix was reverted: {item.reason}", True)
    edits = fixed.edits
    return actions.workspace_edit(ls.view(buffer), edits, versioned=_versioned(ls)) if edits else None


# --- hover, hints, lenses ------------------------------------------------------------------------------


async def _functions(ls: Server, uri: str, ask: Callable[[list[Known]], Answer]) -> tuple[View, Answer] | None:
    """What ``ask`` says of the functions of the buffer as it is now; None where nothing is known."""
    if _buffer(ls, uri) is None:
        return None
    whole = await ls.schedule.known_functions()
    buffer = _buffer(ls, uri)
    if buffer is None:
        return None
    records = whole.functions.get(buffer.path, [])
    if not records:
        return None
    work = partial(FocusedChecker.about_functions, text=buffer.text, records=records, ask=ask)
    try:
        said = await _on_worker(ls, buffer, work)
    except ConfigError:
        return None  # the whole answer tells what is wrong
    return (ls.view(buffer), said) if said is not None else None


async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    uri = params.text_document.uri
    buffer = _buffer(ls, uri)
    if buffer is None:
        return None
    view = ls.view(buffer)
    offset = view.offset(uri, params.position)
    line_start = max(buffer.text.rfind("\n", 0, offset), buffer.text.rfind("\r", 0, offset)) + 1
    line = buffer.text[line_start:].splitlines()[0] if line_start < len(buffer.text) else ""
    code = code_under(line, offset - line_start)
    if code is not None:
        rule = ls.rules.get(code[2])
        return (
            _hover(ls, view, line_start + code[0], line_start + code[1], rule_text(rule)) if rule is not None else None
        )
    found = await _functions(ls, uri, partial(hovered, offset=offset, base=ls.documents.root))
    if found is None or found[1] is None:
        return None
    return _hover(ls, found[0], *found[1])


def _hover(ls: Server, view: View, start: int, end: int, text: str) -> types.Hover:
    place = view.location(start, end)
    content = types.MarkupContent(types.MarkupKind.Markdown, text)
    if not ls.reads_markdown:
        content = types.MarkupContent(types.MarkupKind.PlainText, plain(text))
    return types.Hover(content, place.range if place is not None else None)


async def inlay_hints(ls: Server, params: types.InlayHintParams) -> list[types.InlayHint]:
    """A word behind every parameter that is traced."""
    uri = params.text_document.uri
    ask = partial(hints, base=ls.documents.root)
    found = await _functions(ls, uri, ask) if ls.preferences.inlay_hints else None
    if found is None:
        return []
    view, known = found
    start, end = view.offset(uri, params.range.start), view.offset(uri, params.range.end)
    shown: list[types.InlayHint] = []
    for hint in known:
        place = view.location(hint.offset, hint.offset)
        if place is not None and place.uri == uri and start <= hint.offset <= end:
            shown.append(
                types.InlayHint(
                    place.range.start,
                    "traced" if hint.annotated else ": traced",
                    kind=types.InlayHintKind.Type,
                    tooltip=hint.roots or None,
                    padding_left=hint.annotated,
                )
            )
    return shown


async def code_lens(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens]:
    """Above every staged function: what stages it, and through whom."""
    uri = params.text_document.uri
    ask = partial(lenses, base=ls.documents.root)
    found = await _functions(ls, uri, ask) if ls.preferences.code_lens else None
    if found is None:
        return []
    view, known = found
    shown: list[types.CodeLens] = []
    for lens in known:
        place = view.location(lens.offset, lens.offset)
        if place is not None and place.uri == uri:
            arguments = [uri_of(lens.filename), lens.line]
            shown.append(
                types.CodeLens(place.range, types.Command(lens.title, "jaxlint.showRoot", arguments=arguments))
            )
    return shown


# --- commands ------------------------------------------------------------------------------------------


async def apply_autofix(ls: Server, *arguments: Any) -> bool:
    """Apply all safe fixes to one document: ``{"uri": …, "version": …}``. Whether that changed anything."""
    given = arguments[0] if arguments and isinstance(arguments[0], dict) else {}
    buffer = ls.documents.get(str(given.get("uri", "")))
    if buffer is None or given.get("version", buffer.version) != buffer.version:
        return False
    edit = await _edit_of_fixes(ls, buffer, None)
    present = ls.documents.get(buffer.uri)
    if edit is None or present is None or present.version != buffer.version:
        return False
    params = types.ApplyWorkspaceEditParams(edit, "jaxlint: apply all safe fixes")
    return (await ls.workspace_apply_edit_async(params)).applied


def print_debug_information(ls: Server, *arguments: Any) -> str:
    """What a report on a defect should say; also written to the editor's log."""
    whole = ls.schedule.whole
    lines = [
        f"jaxlint {__version__}, Python {platform.python_version()} on {platform.system()}",
        f"process {os.getpid()}, root {ls.documents.root}, positions in {ls.documents.encoding}",
        f"diagnostics are {'asked for by the editor' if ls.pulls else 'sent by the server'}",
        f"settings: {ls.schedule.setup.settings.decode()}",
        f"files with findings: {len(whole.diagnostics)}; error: {whole.error}",
        *(f"open: {buffer.uri} version {buffer.version}" for buffer in ls.documents),
    ]
    text = "\n".join(lines)
    ls.window_log_message(types.LogMessageParams(types.MessageType.Info, text))
    return text


def explain(ls: Server, *arguments: Any) -> str | None:
    """A rule's page; its summary is shown, for editors that throw the answer away."""
    rule = ls.rules.get(str(arguments[0]).upper()) if arguments else None
    if rule is None:
        return None
    text = f"{rule.code} {rule.name}: {rule.summary} (`jaxlint rule {rule.code}` says more)"
    ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))
    return rule_text(rule)


async def show_root(ls: Server, *arguments: Any) -> None:
    """Have the editor show the line that stages a function."""
    if len(arguments) != 2 or not isinstance(arguments[0], str) or not isinstance(arguments[1], int):
        raise JsonRpcInvalidParams("jaxlint.showRoot takes a URI and the number of a line")
    if ls.can("window.show_document.support"):
        place = types.Position(max(arguments[1] - 1, 0), 0)
        selection = types.Range(place, place)
        await ls.window_show_document_async(types.ShowDocumentParams(str(arguments[0]), selection=selection))
