"""What the editor's settings say: keys of ``[tool.jaxlint]``, and a few that only make sense in an editor.

Keys may be written in the editor's way (``targetJax``) or in ours (``target-jax``), below ``jaxlint`` or by themselves.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from flake8_jax.config import ConfigError, Options, convert_options, option_names

_ORIGIN = "settings of the editor"


class Preferences(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """debounce: milliseconds without a keystroke before a text is looked at. configuration: a file to use everywhere."""

    debounce: int = 100
    configuration: str | None = None
    isolated: bool = False
    cache: bool = True
    inlay_hints: bool = True
    code_lens: bool = True


_OWN = frozenset(Preferences.__struct_encode_fields__)


def preferences(raw: object) -> tuple[Preferences, Options]:
    """The editor's own settings, and those that go over the configuration. Raises ConfigError."""
    table: dict[str, Any] = dict(raw) if isinstance(raw, dict) else {}
    for section in ("settings", "jaxlint"):
        inner = table.get(section)
        if isinstance(inner, dict):
            table = dict(inner)
    plain = {_kebab(key): value for key, value in table.items() if value is not None}
    own = {key: value for key, value in plain.items() if key in _OWN}
    rest = {key: value for key, value in plain.items() if key not in _OWN}
    try:
        return msgspec.convert(own, Preferences), convert_options(rest, _ORIGIN, "", "")
    except msgspec.ValidationError as error:
        raise ConfigError(f"{_ORIGIN}: {error}") from error


def ours(settings: object) -> dict[str, Any] | None:
    """What an editor that sends all of its settings says of us; None where it does not mention us.

    Outside of a section of ours a key that is not known and holds a table is the section of another server.
    """
    table: dict[str, Any] = dict(settings) if isinstance(settings, dict) else {}
    if isinstance(table.get("jaxlint"), dict) or isinstance(table.get("settings"), dict):
        return table
    known = _OWN.union(option_names())
    return {key: value for key, value in table.items() if _kebab(key) in known or not isinstance(value, dict)} or None


def _kebab(key: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", key).lower()
