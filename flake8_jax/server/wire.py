"""Messages as bytes: the base protocol of LSP, whatever arrives.

Vocabulary
----------
body       the bytes of one message, whose number the header `Content-Length` says.
malformed  what has no body that can be found or read. The editor gets the reason; reading goes on at the next header that can
           be used.
junk       bytes between two messages that belong to neither, such as the body of a message whose header was refused.
"""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass
from typing import Any, BinaryIO

LONGEST = 128 << 20
"""Bytes of the longest body. A text of 5 MB takes up to 30 in JSON."""
DEEPEST = 100
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)|[\[\]{}]', re.DOTALL)
"""A string, or a bracket outside of one."""
_LONGEST_LINE = 64 << 10
_LONGEST_HEADER = 256
_LENGTH = re.compile(rb".*content-length[ \t]*:[ \t]*([^\r\n]*?)[ \t]*\r?\n", re.IGNORECASE | re.DOTALL)
"""It may stand behind junk, on the same line."""
_CHARSET = re.compile(rb"content-type[ \t]*:.*?charset[ \t]*=[ \t]*[\"']?([^\"';\s]+)", re.IGNORECASE)
_NUMBER = re.compile(rb"[0-9]{1,18}")


@dataclass(frozen=True)
class Received:
    """``content``: what the JSON of a body says."""

    content: Any


@dataclass(frozen=True)
class Malformed:
    """``reason``: a sentence for the editor."""

    reason: str


class Reader:
    """Reads one message after the other. Limitations: a body with fewer or more bytes than its header says, beyond going
    on after it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lost = False

    def read(self) -> Received | Malformed | None:
        """The next message; None at the end."""
        body = self._body()
        if not isinstance(body, bytes):
            return body
        if _is_too_deep(body):
            return Malformed(f"the body is nested more than {DEEPEST} levels deep")
        try:
            return Received(json.loads(body.decode("utf-8"), parse_constant=_refuse))
        except UnicodeDecodeError as error:
            return Malformed(f"the body is not UTF-8: {error.reason} at byte {error.start}")
        except (ValueError, RecursionError) as error:
            return Malformed(f"the body is not JSON: {error}")

    def _line(self) -> bytes:
        """The next line; of a very long one no more than its end."""
        line = self._stream.readline(_LONGEST_LINE)
        while len(line) >= _LONGEST_LINE and not line.endswith(b"\n"):
            line = line[-_LONGEST_HEADER:] + self._stream.readline(_LONGEST_LINE)
        return line

    def _body(self) -> bytes | Malformed | None:
        length: int | None = None
        problem: str | None = None
        seen = False
        while line := self._line():
            said = _LENGTH.fullmatch(line)
            charset = _CHARSET.match(line)
            if said is not None:
                number = _NUMBER.fullmatch(said[1])
                seen = True
                if number is None or int(number[0]) > LONGEST:
                    problem = f"Content-Length has to be a number of bytes up to {LONGEST}, not {_quoted(said[1])}"
                elif length not in (None, int(number[0])):
                    problem = "two headers Content-Length say different things"
                else:
                    length, self._lost = int(number[0]), False
            elif charset is not None and charset[1].lower() not in (b"utf-8", b"utf8"):
                problem = f"only UTF-8 is supported, not {_quoted(charset[1])}"
            elif line.strip():
                seen = True
            elif seen and (not self._lost or problem is not None):
                return self._found(length, problem)
        return None

    def _found(self, length: int | None, problem: str | None) -> bytes | Malformed | None:
        """The body behind the headers."""
        if length is None:
            self._lost = True
            return Malformed(problem or "a header Content-Length is missing")
        body = self._stream.read(length)
        if problem is not None:
            return Malformed(problem)
        return body if len(body) == length else None


def _is_too_deep(body: bytes) -> bool:
    """Whether reading this, or going through what was read, would need more recursion than Python has."""
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return False
    depth = 0
    for token in _TOKEN.finditer(body):
        if token[0] in b"[{":
            depth += 1
        elif token[0] in b"]}":
            depth -= 1
        if depth > DEEPEST:
            return True
    return False


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number of JSON")


def _quoted(said: bytes) -> str:
    return ascii(said[:40].decode("ascii", "backslashreplace"))


class Outgoing:
    """Writes messages, as long as the editor reads them."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.gone = False

    def write(self, data: bytes) -> None:
        if not self.gone:
            try:
                self._stream.write(data)
                self._stream.flush()
            except (OSError, ValueError):  # closed by the editor, or by us at the end
                self.gone = True

    def close(self) -> None:
        self.gone = True
        with contextlib.suppress(OSError):
            self._stream.close()
