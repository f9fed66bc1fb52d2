"""A client of the language server for tests and benchmarks: JSON-RPC over the pipes of a child process, nothing more.

Vocabulary
----------
answer   the response to a request, with ``result`` or ``error``. notice: a message from the server that nobody asked for.

Requests of the server are answered by ``replies``; what has none is answered with null, and an exception is
sent as an error. Limitations: batches.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 40.0
"""Seconds after which a test gives up; a busy machine is no failure."""

Message = dict[str, Any]


class LanguageClient:
    """Starts the server and talks to it. A context manager: at the end the server is told to go, and has to."""

    def __init__(self, cwd: Path, command: Sequence[str] | None = None) -> None:
        command = command or [sys.executable, "-m", "flake8_jax", "server"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            command, cwd=cwd, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.notices: list[Message] = []
        self.replies: dict[str, Callable[[Any], Any]] = {}
        self.stderr: list[bytes] = []
        self._arrived = threading.Condition()
        self._answers: dict[int, Message] = {}
        self._outgoing: queue.Queue[bytes | None] = queue.Queue()
        self._next = 0
        self._ended = False
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._read, self._write, self._read_errors)
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> LanguageClient:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            if self.process.poll() is None and error[0] is None:
                self.request("shutdown", None)
                self.notify("exit", None)
                self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.wait()
            self._outgoing.put(None)
            for thread in self._threads:
                thread.join(PATIENCE)
            for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
                assert stream is not None
                with contextlib.suppress(OSError):
                    stream.close()

    # --- the wire --------------------------------------------------------------------------------------

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = 0
            while line := stream.readline().strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            body = stream.read(length) if length else b""
            if not body:
                break
            self._receive(json.loads(body), time.monotonic())
        with self._arrived:
            self._ended = True
            self._arrived.notify_all()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.stderr.extend(self.process.stderr)

    def _write(self) -> None:
        stream = self.process.stdin
        assert stream is not None
        while (data := self._outgoing.get()) is not None:
            with contextlib.suppress(OSError):
                stream.write(data)
                stream.flush()

    def _receive(self, message: Message, at: float) -> None:
        if "method" in message and "id" in message:
            reply = self.replies.get(message["method"])
            result = reply(message.get("params")) if reply is not None else None
            refused = {"error": {"code": -32603, "message": str(result)}}
            said = refused if isinstance(result, Exception) else {"result": result}
            self._send({"jsonrpc": "2.0", "id": message["id"], **said})
        with self._arrived:
            if "method" in message:
                self.notices.append({**message, "at": at})
            else:
                self._answers[message["id"]] = message
            self._arrived.notify_all()

    def _send(self, message: Message) -> None:
        data = json.dumps(message).encode()
        self._outgoing.put(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))

    # --- messages ----------------------------------------------------------------------------------------

    def notify(self, method: str, params: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def send(self, method: str, params: Any) -> int:
        """Send a request without waiting; returns its number for ``answer``."""
        self._next += 1
        self._send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})
        return self._next

    def answer(self, number: int) -> Message:
        with self._arrived:
            self._wait(lambda: number in self._answers, f"an answer to request {number}")
            return self._answers.pop(number)

    def request(self, method: str, params: Any) -> Any:
        """The result of a request; AssertionError where the server answers with an error."""
        answer = self.answer(self.send(method, params))
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def wait_for(self, holds: Callable[[Message], bool], what: str, since: int = 0) -> Message:
        """The first notice from the given number on for which this holds."""
        found: list[Message] = []

        def arrived() -> bool:
            found[:] = [notice for notice in self.notices[since:] if holds(notice)][:1]
            return bool(found)

        with self._arrived:
            self._wait(arrived, what)
        return found[0]

    def _wait(self, arrived: Callable[[], bool], what: str) -> None:
        done = self._arrived.wait_for(lambda: arrived() or self._ended, PATIENCE)
        assert done and arrived(), f"waited for {what}; stderr: {b''.join(self.stderr).decode()}\n{self.notices[-5:]}"

    # --- the protocol ------------------------------------------------------------------------------------

    def initialize(
        self, root: Path | None, capabilities: Mapping[str, Any] | None = None, options: Mapping[str, Any] | None = None
    ) -> Message:
        """Say hello; returns the server's capabilities. Without ``root`` no folder is open in the editor."""
        params = {
            "processId": os.getpid(),
            "rootUri": root.as_uri() if root is not None else None,
            "workspaceFolders": [{"uri": root.as_uri(), "name": root.name}] if root is not None else None,
            "capabilities": capabilities or {},
            "initializationOptions": options,
        }
        result: Message = self.request("initialize", params)
        self.notify("initialized", {})
        return result["capabilities"]

    def open(self, uri: str, text: str, version: int = 1) -> None:
        item = {"uri": uri, "languageId": "python", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, version: int, *changes: Message) -> None:
        document = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    def published(self, uri: str, holds: Callable[[Message], bool] = lambda params: True, since: int = 0) -> Message:
        """The first publication for a document, from notice ``since`` on, for which this holds."""
        notice = self.wait_for(
            lambda notice: (
                notice["method"] == "textDocument/publishDiagnostics"
                and notice["params"]["uri"] == uri
                and holds(notice["params"])
            ),
            f"diagnostics of {uri}",
            since,
        )
        params: Message = notice["params"]
        return params


def codes(params: Message) -> list[str]:
    """The codes of the diagnostics in a publication or a report."""
    items = params["diagnostics"] if "diagnostics" in params else params["items"]
    return [item["code"] for item in items]
