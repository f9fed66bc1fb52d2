"""Finding what is known of a qualified name.

Vocabulary
----------
library     a top-level import name. Its facts stand in ``<library>.toml`` and ``<library>.<part>.toml`` beside
            this file; ``python.toml`` holds the standard library's. A library is read when a name of it is first
            asked for, because reading all of them takes longer than linting a small file.
alias       another spelling of a name. An alias of a module or a class holds for everything below it.

Every look-up takes any spelling and looks under its canonical name. Nothing here knows the project's own code.
"""

from __future__ import annotations

import hashlib
import re
import sys
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from flake8_jax.knowledge.model import (
    ClassFact,
    Fact,
    FunctionFact,
    NamespaceFact,
    Table,
    TransformFact,
)
from flake8_jax.knowledge.notation import NotationError, parse_function

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_STANDARD_LIBRARY = "python"
_STANDARD_COMPANIONS = frozenset({"typing_extensions"})
"""Packages whose facts stand with the standard library's, because they backport it."""
_HOST_LIBRARIES = frozenset({_STANDARD_LIBRARY, "numpy", "scipy", "absl", "tensorboardX", "tqdm", "wandb"})
"""Tables of libraries that alone make no file interesting."""
_FLAT_SECTIONS = frozenset({"functions", "aliases", "constants"})
_SECTION = re.compile(r"\n\[([^\n]*)\]\n(.*?)(?=\n\[|\Z)", re.DOTALL)
_PLAIN_ENTRY = re.compile(r"""^"([^"\\\n]+)" = "([^"\\\n]*)"$""", re.MULTILINE)
_ALIAS_LIMIT = 16
"""More aliases than this in a row are a circle."""


class KnowledgeError(ValueError):
    """A table, or the user's own transforms, cannot be used; the message says which entry and why."""


class _Library(msgspec.Struct, frozen=True):
    """The tables of one library as read: functions stay lines of text until one is asked for."""

    functions: dict[str, str | dict[str, Any]]
    transforms: dict[str, TransformFact]
    classes: dict[str, ClassFact]
    namespaces: dict[str, NamespaceFact]
    aliases: dict[str, str]
    constants: dict[str, str]
    modules: frozenset[str]


class Entry(msgspec.Struct, frozen=True):
    """What the tables say of one name, by kind; ``namespace`` as in ``Knowledge.namespace``.

    effects: what a call of it does: ``FunctionFact.impure`` (else that of the namespace) and ``key_effect``.
    """

    name: str
    transform: TransformFact | None
    function: FunctionFact | None
    class_: ClassFact | None
    constant: str | None
    namespace: NamespaceFact | None
    effects: frozenset[str]


class Knowledge:
    """All tables, behind look-ups by qualified name. Read-only; the dictionaries inside only remember answers.

    Look-ups raise KnowledgeError for a broken table and never for an unknown name.
    """

    def __init__(self, user_aliases: dict[str, str] | None = None) -> None:
        self._user_aliases = dict(user_aliases or {})
        self._loaded: dict[str, _Library] = {}
        self._canonical: dict[str, str] = {}
        self._functions: dict[str, FunctionFact | None] = {}
        self._entries: dict[str, Entry] = {}

    @property
    def libraries(self) -> frozenset[str]:
        """Top-level import names that make a file interesting; the standard library and NumPy do not."""
        return frozenset(_table_names()) - _HOST_LIBRARIES

    @property
    def fingerprint(self) -> str:
        """A digest of the tables and the user's transforms, for cache keys."""
        digest = hashlib.sha256(_tables_digest().encode())
        for name, target in sorted(self._user_aliases.items()):
            digest.update(f"{name}={target};".encode())
        return digest.hexdigest()

    def canonical(self, qualified: str) -> str:
        """The one name under which facts about ``qualified`` stand; ``qualified`` itself where nothing is known."""
        known = self._canonical.get(qualified)
        if known is None:
            known = self._canonical[qualified] = self._follow_aliases(qualified)
        return known

    def entry(self, qualified: str) -> Entry:
        """All that is known of a name, by kind; the same object every time."""
        found = self._entries.get(qualified)
        if found is None:
            found = self._entries[qualified] = self._make_entry(self.canonical(qualified))
        return found

    def _make_entry(self, name: str) -> Entry:
        library = self._library_of(name)
        function, namespace = self.function(name), self._innermost_namespace(name, library)
        done = function if function is not None else namespace
        class_ = library.classes.get(name)
        keyed = function if function is not None else class_
        effects = (done.impure if done is not None else None, keyed.key_effect if keyed is not None else None)
        return Entry(
            name=name,
            transform=library.transforms.get(name),
            function=function,
            class_=class_,
            constant=library.constants.get(name),
            namespace=namespace,
            effects=frozenset([effect for effect in effects if effect is not None]),
        )

    def lookup(self, qualified: str) -> Fact | None:
        """What is known of a name: its own fact first, then its namespace's default, else None.

        A name that is a transform and a class (``jax.custom_vjp``) answers as a transform.
        """
        name = self.canonical(qualified)
        library = self._library_of(name)
        fact: Fact | None = (
            library.transforms.get(name)
            or self.function(name)
            or library.classes.get(name)
            or library.constants.get(name)
        )
        if fact is None and not self.is_module(name):
            fact = self.namespace(name)
        return fact

    def function(self, qualified: str) -> FunctionFact | None:
        """The fact of that very function, without its namespace's default."""
        name = self.canonical(qualified)
        if name not in self._functions:
            written = self._library_of(name).functions.get(name)
            self._functions[name] = None if written is None else _read_function(name, written)
        return self._functions[name]

    def transform(self, qualified: str) -> TransformFact | None:
        return self.entry(qualified).transform

    def class_(self, qualified: str) -> ClassFact | None:
        return self.entry(qualified).class_

    def constant(self, qualified: str) -> str | None:
        """The result descriptor of a plain attribute."""
        return self.entry(qualified).constant

    def namespace(self, qualified: str) -> NamespaceFact | None:
        """The default of the innermost described module (or class) around the name, or of the name itself."""
        return self.entry(qualified).namespace

    @staticmethod
    def _innermost_namespace(name: str, library: _Library) -> NamespaceFact | None:
        while name:
            fact = library.namespaces.get(name)
            if fact is not None:
                return fact
            name = name.rpartition(".")[0]
        return None

    def method(self, class_name: str, method: str) -> FunctionFact | None:
        """The fact of a method of a library class, its bases included; the class's own first."""
        for fact in self._with_bases(class_name):
            if method in fact.methods:
                return fact.methods[method]
        return None

    def field(self, class_name: str, attribute: str) -> str | None:
        """The result descriptor of an attribute of a library class, its bases included."""
        for fact in self._with_bases(class_name):
            if attribute in fact.fields:
                return fact.fields[attribute]
        return None

    def is_module(self, qualified: str) -> bool:
        """Whether the tables know ``qualified`` as a module (not as a class or a function)."""
        name = self.canonical(qualified)
        return name in self._library_of(name).modules

    def with_user_transforms(self, transforms: dict[str, str]) -> Knowledge:
        """A copy that treats each key, a qualified name of the user's code, as the transform it maps to.

        Raises KnowledgeError for a target that is no known transform.
        """
        for name, target in transforms.items():
            if self.transform(target) is None:
                raise KnowledgeError(
                    f"transforms: {name!r} cannot stand for {target!r}, which is no known transform; "
                    "name one such as 'jax.jit', 'jax.vmap' or 'jax.lax.scan'"
                )
        return Knowledge({**self._user_aliases, **transforms})

    def table(self, library: str) -> Table:
        """Everything known about one library, spelled out; for tests and documentation. Reads every line."""
        read = self._library(library)
        return Table(
            functions={name: _read_function(name, written) for name, written in read.functions.items()},
            transforms=read.transforms,
            classes=read.classes,
            namespaces=read.namespaces,
            aliases=read.aliases,
            constants=read.constants,
        )

    def is_subclass(self, class_name: str, base: str) -> bool:
        """A library class is the other one, or has it among its bases."""
        known = self.class_(base)
        return known is not None and any(fact is known for fact in self._with_bases(class_name))

    def _with_bases(self, class_name: str) -> list[ClassFact]:
        found: list[ClassFact] = []
        pending = [class_name]
        seen: set[str] = set()
        while pending:
            name = self.canonical(pending.pop(0))
            fact = self.class_(name)
            if fact is not None and name not in seen:
                seen.add(name)
                found.append(fact)
                pending.extend(fact.base)
        return found

    def _library_of(self, name: str) -> _Library:
        return self._library(_library_name(name.partition(".")[0]))

    def _library(self, library: str) -> _Library:
        loaded = self._loaded.get(library)
        if loaded is None:
            loaded = self._loaded[library] = _read_library(library)
        return loaded

    def _follow_aliases(self, qualified: str) -> str:
        name = qualified
        for _ in range(_ALIAS_LIMIT):
            replaced = self._replace_longest_prefix(name)
            if replaced is None:
                return name
            name = replaced
        raise KnowledgeError(f"aliases of {qualified!r} lead in a circle (last seen: {name!r})")

    def _replace_longest_prefix(self, name: str) -> str | None:
        """``name`` with its longest aliased prefix replaced once, or None where no prefix is an alias."""
        aliases = self._library_of(name).aliases
        prefix = name
        while prefix:
            target = self._user_aliases.get(prefix) or aliases.get(prefix)
            if target is not None:
                return target + name[len(prefix) :]
            prefix = prefix.rpartition(".")[0]
        return None


@cache
def load() -> Knowledge:
    """The shipped tables. The same object on every call: it is read-only and costs time to fill."""
    return Knowledge()


def _library_name(root: str) -> str:
    if root in _table_names():
        return root
    return _STANDARD_LIBRARY if root in sys.stdlib_module_names | _STANDARD_COMPANIONS else root


@cache
def _table_names() -> dict[str, tuple[str, ...]]:
    """The file names of the tables of each library."""
    names: dict[str, tuple[str, ...]] = {}
    for entry in sorted(resources.files(__package__).iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".toml"):
            library = entry.name.partition(".")[0]
            names[library] = (*names.get(library, ()), entry.name)
    return names


@cache
def _tables_digest() -> str:
    digest = hashlib.sha256()
    for files in _table_names().values():
        for file_name in files:
            digest.update(resources.files(__package__).joinpath(file_name).read_bytes())
    return digest.hexdigest()


def _read_library(library: str) -> _Library:
    merged: dict[str, dict[str, Any]] = {field: {} for field in Table.__struct_fields__}
    for file_name in _table_names().get(library, ()):
        for section, entries in _read_table(file_name).items():
            if section not in merged:
                raise KnowledgeError(f"{file_name}: unknown section [{section}]")
            repeated = merged[section].keys() & entries.keys()
            if repeated:
                raise KnowledgeError(f"{file_name}: {sorted(repeated)} stand in another table already")
            merged[section].update(entries)
    try:
        return _Library(
            functions=merged["functions"],
            transforms=msgspec.convert(merged["transforms"], dict[str, TransformFact]),
            classes={name: _read_class(name, entry) for name, entry in merged["classes"].items()},
            namespaces=msgspec.convert(merged["namespaces"], dict[str, NamespaceFact]),
            aliases=msgspec.convert(merged["aliases"], dict[str, str]),
            constants=msgspec.convert(merged["constants"], dict[str, str]),
            modules=_modules(merged),
        )
    except msgspec.ValidationError as error:
        raise KnowledgeError(f"tables of {library}: {error}") from error


def _read_table(file_name: str) -> dict[str, Any]:
    """The sections of one file.

    Nine lines in ten of a table say ``"name" = "line"`` and nothing else; reading those with a regular expression
    and the rest with the TOML parser takes a third of the time. What comes out is the same.
    """
    text = resources.files(__package__).joinpath(file_name).read_text(encoding="utf-8")
    sections: dict[str, dict[str, Any]] = {}
    remainder = []
    for header, body in _SECTION.findall("\n" + text):
        entries = _PLAIN_ENTRY.findall(body) if header in _FLAT_SECTIONS else []
        plain = sections.setdefault(header, {}) if entries else {}
        plain.update(entries)
        if len(plain) < len(entries):
            raise KnowledgeError(f"{file_name}: a name stands twice in [{header}]")
        remainder.append(f"[{header}]\n{_PLAIN_ENTRY.sub('', body) if entries else body}")
    try:
        parsed = tomllib.loads("\n".join(remainder))
    except tomllib.TOMLDecodeError as error:
        raise KnowledgeError(f"{file_name}: {error}") from error
    for header, plain in sections.items():
        parsed.setdefault(header, {}).update(plain)
    return parsed


def _read_function(name: str, written: str | dict[str, Any]) -> FunctionFact:
    try:
        return parse_function(written) if isinstance(written, str) else msgspec.convert(written, FunctionFact)
    except (NotationError, msgspec.ValidationError) as error:
        raise KnowledgeError(f"{name}: {error}") from error


def _read_class(name: str, written: dict[str, Any]) -> ClassFact:
    methods = {method: _read_function(f"{name}.{method}", line) for method, line in written.get("methods", {}).items()}
    fact = msgspec.convert({**written, "methods": {}}, ClassFact)
    return msgspec.structs.replace(fact, methods=methods)


def _modules(merged: dict[str, dict[str, Any]]) -> frozenset[str]:
    """Every prefix of a described name that is not described itself, and every namespace but those of classes."""
    described: set[str] = set()
    for section in ("functions", "transforms", "classes", "constants"):
        described.update(merged[section])
    prefixes = set(merged["namespaces"])
    for name in described:
        parent = name.rpartition(".")[0]
        while parent and parent not in prefixes:
            prefixes.add(parent)
            parent = parent.rpartition(".")[0]
    return frozenset(prefixes - described)
