"""Which names JAX and the libraries around it removed, deprecated and introduced, and which releases a project supports.

Vocabulary
----------
version   a release as a tuple of numbers; () is older than every release that the history knows.
change    what became of a name: since when it is deprecated, since when it is gone, and what replaces it.
library   the import name of what is versioned, ``jax`` or ``haiku``; its distribution may be called otherwise.
support   the releases that a project asks for, as far as they matter: the lowest and the highest.

Limitations: excluded releases (``!=``), release candidates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

import msgspec

from flake8_jax.knowledge.requirement import COMPANIONS, LIBRARIES, is_computed

Version = tuple[int, ...]

_CLAUSE = re.compile(r"\s*(===|==|~=|!=|<=|>=|<|>)?\s*v?([0-9]+(?:\.[0-9]+)*)(\.\*)?[^,]*")


class Change(msgspec.Struct, frozen=True):
    """What became of a name. deprecated, removed: None for never. since: the release that first has the replacement,
    None where that is not known. rename: the replacement is a name (of an argument: a keyword) to write instead, else
    a hint for a reader. positional: its parameters have other names, so that it stands in only for calls without
    keywords."""

    deprecated: Version | None
    removed: Version | None
    since: Version | None
    rename: bool
    replacement: str
    positional: bool = False


class Support(msgspec.Struct, frozen=True):
    """The releases that a project supports. lowest: None where nothing says. highest: the newest known one unless an
    upper bound says otherwise; not itself included if ``below``. text: what was asked for. early: all of them are older
    than the table of the library, so that only changes count of which it knows the release."""

    lowest: Version | None
    highest: Version
    below: bool = False
    text: str = ""
    early: bool = False

    def reaches(self, version: Version | None) -> bool:
        """A supported release is that new. Where no release is known to be supported, none is, not even as new as what
        went before the history begins."""
        if version is None or not self.highest or (self.early and not version):
            return False
        return version < self.highest if self.below else version <= self.highest

    def all_have(self, since: Version | None) -> bool:
        """Something that came with ``since`` is in every supported release, as far as these are known."""
        return since is not None and (self.lowest is None or since <= self.lowest)


def version_of(text: str) -> Version:
    """``0.6.2`` as numbers, at least three of them."""
    return _filled([int(part) for part in text.split(".")])


def _filled(numbers: list[int]) -> Version:
    return (*numbers, *[0] * (3 - len(numbers)))


def show(version: Version) -> str:
    return ".".join(map(str, version))


def _read(text: str) -> dict[str, dict[str, str]]:
    """The sections of the file; it is TOML, and every entry a line with two plain strings (a test holds it to that)."""
    sections: dict[str, dict[str, str]] = {}
    entries: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith('"'):
            name, _, fact = line[1:-1].partition('" = "')
            entries[name] = fact
        elif line.startswith("["):
            entries = sections[line[1:-1]] = {}
    return sections


def _gone_names(modules: Mapping[str, str]) -> dict[str, str]:
    """By qualified name, the first release that lacks it; ``modules``: by module, releases and what each lacks."""
    found: dict[str, str] = {}
    for module, line in modules.items():
        for part in line.split(" | "):
            release, *names = part.split(" ")
            found.update((f"{module}.{name}", release) for name in names)
    return found


class History:
    """The table, read as text; entries are parsed when they are asked for. gone: what releases had and the newest lack, beside
    that; instead: what replaces some of it."""

    def __init__(
        self, text: str, gone: Mapping[str, str] | None = None, instead: Mapping[str, str] | None = None
    ) -> None:
        sections = _read(text)
        self._gone = _gone_names(gone or {})
        self._instead = instead or {}
        self._changes: dict[str, str] = {**sections["changes"], **sections.get("arguments", {})}
        self._introduced: dict[str, str] = sections.get("introduced", {})
        self._modules: dict[str, str] = sections["modules"]
        self._older: dict[str, str] = sections.get("older", {})
        self._requires_jax: dict[str, str] = sections.get("requires-jax", {})
        self._requires = {name: sections.get(f"requires-{name}", {}) for name in COMPANIONS}
        self._members: dict[str, str] = sections.get("members", {})
        self._methods = {**sections.get("methods", {}), **sections.get("attributes", {})}
        self.attributes = frozenset(sections.get("attributes", {}))
        """Attributes of instances of which there is something to say, with the names of their classes."""
        self._needed: dict[str, list[str]] = {}
        for name in sections.get("arguments", {}):
            callee, mark, needed = name.partition("(!")
            if mark:
                self._needed.setdefault(callee, []).append(needed[:-1])
        self.newest = version_of(sections["releases"]["newest"])
        oldest = sections["releases"].get("oldest")
        self.oldest = version_of(oldest) if oldest is not None else ()
        self.title = sections["releases"]["title"]
        self.parts = frozenset(
            [
                name.rpartition(".")[2]
                for table in (self._changes, self._introduced, self._gone)
                for name in table
                if name[-1] != ")"
            ]
        )
        """The last parts of all names of which there is something to say."""
        owners = {name.rpartition(".")[0] for name in self._introduced}
        self._new_modules = owners & self._introduced.keys()
        self.callees = frozenset(
            [name.partition("(")[0] for table in (self._changes, self._introduced) for name in table if name[-1] == ")"]
        )
        """Functions of whose arguments there is something to say."""

    def change(self, name: str) -> Change | None:
        """What became of ``jax.tree_map`` or of ``jax.numpy.clip(a_min=)``."""
        line = self._changes.get(name) or self._methods.get(name)
        if line is None:
            release, new = self._gone.get(name), self._instead.get(name, "")
            return Change(None, _when(release), None, rename=False, replacement=new) if release is not None else None
        deprecated, removed, since, how, *replacement = line.split(" ", 4)
        renames = how in ("rename", "positional")
        when = _when(deprecated), _when(removed), _when(since)
        return Change(*when, renames, "".join(replacement), how == "positional")

    def is_unexplained(self, name: str) -> bool:
        """Of the name it is known that it is gone, and perhaps what replaces it, but not what became of its parts."""
        return name in self._gone and name not in self._changes

    def replacement_of_member(self, name: str) -> str:
        """What replaces a member of a module that is gone; empty if that is not known."""
        return self._members.get(name, "")

    def needed(self, callee: str) -> list[str]:
        """Arguments that a function took without, once: keywords, or a number of positional ones. The history of a call
        without them is that of ``callee(!keyword)`` or ``callee(!2)``."""
        return self._needed.get(callee, [])

    def lacking(self, name: str) -> Version | None:
        """The newest release known to lack a name that later ones have; ``jax.jit()`` is calling it without a function."""
        line = self._introduced.get(name)
        return version_of(line.partition(" ")[0]) if line is not None else None

    def first(self, name: str) -> Version | None:
        """The first release that has a name of which ``lacking`` says something; None if that is not known."""
        first = self._introduced.get(name, "").partition(" ")[2]
        return version_of(first) if first else None

    def is_newer(self, name: str, support: Support) -> bool:
        """Some supported release is older than a name. Where its first release is not known, or the specifier excludes the
        lowest release itself (``>0.4.30``), only releases known to lack the name count."""
        lowest, lacking, first = support.lowest, self.lacking(name), self.first(name)
        if lowest is None or lacking is None:
            return False
        return lowest < first if first is not None and len(lowest) == len(first) else lowest <= lacking

    def module_of(self, name: str) -> tuple[str, bool] | None:
        """The module that a replacement is in, and whether ``import jax`` alone makes it reachable; None if it is not
        known as one."""
        prefix = name.rpartition(".")[0]
        while prefix:
            if prefix in self._modules:
                return prefix, self._modules[prefix] == "loaded"
            prefix = prefix.rpartition(".")[0]
        return None

    def replacement(self, change: Change, support: Support) -> str | None:
        """What to write instead in every supported release; None where there is nothing."""
        return change.replacement if support.all_have(change.since) else self.older(change.replacement)

    def is_new_module(self, name: str) -> bool:
        """A module that came with a release: what is in it is listed by itself."""
        return name in self._new_modules

    def older(self, name: str) -> str | None:
        """The name under which every release since 0.4.20 has the same thing."""
        return self._older.get(name)

    def is_module(self, name: str) -> bool:
        return name in self._modules

    def covers(self, support: Support) -> bool:
        """Some supported release is as new as the oldest that the table knows."""
        return support.reaches(self.oldest) or self.oldest < support.highest

    def lists_names_of(self, support: Support) -> bool:
        """What was never there, the releases that the project supports do not have: between the oldest that the table knows,
        or the newest where it knows none, and the newest."""
        known = support.reaches(self.oldest or self.newest)
        return known and support.highest <= self.newest

    def requires_jax(self) -> dict[Version, Version]:
        """The oldest JAX that a release requires, for the releases that a change names (``[requires-jax]``, optional)."""
        return {version_of(release): version_of(jax) for release, jax in self._requires_jax.items()}

    def beside(self, support: Support, jax: Support) -> Support:
        """The part of ``support`` that can be installed beside a JAX of ``jax``: it ends before the first release that
        requires a newer JAX.

        Limitations: requirements on JAX that come from another library.
        """
        return _ending(support, [release for release, oldest in self.requires_jax().items() if not jax.reaches(oldest)])

    def under(self, support: Support, asked: Mapping[str, str]) -> Support:
        """The part of ``support`` that runs with the Python, NumPy and SciPy that specifiers ask for: it ends before the
        first release that needs a newer one (``[requires-python]`` and so on, optional)."""
        too_new = [
            version_of(release)
            for name, table in self._requires.items()
            for release, oldest in table.items()
            if not _supported(asked.get(name), _ANY).reaches(version_of(oldest))
        ]
        return _ending(support, too_new)

    def support(self, asked: str | None) -> Support:
        """What a version (``0.6.2``) or a specifier (``>=0.4.30,<0.8``) asks for."""
        return _supported(asked, self.newest)


def _supported(asked: str | None, newest: Version) -> Support:
    """The releases that a specifier asks for, of which the newest is known. Of a pin that is computed nothing is known."""
    if asked is not None and is_computed(asked):
        return Support(None, (), text=asked)
    lowest: Version | None = None
    highest, below = newest, False
    for clause in asked.split(",") if asked else ():
        found = _CLAUSE.fullmatch(clause)
        if found is None:
            continue
        low, high = _bounds(found[1] or "==", [int(part) for part in found[2].split(".")], bool(found[3]))
        if low is not None and (lowest is None or low > lowest):
            lowest = low
        if high is not None and high[0] <= highest:
            highest, below = high
    if lowest is not None and lowest > highest:
        highest, below = lowest, False
    return Support(lowest, highest, below, asked or "")


_JAX = ("jax", "jaxlib")
"""The libraries whose releases are those of JAX."""
_ANY: Version = (99, 0, 0)
"""Newer than every Python, NumPy or SciPy that a release needs."""


def _ending(support: Support, too_new: list[Version]) -> Support:
    """``support`` without the releases from the first of ``too_new`` on. If this excludes every supported release, the
    lowest one remains: the project asks for it."""
    end = min(too_new, default=None)
    if end is None or end > support.highest:
        return support
    if support.lowest is not None and end <= support.lowest:
        return Support(support.lowest, support.lowest, text=support.text)
    return Support(support.lowest, end, below=True, text=support.text)


def _when(text: str) -> Version | None:
    return None if text == "-" else () if text == "0" else version_of(text)


def _bounds(operator: str, written: list[int], wild: bool) -> tuple[Version | None, tuple[Version, bool] | None]:
    """The lowest release that a clause allows, and the highest with whether it is itself left out."""
    version = _filled(written)
    if operator == "!=":
        return None, None
    if operator == "~=" or wild:
        kept = written if wild else written[:-1]
        return version, ((_filled([*kept[:-1], kept[-1] + 1]), True) if kept else None)
    if operator in ("==", "==="):
        return version, (version, False)
    if operator in (">=", ">"):
        return (version if operator == ">=" else (*version, 1)), None
    return None, (version, operator == "<")


_LIKELY = (
    "jax.numpy", "jax.nn", "jax.random", "jax.numpy.linalg", "jax.scipy.special", "jax.lax", "jax", "jax.numpy.fft",
    "jax.nn.initializers", "jax.tree", "jax.tree_util",
)  # fmt: skip
"""Modules of JAX, in the order in which one looks for a name there."""


class Histories:
    """The tables of all libraries. names: of some modules, every public name that they have had."""

    def __init__(self, histories: Mapping[str, History], names: Mapping[str, str] | None = None) -> None:
        self._histories = histories
        self._names = {module: frozenset(listed.split()) for module, listed in (names or {}).items()}
        self.parts = frozenset[str]().union(*[history.parts for history in histories.values()])
        """The last parts of all names of which there is something to say."""
        self.attributes = {
            name.rpartition(".")[2]: name for history in histories.values() for name in history.attributes
        }
        """By their last parts, the attributes of instances of which there is something to say."""
        self.callees = frozenset(["jax.config.update"]).union(*[history.callees for history in histories.values()])
        """Functions of whose arguments there is something to say."""

    def never_had(self, module: str, name: str) -> bool:
        """The names of a module are known in full, and this is none of them, nor one with a history."""
        names = self._names.get(module)
        if names is None or name in names or name.startswith("_") or not name.isidentifier():
            return False
        history, whole = self._histories[module.partition(".")[0]], f"{module}.{name}"
        return history.change(whole) is None and history.lacking(whole) is None and not history.is_module(whole)

    def is_nowhere(self, name: str) -> bool:
        """A part of a qualified name is one that its module has never had: ``jax.numpy.random.choice``."""
        parts = name.split(".")
        return any(self.never_had(".".join(parts[:at]), parts[at]) for at in range(1, len(parts)))

    def homes_of(self, name: str) -> list[str]:
        """The listed modules of JAX that are called so, or have the name; those first that most people mean."""
        modules = [module for module in _LIKELY if module in self._names]
        called = [module for module in modules if module.rpartition(".")[2] == name]
        return called or [f"{module}.{name}" for module in modules if name in self._names[module]]

    def of(self, name: str) -> History | None:
        """The table that covers a qualified name."""
        return self._histories.get(name.partition(".")[0])

    def module_of(self, name: str) -> tuple[str, bool] | None:
        """As ``History.module_of``, of a name in any library."""
        history = self.of(name) or self._histories["jax"]
        return history.module_of(name)

    def is_module(self, name: str) -> bool:
        history = self.of(name) or self._histories["jax"]
        return history.is_module(name)

    def supports(self, asked: Mapping[str, str]) -> dict[str, Support]:
        """What a project asks of each library, by its import name.

        A project that holds JAX back and says nothing of a library gets an older release of that, too. It is not known
        which one, so no change of it counts. A library that it names counts up to the releases that allow that JAX.
        """
        jax = self._histories["jax"].support(asked.get("jax"))
        jax = self._histories["jax"].under(jax, asked)
        held_back = not jax.reaches(self._histories["jax"].newest)
        found: dict[str, Support] = {}
        for library, history in self._histories.items():
            support = jax if library in _JAX else history.beside(history.support(asked.get(library)), jax)
            unnamed = library not in _JAX and library not in asked
            if held_back and unnamed:
                support = Support(None, (), text="")
            elif not history.covers(support):
                support = msgspec.structs.replace(support, early=True)
            found[library] = support
        return found


@cache
def load_histories() -> Histories:
    """The shipped tables. The same object on every call: it is read-only."""
    folder = resources.files(__package__).joinpath("versions")
    tables = {
        library: folder.joinpath(f"{library}.toml").read_text(encoding="utf-8") for library in (*LIBRARIES, *_JAX[1:])
    }
    names = _read(folder.joinpath("names.toml").read_text(encoding="utf-8"))["names"]
    gone = _read(folder.joinpath("gone.toml").read_text(encoding="utf-8"))
    histories = {library: History(text, gone.get(library), gone["instead"]) for library, text in tables.items()}
    return Histories(histories, names)
