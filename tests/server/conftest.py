"""A server on a small project, and what the tests say to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from e2e.projects import write_project
from support.language_client import LanguageClient

BRANCH = "import jax\n\n\n@jax.jit\ndef step(x):\n    if x > 0:\n        return x\n    return -x\n"
"""A finding JAX101 on row 6."""
NUMPY = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\n@jax.jit\ndef f(x):\n    return np.sin(x) + jnp.cos(x)\n"
"""A finding with a safe fix, JAX203 on row 8."""

HERE = Path(__file__).parent
FULL: dict[str, Any] = {
    "textDocument": {
        "codeAction": {"dataSupport": True, "resolveSupport": {"properties": ["edit"]}},
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True},
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}


class Session:
    """A client, its project, and short names for what tests do."""

    def __init__(self, client: LanguageClient, root: Path) -> None:
        self.client = client
        self.root = root

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def open(self, name: str) -> str:
        uri = self.uri(name)
        self.client.open(uri, (self.root / name).read_text(encoding="utf-8"))
        return uri

    def insert(self, uri: str, version: int, row: int, text: str) -> None:
        """Type a text at the start of a row (from 0)."""
        at = {"line": row, "character": 0}
        self.client.change(uri, version, {"range": {"start": at, "end": at}, "text": text})

    def actions(self, uri: str, row: int, only: list[str] | None = None) -> list[dict[str, Any]]:
        at = {"line": row, "character": 0}
        context = {"diagnostics": []} if only is None else {"diagnostics": [], "only": only}
        params = {"textDocument": {"uri": uri}, "range": {"start": at, "end": at}, "context": context}
        found: list[dict[str, Any]] = self.client.request("textDocument/codeAction", params)
        return found


Start = Callable[..., Session]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what starts a server of its own as slow: the most part of a second goes into the import of pygls."""
    for item in items:
        if "start" in getattr(item, "fixturenames", ()) and item.path.parent == HERE:
            item.add_marker("slow")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a server on a project of these files."""
    pytest.importorskip("pygls", reason="the extra `server` is not installed")
    with ExitStack() as stack:

        def run(files: Mapping[str, str], capabilities: Mapping[str, Any] = FULL, **options: Any) -> Session:
            root = write_project(tmp_path / "project", files)
            client = stack.enter_context(LanguageClient(root))
            client.initialize(root, capabilities, {"debounce": 30, **options})
            return Session(client, root)

        yield run


def applied(text: str, edit: Mapping[str, Any]) -> str:
    """A text (of ASCII) after a workspace edit that concerns one document."""
    changes = edit.get("documentChanges") or [{"edits": edits} for edits in edit["changes"].values()]
    assert len(changes) == 1
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for part in sorted(changes[0]["edits"], key=lambda part: _at(starts, part["range"]["start"]), reverse=True):
        first, last = _at(starts, part["range"]["start"]), _at(starts, part["range"]["end"])
        text = text[:first] + part["newText"] + text[last:]
    return text


def _at(starts: list[int], position: Mapping[str, int]) -> int:
    return starts[position["line"]] + position["character"]
