"""The real ruff-lsp, with jaxlint in ruff's place: what an editor sees through it.

ruff-lsp needs ``pygls<2``, which our own server cannot live with, so it gets a folder of packages of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.language_client import LanguageClient, Message, codes

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WRONG = """import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    label = "é→"; y = float(x)
    return y, label
"""
UNFIXABLE = WRONG.replace("y = float(x)", "y = x\n    if x > 0:\n        raise ValueError")


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ruff-lsp")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), "ruff-lsp", "pygls<2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"ruff-lsp cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "jaxlint.toml").write_text("unsafe-fixes = true\nexclude = ['excluded.py']\n")
    (folder / "excluded.py").write_text(WRONG)
    executable = folder / "bin" / "jaxlint"
    executable.parent.mkdir()
    executable.write_text(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n"
                          "from flake8_jax.cli import script\nscript()\n")  # fmt: skip
    executable.chmod(0o755)
    return folder


Start = Callable[[], LanguageClient]


@pytest.fixture
def client(packages: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LanguageClient]:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(packages)]))
    program = f"import sys; sys.path.insert(0, {str(packages)!r}); from ruff_lsp.__main__ import main; main()"
    with LanguageClient(project, [sys.executable, "-c", program]) as found:
        options = {"settings": {"path": [str(project / "bin" / "jaxlint")]}}
        resolve = {"resolveSupport": {"properties": ["edit"]}}
        found.initialize(project, {"textDocument": {"codeAction": resolve}}, options)
        yield found


def opened(client: LanguageClient, path: Path, text: str) -> tuple[str, Message]:
    uri = path.as_uri()
    client.open(uri, text)
    return uri, client.published(uri)


def actions(client: LanguageClient, uri: str, diagnostics: list[Any], only: str) -> list[Any]:
    where = (
        diagnostics[0]["range"]
        if diagnostics
        else {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    )
    context = {"diagnostics": diagnostics, "only": [only]}
    found: list[Any] = client.request(
        "textDocument/codeAction", {"textDocument": {"uri": uri}, "range": where, "context": context}
    )
    return found or []


def edited(client: LanguageClient, uri: str, text: str, action: Any) -> str:
    """The text after an action."""
    if action.get("edit") is None:
        action = client.request("codeAction/resolve", action)
    (change,) = [change for change in action["edit"]["documentChanges"] if change["textDocument"]["uri"] == uri]
    lines = text.split("\n")
    for edit in sorted(
        change["edits"], key=lambda e: -e["range"]["start"]["line"] * 10**6 - e["range"]["start"]["character"]
    ):
        start, end = edit["range"]["start"], edit["range"]["end"]
        first, last = (lines[at["line"]] if at["line"] < len(lines) else "" for at in (start, end))
        new = units(first, 0, start["character"]) + edit["newText"] + units(last, end["character"], None)
        lines[start["line"] : end["line"] + 1] = new.split("\n")
    return "\n".join(lines)


def units(line: str, first: int, last: int | None) -> str:
    """A part of a line in the UTF-16 units of the protocol."""
    data = line.encode("utf-16-le")
    return data[2 * first : None if last is None else 2 * last].decode("utf-16-le")


def test_findings_while_typing(client: LanguageClient, project: Path) -> None:
    uri, params = opened(client, project / "a.py", WRONG)
    assert codes(params) == ["JAX201"]
    place = params["diagnostics"][0]["range"]["start"]
    assert place == {"line": 6, "character": 22}
    start = len(client.notices)
    client.change(uri, 2, {"text": WRONG.replace("float(x)", "x * 2")})
    assert codes(client.published(uri, since=start)) == []


def test_quick_fix_fix_all_and_disable(client: LanguageClient, project: Path) -> None:
    uri, params = opened(client, project / "a.py", WRONG)
    offered = actions(client, uri, params["diagnostics"], "quickfix")
    titles = [action["title"] for action in offered]
    assert any("Disable for this line" in title for title in titles)
    disabled = edited(client, uri, WRONG, next(a for a in offered if "Disable" in a["title"]))
    assert '    label = "é→"; y = float(x)  # noqa: JAX201\n' in disabled
    (fixing,) = actions(client, uri, params["diagnostics"], "source.fixAll")
    fixed = edited(client, uri, WRONG, fixing)
    assert "float(x)" not in fixed
    assert fixed.startswith("import jax\n")
    quick = [a for a in offered if "Disable" not in a["title"]]
    assert quick
    assert edited(client, uri, WRONG, quick[0]) == fixed


def test_imports_are_left_to_others(client: LanguageClient, project: Path) -> None:
    uri, params = opened(client, project / "a.py", WRONG)
    for action in actions(client, uri, params["diagnostics"], "source.organizeImports"):
        assert edited(client, uri, WRONG, action) == WRONG


@pytest.mark.parametrize("name", ["excluded.py", "broken.py", "unfixable.py", "empty.py"])
def test_no_file_is_ever_emptied(client: LanguageClient, project: Path, name: str) -> None:
    text = {"excluded.py": WRONG, "broken.py": WRONG + "def (:\n", "unfixable.py": UNFIXABLE, "empty.py": ""}[name]
    uri, params = opened(client, project / name, text)
    assert codes(params) == {"broken.py": ["JAX001"], "unfixable.py": ["JAX101"]}.get(name, [])
    for action in actions(client, uri, params["diagnostics"], "source.fixAll"):
        assert edited(client, uri, text, action) == text
    formatting = {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}}
    assert not client.request("textDocument/formatting", formatting)


def test_hover_explains_the_code_of_a_comment(client: LanguageClient, project: Path) -> None:
    text = WRONG.replace("y = float(x)", "y = float(x)  # noqa: JAX201")
    uri, params = opened(client, project / "a.py", text)
    assert codes(params) == []
    line = text.split("\n")[6]
    position = {"line": 6, "character": line.index("JAX201") + 2}
    shown = client.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": position})
    assert shown["contents"]["value"].startswith("# host-cast (JAX201)")


def test_a_caller_in_another_file_counts(client: LanguageClient, project: Path) -> None:
    (project / "helper.py").write_text("def pick(x):\n    if x > 0:\n        return x\n    return -x\n")
    (project / "caller.py").write_text(
        "import jax\nfrom helper import pick\n\n\n@jax.jit\ndef f(x):\n    return pick(x)\n"
    )
    _, params = opened(client, project / "helper.py", (project / "helper.py").read_text())
    assert codes(params) == ["JAX101"]


def test_notebooks(client: LanguageClient, project: Path) -> None:
    uri = (project / "a.ipynb").as_uri()
    sources = ["import jax\nimport jax.numpy as jnp", "# Words", "@jax.jit\ndef step(x):\n    return float(x)"]
    cells = [
        {"kind": kind, "document": f"{uri.replace('file:', 'vscode-notebook-cell:')}#{number}"}
        for number, kind in enumerate((2, 1, 2))
    ]
    documents = [
        {
            "uri": cell["document"],
            "languageId": "markdown" if cell["kind"] == 1 else "python",
            "version": 1,
            "text": source,
        }
        for cell, source in zip(cells, sources, strict=True)
    ]
    client.notify(
        "notebookDocument/didOpen",
        {
            "notebookDocument": {"uri": uri, "notebookType": "jupyter-notebook", "version": 1, "cells": cells},
            "cellTextDocuments": documents,
        },
    )
    params = client.published(documents[2]["uri"], lambda found: bool(found["diagnostics"]))
    assert codes(params) == ["JAX201"]
    assert params["diagnostics"][0]["range"]["start"] == {"line": 2, "character": 11}
    (fixing,) = actions(client, documents[2]["uri"], params["diagnostics"], "notebook.source.fixAll")
    if fixing.get("edit") is None:
        fixing = client.request("codeAction/resolve", fixing)
    changed = {change["textDocument"]["uri"]: change["edits"] for change in fixing["edit"]["documentChanges"]}
    assert [edit["newText"] for edit in changed[documents[2]["uri"]]] == ["    return x.astype(float)"]
