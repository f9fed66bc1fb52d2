"""Code actions, hover, hints, lenses and commands of the real server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from e2e.projects import FILES, write_project
from e2e.projects import run as run_command
from support.language_client import LanguageClient, codes

from .conftest import BRANCH, FULL, NUMPY, Session, Start, applied

STATIC = (
    "import functools\n\nimport jax\n\n\n@functools.partial(jax.jit, static_argnames='cfg')\n"
    "def step(x, cfg: int):\n    return x * cfg\n\n\nprint(step(jax.numpy.ones(3), 2))\n"
)
EVERYWHERE = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """One server for what asks and changes nothing; each test opens a file of its own."""
    pytest.importorskip("pygls", reason="the extra `server` is not installed")
    texts = {"numpy": NUMPY, "branch": BRANCH, "comment": "x = 1  # noqa: JAX101\n"}
    files = {f"{kind}{number}.py": text for kind, text in texts.items() for number in range(4)}
    root = write_project(tmp_path_factory.mktemp("shared") / "project", files)
    with LanguageClient(root) as client:
        client.initialize(root, FULL, {"debounce": 30})
        yield Session(client, root)


FIXED = NUMPY.replace("np.sin", "jnp.sin").replace("import numpy as np\n", "")


def _titled(actions: list[dict[str, Any]], word: str) -> dict[str, Any]:
    (found,) = [action for action in actions if word in action["title"]]
    return found


def _opened(session: Session, name: str) -> str:
    uri = session.open(name)
    session.client.published(uri, lambda params: bool(params["diagnostics"]))
    return uri


def test_a_quick_fix_is_worked_out_when_it_is_chosen(shared: Session) -> None:
    session = shared
    uri = _opened(session, "numpy0.py")
    actions = session.actions(uri, 7)
    fix = next(action for action in actions if action.get("isPreferred"))
    assert fix["kind"] == "quickfix" and "edit" not in fix
    resolved = session.client.request("codeAction/resolve", fix)
    assert applied(NUMPY, resolved["edit"]) == FIXED
    assert resolved["edit"]["documentChanges"][0]["textDocument"] == {"uri": uri, "version": 1}
    session.insert(uri, 2, 0, "\n")
    assert "edit" not in session.client.request("codeAction/resolve", fix), "it was for another text"


def test_an_editor_that_cannot_resolve_gets_the_edit_at_once(start: Start) -> None:
    session = start({"a.py": NUMPY}, {})
    uri = _opened(session, "a.py")
    fix = next(action for action in session.actions(uri, 7) if action.get("isPreferred"))
    assert applied(NUMPY, fix["edit"]) == NUMPY.replace("np.sin", "jnp.sin")
    (everything,) = session.actions(uri, 0, ["source.fixAll"])
    assert applied(NUMPY, everything["edit"]) == FIXED


def test_a_fix_that_is_not_safe_says_nothing_of_being_preferred(shared: Session) -> None:
    actions = shared.actions(_opened(shared, "branch2.py"), 5)
    assert "isPreferred" not in _titled(actions, "may change values")


def test_all_safe_fixes_are_one_action_that_a_hierarchy_of_kinds_asks_for(shared: Session) -> None:
    session = shared
    uri = _opened(session, "numpy1.py")
    for kind in ("source", "source.fixAll", "source.fixAll.jaxlint"):
        (action,) = session.actions(uri, 0, [kind])
        assert action["kind"] == "source.fixAll.jaxlint"
    assert session.actions(uri, 0, ["source.fixAll.ruff"]) == []
    assert session.actions(uri, 0, ["refactor"]) == []
    assert {action["kind"] for action in session.actions(uri, 7, ["quickfix"])} == {"quickfix"}
    resolved = session.client.request("codeAction/resolve", action)
    assert applied(NUMPY, resolved["edit"]) == FIXED


def test_a_finding_can_be_silenced_on_its_line(shared: Session) -> None:
    session = shared
    uri = _opened(session, "branch0.py")
    silenced = applied(BRANCH, _titled(session.actions(uri, 5), "disable for this line")["edit"])
    assert silenced == BRANCH.replace("x > 0:", "x > 0:  # noqa: JAX101")
    session.client.change(uri, 2, {"text": silenced})
    assert codes(session.client.published(uri, lambda params: params["version"] == 2)) == []


def test_a_rule_can_be_explained(shared: Session) -> None:
    session = shared
    uri = _opened(session, "branch1.py")
    command = _titled(session.actions(uri, 5), "explain")["command"]
    page = session.client.request("workspace/executeCommand", command)
    assert page.startswith("**JAX101 traced-branch**")
    shown = session.client.wait_for(lambda notice: notice["method"] == "window/showMessage", "a sentence")
    assert "jaxlint rule JAX101" in shown["params"]["message"]


def test_what_may_not_be_fixed_is_not_offered(start: Start) -> None:
    session = start({"a.py": NUMPY}, unfixable=["JAX203"])
    uri = _opened(session, "a.py")
    assert [action["title"] for action in session.actions(uri, 7)] == [
        "JAX203: disable for this line",
        "JAX203: explain",
    ]


def test_the_command_that_fixes_sends_an_edit(shared: Session) -> None:
    session = shared
    session.client.replies["workspace/applyEdit"] = lambda params: {"applied": True}
    uri = _opened(session, "numpy2.py")
    arguments = [{"uri": uri, "version": 1}]
    command = {"command": "jaxlint.applyAutofix", "arguments": arguments}
    assert session.client.request("workspace/executeCommand", command) is True
    sent = session.client.wait_for(lambda notice: notice["method"] == "workspace/applyEdit", "an edit")
    assert applied(NUMPY, sent["params"]["edit"]) == FIXED
    session.client.change(uri, 2, {"text": "x = 1\n"})
    command = {"command": "jaxlint.applyAutofix", "arguments": [{"uri": uri}]}
    assert session.client.request("workspace/executeCommand", command) is False, "nothing to fix"


# --- functions -------------------------------------------------------------------------------------------


def _hover(session: Session, uri: str, row: int, column: int) -> str | None:
    params = {"textDocument": {"uri": uri}, "position": {"line": row, "character": column}}
    found = session.client.request("textDocument/hover", params)
    return None if found is None else str(found["contents"]["value"])


def test_hover_says_what_a_code_in_a_comment_means(shared: Session) -> None:
    session = shared
    uri = session.open("comment0.py")
    assert str(_hover(session, uri, 0, 17)).startswith("**JAX101 traced-branch** (error)")
    assert _hover(session, uri, 0, 1) is None


def test_hover_is_plain_text_for_an_editor_that_knows_no_other(start: Start) -> None:
    files = {"a.py": STATIC, "comment.py": "x = 1  # noqa: JAX203\n"}
    session = start(files, {"textDocument": {"hover": {"contentFormat": ["plaintext"]}}})
    staged, comment = session.open("a.py"), session.open("comment.py")
    at = {"textDocument": {"uri": staged}, "position": {"line": 6, "character": 5}}
    assert session.client.request("textDocument/hover", at)["contents"]["kind"] == "plaintext"
    assert str(_hover(session, staged, 6, 5)).startswith("step (traced)\n\ntraced by `")
    page = str(_hover(session, comment, 0, 17))
    assert page.startswith("JAX203 numpy-on-tracer (error)\n")
    assert "```" not in page and "\nimport jax\n" in page and " ** 2\n" in page


def test_hover_says_why_a_function_and_a_parameter_are_traced(start: Start) -> None:
    session = start({**FILES, "a.py": STATIC})
    clip, other = session.open("pkg/clip.py"), session.open("a.py")
    said = str(_hover(session, clip, 0, 5))
    assert "traced by `jax.jit at train.py:8 → <lambda> → scan_body → clip`" in said
    assert "outside tracing" not in said
    assert "**x**: " in str(_hover(session, clip, 1, 7)), "a parameter where it is used"
    assert "**cfg**: static" in str(_hover(session, other, 6, 12))
    assert "**x**: pytree or traced\n" in str(_hover(session, other, 6, 9))
    assert _hover(session, other, 0, 2) is None


def test_traced_parameters_are_marked_and_follow_what_is_typed(start: Start) -> None:
    session = start({"a.py": STATIC})
    uri = session.open("a.py")
    params = {"textDocument": {"uri": uri}, "range": EVERYWHERE}
    (hint,) = session.client.request("textDocument/inlayHint", params)
    assert (hint["label"], hint["position"]) == (": traced", {"line": 6, "character": 10})
    assert "jax.jit at a.py:6" in hint["tooltip"]
    session.insert(uri, 2, 0, "\n")
    (moved,) = session.client.request("textDocument/inlayHint", params)
    assert moved["position"] == {"line": 7, "character": 10}
    above = {"start": {"line": 0, "character": 0}, "end": {"line": 3, "character": 0}}
    assert session.client.request("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": above}) == []


def test_a_lens_shows_the_chain_that_stages_a_function_and_leads_to_its_root(start: Start) -> None:
    session = start(FILES, {**FULL, "window": {"showDocument": {"support": True}}})
    session.client.replies["window/showDocument"] = lambda params: {"success": True}
    uri = session.open("pkg/clip.py")
    (lens,) = session.client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    assert lens["command"]["title"] == "traced by jax.jit at train.py:8 → <lambda> → scan_body → clip"
    assert lens["range"]["start"]["line"] == 0
    session.client.request("workspace/executeCommand", lens["command"])
    shown = session.client.wait_for(lambda notice: notice["method"] == "window/showDocument", "the root")
    assert shown["params"]["uri"] == session.uri("train.py")
    assert shown["params"]["selection"]["start"] == {"line": 7, "character": 0}


def test_hints_and_lenses_can_be_turned_off(start: Start) -> None:
    session = start({"a.py": STATIC}, inlayHints=False, codeLens=False)
    uri = session.open("a.py")
    params = {"textDocument": {"uri": uri}, "range": EVERYWHERE}
    assert session.client.request("textDocument/inlayHint", params) == []
    assert session.client.request("textDocument/codeLens", {"textDocument": {"uri": uri}}) == []


# --- the command line --------------------------------------------------------------------------------------


def test_without_pygls_the_command_says_what_to_install(tmp_path: Path) -> None:
    blocked = (
        "import importlib.util, sys\nfind = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'pygls' else find(name, *rest)\n"
        "from flake8_jax.cli import main\nsys.exit(main(['server']))\n"
    )
    ended = run_command([sys.executable, "-c", blocked], tmp_path)
    assert ended.returncode == 2
    assert "flake8-jax[server]" in ended.stderr


def test_the_help_says_how_an_editor_starts_it(tmp_path: Path) -> None:
    ended = run_command([sys.executable, "-m", "flake8_jax", "server", "--help"], tmp_path)
    assert ended.returncode == 0
    assert "vim.lsp.start" in ended.stdout


def test_the_server_ends_with_its_client(start: Start) -> None:
    session = start({"a.py": BRANCH})
    _opened(session, "a.py")
    children = _processes("--ppid", str(session.client.process.pid))
    assert children, "the whole project is checked in a process of its own"
    session.client.request("shutdown", None)
    session.client.notify("exit", None)
    assert session.client.process.wait(20) == 0
    deadline = time.monotonic() + 10
    while _processes("-p", ",".join(children)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _processes("-p", ",".join(children))


def test_the_server_and_its_child_end_when_the_client_is_gone(start: Start) -> None:
    session = start({"a.py": BRANCH})
    _opened(session, "a.py")
    children = _processes("--ppid", str(session.client.process.pid))
    assert session.client.process.stdin is not None
    session.client.process.stdin.close()
    session.client.process.wait(20)
    deadline = time.monotonic() + 10
    while _processes("-p", ",".join(children)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert children and not _processes("-p", ",".join(children))


def test_a_child_that_dies_is_started_again(start: Start) -> None:
    session = start({"a.py": BRANCH, "b.py": BRANCH + "# b\n"})
    _opened(session, "a.py")
    for number in _processes("--ppid", str(session.client.process.pid)):
        os.kill(int(number), signal.SIGKILL)
    other = session.open("b.py")
    session.client.published(other)
    session.insert(other, 2, 0, "\n")
    found = session.client.published(other, lambda params: params["version"] == 2 and bool(params["diagnostics"]))
    assert found["diagnostics"][0]["range"]["start"]["line"] == 6


def test_a_failure_is_answered_and_logged_and_the_server_goes_on(tmp_path: Path) -> None:
    root = write_project(tmp_path, {"a.py": BRANCH})
    faulty = (
        "import sys\nfrom flake8_jax.cli import main\nfrom flake8_jax.server import actions\n"
        "def fail(*arguments, **rest):\n    raise KeyError('x')\n"
        "if __name__ == '__main__':\n    actions.explanations = fail\n    sys.exit(main(['server']))\n"
    )
    (tmp_path / "faulty.py").write_text(faulty, encoding="utf-8")
    with LanguageClient(root, [sys.executable, str(tmp_path / "faulty.py")]) as client:
        client.initialize(root, FULL, {"debounce": 30})
        session = Session(client, root)
        uri = _opened(session, "a.py")
        at = {"line": 5, "character": 0}
        params = {"textDocument": {"uri": uri}, "range": {"start": at, "end": at}, "context": {"diagnostics": []}}
        answer = client.answer(client.send("textDocument/codeAction", params))
        assert answer["error"]["code"] == -32603
        logged = client.wait_for(lambda notice: notice["method"] == "window/logMessage", "the log")
        assert "Traceback" in logged["params"]["message"] and "KeyError" in logged["params"]["message"]
        hover = {"textDocument": {"uri": uri}, "position": at}
        assert client.request("textDocument/hover", hover) is None, "and the next request is answered"


def test_data_of_an_action_that_the_server_did_not_send_is_refused(shared: Session) -> None:
    uri = _opened(shared, "branch3.py")
    broken = {"title": "x", "data": {"uri": uri, "version": 1, "code": "JAX101"}}
    assert shared.client.answer(shared.client.send("codeAction/resolve", broken))["error"]["code"] == -32602


def test_a_text_that_replaces_a_very_long_one_does_not_wait_for_it(start: Start) -> None:
    session = start({"a.py": BRANCH})
    function = (
        "\n\ndef f{0}(x, y):\n    for i in range(3):\n        y = jnp.sin(y) * x[i] + {0}\n    return f{1}(x, y)\n"
    )
    functions = "".join(function.format(number, max(number - 1, 0)) for number in range(5000))
    uri = session.uri("a.py")
    session.client.open(uri, f"import jax.numpy as jnp\n{functions}")
    time.sleep(0.5)
    session.client.change(uri, 2, {"text": BRANCH})
    began = time.monotonic()
    assert codes(session.client.published(uri, lambda params: params["version"] == 2)) == ["JAX101"]
    assert time.monotonic() - began < 30, "the long one takes minutes; this is for a busy machine"


def _processes(*which: str) -> list[str]:
    """The numbers of these processes, as far as they still run."""
    listed = subprocess.run(["ps", *which, "-o", "pid=,stat="], capture_output=True, text=True, check=False)
    return [line.split()[0] for line in listed.stdout.splitlines() if "Z" not in line.split()[1]]
