"""The real reviewdog reads what we write: places, fixes, and which of them are in a change.

It is run where it is installed. GitHub is played by a server on this machine.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.e2e.projects import ROOT, python, run

REVIEWDOG = shutil.which("reviewdog")
needs_reviewdog = pytest.mark.skipif(REVIEWDOG is None, reason="reviewdog is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("git") is None, reason="it needs git"),
]

SCHEMA = json.loads((ROOT / "tests" / "reporters" / "data" / "rdjson.schema.json").read_text())
FAR = "far.py"
"""Its fix needs an import that is far from it."""
NAMES = [FAR, "plain.py", "a b.py", "ä 日本.py", 'quo"te.py', "a,b:c%0A.py", "$(x);`y`.py", "<b>&.py", "dir/ü/x.py"]
OLD = (
    "import jax\nimport jax.numpy as jnp\n\n\ndef helper(x):\n    if x > 0:\n        return x\n    return -x\n"
    + "\n\n# far away" * 9
    + "\n"
)
NEW = (
    "\n\nimport numpy as np\n\n\n@jax.jit\ndef step(日本, x):\n"
    '    日本 = "🚀"; y = np.sin(x)\n    return helper(x) + y\n'
)
NOTEBOOK: dict[str, Any] = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# ü"]},
        {
            "cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [],
            "source": ["import jax\n", "@jax.jit\n", "def f(x):\n", "    if x > 0:\n", "        x = -x\n", "    return x\n"],
        },
    ],
    "metadata": {"kernelspec": {"display_name": "P", "language": "python", "name": "p"}},
    "nbformat": 4, "nbformat_minor": 5,
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Helpers in the first commit; in the second, what stages them, and files that are new."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "jaxlint.toml").write_text("")
    old = {name: OLD.replace("jax.numpy as jnp", "os") if name == FAR else OLD for name in NAMES}
    for name, text in old.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    commit(folder)
    for name, text in old.items():
        (folder / name).write_text(text + NEW, encoding="utf-8")
    (folder / "new.py").write_text("import jax\n" + NEW.replace("helper(x)", "x"), encoding="utf-8")
    (folder / "nb.ipynb").write_text(json.dumps(NOTEBOOK, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    commit(folder)
    return folder


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", *identity, *words], cwd=folder, check=True, capture_output=True, encoding="utf-8"
    ).stdout


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "c")


def said(folder: Path, form: str, *options: str) -> str:
    done = run(python("-m", "flake8_jax", "check", "--no-cache", "--output-format", form, *options, "."), folder)
    assert done.returncode == 1, done.stderr
    return done.stdout


def reviewed(folder: Path, text: str, *options: str, status: int = 0, **environment: str) -> str:
    done = run(["reviewdog", *options], folder, stdin=text, **environment)
    assert done.returncode == status, done.stderr
    return done.stdout


def place(item: dict[str, Any]) -> tuple[str, int]:
    return item["location"]["path"], item["location"]["range"]["start"]["line"]


def cut(text: str, span: dict[str, Any]) -> str:
    """What stands at a range whose columns count bytes."""
    lines = text.encode().split(b"\n")
    start, end = span["start"], span["end"]
    wanted = lines[start["line"] - 1 : end["line"]]
    wanted[-1] = wanted[-1][: end["column"] - 1]
    wanted[0] = wanted[0][start["column"] - 1 :]
    return b"\n".join(wanted).decode()


def test_what_we_write_is_the_format(project: Path) -> None:
    document = json.loads(said(project, "rdjson"))
    jsonschema.Draft7Validator(SCHEMA).validate(document)
    lines = [json.loads(line) for line in said(project, "rdjsonl").splitlines()]
    for line in lines:
        jsonschema.Draft7Validator({**SCHEMA, "$ref": "#/definitions/diagnostic"}).validate(line)
    assert lines == [{**item, "source": document["source"]} for item in document["diagnostics"]]
    by_path: dict[str, list[dict[str, Any]]] = {}
    for item in document["diagnostics"]:
        by_path.setdefault(item["location"]["path"], []).append(item)
    assert by_path.keys() == {*NAMES, "new.py", "nb.ipynb"}
    for path in NAMES:
        branch, call = by_path[path]
        text = (project / path).read_text(encoding="utf-8")
        assert cut(text, branch["location"]["range"]) == "x > 0"
        assert cut(text, call["location"]["range"]) == "np.sin(x)"
        assert [step["message"] for step in branch["related_locations"]] == [
            "`jax.jit` traces `step`",
            "`step` calls `helper`",
        ]
    (cell,) = by_path["nb.ipynb"]
    assert cell["message"].startswith("cell 2, line 4: `x > 0` is traced")
    assert "suggestions" not in cell


@needs_reviewdog
@pytest.mark.parametrize("form", ["rdjson", "rdjsonl"])
def test_reviewdog_keeps_what_is_in_the_change(project: Path, form: str) -> None:
    text = said(project, form)
    before = json.loads(said(project, "rdjson"))["diagnostics"]
    out = reviewed(project, text, f"-f={form}", "-diff=git diff HEAD~1", "-reporter=rdjsonl")
    found = [json.loads(line) for line in out.splitlines()]
    # A helper is in no changed line; the cell is said at the first line of a new notebook.
    wanted = [item for item in before if place(item)[1] != 6]
    assert len(wanted) == len(NAMES) + 2 < len(before)
    assert found == [{**item, "source": {"name": "jaxlint"}} for item in wanted]
    everything = reviewed(
        project, text, f"-f={form}", "-diff=git diff HEAD~1", "-filter-mode=nofilter", "-reporter=rdjsonl"
    )
    assert len(everything.splitlines()) == len(before)


@needs_reviewdog
def test_reviewdog_in_a_folder_below(project: Path) -> None:
    folder = project / "dir" / "ü"
    text = said(folder, "rdjson")
    out = reviewed(folder, text, "-f=rdjson", "-diff=git diff HEAD~1", "-reporter=rdjsonl")
    assert [place(json.loads(line)) for line in out.splitlines()] == [("x.py", 35)]


class GitHub(ThreadingHTTPServer):
    """A pull request with a change; ``comments`` are those of the review that is posted on it."""

    def __init__(self, diff: str) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.diff = diff
        self.comments: list[dict[str, Any]] = []
        self.on_files: list[dict[str, Any]] = []


class _Answers(BaseHTTPRequestHandler):
    server: GitHub

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _say(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path.endswith("/pulls/1"):
            self._say(self.server.diff.encode())
        elif path.endswith("/comments"):
            self._say(b"[]")
        else:
            self._say(b'{"html_url": "https://github.example/o/r"}')

    def do_POST(self) -> None:
        said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/reviews"):
            self.server.comments += said.get("comments") or []
        else:
            self.server.on_files.append(said)
        self._say(b"{}")


@pytest.fixture
def github(project: Path) -> Iterator[GitHub]:
    with GitHub(git(project, "diff", "HEAD~1")) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@needs_reviewdog
def test_a_suggestion_applied_is_our_fix(project: Path, github: GitHub) -> None:
    """Whoever clicks on "commit suggestion" gets what ``--fix`` writes, bytes and all, or is offered nothing."""
    environment = {
        "REVIEWDOG_GITHUB_API_TOKEN": "none", "GITHUB_API": f"http://127.0.0.1:{github.server_port}/",
        "CI_REPO_OWNER": "o", "CI_REPO_NAME": "r", "CI_COMMIT": "c", "CI_PULL_REQUEST": "1", "GITHUB_ACTIONS": "",
    }  # fmt: skip
    recipe = re.search(
        r"^ +reviewdog (-f=rdjson .*)$", (ROOT / "docs" / "ci.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert recipe is not None
    text = said(project, "rdjson", "--since", "HEAD~1")
    reviewed(project, text, *recipe[1].split(), status=1, **environment)
    assert len(github.comments) == len(NAMES) + 2
    assert {item["path"] for item in github.on_files} == set(NAMES), "findings that the change brings to other lines"
    assert all("L6" in item["body"] and "step calls helper" in item["body"] for item in github.on_files)
    assert run(python("-m", "flake8_jax", "check", "--no-cache", "--fix", "-q", "."), project).returncode == 1
    for comment in github.comments:
        path = project / comment["path"]
        offered = re.findall(r"^(`{3,})suggestion\n(.*?)\n\1$", comment["body"], re.MULTILINE | re.DOTALL)
        if path.suffix == ".ipynb" or path.name == FAR:
            assert not offered
            assert ("suggestion error" in comment["body"]) is (path.name == FAR)
            continue
        assert len(offered) == 1, comment["body"]
        before = git(project, "show", f"HEAD:{comment['path']}").split("\n")
        before[comment.get("start_line", comment["line"]) - 1 : comment["line"]] = offered[0][1].split("\n")
        assert "\n".join(before) == path.read_text(encoding="utf-8")
