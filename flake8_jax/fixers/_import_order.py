"""Where imports stand: by isort's rules, as ruff and isort apply them.

Vocabulary
----------
section     the imports of one kind: ``__future__``, the standard library, third parties, the project itself, its own package.
lines       the import statements of a block, as text.

Modules of the project are those of the analyzed program, and those that the settings name.

Limitations: the user's own sections, custom orders and ``force-to-top``; sorting by length.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flake8_jax.core.style import CodeStyle

_DIGITS = re.compile(r"(\d+)")
_SortKey = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One import statement. module: the first module of ``import a, b``. relative: the dots in front. names: what a ``from``
    imports; empty for a plain import. alias: the new name that a plain import gives."""

    module: str
    relative: int = 0
    names: tuple[str, ...] = ()
    alias: str = ""

    @property
    def is_plain(self) -> bool:
        return not self.names


@dataclass(frozen=True, slots=True)
class ImportOrder:
    """The order in a project. is_own: whether a top-level module is the project's."""

    style: CodeStyle
    is_own: Callable[[str], bool]

    def section(self, line: Line) -> int:
        root = line.module.partition(".")[0]
        if line.relative:
            return 4
        if root == "__future__":
            return 0
        if root in self.style.first_party or self.is_own(root):
            return 3
        return 1 if root in sys.stdlib_module_names else 2

    def key(self, line: Line) -> _SortKey:
        """What statements of a file sort by."""
        kind = line.is_plain is self.style.from_first
        module = (-line.relative, _natural(line.module), line.module)
        within = (module, kind) if self.style.mixed_imports else (kind, module)
        return (self.section(line), *within, line.alias)

    def sorted_lines(self, lines: Sequence[str]) -> list[str] | None:
        """The import statements of one block in order, each once; None where one is not understood."""
        parsed = [parsed_line(line) for line in lines]
        if any(one is None for one in parsed):
            return None
        known = [(one, line) for one, line in zip(parsed, lines) if one is not None]
        merged = self._merged(known)
        return [line for _, line in sorted(merged, key=lambda pair: (self.key(pair[0]), _members(pair[0])))]

    def _merged(self, lines: list[tuple[Line, str]]) -> list[tuple[Line, str]]:
        """Plain ``from`` imports of one module in one statement, as isort has them; those with a new name on their own."""
        found: dict[object, tuple[Line, str]] = {}
        for one, text in lines:
            mergeable = one.names and "#" not in text and not self.style.single_imports and not _renames(one)
            key: object = (one.module, one.relative) if mergeable else text
            before = found.get(key)
            if before is None:
                found[key] = (one, text)
            elif mergeable:
                names = tuple(sorted({*before[0].names, *one.names}, key=_member_key))
                found[key] = _joined(
                    Line(one.module, one.relative, names), open_ended=_is_open(before[1]) or _is_open(text)
                )
        return list(found.values())


def _joined(line: Line, *, open_ended: bool) -> tuple[Line, str]:
    names = "(\n    " + ",\n    ".join(line.names) + ",\n)" if open_ended else ", ".join(line.names)
    return line, f"from {'.' * line.relative}{line.module} import {names}"


def _is_open(text: str) -> bool:
    """Whether a comma behind the last name keeps one name a line."""
    return re.search(r",\s*\)\s*\Z", text) is not None


def _members(line: Line) -> tuple[object, ...]:
    return tuple(map(_member_key, line.names))


def _renames(line: Line) -> bool:
    """Whether an import gives one of its names another one."""
    return any(" as " in name for name in line.names)


def _natural(text: str) -> tuple[tuple[int, object], ...]:
    """A text so that numbers in it sort by value, without regard to case."""
    return tuple((0, int(part)) if part.isdigit() else (1, part.lower()) for part in _DIGITS.split(text) if part)


def _member_key(name: str) -> _SortKey:
    """Constants, then classes, then the rest."""
    bare = name.partition(" ")[0]
    kind = 0 if len(bare) > 1 and bare.isupper() else 1 if bare[:1].isupper() else 2
    return kind, _natural(bare), name


def parsed_line(text: str) -> Line | None:
    """An import statement that stands on lines of its own; None for anything else."""
    try:
        body = ast.parse(text.strip()).body
    except SyntaxError:
        return None
    if len(body) != 1:
        return None
    statement = body[0]
    if isinstance(statement, ast.Import):
        return Line(statement.names[0].name, alias=statement.names[0].asname or "")
    if isinstance(statement, ast.ImportFrom):
        names = tuple(f"{a.name} as {a.asname}" if a.asname else a.name for a in statement.names)
        return Line(statement.module or "", statement.level, names)
    return None
