"""Read the length of lines and the order of imports from the configuration of a project's formatters.

The nearest directory whose files give a length of lines decides. In one directory, ruff comes first, then black, pyink, flake8,
pycodestyle, pylint, yapf, isort, and ``.editorconfig`` last. If a formatter is configured without a length, the length is 88.
The order of imports is looked up separately and in the same way: first ruff, then isort.

These files belong to other programs. So this module ignores files that it cannot read and lengths that are not numbers.

Limitations: options on command lines, in environment variables and in the home folder of a user. ``extend`` of ruff is followed
only once. Sections of ``.editorconfig`` with numeric ranges match nothing.
"""

from __future__ import annotations

import configparser
import fnmatch
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from flake8_jax.core.reading import read_regular
from flake8_jax.core.style import LINE_LENGTH, CodeStyle
from flake8_jax.settings.tables import ConfigError, load_toml

_LARGEST = 1_000_000
_RUFF = ("ruff.toml", ".ruff.toml")
_LENGTHS = (
    ("setup.cfg", "flake8", "max-line-length"),
    ("tox.ini", "flake8", "max-line-length"),
    (".flake8", "flake8", "max-line-length"),
    ("setup.cfg", "pycodestyle", "max-line-length"),
    ("tox.ini", "pycodestyle", "max-line-length"),
    (".pylintrc", "FORMAT", "max-line-length"),
    ("pylintrc", "FORMAT", "max-line-length"),
    (".style.yapf", "style", "column_limit"),
    ("setup.cfg", "yapf", "column_limit"),
    (".isort.cfg", "settings", "line_length"),
    ("setup.cfg", "isort", "line_length"),
)
"""Files, sections and keys that give a length. Earlier ones win."""
_PYPROJECT = (
    (("tool", "ruff"), "line-length"),
    (("tool", "black"), "line-length"),
    (("tool", "pyink"), "line-length"),
    (("tool", "flake8"), "max-line-length"),
    (("tool", "pylint", "format"), "max-line-length"),
    (("tool", "yapf"), "column_limit"),
    (("tool", "isort"), "line_length"),
)
_PRESETS = {"google": True}
_TRUE = ("1", "true", "yes", "on")


def says_style(name: str) -> bool:
    """Return whether a file of this name may configure the style of a project."""
    return name in (*_RUFF, "pyproject.toml", ".editorconfig") or any(name == file for file, _, _ in _LENGTHS)


class StyleReader:
    """A reader of styles. It reads each file once."""

    def __init__(self) -> None:
        self._tables: dict[str, Mapping[str, Any]] = {}
        self._sections: dict[str, Mapping[str, Mapping[str, str]]] = {}
        self._styles: dict[tuple[str, str | None], CodeStyle] = {}

    def style_in(self, directory: str, top: str | None) -> CodeStyle:
        """Return the style of the files in an absolute directory. top: the top folder of the project, where the search ends."""
        key = (directory, top)
        if key not in self._styles:
            folders = list(_upwards(directory, top))
            lengths = (self._length_in(folder, directory) for folder in folders)
            length = next((found for found in lengths if found is not None), None)
            style = self._with_imports(folders)
            asked = length is not None
            length = LINE_LENGTH if length is None else length
            self._styles[key] = msgspec.structs.replace(style, line_length=length, is_asked=asked)
        return self._styles[key]

    # --- files

    def _table(self, path: str) -> Mapping[str, Any]:
        if path not in self._tables:
            try:
                self._tables[path] = load_toml(path)[0] if os.path.isfile(path) else {}
            except ConfigError:
                self._tables[path] = {}
        return self._tables[path]

    def _ini(self, path: str) -> Mapping[str, Mapping[str, str]]:
        if path not in self._sections:
            self._sections[path] = _sections_of(path)
        return self._sections[path]

    def _ruff_tables(self, folder: str) -> Iterator[Mapping[str, Any]]:
        """Yield the tables of ruff in a directory, and the tables that they extend."""
        for name in _RUFF:
            if table := self._table(os.path.join(folder, name)):
                yield table
                yield from self._extended(folder, table)
                return
        table = _below(self._table(os.path.join(folder, "pyproject.toml")), ("tool", "ruff"))
        if table:
            yield table
            yield from self._extended(folder, table)

    def _extended(self, folder: str, table: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        other = table.get("extend")
        if isinstance(other, str):
            path = os.path.join(folder, os.path.expanduser(other))
            found = self._table(path)
            yield _below(found, ("tool", "ruff")) if os.path.basename(path) == "pyproject.toml" else found

    # --- lengths

    def _length_in(self, folder: str, directory: str) -> int | None:
        """Return the length that the files of a folder give, or None."""
        for table in self._ruff_tables(folder):
            if (length := _number(table.get("line-length"))) is not None:
                return length
        pyproject = self._table(os.path.join(folder, "pyproject.toml"))
        for keys, name in _PYPROJECT:
            if (length := _number(_below(pyproject, keys).get(name))) is not None:
                return length
        for file, section, name in _LENGTHS:
            values = self._ini(os.path.join(folder, file)).get(section, {})
            if (length := _number(values.get(name, values.get(name.replace("-", "_"))))) is not None:
                return length
        if any(True for _ in self._ruff_tables(folder)) or {"black", "pyink"} & set(_below(pyproject, ("tool",))):
            return LINE_LENGTH
        return self._editorconfig_length(folder, directory)

    def _editorconfig_length(self, folder: str, directory: str) -> int | None:
        within = os.path.relpath(directory, folder).replace(os.sep, "/")
        path = "example.py" if within == "." else f"{within}/example.py"
        found: int | None = None
        for pattern, values in self._ini(os.path.join(folder, ".editorconfig")).items():
            if "max_line_length" in values and _selects(pattern, path):
                found = _number(values["max_line_length"])
        return found

    # --- imports

    def _with_imports(self, folders: list[str]) -> CodeStyle:
        for folder in folders:
            for table in self._ruff_tables(folder):
                linter = _below(table, ("lint",))
                options = _below(linter, ("isort",)) or _below(table, ("isort",))
                if options:
                    return _style({name.replace("-", "_"): value for name, value in options.items()})
            for options in self._isort_tables(folder):
                if options:
                    return _style(options)
        return CodeStyle()

    def _isort_tables(self, folder: str) -> Iterator[Mapping[str, Any]]:
        yield _below(self._table(os.path.join(folder, "pyproject.toml")), ("tool", "isort"))
        for file, section in ((".isort.cfg", "settings"), ("setup.cfg", "isort"), ("tox.ini", "isort")):
            yield self._ini(os.path.join(folder, file)).get(section, {})


def _upwards(directory: str, top: str | None) -> Iterator[str]:
    folder = directory
    while True:
        yield folder
        above = os.path.dirname(folder)
        if folder == top or above == folder:
            return
        folder = above


def _below(table: Mapping[str, Any], keys: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the table at these keys, or an empty table."""
    for key in keys:
        found = table.get(key)
        if not isinstance(found, Mapping):
            return {}
        table = found
    return table


def _number(value: object) -> int | None:
    """Return the value as a length of lines, or None if it is not one."""
    text = str(value).strip()
    return int(text) if not isinstance(value, bool) and re.fullmatch(r"[0-9]{1,4}", text) and int(text) > 0 else None


def _sections_of(path: str) -> Mapping[str, Mapping[str, str]]:
    """Return the sections of an INI file. Return none if the file is not valid INI."""
    parser = configparser.ConfigParser(interpolation=None, strict=False, default_section="\0")
    try:
        text = read_regular(path, _LARGEST).decode("utf-8")
        parser.read_string("[\1]\n" + text if path.endswith(".editorconfig") else text)
    except (OSError, UnicodeDecodeError, configparser.Error):
        return {}
    return {name: dict(parser[name]) for name in parser.sections()}


def _selects(pattern: str, path: str) -> bool:
    """Return whether a section of ``.editorconfig`` matches a path, which is relative to the folder of this file."""
    alternatives = re.sub(r"\{([^{}]*,[^{}]*)\}", lambda found: "\1" + found[1].replace(",", "\2") + "\1", pattern)
    return any(_matches(one, path) for one in _expanded(alternatives))


def _expanded(pattern: str) -> Iterator[str]:
    head, marker, rest = pattern.partition("\1")
    if not marker:
        yield pattern
        return
    options, _, tail = rest.partition("\1")
    for option in options.split("\2"):
        yield from _expanded(head + option + tail)


def _matches(pattern: str, path: str) -> bool:
    if "/" not in pattern:
        return fnmatch.fnmatchcase(os.path.basename(path), pattern)
    wanted = pattern.lstrip("/").replace("**", "*")
    return fnmatch.fnmatchcase(path, wanted)


def _style(options: Mapping[str, Any]) -> CodeStyle:
    """Make a style from the options of isort."""
    mixed = _is_true(options.get("force_sort_within_sections"))
    profile = str(options.get("profile") or "")
    names = options.get("known_first_party") or ()
    listed = re.split(r"[\s,]+", names) if isinstance(names, str) else names
    return CodeStyle(
        mixed_imports=mixed or _PRESETS.get(profile, False),
        single_imports=_is_true(options.get("force_single_line")) or _PRESETS.get(profile, False),
        from_first=_is_true(options.get("from_first")),
        first_party=tuple(str(name) for name in listed if name),
    )


def _is_true(value: object) -> bool:
    return value is True or str(value).strip().lower() in _TRUE
