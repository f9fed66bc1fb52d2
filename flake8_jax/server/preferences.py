"""What the editor's settings say: keys of ``[tool.jaxlint]``, and a few that only make sense in an editor.

Keys may be written in the editor's way (``targetJax``) or in ours (``target-jax``), below ``jaxlint`` or by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

import msgspec

from flake8_jax.settings.options import Options, convert_options, option_names
from flake8_jax.settings.tables import ConfigError

_ORIGIN = "settings of the editor"
_LONGEST_DEBOUNCE = 60_000


class Preferences(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """debounce: milliseconds without a keystroke before a text is looked at. configuration: a file to use everywhere."""

    debounce: Annotated[int, msgspec.Meta(ge=0, le=_LONGEST_DEBOUNCE)] = 100
    configuration: str | None = None
    isolated: bool = False
    cache: bool = True
    inlay_hints: bool = True
    code_lens: bool = True


_OWN = frozenset(Preferences.__struct_encode_fields__)


def preferences(raw: object) -> tuple[Preferences, Options]:
    """The editor's own settings, and those that go over the configuration. Raises ConfigError."""
    plain = _plain(raw)
    own = {key: value for key, value in plain.items() if key in _OWN}
    rest = {key: value for key, value in plain.items() if key not in _OWN}
    try:
        return msgspec.convert(own, Preferences), convert_options(rest, _ORIGIN, "", "")
    except msgspec.ValidationError as error:
        raise ConfigError(f"{_ORIGIN}: {error}") from error


def usable(raw: object, check: Callable[[dict[str, Any]], object] = preferences) -> tuple[dict[str, Any], list[str]]:
    """The settings that hold by themselves, and what is wrong with the others. ``check`` raises ConfigError, or what the
    libraries raise that use a path or a pattern."""
    kept: dict[str, Any] = {}
    errors: list[str] = []
    for key, value in _plain(raw).items():
        try:
            check({key: value})
            kept[key] = value
        except (ConfigError, ValueError, OSError) as error:
            reason = re.sub(rf"^(?:{_ORIGIN}|command line|settings): ", "", str(error))
            errors.append(f"{_ORIGIN}: {reason}; jaxlint ignores `{key}` and uses the other settings")
    return kept, errors


def _plain(raw: object) -> dict[str, Any]:
    """What an editor sent, by keys as they are written in a configuration."""
    table: dict[str, Any] = dict(raw) if isinstance(raw, dict) else {}
    for section in ("settings", "jaxlint"):
        inner = table.get(section)
        if isinstance(inner, dict):
            table = dict(inner)
    return {_kebab(key): value for key, value in table.items() if value is not None}


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
