"""The values of literals: numbers, and strings with their prefixes and escapes.

Vocabulary
----------
raw         a literal as it is typed: prefix, quotes and all.
kind        as in ``ir.Constant``.

Strings are decoded here rather than by ``ast.literal_eval`` because that warns, process-wide, about invalid escapes
and is ten times slower. Bytes are given as text in which every character is one byte (Latin-1).

Limitations: lone surrogates, which become U+FFFD, since the formats that hold the representation cannot carry them.
"""

from __future__ import annotations

import re
import unicodedata
from math import isinf

from flake8_jax.core.ir import ConstantKind

Value = bool | int | float | str | None

MAX_INTEGER = 2**63 - 1
_MAX_DIGITS = 80
"""Longer integer literals are out of range in every base; converting them could also be refused by the runtime."""

_SIMPLE_ESCAPES = {
    "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip
_NUMERIC = r"(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{2})"
_WIDE = r"|u(?P<u4>[0-9a-fA-F]{4})|U(?P<u8>[0-9a-fA-F]{8})|N\{(?P<name>[^}]*)\}"
_REST = r"|(?P<newline>\n)|(?P<simple>[\\'\"abfnrtv])"
_surrogates = re.compile("[\ud800-\udfff]")
_bytes_escape = re.compile(rf"\\(?:{_NUMERIC}{_REST})")
_text_escape = re.compile(rf"\\(?:{_NUMERIC}{_WIDE}{_REST})")
_field_text_escape = re.compile(rf"\\(?:{_NUMERIC}{_WIDE}{_REST})|\{{(?P<brace>\{{)|\}}(?P<close>\}})")


def integer(raw: str) -> tuple[ConstantKind, Value]:
    """Kind and value of an integer literal."""
    digits = raw.replace("_", "")
    if len(digits) > _MAX_DIGITS:
        return "big", None
    value = int(digits, 0) if digits.strip("0") else 0
    return ("int", value) if value <= MAX_INTEGER else ("big", None)


def real(raw: str) -> tuple[ConstantKind, Value]:
    """Kind and value of a floating-point literal."""
    value = float(raw)
    return ("big", None) if isinf(value) else ("float", value)


def imaginary(raw: str) -> tuple[ConstantKind, Value]:
    """Kind and imaginary part of an imaginary literal; the part is None where it overflows."""
    value = float(raw[:-1])
    return "complex", None if isinf(value) else value


def string(raw: str) -> tuple[ConstantKind, str]:
    """Kind (``str`` or ``bytes``) and value of a string literal without replacement fields."""
    quote = raw[-1]
    opening = raw.index(quote)
    width = 3 if raw.startswith(quote * 3, opening) and len(raw) - opening >= 6 else 1
    body = raw[opening + width : -width]
    if opening == 0:
        return "str", unescape(body, _text_escape) if "\\" in body or "\r" in body else body
    prefix = raw[:opening].lower()
    kind: ConstantKind = "bytes" if "b" in prefix else "str"
    if "r" in prefix:
        return kind, normalize_newlines(body)
    return kind, unescape(body, _bytes_escape if kind == "bytes" else _text_escape)


def field_text(raw: str, is_raw: bool) -> str:
    """The value of the literal text between the replacement fields of an f-string."""
    if is_raw:
        return normalize_newlines(raw).replace("{{", "{").replace("}}", "}")
    return unescape(raw, _field_text_escape)


def spec_text(raw: str, is_raw: bool) -> str:
    """The value of the literal text inside a format specification, where braces are not doubled."""
    return normalize_newlines(raw) if is_raw else unescape(raw, _text_escape)


def normalize_newlines(text: str) -> str:
    """Python reads every line ending inside a string as ``\\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def unescape(text: str, escapes: re.Pattern[str]) -> str:
    """Replace the escapes; an unknown escape stays as it is, as Python leaves it."""
    value = escapes.sub(_character, normalize_newlines(text))
    return value if value.isascii() else _surrogates.sub("\N{REPLACEMENT CHARACTER}", value)


def _character(match: re.Match[str]) -> str:
    group = match.lastgroup
    body = match.group(group) if group is not None else ""
    if group == "simple":
        return _SIMPLE_ESCAPES[body]
    if group == "newline":
        return ""
    if group == "octal":
        return chr(int(body, 8))
    if group in ("hex", "u4", "u8"):
        code = int(body, 16)
        return chr(code) if code <= 0x10FFFF else match.group()
    if group == "name":
        try:
            return unicodedata.lookup(body)
        except KeyError:  # not Python at all, or a name newer than this interpreter's tables
            return match.group()
    return body
