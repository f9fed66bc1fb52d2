"""A file's bytes as text, and back again without changing a byte that was not edited.

Vocabulary
----------
cookie      the encoding declaration of PEP 263 in one of the first two lines.
BOM         the UTF-8 byte-order mark; it is not part of the text, and offsets do not count it.
exact       encoding the decoded text gives the very same bytes; some East Asian codecs are not.

Newlines are never translated: the text holds every ``\\r`` and form feed of the file.
Limitations: UTF-16 and UTF-32 files, which Python does not read either.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from flake8_jax.syntax.errors import SourceError

__all__ = ["Source", "SourceError", "decode"]

_RESOURCE_FORK = b"\x00\x05\x16\x07"
"""How files in the AppleDouble format start."""
_cookie = re.compile(rb"[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)")
_no_code = re.compile(rb"[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|[\r\n])")
_line_break = re.compile(r"\r\n|[\r\n]")
_byte_line_break = re.compile(rb"\r\n|[\r\n]")


@dataclass(frozen=True)
class Source:
    """The decoded text of one file. ``newline`` is the file's first line ending, ``\\n`` if it has none."""

    text: str
    encoding: str
    bom: bool
    newline: str
    exact: bool

    def encode(self, text: str) -> bytes:
        """The bytes of an edited text in this file's encoding; SourceError if that lacks a character of it."""
        try:
            data = text.encode(self.encoding)
        except UnicodeEncodeError as error:
            row = len(_line_break.findall(text, 0, error.start)) + 1
            raise SourceError(
                f"{text[error.start]!r} cannot be written in {self.encoding}",
                row,
                "Store the file as UTF-8 and remove its encoding declaration.",
            ) from error
        except UnicodeError as error:  # codecs for names of hosts refuse texts as a whole
            raise _unusable(self.encoding, 1) from error
        return codecs.BOM_UTF8 + data if self.bom else data


def decode(data: bytes) -> Source:
    """Decode a file as Python does: by its byte-order mark, its cookie, or as UTF-8.

    Raises SourceError where the encoding is unknown, contradicts the byte-order mark, or does not fit the bytes.
    """
    bom = data.startswith(codecs.BOM_UTF8)
    content = data[len(codecs.BOM_UTF8) :] if bom else data
    encoding, row = _declared_encoding(content)
    if bom and encoding != "utf-8":
        raise SourceError(
            f"the file has a UTF-8 byte-order mark but declares the encoding {encoding!r}",
            row,
            "Remove the encoding declaration or the byte-order mark.",
        )
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise SourceError("the file is stored as UTF-16, which Python does not read", 1, "Store it as UTF-8.")
    try:
        text = content.decode(encoding)
    except LookupError as error:
        raise SourceError(f"{encoding!r} is not a text encoding", row, "Declare the file's real encoding.") from error
    except UnicodeDecodeError as error:
        is_python = not content.startswith(_RESOURCE_FORK)
        raise SourceError(
            f"the byte 0x{content[error.start]:02x} is not valid {encoding.upper()}"
            if is_python
            else "this file is binary data of macOS (a resource fork), not Python",
            len(_byte_line_break.findall(content, 0, error.start)) + 1,
            "Store the file as UTF-8, or declare its encoding in the first line, as # -*- coding: latin-1 -*-"
            if is_python
            else 'Delete it, or leave it out: extend-exclude = ["._*"]',
        ) from error
    except UnicodeError as error:
        raise _unusable(encoding, row) from error
    first_break = _line_break.search(text)
    exact = encoding == "utf-8" or _encodes_to(text, encoding, content)
    return Source(text, encoding, bom, first_break.group() if first_break else "\n", exact)


def _encodes_to(text: str, encoding: str, content: bytes) -> bool:
    try:
        return text.encode(encoding) == content
    except UnicodeError:
        return False


def _unusable(encoding: str, row: int) -> SourceError:
    """For a codec that refuses texts without naming a character, such as ``undefined`` and ``idna``."""
    return SourceError(
        f"{encoding!r} cannot encode source code", row, "Store the file as UTF-8 and remove the declaration."
    )


def _declared_encoding(content: bytes) -> tuple[str, int]:
    """The normalized name of the encoding and the 1-based row that declares it (1 if none does)."""
    row = 1
    match = _cookie.match(content)
    if match is None:
        first = _no_code.match(content)
        if first is not None:
            row = 2
            match = _cookie.match(content, first.end())
    if match is None:
        return "utf-8", 1
    declared = match.group(1).decode("ascii", "replace")
    try:
        encoding = codecs.lookup(declared).name
    except (LookupError, ValueError) as error:
        raise SourceError(
            f"the declared encoding {declared!r} is unknown", row, "Store the file as UTF-8 and remove the declaration."
        ) from error
    return ("utf-8" if encoding == "utf-8-sig" else encoding), row
