"""Diagnostics of the real server, over its standard input and output."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from e2e.projects import FILES, write_project
from support.language_client import LanguageClient, codes

from .conftest import BRANCH, FULL, NUMPY, Start, applied

PULL: dict[str, Any] = {
    **FULL,
    "textDocument": {**FULL["textDocument"], "diagnostic": {}},
    "workspace": {"diagnostics": {"refreshSupport": True}},
}
EMOJI = "import jax\n\n\n@jax.jit\ndef step(x):\n    return '🙂', int(x)\n"


def test_findings_are_sent_while_the_user_types_and_go_when_they_are_fixed(start: Start) -> None:
    session = start({"a.py": BRANCH})
    uri = session.open("a.py")
    first = session.client.published(uri)
    assert codes(first) == ["JAX101"] and first["version"] == 1
    finding = first["diagnostics"][0]
    assert finding["range"] == {"start": {"line": 5, "character": 7}, "end": {"line": 5, "character": 12}}
    assert (finding["source"], finding["severity"]) == ("jaxlint", 1)
    assert "`jax.jit` traces" in finding["relatedInformation"][0]["message"]
    session.insert(uri, 2, 0, "# one more line\n")
    moved = session.client.published(uri, lambda params: params["version"] == 2)
    assert moved["diagnostics"][0]["range"]["start"] == {"line": 6, "character": 7}
    line = {"start": {"line": 4, "character": 0}, "end": {"line": 5, "character": 0}}
    session.client.change(uri, 3, {"range": line, "text": ""})
    assert codes(session.client.published(uri, lambda params: params["version"] == 3)) == []


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 19), ("utf-16", 17), ("utf-32", 16)])
def test_columns_behind_an_emoji_are_those_of_the_editor(start: Start, encoding: str, column: int) -> None:
    session = start({"a.py": EMOJI}, {"general": {"positionEncodings": [encoding]}})
    uri = session.open("a.py")
    found = session.client.published(uri, lambda params: bool(params["diagnostics"]))
    assert found["diagnostics"][0]["range"]["start"] == {"line": 5, "character": column}
    # An edit behind the emoji, in the same units: without the call there is nothing to find.
    place = {"start": {"line": 5, "character": column}, "end": {"line": 5, "character": column + len("int(x)")}}
    session.client.change(uri, 2, {"range": place, "text": "x"})
    assert codes(session.client.published(uri, lambda params: params["version"] == 2)) == []


def test_a_whole_new_text_counts_as_an_edit(start: Start) -> None:
    session = start({"a.py": "x = 1\n"})
    uri = session.open("a.py")
    session.client.published(uri)
    session.client.change(uri, 2, {"text": BRANCH})
    assert codes(session.client.published(uri, lambda params: params["version"] == 2)) == ["JAX101"]


def test_an_edit_in_one_file_changes_the_findings_of_another_open_one(start: Start) -> None:
    session = start(FILES)
    train, clip = session.open("train.py"), session.open("pkg/clip.py")
    session.client.published(clip, lambda params: codes(params) == ["JAX101"])
    since = len(session.client.notices)
    without = FILES["train.py"].replace("jax.jit(lambda x: jax.lax.scan(scan_body, x, None, 3))", "scan_body")
    session.client.change(train, 2, {"text": without})
    assert codes(session.client.published(clip, since=since)) == []


def test_a_finding_that_another_file_causes_stays_while_the_user_types(start: Start) -> None:
    session = start(FILES)
    clip = session.open("pkg/clip.py")
    session.client.published(clip, lambda params: codes(params) == ["JAX101"])
    since = len(session.client.notices)
    for version in range(2, 6):
        session.insert(clip, version, 0, "# typed\n")
        found = session.client.published(clip, lambda params, version=version: params["version"] == version)  # type: ignore[misc]
        assert codes(found) == ["JAX101"]
    said = [n["params"] for n in session.client.notices[since:] if n["method"] == "textDocument/publishDiagnostics"]
    assert all(codes(params) == ["JAX101"] for params in said), "no flicker in between"


def test_nothing_is_sent_for_a_version_that_is_no_more(start: Start) -> None:
    session = start({"a.py": BRANCH}, debounce=1)
    uri = session.open("a.py")
    session.client.published(uri)
    since = len(session.client.notices)
    sent: list[tuple[float, int]] = []
    for version in range(2, 42):
        session.insert(uri, version, 0, f"# {version}\n")
        sent.append((time.monotonic(), version))
        time.sleep(0.02)
    session.client.published(uri, lambda params: params["version"] == 41)
    said = [n for n in session.client.notices[since:] if n["method"] == "textDocument/publishDiagnostics"]
    versions = [notice["params"]["version"] for notice in said]
    assert versions == sorted(versions), "an older version must not come after a newer one"
    for notice in said:
        version = notice["params"]["version"]
        # Every line typed before this version moved the finding by one row.
        assert notice["params"]["diagnostics"][0]["range"]["start"]["line"] == 5 + version - 1
        later = [v for at, v in sent if at < notice["at"] - 0.5]
        assert version >= max(later, default=1), "the server had half a second to see a newer version"


def test_closing_clears(start: Start) -> None:
    session = start({"a.py": BRANCH})
    uri = session.open("a.py")
    session.client.published(uri)
    since = len(session.client.notices)
    session.client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert codes(session.client.published(uri, since=since)) == []


def test_a_text_that_does_not_parse_says_so_and_keeps_what_was_known(start: Start) -> None:
    session = start({"a.py": BRANCH})
    uri = session.open("a.py")
    session.client.published(uri)
    # On a busy machine the first publication is an early one, before the whole project was checked.
    session.client.request("workspace/diagnostic", {"previousResultIds": []})
    session.insert(uri, 2, 8, "y = (\n")
    broken = session.client.published(uri, lambda params: params["version"] == 2 and len(params["diagnostics"]) == 2)
    assert sorted(codes(broken)) == ["JAX001", "JAX101"]
    row = {"start": {"line": 8, "character": 0}, "end": {"line": 9, "character": 0}}
    session.client.change(uri, 3, {"range": row, "text": ""})
    assert codes(session.client.published(uri, lambda params: params["version"] == 3)) == ["JAX101"]


def test_a_text_that_never_was_a_file(start: Start) -> None:
    session = start({"pyproject.toml": "[tool.jaxlint]\n"})
    session.client.open("untitled:Untitled-1", BRANCH)
    assert codes(session.client.published("untitled:Untitled-1")) == ["JAX101"]


def test_without_a_folder_nothing_is_written_where_the_editor_was_started(start: Start, tmp_path: Path) -> None:
    started, project = tmp_path / "started", tmp_path / "project"
    for directory in (started, project):
        directory.mkdir()
    (project / "a.py").write_text(BRANCH, encoding="utf-8")
    for root, expected in ((None, []), (started, [".jaxlint_cache"])):
        with LanguageClient(started) as client:
            client.initialize(root, FULL, {"debounce": 30})
            uri = (project / "a.py").as_uri()
            client.open(uri, BRANCH)
            assert codes(client.published(uri)) == ["JAX101"]
        assert [path.name for path in started.iterdir()] == expected


def test_an_excluded_file_has_no_findings(start: Start) -> None:
    files = {"pyproject.toml": "[tool.jaxlint]\nextend-exclude = ['gen']\n", "gen/a.py": BRANCH, "b.py": BRANCH}
    session = start(files)
    excluded, other = session.open("gen/a.py"), session.open("b.py")
    assert codes(session.client.published(other)) == ["JAX101"]
    assert codes(session.client.published(excluded)) == []
    session.insert(excluded, 2, 0, "# typed\n")
    assert codes(session.client.published(excluded, lambda params: params["version"] == 2)) == []


# --- settings ------------------------------------------------------------------------------------------


def test_new_settings_of_the_editor_count_at_once(start: Start) -> None:
    session = start({"a.py": BRANCH})
    uri = session.open("a.py")
    session.client.published(uri, lambda params: codes(params) == ["JAX101"])
    since = len(session.client.notices)
    settings = {"jaxlint": {"ignore": ["JAX101"], "debounce": 30}}
    session.client.notify("workspace/didChangeConfiguration", {"settings": settings})
    assert codes(session.client.published(uri, since=since)) == []


@pytest.mark.parametrize("settings", [{}, None, {"pylsp": {"plugins": {}}}])
def test_settings_that_do_not_mention_us_leave_what_was_said_at_the_start(start: Start, settings: object) -> None:
    capabilities = {"workspace": {"configuration": True}}
    session = start({"a.py": BRANCH}, capabilities, ignore=["JAX101"])
    session.client.replies["workspace/configuration"] = lambda params: [None]
    session.client.notify("workspace/didChangeConfiguration", {"settings": settings})
    session.client.wait_for(lambda notice: notice["method"] == "workspace/configuration", "a question")
    assert codes(session.client.published(session.open("a.py"))) == []
    session.client.notify("workspace/didChangeConfiguration", {"settings": {"jaxlint": {}}})
    session.client.published(session.uri("a.py"), lambda params: codes(params) == ["JAX101"])


def test_an_editor_may_decline_to_watch_files(tmp_path: Path) -> None:
    pytest.importorskip("pygls", reason="the extra `server` is not installed")
    root = write_project(tmp_path / "project", {"a.py": BRANCH})
    with LanguageClient(root) as client:
        client.replies["client/registerCapability"] = lambda params: OSError("no watches left")
        client.initialize(root, {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}, {})
        logged = client.wait_for(lambda notice: notice["method"] == "window/logMessage", "the log")
    assert "does not watch files" in logged["params"]["message"] and "no watches left" in logged["params"]["message"]
    assert "please report" not in logged["params"]["message"]


def test_settings_that_cannot_be_used_are_reported(start: Start) -> None:
    session = start({"a.py": BRANCH}, selct=["JAX1"])
    uri = session.open("a.py")
    reported = session.client.wait_for(lambda notice: notice["method"] == "window/showMessage", "a complaint")
    assert "did you mean `select`" in reported["params"]["message"]
    assert codes(session.client.published(uri)) == ["JAX101"], "and the server goes on"


def test_a_configuration_that_changes_on_disk_counts_at_once(start: Start) -> None:
    capabilities = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}
    session = start({"a.py": BRANCH, "pyproject.toml": "[tool.jaxlint]\n"}, capabilities)
    asked = session.client.wait_for(lambda notice: notice["method"] == "client/registerCapability", "a registration")
    watchers = asked["params"]["registrations"][0]["registerOptions"]["watchers"]
    assert {"globPattern": "**/pyproject.toml"} in watchers
    uri = session.open("a.py")
    session.client.published(uri, lambda params: codes(params) == ["JAX101"])
    since = len(session.client.notices)
    config = session.root / "pyproject.toml"
    config.write_text("[tool.jaxlint]\nignore = ['JAX101']\n", encoding="utf-8")
    changed = {"changes": [{"uri": config.as_uri(), "type": 2}]}
    session.client.notify("workspace/didChangeWatchedFiles", changed)
    assert codes(session.client.published(uri, since=since)) == []
    config.write_text("[tool.jaxlint]\nignore = ['nonsense']\n", encoding="utf-8")
    session.client.notify("workspace/didChangeWatchedFiles", changed)
    reported = session.client.wait_for(lambda notice: notice["method"] == "window/showMessage", "a complaint")
    assert "nonsense" in reported["params"]["message"]


def test_a_configuration_that_cannot_be_read_is_no_failure_of_ours(start: Start) -> None:
    hints = {"textDocument": {"inlayHint": {"dynamicRegistration": True}}}
    session = start({"a.py": BRANCH, "pyproject.toml": "[tool.jaxlint]\n"}, hints)
    uri = session.open("a.py")
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
    asked = {"textDocument": {"uri": uri}, "range": whole}
    assert session.client.request("textDocument/inlayHint", asked)
    (session.root / "pyproject.toml").write_text("[tool.jaxlint\n", encoding="utf-8")
    changed = {"changes": [{"uri": session.uri("pyproject.toml"), "type": 2}]}
    session.client.notify("workspace/didChangeWatchedFiles", changed)
    assert session.client.request("textDocument/inlayHint", asked), "as they were"
    logged = [n["params"]["message"] for n in session.client.notices if n["method"] == "window/logMessage"]
    assert not [message for message in logged if "jaxlint failed" in message]


def test_links_to_themselves_do_not_end_the_server(start: Start, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    for name in ("loop", "loop.py", ".gitignore"):
        (tmp_path / "project" / name).symlink_to(name)
    session = start({"a.py": BRANCH, "pyproject.toml": "[tool.jaxlint]\n"})
    uri = session.open("a.py")
    assert codes(session.client.published(uri)) == ["JAX101"]
    session.insert(uri, 2, 0, "# typed\n")
    assert codes(session.client.published(uri, lambda params: params["version"] == 2)) == ["JAX101"]


@pytest.mark.parametrize("setting", ["cache-dir = 'a.py'", "exclude = ['!']"])
def test_a_setting_that_cannot_be_used_is_reported_with_its_line(start: Start, setting: str) -> None:
    session = start({"a.py": BRANCH, "pyproject.toml": f"[tool.jaxlint]\n{setting}\n"})
    session.open("a.py")
    reported = session.client.wait_for(lambda notice: notice["method"] == "window/showMessage", "a complaint")
    assert f"{session.root / 'pyproject.toml'}:2: " in reported["params"]["message"]


def test_a_saved_file_that_says_which_versions_are_supported_counts_at_once(start: Start) -> None:
    """Without being told of files that change, too."""
    setup = "from setuptools import setup\n\nsetup(install_requires=['jax>=0.4.0'])\n"
    session = start({"a.py": "import jax\n\nprint(jax.tree.map)\n", "setup.py": setup}, preview=True)
    uri, other = session.open("a.py"), session.open("setup.py")
    assert len(codes(session.client.published(uri))) == 1
    new = setup.replace("0.4.0", "0.9.0")
    (session.root / "setup.py").write_text(new, encoding="utf-8")
    session.client.change(other, 2, {"text": new})
    session.client.notify("textDocument/didSave", {"textDocument": {"uri": other}})
    session.client.published(uri, lambda params: not params["diagnostics"])


# --- pull --------------------------------------------------------------------------------------------------


def test_diagnostics_can_be_asked_for(start: Start) -> None:
    session = start({**FILES, "a.py": BRANCH}, PULL)
    client, uri = session.client, session.open("a.py")
    report = client.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    assert (report["kind"], codes(report)) == ("full", ["JAX101"])
    again = {"textDocument": {"uri": uri}, "previousResultId": report["resultId"]}
    assert client.request("textDocument/diagnostic", again)["kind"] == "unchanged"
    session.insert(uri, 2, 0, "# typed\n")
    fresh = client.request("textDocument/diagnostic", again)
    assert fresh["items"][0]["range"]["start"]["line"] == 6, "the answer is for the present version"
    assert not [n for n in client.notices if n["method"] == "textDocument/publishDiagnostics"], "not told twice"
    whole = client.request("workspace/diagnostic", {"previousResultIds": []})
    found = {item["uri"]: item for item in whole["items"]}
    assert codes(found[session.uri("pkg/clip.py")]) == ["JAX101"], "nobody opened this one"
    assert found[uri]["version"] == 2
    known = [{"uri": item["uri"], "value": item["resultId"]} for item in whole["items"]]
    repeated = client.request("workspace/diagnostic", {"previousResultIds": known})
    assert {item["kind"] for item in repeated["items"]} == {"unchanged"}


def test_whoever_asks_learns_that_other_files_have_changed(start: Start) -> None:
    session = start(FILES, PULL)
    train, clip = session.open("train.py"), session.open("pkg/clip.py")
    report = session.client.request("textDocument/diagnostic", {"textDocument": {"uri": clip}})
    assert codes(report) == ["JAX101"]
    session.client.change(train, 2, {"text": "x = 1\n"})
    since = len(session.client.notices)
    session.client.wait_for(lambda n: n["method"] == "workspace/diagnostic/refresh", "a refresh", since)
    report = session.client.request("textDocument/diagnostic", {"textDocument": {"uri": clip}})
    assert codes(report) == []


def test_a_request_that_is_taken_back_ends(start: Start) -> None:
    session = start(FILES, PULL)
    session.open("train.py")
    number = session.client.send("workspace/diagnostic", {"previousResultIds": []})
    session.client.notify("$/cancelRequest", {"id": number})
    answer = session.client.answer(number)
    assert answer["error"]["code"] == -32800
    report = session.client.request("workspace/diagnostic", {"previousResultIds": []})
    assert report["items"], "and the next one is answered"


def test_what_the_server_can_do_is_said_at_the_start(start: Start) -> None:
    session = start({})
    provided = session.client.request("workspace/executeCommand", {"command": "jaxlint.printDebugInformation"})
    assert "positions in utf-16" in provided
    logged = session.client.wait_for(lambda n: n["method"] == "window/logMessage", "the log")
    assert logged["params"]["message"] == provided


def test_long_work_shows_progress(start: Start) -> None:
    many = {f"m{number}.py": BRANCH * 40 for number in range(40)}
    session = start({**many, "a.py": BRANCH}, {"window": {"workDoneProgress": True}})
    uri = session.open("a.py")
    session.client.wait_for(lambda n: n["method"] == "window/workDoneProgress/create", "progress")
    session.client.published(uri)

    def ended(notice: dict[str, Any]) -> bool:
        return notice["method"] == "$/progress" and notice["params"]["value"]["kind"] == "end"

    session.client.wait_for(ended, "its end")


def _found(session: Any) -> dict[str, list[str]]:
    report = session.client.request("workspace/diagnostic", {"previousResultIds": []})
    return {item["uri"].removeprefix(session.root.as_uri()): codes(item) for item in report["items"]}


def test_the_whole_workspace_is_checked_for_those_who_ask_for_it(start: Start) -> None:
    session = start({"a.py": BRANCH, "pkg/b.py": BRANCH, "clean.py": "import jax\n"}, PULL)
    assert _found(session) == {"/a.py": ["JAX101"], "/pkg/b.py": ["JAX101"]}, "though nothing is open"


def test_every_folder_of_the_workspace_has_its_own_configuration(start: Start, tmp_path: Path) -> None:
    session = start({"a.py": BRANCH}, {**PULL, "workspace": {"workspaceFolders": True}})
    other = write_project(tmp_path / "other", {"b.py": BRANCH, "jaxlint.toml": 'ignore = ["JAX101"]\n'})
    folder = {"uri": other.as_uri(), "name": "other"}

    def change(added: list[Any], removed: list[Any]) -> None:
        session.client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": added, "removed": removed}})

    assert _found(session) == {"/a.py": ["JAX101"]}
    change([folder], [])
    assert _found(session) == {"/a.py": ["JAX101"]}
    (other / "jaxlint.toml").write_text("")
    watched = {"changes": [{"uri": (other / "jaxlint.toml").as_uri(), "type": 2}]}
    session.client.notify("workspace/didChangeWatchedFiles", watched)
    assert sorted(_found(session).values()) == [["JAX101"], ["JAX101"]]
    change([], [folder])
    assert _found(session) == {"/a.py": ["JAX101"]}


def test_a_broken_configuration_concerns_its_own_folder_alone(start: Start, tmp_path: Path) -> None:
    session = start({"a.py": BRANCH, "jaxlint.toml": "nonsense = 1\n"})
    other = write_project(tmp_path / "other", {"b.py": BRANCH})
    uri = (other / "b.py").as_uri()
    session.open("a.py")
    session.client.open(uri, BRANCH)
    assert codes(session.client.published(uri)) == ["JAX101"]
    said = session.client.wait_for(lambda n: n["method"] == "window/showMessage", "what is wrong")
    assert "nonsense" in said["params"]["message"] and "jaxlint.toml" in said["params"]["message"]
    session.insert(uri, 2, 5, "    # typed\n")
    moved = session.client.published(uri, lambda params: params.get("version") == 2)
    assert [item["range"]["start"]["line"] for item in moved["diagnostics"]] == [6]


def test_an_editor_that_shows_no_progress_gets_its_answer(start: Start) -> None:
    many = {f"m{number}.py": BRANCH * 40 for number in range(40)}
    session = start({**many, "clean.py": "import jax\n"}, {"window": {"workDoneProgress": True}})
    session.client.replies["window/workDoneProgress/create"] = lambda params: RuntimeError("not here")
    uri = session.open("clean.py")
    session.client.wait_for(lambda n: n["method"] == "window/workDoneProgress/create", "progress")
    assert codes(session.client.published(uri)) == [], "this comes from the whole answer alone"
    assert not [n for n in session.client.notices if n["method"] == "window/logMessage"]


# --- notebooks -------------------------------------------------------------------------------------------


def _notebook(session: Any, cells: dict[str, str]) -> str:
    uri = session.uri("n.ipynb")
    session.client.notify(
        "notebookDocument/didOpen",
        {
            "notebookDocument": {
                "uri": uri, "notebookType": "jupyter-notebook", "version": 1,
                "cells": [{"kind": 2, "document": cell} for cell in cells],
            },
            "cellTextDocuments": [
                {"uri": cell, "languageId": "python", "version": 1, "text": text} for cell, text in cells.items()
            ],
        },
    )  # fmt: skip
    return str(uri)


def test_a_notebook_is_one_program_reported_by_cell(start: Start) -> None:
    session = start({"a.py": NUMPY}, {**FULL, "notebookDocument": {"synchronization": {}}})
    cells = {"cell:1": "%matplotlib inline\nimport jax", "cell:2": BRANCH.removeprefix("import jax\n\n\n")}
    uri = _notebook(session, cells)
    found = session.client.published("cell:2")
    assert [(d["code"], d["range"]["start"]["line"]) for d in found["diagnostics"]] == [("JAX101", 2)]
    assert codes(session.client.published("cell:1")) == []
    since = len(session.client.notices)
    edit = {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "text": "!ls\n"}
    content = {"document": {"uri": "cell:2", "version": 2}, "changes": [edit]}
    session.client.notify(
        "notebookDocument/didChange",
        {"notebookDocument": {"uri": uri, "version": 2}, "change": {"cells": {"textContent": [content]}}},
    )
    moved = session.client.published("cell:2", since=since)
    assert moved["diagnostics"][0]["range"]["start"]["line"] == 3
    actions = session.actions("cell:2", 3)
    disable = next(action for action in actions if "disable" in action["title"])
    (change,) = disable["edit"]["documentChanges"]
    assert change["textDocument"]["uri"] == "cell:2"
    assert change["edits"][0]["range"]["start"] == {"line": 3, "character": 13}
    since = len(session.client.notices)
    session.client.notify(
        "notebookDocument/didClose",
        {"notebookDocument": {"uri": uri}, "cellTextDocuments": [{"uri": c} for c in cells]},
    )
    assert codes(session.client.published("cell:2", since=since)) == []


def test_all_of_a_notebook_can_be_fixed(start: Start) -> None:
    session = start({"a.py": "x = 1\n"}, {**FULL, "notebookDocument": {"synchronization": {}}})
    head, _, body = NUMPY.partition("\n\n\n")
    _notebook(session, {"cell:1": head, "cell:2": body})
    session.client.published("cell:2")
    (action,) = session.actions("cell:2", 0, ["notebook.source.fixAll"])
    resolved = session.client.request("codeAction/resolve", action)
    (change,) = resolved["edit"]["documentChanges"]
    assert change["textDocument"]["uri"] == "cell:2"
    assert applied(body, resolved["edit"]) == body.replace("np.sin", "jnp.sin")


def test_a_notebook_is_reported_by_cell_to_those_who_ask_as_well(start: Start) -> None:
    # The client of VS Code asks for texts, and never for cells.
    cells = {"cell:1": "import jax", "cell:2": BRANCH.removeprefix("import jax\n\n\n")}
    session = start({"a.py": BRANCH, "n.ipynb": _on_disk(cells)}, PULL)
    uri = session.uri("n.ipynb")

    def whole(*known: dict[str, Any]) -> dict[str, Any]:
        previous = [{"uri": item["uri"], "value": item["resultId"]} for item in known]
        report = session.client.request("workspace/diagnostic", {"previousResultIds": previous})
        return next(item for item in report["items"] if item["uri"] == uri)

    session.open("a.py")
    closed = whole()
    assert codes(closed) == ["JAX101"]
    assert closed["items"][0]["message"].startswith("cell 2: "), "the row alone would say nothing"
    _notebook(session, cells)
    assert codes(session.client.published("cell:2", lambda params: bool(params["diagnostics"]))) == ["JAX101"]
    opened = whole(closed)
    assert (opened["kind"], codes(opened)) == ("full", []), "not a second time, for the file"
    assert whole(opened)["kind"] == "unchanged"
    since = len(session.client.notices)
    session.client.notify(
        "notebookDocument/didClose",
        {"notebookDocument": {"uri": uri}, "cellTextDocuments": [{"uri": c} for c in cells]},
    )
    assert codes(session.client.published("cell:2", since=since)) == []
    assert codes(whole(opened)) == ["JAX101"]


def test_one_who_asks_for_a_cell_is_not_answered_twice(start: Start) -> None:
    session = start({"a.py": "x = 1\n"}, PULL)
    _notebook(session, {"cell:1": "import jax", "cell:2": BRANCH.removeprefix("import jax\n\n\n")})
    assert codes(session.client.published("cell:2", lambda params: bool(params["diagnostics"]))) == ["JAX101"]
    since = len(session.client.notices)
    asked = session.client.request("textDocument/diagnostic", {"textDocument": {"uri": "cell:2"}})
    assert codes(asked) == ["JAX101"]
    assert codes(session.client.published("cell:2", since=since)) == [], "what was sent before is taken back"


def _on_disk(cells: dict[str, str]) -> str:
    listed = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in cells.values()]
    return json.dumps({"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})
