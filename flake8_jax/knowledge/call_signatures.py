"""Which calls the functions, classes and methods of JAX and the libraries around it take, and which attributes their objects
have, in any release since mid-2024.

Vocabulary
----------
signature   the parameters of one function: ``in_size, out_size, *, key, dtype=``. ``name=`` has a default, ``/`` and ``*``
            are those of Python. Several signatures of one name are those of several releases.
problem     why a signature does not take a call: a missing argument, one too many, one of an unknown name, or one twice.
member      an attribute of the objects of a class, in some release. ``shape=``: in no release is it a method.

``scripts/call_signatures.py`` writes the tables from installed releases.

Limitations: releases before the oldest and after the newest of the tables; types and values of arguments.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from importlib import resources
from typing import Literal

import msgspec

from flake8_jax.knowledge.history import Version, version_of

ProblemKind = Literal["missing", "too-many", "unknown", "unnamed", "twice", "unset", "own", "uncallable", "no-lookup"]
LIBRARIES = ("jax", "flax", "optax", "equinox", "haiku", "numpyro")
"""The libraries that have a table, by import name."""


class Problem(msgspec.Struct, frozen=True):
    """Why a function does not take a call; ``unset``: neither the call nor the constructor of what is called has given an
    argument; ``unnamed``: the function takes the arguments by position only; ``own``: the function passes the argument
    itself; ``uncallable``: an object is no function; ``no-lookup``: the function looks for a name in an object that takes no
    ``in``.
    names: the arguments that are missing, unknown or given twice; for ``no-lookup``, the class and the argument.
    most: for ``too-many``, so many positional arguments the signature takes. position: for ``twice``, where the argument stands
    that a keyword names as well."""

    kind: ProblemKind
    names: tuple[str, ...] = ()
    most: int = 0
    position: int = 0


class Signature(msgspec.Struct, frozen=True):
    """The parameters of a function. positional: with those that may be given by name as well. only: so many of them, from the
    first on, may not. keywords: those after ``*``. required: the ones without a default. rest, others: whether there is a
    ``*args``, a ``**kwargs``."""

    positional: tuple[str, ...]
    keywords: frozenset[str]
    required: tuple[str, ...]
    only: int = 0
    rest: bool = False
    others: bool = False

    @property
    def by_name(self) -> frozenset[str]:
        """The parameters that may be given by name."""
        return frozenset(self.positional[self.only :]) | self.keywords

    def problem(self, given: int, names: Collection[str]) -> Problem | None:
        """Why a call with ``given`` positional arguments and these keywords raises TypeError; None if it does not."""
        if given > len(self.positional) and not self.rest:
            return Problem("too-many", most=len(self.positional))
        by_name = self.by_name
        unknown = () if self.others else tuple(name for name in names if name not in by_name)
        if unknown:
            unnamed = self.positional[: self.only]
            return Problem("unnamed" if all(name in unnamed for name in unknown) else "unknown", unknown)
        taken = frozenset(self.positional[:given])
        twice = tuple(name for name in names if name in taken and name in by_name)
        if twice:
            return Problem("twice", twice, position=self.positional.index(twice[0]))
        by_position = frozenset(self.positional[: self.only])
        missing = tuple(
            name for name in self.required if name not in taken and (name in by_position or name not in names)
        )
        return Problem("missing", missing) if missing else None


def parse_signature(text: str) -> Signature:
    """``in_size, out_size, *, key, dtype=`` as a signature."""
    positional: list[str] = []
    keywords: list[str] = []
    required: list[str] = []
    only, rest, others, after_star = 0, False, False, False
    for part in (piece.strip() for piece in text.split(",")):
        if part == "/":
            only = len(positional)
        elif part.startswith("**"):
            others = True
        elif part.startswith("*"):
            rest, after_star = len(part) > 1, True
        elif part:
            name = part.removesuffix("=")
            (keywords if after_star else positional).append(name)
            if name == part:
                required.append(name)
    return Signature(tuple(positional), frozenset(keywords), tuple(required), only, rest, others)


class Signatures:
    """The table of one library, read as text; a line is parsed when its function is called. newest, oldest: the releases
    between which it knows all signatures of a function."""

    def __init__(self, text: str) -> None:
        self._lines: dict[str, str] = {}
        self._members: dict[str, str] = {}
        releases: dict[str, str] = {}
        entries = releases
        for line in text.splitlines():
            if line.startswith('"'):
                name, _, said = line[1:-1].partition('" = "')
                entries[name] = said
            elif line == "[signatures]":
                entries = self._lines
            elif line == "[members]":
                entries = self._members
        self.newest: Version = version_of(releases["newest"])
        self.oldest: Version = version_of(releases["oldest"])
        self.title = releases["title"]
        self._parsed: dict[str, tuple[Signature, ...]] = {}
        self._attributes: dict[str, dict[str, bool]] = {}

    @property
    def names(self) -> frozenset[str]:
        """The functions whose signatures the table has."""
        return frozenset(self._lines)

    def members(self, cls: str) -> Mapping[str, bool] | None:
        """The attributes of the objects of a class: whether each may be a method. None if the table does not know them."""
        line = self._members.get(cls)
        if line is None:
            return None
        known = self._attributes.get(cls)
        if known is None:
            known = {name.removesuffix("="): not name.endswith("=") for name in line.split(" ")}
            self._attributes[cls] = known
        return known

    def of(self, name: str) -> tuple[Signature, ...]:
        """The signatures that the releases give a function, the newest first; empty if the table does not have it."""
        known = self._parsed.get(name)
        if known is None:
            line = self._lines.get(name)
            known = () if line is None else tuple(parse_signature(text) for text in line.split(" | "))
            self._parsed[name] = known
        return known

    def problem(self, name: str, given: int, names: Collection[str]) -> Problem | None:
        """Why no release takes a call; that of the newest one. None if some release does, or if nothing is known."""
        found: Problem | None = None
        for signature in self.of(name):
            problem = signature.problem(given, names)
            if problem is None:
                return None
            found = found or problem
        return found


@cache
def load_signatures() -> Mapping[str, Signatures]:
    """The shipped tables, by import name. The same object on every call: it is read-only."""
    folder = resources.files(__package__).joinpath("signatures")
    return {
        library: Signatures(folder.joinpath(f"{library}.toml").read_text(encoding="utf-8")) for library in LIBRARIES
    }
