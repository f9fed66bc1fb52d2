"""What becomes of a message: an answer, an error of the protocol, or nothing. The rules are those of JSON-RPC and LSP.

Vocabulary
----------
request        has an identifier and gets exactly one answer. notification: has none and gets no answer, not even an error.
answer         what the editor says to a request of the server.

pygls calls the handlers. It gets no message before this module has checked it: pygls does not answer some of the wrong ones.
"""

from __future__ import annotations

import asyncio
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import JsonRPCProtocol

from flake8_jax.server.state import Server
from flake8_jax.server.wire import Malformed, Outgoing, Reader, Received

_LONGEST_REASON = 300


def serve(server: Server, stdin: BinaryIO, stdout: BinaryIO) -> int:
    """Talk to an editor until it says that it is enough, or is gone; returns the exit status."""
    # Errors go to the editor, because users do not see the standard error of a server.
    logging.getLogger("pygls").addHandler(logging.NullHandler())
    logging.getLogger("pygls").propagate = False
    writer = Outgoing(stdout)
    server.protocol.set_writer(writer)
    try:
        return asyncio.run(Conversation(server).run(Reader(stdin)))
    except KeyboardInterrupt:
        # The thread that reads waits for input that may never come, and Python would wait for it.
        server.stop()
        os._exit(130)
    finally:
        writer.close()


class Conversation:
    """One editor, from its first message to its last."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._protocol: JsonRPCProtocol = server.protocol
        self._initialized = False
        self._shut_down = False

    async def run(self, reader: Reader) -> int:
        """Handle messages until the last one; returns the exit status."""
        loop = asyncio.get_running_loop()
        self._server.catch_failures()
        thread = ThreadPoolExecutor(1, "jaxlint-reader")
        try:
            while (read := await loop.run_in_executor(thread, reader.read)) is not None:
                message = read.content if isinstance(read, Received) else read
                if isinstance(message, dict) and message.get("method") == types.EXIT and "id" not in message:
                    return 0 if self._shut_down else 1
                self._handle(message)
        finally:
            thread.shutdown(wait=False)
        return 0

    def _handle(self, message: Any) -> None:
        try:
            if isinstance(message, Malformed):
                raise JsonRpcParseError(message.reason)
            if not isinstance(message, dict):
                raise JsonRpcInvalidRequest("a message has to be an object")
            if "method" not in message and ("result" in message or "error" in message):
                self._take_answer(message)
            elif "id" in message:
                self._take_request(message)
            else:
                self._take_notification(message)
        except JsonRpcException as error:
            self._refuse(_identifier(message), error)

    # --- the three kinds -----------------------------------------------------------------------------------

    def _take_request(self, message: dict[str, Any]) -> None:
        """Raises JsonRpcException."""
        method = _checked(message)
        if _identifier(message) is None:
            raise JsonRpcInvalidRequest("`id` has to be a number or a string")
        if self._shut_down:
            raise JsonRpcInvalidRequest(f"{_short(method)}: the server was shut down, so it only takes `exit`")
        if method == types.INITIALIZE and self._initialized:
            raise JsonRpcInvalidRequest("the server was initialized before")
        if method != types.INITIALIZE and not self._initialized:
            raise JsonRpcServerNotInitialized(f"{_short(method)}: send `initialize` first")
        if not self._has(method):
            raise JsonRpcMethodNotFound(f"unknown method {_short(method)}")
        request = self._structured(message, method)
        # A handler runs at once up to its first wait, so what it needs to know of the state is set before.
        if method == types.INITIALIZE:
            self._initialized = True
        self._shut_down = method == types.SHUTDOWN
        self._dispatch(request)

    def _take_notification(self, message: dict[str, Any]) -> None:
        try:
            method = _checked(message)
            if not self._initialized or self._shut_down or not self._has(method):
                return
            if method == types.CANCEL_REQUEST and _identifier(message.get("params")) is None:
                raise JsonRpcInvalidParams("`id` has to be a number or a string")
            notification = self._structured(message, method)
        except JsonRpcException as error:
            if not isinstance(message.get("method"), str):
                raise  # then nothing says that it is a notification
            self._log(f"jaxlint ignores a message {_short(message['method'])}: {error}")
            return
        self._dispatch(notification)

    def _take_answer(self, message: dict[str, Any]) -> None:
        """An answer that is not what the protocol says is taken as an error, so that no request waits for another one."""
        if not self._server.expects(message.get("id")):
            return
        try:
            answer = self._protocol.structure_message({"jsonrpc": "2.0", **message})
        except JsonRpcException:
            broken = {"code": types.ErrorCodes.InternalError.value, "message": "the editor's answer cannot be read"}
            answer = self._protocol.structure_message({"jsonrpc": "2.0", "id": message["id"], "error": broken})
        self._dispatch(answer)

    def _has(self, method: str) -> bool:
        features = self._protocol.fm
        return method in features.features or method in features.builtin_features or method == types.CANCEL_REQUEST

    def _structured(self, message: dict[str, Any], method: str) -> Any:
        """Raises JsonRpcInvalidParams."""
        try:
            return self._protocol.structure_message(message)
        except JsonRpcException as error:
            cause = error.__cause__ or error
            raise JsonRpcInvalidParams(f"{_short(method)}: {_reason(cause)}") from error

    def _dispatch(self, message: Any) -> None:
        try:
            self._protocol.handle_message(message)
        except Exception as error:  # the outermost boundary: pygls answers for what handlers raise, but not for itself
            self._server.report_server_error(error, None)

    # --- what is said --------------------------------------------------------------------------------------

    def _refuse(self, identifier: int | str | None, error: JsonRpcException) -> None:
        # lsprotocol leaves out an identifier that is null, but it has to be there.
        said = {"code": error.code, "message": error.message}
        self._protocol._send_data({"jsonrpc": "2.0", "id": identifier, "error": said})

    def _log(self, text: str) -> None:
        self._server.window_log_message(types.LogMessageParams(types.MessageType.Warning, text))


def _checked(message: dict[str, Any]) -> str:
    """The method of a request or notification that is one. Raises JsonRpcException."""
    if message.get("jsonrpc") != "2.0":
        raise JsonRpcInvalidRequest('`jsonrpc` has to be "2.0"')
    method = message.get("method")
    if not isinstance(method, str):
        raise JsonRpcInvalidRequest("`method` has to be a string")
    if not isinstance(message.get("params"), (dict, list, type(None))):
        raise JsonRpcInvalidParams(f"{_short(method)}: `params` has to be an object or an array")
    return method


def _identifier(message: object) -> int | str | None:
    found = message.get("id") if isinstance(message, dict) else None
    return found if isinstance(found, (int, str)) and not isinstance(found, bool) else None


def _short(method: str) -> str:
    return ascii(method[:80])


def _reason(error: BaseException) -> str:
    """What a converter says of values that it cannot use: the innermost of its exceptions."""
    inner: Any = error
    while getattr(inner, "exceptions", None):
        inner = inner.exceptions[0]
    return ascii(f"{type(inner).__name__}: {inner}"[:_LONGEST_REASON])[1:-1]
