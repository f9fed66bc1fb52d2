"""Thousands of messages for the language server: right ones, wrong ones, in the wrong order, with spoiled headers.

    PYTHONPATH=.:tests python -m fuzz.lsp_messages [SEED] [COUNT]

Vocabulary
----------
batch    messages that are sent without waiting. After each one the server has to answer for a new, valid document.
session  the batches that one server process gets, from `initialize` to one of the ways to end.
framed   a batch in which every header is right, so that every request in it has to be answered once.

Nothing but messages may be on standard output, nothing on standard error, and no failure of jaxlint in the log.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
"""Seconds that one answer may take, on a machine that has nothing else to do."""
_SHOWN = 600
"""Bytes of a message that a failure shows."""
_PROMISED = 300
"""The most bytes that a spoiled header claims, beside those that the server refuses."""
_MEMORY = 6 << 30
"""Bytes of address space, which is more than what is used."""
BATCH = 50
BATCHES = 8
"""For one server."""
BRANCH = "import jax\n\n\n@jax.jit\ndef step(x):\n    if x > 0:\n        return x\n    return -x\n"
"""A finding JAX101 on row 6."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Message:
    """``kind``: what it is counted as. identifier: of a request that has to be answered."""

    kind: str
    data: bytes
    identifier: int | None = None

    def __repr__(self) -> str:
        return f"{self.kind}: {self.data[:_SHOWN]!r}"


def patience() -> float:
    """Seconds that one answer may take on this machine, as busy as it is."""
    busy = os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else 1.0
    return PATIENCE * max(busy, 1.0)


def framed(content: object) -> bytes:
    body = json.dumps(content).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _limit_memory() -> None:
    """A server that reads something without an end fails, and not the machine."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


# --- the server --------------------------------------------------------------------------------------------


class Server:
    """A real server, and everything that it says."""

    def __init__(self, root: Path, answer: Callable[[Json], object]) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "flake8_jax", "server"],
            cwd=root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=_limit_memory if os.name == "posix" else None,
        )
        self._answer = answer
        self._said = threading.Condition()
        self.answers: Counter[int] = Counter()
        self.results: dict[int, Json] = {}
        self.published: dict[str, list[Json]] = {}
        self.problems: list[str] = []
        self.errors: list[str] = []
        self.ended = False
        self._outgoing: queue.Queue[bytes | None] = queue.Queue()
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._read, self._write, self._read_errors)
        ]
        for thread in self._threads:
            thread.start()

    def send(self, data: bytes) -> None:
        self._outgoing.put(data)

    def wait(self, holds: Callable[[], bool], what: str) -> None:
        with self._said:
            self._said.wait_for(lambda: holds() or self.ended or bool(self.problems), patience())
            if self.ended:
                self._said.wait_for(lambda: bool(self.problems), 2)  # why
            assert not self.problems, self._first_problem()
            status = self._process.wait(patience()) if self.ended else None
            assert holds(), (
                f"the server ended with {status}, before {what}" if self.ended else f"no {what} in {patience():.0f} s"
            )

    def end(self) -> int:
        """Close the input and wait for the end; returns the exit status."""
        self._outgoing.put(None)
        try:
            status = self._process.wait(patience())
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the server does not end in {patience():.0f} s") from None
        for thread in self._threads:
            thread.join(patience())
        assert not self.problems, self._first_problem()
        return status

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._outgoing.put(None)
        for thread in self._threads:
            thread.join(patience())
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert stream is not None
            with contextlib.suppress(OSError):
                stream.close()

    # --- threads -------------------------------------------------------------------------------------------

    def _write(self) -> None:
        stream = self._process.stdin
        assert stream is not None
        with contextlib.suppress(OSError):  # the server ended: that is noticed elsewhere
            while (data := self._outgoing.get()) is not None:
                stream.write(data)
                stream.flush()
            stream.close()

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.errors.append(line.decode(errors="replace"))
            self._problem("on standard error: ")

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        while line := stream.readline():
            name, _, value = line.partition(b":")
            if name != b"Content-Length":
                self._problem(f"on standard output: {line!r}")
                break
            while stream.readline().strip():
                pass
            self._receive(json.loads(stream.read(int(value))))
        with self._said:
            self.ended = True
            self._said.notify_all()

    def _receive(self, message: Json) -> None:
        if message.get("jsonrpc") != "2.0":
            self._problem(f"not a message: {message}")
        if "method" in message and "id" in message:
            self.send(framed(self._answer(message)))
        with self._said:
            if "method" not in message:
                if isinstance(message.get("id"), int):
                    self.answers[message["id"]] += 1
                    self.results[message["id"]] = message
            elif message["method"] == "textDocument/publishDiagnostics":
                self.published.setdefault(message["params"]["uri"], []).append(message["params"])
            self._said.notify_all()
        said = str(message.get("params", "")) if message.get("method") in _LOGS else str(message.get("error", ""))
        if "please report it" in said or "Traceback" in said:
            self._problem(f"a failure of jaxlint: {said}")

    def _first_problem(self) -> str:
        time.sleep(0.5)  # the rest of a traceback is on its way
        return self.problems[0] + "".join(self.errors)

    def _problem(self, text: str) -> None:
        with self._said:
            self.problems.append(text)
            self._said.notify_all()


_LOGS = ("window/logMessage", "window/showMessage")


# --- what is sent ------------------------------------------------------------------------------------------


@dataclass
class Editor:
    """Makes up messages, and remembers what it has open."""

    random: random.Random
    root: Path
    number: int = 0
    version: int = 1
    uris: list[str] = field(default_factory=list)

    def message(self, method: str, params: object, *, request: bool) -> Json:
        content: Json = {"jsonrpc": "2.0", "method": method, "params": params}
        if request:
            self.number += 1
            content["id"] = self.number
        return content

    def uri(self) -> str:
        known = self.uris if self.uris and self.random.random() < 0.7 else _URIS
        found = self.random.choice(known)
        return found.replace("ROOT", self.root.as_uri())

    def position(self) -> Json:
        return {"line": self.random.choice(_NUMBERS), "character": self.random.choice(_NUMBERS)}

    def range(self) -> Json:
        return {"start": self.position(), "end": self.position()}

    def text(self) -> str:
        choice = self.random.random()
        if choice < 0.4:
            return BRANCH.replace("step", f"step{self.random.randrange(5)}")
        if choice < 0.6:
            return "".join(self.random.choice(_PIECES) for _ in range(self.random.randrange(30)))
        return self.random.choice(_HOSTILE)()

    def document(self) -> Json:
        return {"uri": self.uri()}

    def versioned(self) -> Json:
        self.version += self.random.choice([1, 1, 1, 0, -3])
        return {"uri": self.uri(), "version": self.version}

    def item(self, uri: str | None = None) -> Json:
        uri = self.uri() if uri is None else uri
        self.uris = [*self.uris[-8:], uri]
        version = self.random.choice([1, 1, 0, -1, 2**31 - 1])
        return {"uri": uri, "languageId": self.random.choice(_LANGUAGES), "version": version, "text": self.text()}

    def change(self) -> Json:
        if self.random.random() < 0.3:
            return {"text": self.text()}
        return {"range": self.range(), "text": self.random.choice(["", "\n", "x", "🙂", "\ud83d", self.text()])}

    def cell(self) -> Json:
        return {"kind": self.random.choice([1, 2]), "document": self.uri()}

    def notebook(self) -> Json:
        cells = [self.cell() for _ in range(self.random.randrange(4))]
        known = [self.item(cell["document"]) for cell in cells if self.random.random() < 0.9]
        document = {"uri": self.uri(), "notebookType": "jupyter-notebook", "version": 1, "cells": cells}
        return {"notebookDocument": document, "cellTextDocuments": known}

    def notebook_change(self) -> Json:
        array = {"start": self.random.choice(_NUMBERS), "deleteCount": self.random.choice(_NUMBERS)}
        structure: Json = {"array": {**array, "cells": [self.cell()]}, "didOpen": [self.item()]}
        if self.random.random() < 0.5:
            structure["didClose"] = [self.document()]
        content = [{"document": self.versioned(), "changes": [self.change()]}]
        cells = self.random.choice([{"structure": structure}, {"textContent": content}, {"data": [self.cell()]}])
        return {"notebookDocument": self.versioned(), "change": {"cells": cells}}

    def settings(self) -> Json:
        chosen = self.random.sample(sorted(_SETTINGS), self.random.randrange(4))
        return {"settings": {"jaxlint": {key: self.random.choice(_SETTINGS[key]) for key in chosen}}}

    def folders(self) -> Json:
        def some() -> list[Json]:
            uris = [uri for _ in range(self.random.randrange(3)) if (uri := self.uri()) not in _EVERYTHING]
            return [{"uri": uri, "name": "folder"} for uri in uris]

        return {"event": {"added": some(), "removed": some()}}

    def vanishing(self) -> Json:
        """A folder that is gone by the time that the server looks at it."""
        folder = self.root / f"gone{self.random.randrange(3)}"
        folder.mkdir(exist_ok=True)
        (folder / "a.py").write_text(BRANCH, encoding="utf-8")
        if self.random.random() < 0.7:
            shutil.rmtree(folder)
        return {"event": {"added": [{"uri": folder.as_uri(), "name": "gone"}], "removed": []}}

    def action(self) -> Json:
        only = self.random.choice([None, ["source.fixAll"], ["quickfix"], ["refactor"]])
        context: Json = {"diagnostics": []} if only is None else {"diagnostics": [], "only": only}
        return {"textDocument": self.document(), "range": self.range(), "context": context}

    def resolved(self) -> Json:
        data = {"uri": self.uri(), "version": self.version}
        return {"title": "x", "data": self.random.choice([data, {**data, "code": "JAX101", "start": 61}, None, 5])}

    def command(self) -> Json:
        name = self.random.choice(
            ["applyAutofix", "explain", "printDebugInformation", "showRoot", "showRoot", "nothing"]
        )
        arguments = [{"uri": self.uri()}, "JAX101", self.uri(), 3, None]
        return {"command": f"jaxlint.{name}", "arguments": self.random.sample(arguments, self.random.randrange(3))}

    def valid(self) -> Json:
        """Something that an editor may send, if not with this content."""
        method, make, request = self.random.choice(_METHODS)
        return self.message(method, make(self), request=request)

    def mutated(self) -> Json:
        """A message with something else in one or more places."""
        content = copy.deepcopy(self.valid())
        for _ in range(self.random.choice([1, 1, 2, 5])):
            places = list(_places(content))
            holder, key = self.random.choice(places)
            if isinstance(holder, dict) and self.random.random() < 0.3:
                del holder[key]
            else:
                holder[key] = copy.deepcopy(self.random.choice(_VALUES))
            if not content:
                break
        return content


def _places(content: Any) -> list[tuple[Any, Any]]:
    """Everything in a message that can be replaced: the holder, and the key or index."""
    found: list[tuple[Any, Any]] = []
    pending = [content]
    while pending:
        holder = pending.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        found += [(holder, key) for key in keys]
        pending += [holder[key] for key in keys if isinstance(holder[key], (dict, list))]
    return found or [({}, "nothing")]


_URIS = [
    "ROOT/a.py", "ROOT/b.py", "ROOT/pkg/c.py", "ROOT/d.pyi", "ROOT/e.ipynb", "ROOT/e.ipynb#cell1", "ROOT", "ROOT/none/x.py",
    "untitled:Untitled-1", "vscode-notebook-cell:/a#1", "git:/a.py?ref", "http://example.invalid/a.py", "file:", "file://",
    "file:///", "file:a.py", "file:///a%00b.py", "file:///%ff%fe.py", "file:///a\ud800.py", "file://[", "file:///%", "",
    "x", "file:///" + "a/" * 3000 + "a.py", "file:///" + "b" * 5000 + ".py", "file:///dev/zero", "ROOT/%2e%2e/z.py", "\0",
    "ROOT/pyproject.toml", "ROOT/a%0Ab.py", "ROOT/ ::error::.py",
]  # fmt: skip
_EVERYTHING = ("file:///", "file:///%2f")
"""Not as a folder: it is the whole disk."""
_NUMBERS = [0, 0, 1, 2, 3, 5, 8, 60, 99, 2**31 - 1]
_LANGUAGES = ["python", "python", "python", "markdown", ""]
_PIECES = [
    "import jax\n", "import jax.numpy as jnp\n", "@jax.jit\n", "def f(x):\n", "    if x > 0:\n", "    return x\n", "\n", "\t",
    "x = jnp.ones(3)\n", "for i in range(3):\n", "    f(x)\n", "class A:\n", "    pass\n", "\r", "\f", "é🙂", "'''", "\\\n",
    "# noqa", "%matplotlib inline\n", "async ", "lambda: ", "break\n", "A.__call__ = A()\n", "f = f(f)\n", "(", ")", "[",
    "match x:\n",
]  # fmt: skip
_HOSTILE: list[Callable[[], str]] = [
    lambda: "",
    lambda: "".join(map(chr, range(32))) + BRANCH,
    lambda: BRANCH + "\0",
    lambda: "\ud800\udc00 \udfff\ud800" + BRANCH,
    lambda: "\ufeff" + BRANCH,
    lambda: "x = '" + "a" * 50_000 + "'\n",
    lambda: "x = " + "(" * 150 + ")" * 150,
    lambda: "x = " + "[" * 3000,
    lambda: "x = " + "-" * 2000 + "1\n",
    lambda: "x = " + "1+" * 300 + "1\n",
    lambda: "".join(" " * depth + "if x:\n" for depth in range(99)) + " " * 99 + "pass\n",
    lambda: "# coding: nothing\n" + BRANCH,
    lambda: BRANCH.replace("\n", "\r"),
    lambda: BRANCH.replace("\n", "\u2028"),
    lambda: "import jax\nroot = []\nroot[:] = [root, root]\njax.jit(root)(root)\n",
    lambda: "x = " + "9" * 5000 + "\n",
    lambda: "f'{" * 50 + "}'" * 50,
    lambda: "x = '\\N{" + "\n",
]
_SETTINGS: dict[str, list[Any]] = {
    "select": [["JAX1"], ["BOGUS"], "JAX1", [5], ["ALL"], None],
    "ignore": [["JAX101"], ["nothing-like-it"], {}],
    "targetJax": ["0.6.2", "nonsense", "^" + "9" * 500, 6],
    "exclude": [["*.py"], ["!"], [""], ["[", "a{"], 5],
    "perFileIgnores": [{"*.py": ["JAX1"]}, {"!": ["JAX1"]}, {"a": ["BOGUS"]}, []],
    "transforms": [{"a.b": "jax.jit"}, {"a": "nothing"}, {"": ""}],
    "debounce": [0, 10, -1, 10**40, "soon", 1.5],
    "configuration": ["nowhere.toml", "", "\0", ".", 5],
    "cacheDir": ["\0", "/proc/nothing", 5],
    "unrollThreshold": [0, -1, 10**30, 8],
    "isolated": [True, "yes"],
    "cache": [False, 1],
    "inlayHints": [False],
    "selct": [["JAX1"]],
}
_VALUES: list[Any] = [
    None, True, False, 0, -1, 1.5, 2**31, 10**40, "", "x", "file:///a.py", "\0", "\ud800", [], {}, [[]], [None], {"a": 1},
    {"uri": 5}, {"start": None}, ["a"] * 50, {"jsonrpc": "2.0"}, {"jsonrpc": "2.0", "id": 1, "method": "x"}, "a" * 10_000,
]  # fmt: skip
_METHODS: list[tuple[str, Callable[[Editor], Any], bool]] = [
    *[("textDocument/didOpen", lambda one: {"textDocument": one.item()}, False)] * 4,
    *[
        (
            "textDocument/didChange",
            lambda one: {"textDocument": one.versioned(), "contentChanges": [one.change()]},
            False,
        )
    ]
    * 8,
    ("textDocument/didChange", lambda one: {"textDocument": one.versioned(), "contentChanges": []}, False),
    ("textDocument/didSave", lambda one: {"textDocument": one.document()}, False),
    ("textDocument/didClose", lambda one: {"textDocument": one.document()}, False),
    *[("notebookDocument/didOpen", lambda one: one.notebook(), False)] * 2,
    *[("notebookDocument/didChange", lambda one: one.notebook_change(), False)] * 4,
    ("notebookDocument/didSave", lambda one: {"notebookDocument": one.document()}, False),
    (
        "notebookDocument/didClose",
        lambda one: {"notebookDocument": one.document(), "cellTextDocuments": [one.document()]},
        False,
    ),
    ("workspace/didChangeConfiguration", lambda one: one.settings(), False),
    ("workspace/didChangeWatchedFiles", lambda one: {"changes": [{"uri": one.uri(), "type": 2}]}, False),
    ("workspace/didChangeWorkspaceFolders", lambda one: one.folders(), False),
    ("workspace/didChangeWorkspaceFolders", lambda one: one.vanishing(), False),
    ("$/cancelRequest", lambda one: {"id": one.number - one.random.randrange(3)}, False),
    ("$/setTrace", lambda one: {"value": one.random.choice(["off", "verbose"])}, False),
    ("$/anything", lambda one: {}, False),
    ("textDocument/anything", lambda one: one.document(), True),
    ("textDocument/hover", lambda one: {"textDocument": one.document(), "position": one.position()}, True),
    ("textDocument/codeAction", lambda one: one.action(), True),
    ("textDocument/codeAction", lambda one: one.action(), True),
    ("codeAction/resolve", lambda one: one.resolved(), True),
    ("textDocument/inlayHint", lambda one: {"textDocument": one.document(), "range": one.range()}, True),
    ("textDocument/codeLens", lambda one: {"textDocument": one.document()}, True),
    ("textDocument/diagnostic", lambda one: {"textDocument": one.document()}, True),
    (
        "workspace/diagnostic",
        lambda one: {"previousResultIds": [{"uri": one.uri(), "value": "x"}][: one.random.randrange(2)]},
        True,
    ),
    ("workspace/executeCommand", lambda one: one.command(), True),
    ("initialize", lambda one: {"capabilities": {}, "processId": None, "rootUri": None}, True),
]


def _spoiled(editor: Editor) -> bytes:
    """A message with a header that says something else than what follows, or bytes that are none."""
    chosen = editor.random
    body = b""
    while not 0 < len(body) <= _PROMISED:
        body = json.dumps(editor.valid()).encode()
    length = len(body)
    headers = [
        b"Content-Length: 0\r\n\r\n", b"Content-Length: -5\r\n\r\n", b"Content-Length: 1000000000\r\n\r\n",
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", b"Content-Length: many\r\n\r\n", b"Content-Length:\r\n\r\n",
        b"Content-Type: text/plain\r\n\r\n", b"\r\n\r\n", b"content-length: %d\r\n\r\n" % length, b"garbage\r\n\r\n",
        b"Content-Length: %d\n\n" % length, b"Content-Length: %d\r\n\r\n" % max(length - chosen.randrange(1, 60), 0),
        b"Content-Length: %d\r\n\r\n" % (length + chosen.randrange(1, 200)),
        b"Content-Length: %d\r\nContent-Length: %d\r\n\r\n" % (length, length + 1),
        b"Content-Length: %d\r\nContent-Type: a; charset=latin-1\r\n\r\n" % length, b"Content-Length: +%d\r\n\r\n" % length,
        b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n" % length, b"",
    ]  # fmt: skip
    return chosen.choice(headers) + chosen.choice([body, body, b"", chosen.randbytes(chosen.randrange(200))])


def _broken(editor: Editor) -> bytes:
    """The right header, and a body that is no message."""
    chosen = editor.random
    body = json.dumps(editor.valid()).encode()
    bodies = [
        body[: chosen.randrange(len(body))], body.replace(b'"', b"'"), b"\xff" + body, body.replace(b"u", b"\xc3", 1), b"[]",
        b"[" + body + b"]", b"null", b"5", b'"x"', b"{}", b'{"jsonrpc": "2.0"}',
        b'{"jsonrpc": "2.0", "id": null, "method": "x"}',
        b"[" * 100_000, b'{"a":' * 20_000, b"9" * 5000, b"NaN", b'{"jsonrpc": "1.0", "id": 1, "method": "shutdown"}',
        b'{"jsonrpc": "2.0", "id": [1], "method": "shutdown"}', b'{"jsonrpc": "2.0", "id": true, "method": "shutdown"}',
        b'{"jsonrpc": "2.0", "id": "zz", "result": {}}', b'{"jsonrpc": "2.0", "id": 1, "result": null}',
        b'{"jsonrpc": "2.0", "id": {}, "error": {}}', b'{"jsonrpc": "2.0", "id": "1", "error": {"code": "x"}}', body + b" x",
        b'{"jsonrpc": "2.0", "method": 5}', b'{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": 5}',
        b'{"jsonrpc": "2.0", "method": "textDocument/didOpen"}', chosen.randbytes(100), body.replace(b"{", b"{\0", 1),
    ]  # fmt: skip
    found = chosen.choice(bodies)
    return b"Content-Length: %d\r\n\r\n%b" % (len(found), found)


def batch(editor: Editor, size: int, *, spoiled: bool) -> list[Message]:
    """Messages of all kinds. ``spoiled``: also such with wrong headers, which may take others with them."""
    found: list[Message] = []
    for _ in range(size):
        kind = editor.random.choice(["valid", "valid", "mutated", "mutated", "broken", *["spoiled"] * 2 * spoiled])
        if kind == "valid":
            content = editor.valid()
            found.append(Message(f"valid {content['method']}", framed(content), content.get("id")))
        elif kind == "mutated":
            content = editor.mutated()
            found.append(Message("mutated", framed(content)))
        elif kind == "broken":
            found.append(Message("broken body", _broken(editor)))
        else:
            found.append(Message("spoiled header", _spoiled(editor)))
    if spoiled:
        # Whatever the last header promised too much of. Nothing of it is a message.
        found.append(Message("filler", b" " * (2 * _PROMISED) + b"\r\n\r\n"))
    return found


# --- sessions ----------------------------------------------------------------------------------------------


class Session:
    """One server process, and an editor that means it no good."""

    def __init__(self, chosen: random.Random, root: Path) -> None:
        self.random = chosen
        self.editor = Editor(chosen, root)
        self.server = Server(root, self._reply)
        self.pulls = chosen.random() < 0.3
        self._probes = 0

    def _reply(self, message: Json) -> object:
        """What the editor says to a request of the server: often nothing that makes sense."""
        answers: list[Json] = [{"result": None}, {"result": []}, {"result": 5}, {"error": {"code": 1, "message": "no"}}]
        return {"jsonrpc": "2.0", "id": message["id"], **answers[len(message["method"]) % len(answers)]}

    def request(self, method: str, params: object) -> Json:
        content = self.editor.message(method, params, request=True)
        self.server.send(framed(content))
        number = content["id"]
        self.server.wait(lambda: number in self.server.results, f"answer to {method}")
        return self.server.results[number]

    def notify(self, method: str, params: object) -> None:
        self.server.send(framed(self.editor.message(method, params, request=False)))

    def begin(self) -> list[Message]:
        """Requests before `initialize` are refused; then everything begins."""
        early = self.editor.message("textDocument/hover", {}, request=True)
        sent = [Message("before initialize", framed(early), early["id"])]
        for _ in range(3):
            content = self.editor.valid()
            if content["method"] != "initialize":
                sent.append(Message("before initialize", framed(content), content.get("id")))
        self.play(sent)
        assert self.server.results[early["id"]]["error"]["code"] == -32002, self.server.results
        document: Json = {
            "publishDiagnostics": {"relatedInformation": True},
            "inlayHint": {"dynamicRegistration": True},
        }
        if self.pulls:
            document["diagnostic"] = {}
        folder = {"uri": self.editor.root.as_uri(), "name": "root"}
        result = self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": folder["uri"],
                "workspaceFolders": [folder],
                "capabilities": {
                    "textDocument": document,
                    "workspace": {"configuration": True, "diagnostics": {"refreshSupport": True}},
                },
                "initializationOptions": self.editor.settings()["settings"],
            },
        )
        assert "result" in result, result
        self.notify("initialized", {})
        return sent

    def play(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self.server.send(message.data)
        expected = [message.identifier for message in messages if message.identifier is not None]
        if all(message.kind != "spoiled header" for message in messages):
            for number in expected:
                self.server.wait(lambda number=number: number in self.server.results, f"answer to request {number}")  # type: ignore[misc]
                assert self.server.answers[number] == 1, f"request {number} was answered twice"

    def probe(self) -> None:
        """A new document gets its diagnostics, whatever came before."""
        self._probes += 1
        name = f"probe{self._probes}.py"
        uri = (self.editor.root / name).as_uri()
        self.notify("workspace/didChangeConfiguration", {"settings": {"jaxlint": {"debounce": 10}}})
        item = {"uri": uri, "languageId": "python", "version": 1, "text": f"{BRANCH}# {name}\n"}
        self.notify("textDocument/didOpen", {"textDocument": item})
        if self.pulls:
            answer = self.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
            assert [item["code"] for item in answer["result"]["items"]] == ["JAX101"], answer
        else:
            published = self.server.published
            self.server.wait(
                lambda: any(
                    [item["code"] for item in said["diagnostics"]] == ["JAX101"] for said in published.get(uri, [])
                ),
                f"diagnostics of {uri}, but {published.get(uri)}",
            )
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def finish(self) -> list[Message]:
        """End the server in one of the ways to do so."""
        way = self.random.randrange(4)
        if way == 0:
            self.notify("exit", None)
            assert self.server.end() == 1, "no shutdown before the exit"
            return [Message("exit without shutdown", b"")]
        if way == 1:
            self.server.send(b"Content-Length: 100000\r\n\r\n{")
            assert self.server.end() == 0
            return [Message("end in a message", b"")]
        assert self.request("shutdown", None).get("result", 0) is None
        late = self.editor.message("textDocument/hover", {}, request=True)
        sent = [Message("after shutdown", framed(late), late["id"])]
        for _ in range(3):
            content = self.editor.valid()
            sent.append(Message("after shutdown", framed(content), content.get("id")))
        self.play(sent)
        assert self.server.results[late["id"]]["error"]["code"] == -32600
        if way == 2:
            self.notify("exit", None)
        assert self.server.end() == 0, "after a shutdown"
        return sent


def run(seed: int, count: int) -> dict[str, int]:
    """Send at least so many messages; returns how many of each class. Raises AssertionError with what was sent."""
    chosen = random.Random(seed)
    counts: Counter[str] = Counter()
    while counts.total() < count:
        with tempfile.TemporaryDirectory() as directory:
            _one_session(chosen, Path(directory).resolve(), count - counts.total(), counts)
    return dict(counts)


def _one_session(chosen: random.Random, root: Path, count: int, counts: Counter[str]) -> None:
    (root / ".git").mkdir()
    (root / "pkg").mkdir()
    for name in ("a.py", "pkg/c.py"):
        (root / name).write_text(BRANCH, encoding="utf-8")
    session = Session(chosen, root)
    sent: list[Message] = []
    try:
        sent = session.begin()
        counts.update(message.kind for message in sent)
        for _ in range(BATCHES):
            if count <= 0:
                break
            sent = batch(session.editor, min(BATCH, count), spoiled=chosen.random() < 0.4)
            session.play(sent)
            session.probe()
            counts.update(message.kind for message in sent)
            count -= len(sent)
        sent = session.finish()
        counts.update(message.kind for message in sent)
    except AssertionError as error:
        listed = "\n".join(map(repr, sent))
        raise AssertionError(f"{error}\nafter these messages:\n{listed}") from error
    finally:
        session.server.kill()


def main(arguments: Sequence[str]) -> int:
    seed, count = (*map(int, arguments), *(1, 1000)[len(arguments) :])
    began = time.monotonic()
    counts = run(seed, count)
    for kind, number in sorted(counts.items()):
        print(f"{number:7,}  {kind}")
    print(f"{sum(counts.values()):7,}  in {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
