"""Which calls of a NumPy or SciPy function its equivalent in JAX takes, as a table that a script made by calling both.

Vocabulary
----------
equivalent the function of ``jax.numpy`` or ``jax.scipy`` that does the same (``FunctionFact.equivalent``).
line       the parameters of the NumPy function that the equivalent takes, as a Python signature: parameters before ``/`` only
           by position, those after ``*`` only by name. A parameter that is not there is refused: the equivalent raises.
           The line ``-`` says that the equivalent takes no call on tracers.
kind       what follows a parameter's colon::

    (nothing)     whatever NumPy takes
    array         an array or a number; a list or a tuple has to become an array first
    sequence      a list or a tuple of arrays and numbers, but not of lists
    nested        lists and tuples as well, to any depth
    number        no list and no array in place of a number
    'a'|'b'|None  only these constants; ``number`` stands for any number
    ?             not known

filled     functions that take arrays without elements, but whose equivalents raise on them (section ``[filled]``).
refused    of a function of ``jax.numpy``, further parameters that take no list and no tuple (section ``[refused]``).

``scripts/numpy_equivalents.py`` writes ``numpy.toml``. Limitations: options that only fail together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

_ENTRY = re.compile(r'^"([^"\n]+)" = "([^"\n]*)"$', re.MULTILINE)
_KINDS = frozenset({"", "array", "sequence", "nested", "number", "?"})


@dataclass(frozen=True, slots=True)
class EquivalentParameter:
    """One parameter that the equivalent takes. kind: as above; choices: the constants, where only some are taken."""

    name: str
    kind: str
    choices: frozenset[str]
    by_position: bool
    by_name: bool
    variadic: bool


@dataclass(frozen=True, slots=True)
class EquivalentSignature:
    """What the equivalent takes. ``parameters`` is None where it takes no call on tracers. takes_empty: also arrays without
    elements, where the function does."""

    parameters: tuple[EquivalentParameter, ...] | None
    takes_empty: bool = True

    def at(self, position: int) -> EquivalentParameter | None:
        """The parameter that takes the positional argument with this number, if one does."""
        positional = [p for p in self.parameters or () if p.by_position]
        if position < len(positional):
            return positional[position]
        return positional[-1] if positional and positional[-1].variadic else None

    def named(self, name: str) -> EquivalentParameter | None:
        return next((p for p in self.parameters or () if p.by_name and p.name == name), None)


def equivalent_signature(name: str) -> EquivalentSignature | None:
    """What the equivalent of a NumPy or SciPy function takes; None where the script did not try it. ``name``: canonical."""
    equivalents, filled, _ = _tables()
    line = equivalents.get(name)
    return None if line is None else _parse(line, name not in filled)


def refused_sequences(name: str) -> tuple[str, ...]:
    """Parameters of a function of ``jax.numpy`` that take no list and no tuple, beside the arrays with which the line of the
    NumPy function begins. That of ``*args`` has its star."""
    names = _tables()[2].get(name)
    return () if names is None else tuple(names.split(", "))


@cache
def _tables() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """The lines of the sections ``[equivalents]``, ``[filled]`` and ``[refused]``, by function."""
    text = resources.files(__package__).joinpath("numpy.toml").read_text(encoding="utf-8")
    equivalents, _, rest = text.partition("\n[filled]\n")
    filled, _, refused = rest.partition("\n[refused]\n")
    return dict(_ENTRY.findall(equivalents)), dict(_ENTRY.findall(filled)), dict(_ENTRY.findall(refused))


@cache
def _parse(line: str, takes_empty: bool) -> EquivalentSignature:
    if line == "-":
        return EquivalentSignature(None)
    parts = [part.strip() for part in line.split(",")] if line else []
    slash = parts.index("/") if "/" in parts else -1
    star = next((i for i, part in enumerate(parts) if part.startswith("*")), len(parts))
    found: list[EquivalentParameter] = []
    for index, part in enumerate(parts):
        if part not in ("/", "*"):
            name, _, kind = (piece.strip() for piece in part.partition(":"))
            plain = kind in _KINDS
            found.append(
                EquivalentParameter(
                    name.lstrip("*"),
                    kind if plain else "",
                    frozenset() if plain else frozenset(kind.split("|")),
                    by_position=index <= star,
                    by_name=index > slash and not name.startswith("*"),
                    variadic=name.startswith("*"),
                )
            )
    return EquivalentSignature(tuple(found), takes_empty)
