"""Which calls of a NumPy or SciPy function its twin in JAX takes, as a table that a script made by calling both.

Vocabulary
----------
twin       the function of ``jax.numpy`` or ``jax.scipy`` that does the same (``FunctionFact.twin``).
line       the parameters of the NumPy function that the twin takes, as a Python signature: parameters before ``/`` only by
           position, those after ``*`` only by name. A parameter that is not there is refused: the twin raises.
           The line ``-`` says that the twin takes no call on tracers.
kind       what follows a parameter's colon::

    (nothing)     whatever NumPy takes
    array         an array or a number; a list or a tuple has to become an array first
    sequence      a list or a tuple of arrays and numbers, but not of lists
    nested        lists and tuples as well, to any depth
    number        no list and no array in place of a number
    'a'|'b'|None  only these constants; ``number`` stands for any number
    ?             not known

filled     functions that take arrays without elements, but whose twins raise on them (section ``[filled]``).

``scripts/numpy_twins.py`` writes ``numpy.toml``. Limitations: options that only fail together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

_ENTRY = re.compile(r'^"([^"\n]+)" = "([^"\n]*)"$', re.MULTILINE)
_KINDS = frozenset({"", "array", "sequence", "nested", "number", "?"})


@dataclass(frozen=True, slots=True)
class TwinParameter:
    """One parameter that the twin takes. kind: as above; choices: the constants, where only some are taken."""

    name: str
    kind: str
    choices: frozenset[str]
    by_position: bool
    by_name: bool
    variadic: bool


@dataclass(frozen=True, slots=True)
class Twin:
    """What the twin takes. ``parameters`` is None where it takes no call on tracers. takes_empty: also arrays without elements,
    where the function does."""

    parameters: tuple[TwinParameter, ...] | None
    takes_empty: bool = True

    def at(self, position: int) -> TwinParameter | None:
        """The parameter that takes the positional argument with this number, if one does."""
        positional = [p for p in self.parameters or () if p.by_position]
        if position < len(positional):
            return positional[position]
        return positional[-1] if positional and positional[-1].variadic else None

    def named(self, name: str) -> TwinParameter | None:
        return next((p for p in self.parameters or () if p.by_name and p.name == name), None)


def twin_calls(name: str) -> Twin | None:
    """What the twin of a NumPy or SciPy function takes; None where nobody has tried. ``name``: canonical."""
    twins, filled = _tables()
    line = twins.get(name)
    return None if line is None else _parse(line, name not in filled)


@cache
def _tables() -> tuple[dict[str, str], dict[str, str]]:
    """The lines of the section ``[twins]``, and those of ``[filled]``, by function."""
    text = resources.files(__package__).joinpath("numpy.toml").read_text(encoding="utf-8")
    twins, _, filled = text.partition("\n[filled]\n")
    return dict(_ENTRY.findall(twins)), dict(_ENTRY.findall(filled))


@cache
def _parse(line: str, takes_empty: bool) -> Twin:
    if line == "-":
        return Twin(None)
    parts = [part.strip() for part in line.split(",")] if line else []
    slash = parts.index("/") if "/" in parts else -1
    star = next((i for i, part in enumerate(parts) if part.startswith("*")), len(parts))
    found: list[TwinParameter] = []
    for index, part in enumerate(parts):
        if part not in ("/", "*"):
            name, _, kind = (piece.strip() for piece in part.partition(":"))
            plain = kind in _KINDS
            found.append(
                TwinParameter(
                    name.lstrip("*"),
                    kind if plain else "",
                    frozenset() if plain else frozenset(kind.split("|")),
                    by_position=index <= star,
                    by_name=index > slash and not name.startswith("*"),
                    variadic=name.startswith("*"),
                )
            )
    return Twin(tuple(found), takes_empty)
