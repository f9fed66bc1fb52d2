"""How commands print: no text from outside acts on a terminal or on a CI service. JSON keeps its data."""

from __future__ import annotations

import os
import sys
from typing import Any

import msgspec

from flake8_jax.core.printable import one_line, shown_json, shown_lines
from flake8_jax.core.report import data_as_text

_SERVICES = ("CI", "GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")


def tell(text: object, *, several_lines: bool = False) -> None:
    """Say something on standard error."""
    shown = shown_lines(str(text)) if several_lines else one_line(str(text))
    print(f"jaxlint: {shown}", file=sys.stderr)


def say(text: str) -> None:
    """Print text for readers, on the lines that it has."""
    sys.stdout.write(shown_lines(text))


def print_json(data: Any) -> None:
    """Print a JSON document."""
    try:
        encoded = msgspec.json.encode(data)
    except UnicodeEncodeError:  # a file whose name is no text
        encoded = msgspec.json.encode(data_as_text(msgspec.to_builtins(data)))
    print(shown_json(msgspec.json.format(encoded, indent=2).decode()))


def print_program(text: str) -> bool:
    """Print a program or a patch as it is, or, on a terminal and in a CI log, as readers may see it.

    Returns whether it was printed as it is.
    """
    shown = text
    if sys.stdout.isatty() or any(os.environ.get(name) for name in _SERVICES):
        shown = shown_lines(text)
    sys.stdout.flush()
    sys.stdout.buffer.write(shown.encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()
    return shown == text
