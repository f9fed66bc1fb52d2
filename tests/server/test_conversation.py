"""What the server says to messages that are wrong, or come at the wrong time."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the extra `server` is not installed")

from flake8_jax.server import wire
from flake8_jax.server.app import make_server
from flake8_jax.server.background import Background
from flake8_jax.server.conversation import serve
from flake8_jax.server.wire import Malformed, Outgoing, Reader, Received

PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
NOT_INITIALIZED = -32002


def _framed(content: object) -> bytes:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _request(number: object, method: str, params: object = None) -> bytes:
    return _framed({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def _notice(method: str, params: object = None) -> bytes:
    return _framed({"jsonrpc": "2.0", "method": method, "params": params})


HELLO = _request(1, "initialize", {"capabilities": {}, "processId": None, "rootUri": None})
SHUTDOWN, EXIT = _request(2, "shutdown"), _notice("exit")


class _Kept(io.BytesIO):
    def close(self) -> None:
        pass


def _served(*sent: bytes) -> tuple[int, list[dict[str, Any]]]:
    """The exit status of a server that is sent this, and what it says."""
    server, output = make_server(Background()), _Kept()
    try:
        status = serve(server, io.BytesIO(b"".join(sent)), output)
    finally:
        server.stop()
    reader = Reader(io.BytesIO(output.getvalue()))
    said: list[dict[str, Any]] = []
    while isinstance(found := reader.read(), Received):
        said.append(found.content)
    assert found is None
    return status, said


def _error(*sent: bytes) -> tuple[object, int]:
    """The one error that an initialized server answers, by the identifier; it has to go on afterwards."""
    status, said = _served(HELLO, *sent, SHUTDOWN, EXIT)
    assert (status, said[0]["id"], said[-1]["id"]) == (0, 1, 2)
    assert "result" in said[-1], "the server goes on"
    (answer,) = said[1:-1]
    return answer["id"], answer["error"]["code"]


@pytest.mark.parametrize(
    "spoiled",
    [
        b"Content-Length: 0\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: 1000000000\r\n\r\n{}",
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"Content-Length: many\r\n\r\n{}\r\n",
        b"Content-Type: application/vscode-jsonrpc\r\n\r\n{}",
        b"garbage\r\n\r\n",
        b"Content-Length: 2\r\nContent-Type: a; charset=latin-1\r\n\r\n{}",
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        _framed(b"\xff\xfe"),
        _framed(b"{'a': 1}"),
        _framed(b"NaN"),
        _framed(b"[" * 100_000),
        _framed(b'["\\"[", {"a":' * 60 + b"1" + b"}]" * 60),
        _framed(b"9" * 5000),
    ],
    ids=lambda spoiled: ascii(spoiled[:40]),
)
def test_a_message_that_cannot_be_read_is_answered_and_the_server_goes_on(spoiled: bytes) -> None:
    assert _error(spoiled) == (None, PARSE_ERROR)


@pytest.mark.parametrize(
    ("content", "identifier", "code"),
    [
        ([], None, INVALID_REQUEST),
        (None, None, INVALID_REQUEST),
        ({}, None, INVALID_REQUEST),
        ({"jsonrpc": "1.0", "id": 7, "method": "shutdown"}, 7, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 7}, 7, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 7, "method": 5}, 7, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": None, "method": "shutdown"}, None, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": [1], "method": "shutdown"}, None, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 7, "method": "textDocument/nothing", "params": {}}, 7, UNKNOWN_METHOD),
        ({"jsonrpc": "2.0", "id": "x", "method": "textDocument/hover", "params": 5}, "x", INVALID_PARAMS),
        ({"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover", "params": {}}, 7, INVALID_PARAMS),
        ({"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover"}, 7, INVALID_PARAMS),
        (
            {"jsonrpc": "2.0", "id": 7, "method": "textDocument/codeLens", "params": {"textDocument": []}},
            7,
            INVALID_PARAMS,
        ),
        ({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {"capabilities": {}}}, 7, INVALID_REQUEST),
    ],
)
def test_a_request_that_is_wrong_gets_the_error_for_it(content: object, identifier: object, code: int) -> None:
    assert _error(_framed(content)) == (identifier, code)


def test_before_the_start_requests_are_refused_and_notifications_ignored() -> None:
    early = _request(7, "textDocument/hover", {"textDocument": {"uri": "file:///a.py"}})
    ignored = _notice("textDocument/didOpen", {})
    status, said = _served(early, ignored, HELLO, SHUTDOWN, EXIT)
    assert [answer["id"] for answer in said] == [7, 1, 2]
    assert (status, said[0]["error"]["code"]) == (0, NOT_INITIALIZED)


def test_a_start_with_wrong_types_can_be_tried_again() -> None:
    status, said = _served(_request(7, "initialize", {"capabilities": 5}), HELLO, SHUTDOWN, EXIT)
    assert [answer.get("error", {}).get("code") for answer in said] == [INVALID_PARAMS, None, None]
    assert status == 0


def test_after_the_shutdown_requests_are_refused() -> None:
    status, said = _served(HELLO, SHUTDOWN, _request(7, "shutdown"), _notice("initialized", {}), EXIT)
    assert (status, [answer["id"] for answer in said]) == (0, [1, 2, 7])
    assert said[-1]["error"]["code"] == INVALID_REQUEST


@pytest.mark.parametrize("before", [b"", HELLO])
def test_an_exit_without_a_shutdown_is_a_failure(before: bytes) -> None:
    assert _served(before, EXIT)[0] == 1


def test_the_end_of_the_input_is_the_end_also_in_a_message() -> None:
    assert _served(HELLO, b"Content-Length: 100\r\n\r\n{")[0] == 0


def test_a_notification_that_is_wrong_is_logged() -> None:
    _, said = _served(HELLO, _notice("textDocument/didOpen", {"textDocument": 5}), SHUTDOWN, EXIT)
    (logged,) = [message["params"] for message in said if message.get("method") == "window/logMessage"]
    assert "textDocument/didOpen" in logged["message"] and logged["type"] == 2


def test_only_identifiers_can_be_cancelled() -> None:
    _, said = _served(HELLO, _notice("$/cancelRequest", {"id": {}}), _notice("$/cancelRequest", {"id": 99}), SHUTDOWN)
    assert [message["id"] for message in said if "id" in message] == [1, 2]


def test_answers_without_a_request_are_ignored() -> None:
    unasked = [{"jsonrpc": "2.0", "id": name, "result": {}} for name in ("x", 1, None, {})]
    _, said = _served(HELLO, *map(_framed, unasked), SHUTDOWN, EXIT)
    assert [message["id"] for message in said] == [1, 2]


def test_what_wrong_headers_left_behind_is_skipped_up_to_the_next_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "_LONGEST_LINE", 500)
    junk = b"Content-Length: x\r\n\r\n" + b"{}\n\n" * 40 + b"y" * 3000
    reader = Reader(io.BytesIO(junk + _framed(b"1") + _framed(b"2").replace(b"Content-L", b"content-l")))
    assert isinstance(reader.read(), Malformed)
    assert [reader.read(), reader.read(), reader.read()] == [Received(1), Received(2), None]


@pytest.mark.parametrize("length", [-20, -1, 1, 20])
def test_a_length_that_is_not_that_of_the_body_costs_one_message_more_at_most(length: int) -> None:
    body = b'{"jsonrpc": "2.0", "id": 7, "method": "textDocument/nothing"}'
    wrong = b"Content-Length: %d\r\n\r\n%b" % (len(body) + length, body)
    status, said = _served(HELLO, wrong, _notice("$/setTrace", {"value": "off"}), SHUTDOWN, EXIT)
    assert (status, said[0]["id"], said[-1]["id"]) == (0, 1, 2)
    assert {(answer["id"], answer["error"]["code"]) for answer in said[1:-1]} == {(None, PARSE_ERROR)}


def test_brackets_in_strings_are_no_nesting() -> None:
    content = {"jsonrpc": "2.0", "method": "x", "params": ["[" * 1000, '"' + "{" * 1000, [[{"a": {}}] * 200]]}
    assert Reader(io.BytesIO(_framed(content))).read() == Received(content)


@pytest.mark.parametrize("body", [b'"' * 100_001, b'"' + b'\\"' * 100_000, b"[" * 101 + b'"' + b"\\" * 100_001])
def test_a_string_without_an_end_is_refused_at_once(body: bytes) -> None:
    assert isinstance(Reader(io.BytesIO(_framed(b"[" * 101 + b"]" * 101 + body))).read(), Malformed)


def test_writing_to_an_editor_that_is_gone_is_no_failure() -> None:
    stream = io.BytesIO()
    stream.close()
    outgoing = Outgoing(stream)
    outgoing.write(b"x")
    assert outgoing.gone
