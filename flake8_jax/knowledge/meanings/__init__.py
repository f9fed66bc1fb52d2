"""Arguments whose usual value in PyTorch, TensorFlow or NumPy means something else in a function of the JAX ecosystem, and
that the function takes without an error.

Vocabulary
----------
meaning     what one parameter of some functions stands for, and which values show that the author took it for something else.
name        the last part of a variable, an attribute or a key: ``emb_dim`` of ``self.cfg.emb_dim``. Its *words* are what
            underscores separate.

A key of ``meanings.toml``, by what it says::

    of           the functions, by canonical name
    parameters   their parameters by position; a parameter that is passed only by name need not be here
    argument     the parameter that is judged
    above, below a known number above, or below, this one shows the mistake; with both, a number between them
    text         a known string shows it
    integer      a dtype of integers or booleans shows it
    words        a name with one of these words shows it, if the value is unknown
    ends         a name whose last word is one of these shows it, if the value is unknown
    names        one of these names shows it, if the value is unknown
    less         the argument is a difference that takes away the argument of this parameter
    literal      a number that is written in a function shows it
    missing      the call does not pass the argument
    unless       the entry does not hold if this parameter has this number
    level        of the finding, if it is not a warning
    is           what the function does with the argument. ``{x}`` is the argument as it is written
    instead      what to write. ``{rest}`` is 1 minus the argument
    source       where the library says so
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Literal

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True, slots=True)
class Meaning:
    """One entry of the table. ``says`` and ``instead``: texts of the message; the other fields are keys of the table."""

    argument: str
    says: str
    instead: str
    source: str
    parameters: tuple[str, ...] = ()
    above: float | None = None
    below: float | None = None
    text: bool = False
    integer: bool = False
    words: frozenset[str] = frozenset()
    ends: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    less: str = ""
    literal: bool = False
    missing: bool = False
    unless: dict[str, float] = field(default_factory=dict)
    level: Literal["warning", "info"] = "warning"

    def shows(self, number: float) -> bool:
        """The number shows that something else was meant."""
        if self.above is None and self.below is None:
            return False
        return (self.above is None or number > self.above) and (self.below is None or number < self.below)

    def is_named(self, name: str) -> bool:
        """The name of an argument shows that something else was meant."""
        words = name.lower().split("_")
        return name.lower() in self.names or words[-1] in self.ends or not self.words.isdisjoint(words)


@cache
def load_meanings() -> dict[str, tuple[Meaning, ...]]:
    """The entries of the table, by function."""
    text = resources.files(__package__).joinpath("meanings.toml").read_text(encoding="utf-8")
    found: dict[str, tuple[Meaning, ...]] = {}
    for entry in tomllib.loads(text)["meaning"]:
        values: dict[str, Any] = {key: frozenset(value) if key in _SETS else value for key, value in entry.items()}
        functions, says, parameters = values.pop("of"), values.pop("is"), tuple(values.pop("parameters", ()))
        meaning = Meaning(says=says, parameters=parameters, **values)
        for function in functions:
            found[function] = (*found.get(function, ()), meaning)
    return found


_SETS = ("words", "ends", "names")
