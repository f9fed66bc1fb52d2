"""Read TOML within limits, and find the rows of its keys.

Vocabulary
----------
section   the table that contains a key, as dotted text. It is empty for the top level of the file.
row       the number of a line in the file, from 1.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from flake8_jax.core.reading import read_regular

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_LARGEST_CONFIG = 1_000_000
_MOST_PARTS = 32
_MANY_DIGITS = re.compile(r"[\d_]{640}")
_KEY_PIECES = re.compile(r""""(?:[^"\\]|\\.?)*(?:"|$)|'[^']*(?:'|$)|[A-Za-z0-9_-]+|[ \t]+|.""", re.DOTALL)


class ConfigError(Exception):
    """A configuration that cannot be used. The message names file, line and key, and what to do."""


def load_toml(path: str) -> tuple[dict[str, Any], str]:
    """Decode a TOML file. Return the table and its text. Raises ConfigError."""
    try:
        text = read_regular(path, _LARGEST_CONFIG).decode("utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        row = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{row}: not UTF-8, which TOML has to be: {error.reason}") from error
    try:
        return decoded_toml(text), text
    except TomlError as error:
        raise ConfigError(f"{path}:{error.row}: invalid TOML: {error}") from error


class TomlError(Exception):
    """The text is not TOML, or it is too deep or too long to decode."""

    def __init__(self, message: str, row: int) -> None:
        super().__init__(message)
        self.row = row


def decoded_toml(text: str) -> dict[str, Any]:
    """Decode a TOML text. Raises TomlError."""
    lines = text.split("\n")
    for row, line in enumerate(lines, 1):
        if line.count(".") >= _MOST_PARTS and _longest_key(line) > _MOST_PARTS:
            raise TomlError(f"a key with more than {_MOST_PARTS} parts", row)  # the decoder takes quadratic time
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        # Without a line, it is the end of the file.
        raise TomlError(str(error), int(found[1]) if found else len(text.splitlines())) from error
    except RecursionError as error:
        deepest = max(range(len(lines)), key=lambda index: lines[index].count("[") + lines[index].count("{"))
        raise TomlError("nested too deeply", deepest + 1) from error
    except ValueError as error:  # Python converts no more than 4300 digits
        row = next((row for row, line in enumerate(lines, 1) if _MANY_DIGITS.search(line)), 1)
        raise TomlError("a number with too many digits", row) from error


def _longest_key(line: str) -> int:
    """Return the number of parts of the longest dotted key in a line."""
    most = parts = 0
    goes_on = False
    for match in _KEY_PIECES.finditer(line):
        piece = match[0]
        if piece == "#":
            break
        if piece == ".":
            goes_on = True
        elif piece[0] in "\"'-_" or piece[0].isalnum():
            parts = parts + 1 if goes_on else 1
            most, goes_on = max(most, parts), False
        elif not piece.isspace():
            parts, goes_on = 0, False
    return most


def key_row(text: str, key: str, section: str) -> int | None:
    """Return the row of ``key`` in the table ``section``, or None. An empty section is the top level of the file."""
    wanted = f"{section}.{key}" if section else key
    current = ""
    for row, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if stripped.startswith("[") and "]" in stripped:
            current = _plain_key(stripped.strip("[").partition("]")[0])
            if current == wanted or current.startswith(f"{wanted}."):
                return row
        elif "=" in stripped:
            written = _plain_key(stripped.partition("=")[0])
            full = f"{current}.{written}" if current else written
            if full == wanted or full.startswith(f"{wanted}.") or (full == section and key in stripped):
                return row
    return None


def _plain_key(written: str) -> str:
    return re.sub(r"""["'\s]""", "", written)
