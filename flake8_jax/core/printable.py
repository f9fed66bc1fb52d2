"""Text from outside (names, source lines, exceptions) made harmless for terminals and for the logs of CI services.

Vocabulary
----------
acting    a character that moves a cursor, turns the direction of writing, is invisible, or is no text at all.
command   what a CI service obeys when it stands in a log: a line that begins with ``::`` (GitHub, behind blanks too), and
          ``##vso[…]``, ``##[…]`` and ``##teamcity[…]`` anywhere in a line.

Such text is spelled out: ``\\x1b`` for the escape character, ``\\x23#vso[`` for a command.
"""

from __future__ import annotations

import json
import re

_ACTING_IN_DOCUMENTS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
"""Line ends and tabs lay out a document: there are millions of them in a long one."""
_ACTING = re.compile("[\t\n\r" + _ACTING_IN_DOCUMENTS.pattern[1:])
_COMMAND = re.compile(r"#(?=#\w*\[)")
_OPENING = re.compile(r"^(\s*):(?=:)", re.MULTILINE)
_STARTS_A_COMMAND = re.compile(r"\s*[:#]")


def one_line(text: str) -> str:
    """Text for readers, on one line."""
    return _COMMAND.sub(r"\\x23", _ACTING.sub(_spelled, text))


def spelled(text: str) -> str:
    """The text with acting characters spelled out, but for line ends: the format of the reader encodes these."""
    return _ACTING.sub(lambda found: found[0] if found[0] in "\r\n" else _spelled(found), text)


def shown_lines(text: str) -> str:
    """Text for readers on the lines that it has; tabs stay."""
    if text.isascii() and text.isprintable() and ":" not in text and "#" not in text:
        return text
    spelled = _ACTING.sub(lambda found: found[0] if found[0] in "\n\t" else _spelled(found), text)
    return _OPENING.sub(r"\1\\x3a", _COMMAND.sub(r"\\x23", spelled))


def starts_a_command(line: str) -> bool:
    """Whether a CI service might take a line with this beginning for a command."""
    return _STARTS_A_COMMAND.match(line) is not None


def shown_json(document: str) -> str:
    """A JSON document of the same content, without acting characters and commands."""

    def escaped(found: re.Match[str]) -> str:
        return json.dumps(found[0])[1:-1]

    return _COMMAND.sub(r"\\u0023", _ACTING_IN_DOCUMENTS.sub(escaped, document))


def shown_xml(document: str) -> str:
    """An XML document of the same content, without acting characters and commands."""

    def escaped(found: re.Match[str]) -> str:
        return f"&#{ord(found[0])};"

    return _COMMAND.sub("&#35;", _ACTING_IN_DOCUMENTS.sub(escaped, document))


def _spelled(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "backslashreplace").decode("ascii")
