"""JSON for logs: the same data, without characters and commands that would act there."""

from __future__ import annotations

from typing import Any

import msgspec

from flake8_jax.core.printable import shown_json


def document(data: Any) -> str:
    """An indented document."""
    return shown_json(msgspec.json.format(msgspec.json.encode(data), indent=2).decode()) + "\n"


def line(data: Any) -> str:
    """A document on one line, without a line end."""
    return shown_json(msgspec.json.encode(data).decode())
