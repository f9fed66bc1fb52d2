"""Rules of installed packages, found through their entry points.

Vocabulary
----------
group       ``flake8_jax.rules``. Each entry point of it names a module or package with rules; its own name is the prefix of
            their codes (``ACM = "acme_rules.rules"`` has rules ``ACM101``, ``ACM102`` …).
offer       one entry point, with the package that it comes from. Finding the offers imports nothing.
trouble     why rules of an offer are left out, in a sentence. The other rules go on.

Only packages that are installed count: those with metadata in a site-packages folder of this interpreter. The folder that
jaxlint or flake8 runs in and ``PYTHONPATH`` do not, so a project cannot bring rules along; and while rules are imported, the
folder that ``python -m`` puts in front of the import path is left out of it.

Limitations: metadata in zip files (eggs). A package that is installed while a language server runs is seen when it restarts.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import re
import site
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from flake8_jax.pipeline.cache import digest

if TYPE_CHECKING:
    from flake8_jax.core.registry import Fixer, Rule

GROUP = "flake8_jax.rules"
_PREFIX = re.compile(r"[A-Z]{2,3}")
"""flake8 takes one to three letters; those with one are of its own checks."""
_METADATA = (".dist-info", ".egg-info")


@dataclass(frozen=True)
class Offer:
    """prefix: of the codes. module: the dotted name of what has the rules. package, version: of the distribution."""

    prefix: str
    module: str
    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.package} {self.version} ({self.prefix} = {self.module})"


@dataclass(frozen=True)
class Installed:
    """What the offers gave. origins: by code, the package of a rule and its version. fixers: by the name of their rule."""

    rules: tuple[Rule, ...] = ()
    fixers: tuple[Fixer, ...] = ()
    origins: tuple[tuple[str, str], ...] = ()
    troubles: tuple[str, ...] = ()


def site_folders() -> list[str]:
    """The folders in which this interpreter keeps installed packages."""
    found = site.getsitepackages()
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    return [folder for folder in dict.fromkeys(found) if os.path.isdir(folder)]


def find_offers(folders: Sequence[str] | None = None) -> tuple[Offer, ...]:
    """The entry points of installed packages, sorted. folders: where their metadata is; those of this interpreter if None."""
    return _offers_in(tuple(site_folders() if folders is None else folders))


@functools.lru_cache(maxsize=1)
def _offers_in(folders: tuple[str, ...]) -> tuple[Offer, ...]:
    places = [place for folder in folders for place in _declaring(folder)]
    if not places:
        return ()
    from importlib.metadata import Distribution

    offers: dict[str, list[Offer]] = {}
    for place in places:
        found = Distribution.at(place)
        name, version = found.metadata["Name"] or os.path.basename(place), found.version or "of unknown version"
        entries = [entry for entry in found.entry_points if entry.group == GROUP]
        # The folder that comes first on the path has the package that is imported.
        offers.setdefault(name.lower(), [Offer(entry.name, entry.value, name, version) for entry in entries])
    return tuple(sorted((offer for several in offers.values() for offer in several), key=str))


def _declaring(folder: str) -> Iterator[str]:
    """The metadata folders that mention our group. Loading the standard library's reader takes longer than this."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.endswith(_METADATA):
                with contextlib.suppress(OSError), open(os.path.join(entry.path, "entry_points.txt"), "rb") as stream:
                    if GROUP.encode() in stream.read():
                        yield entry.path


def fingerprint(offers: Iterable[Offer]) -> str:
    """Names the rules of the offers: their packages with versions, and their files by size and modification time, so that a
    package under development is never taken for what it was. Empty where nothing is offered."""
    seen: list[str] = []
    for offer in offers:
        seen.append(str(offer))
        for path in _files_of(offer.module):
            with contextlib.suppress(OSError):
                found = os.stat(path)
                seen.append(f"{path}:{found.st_size}:{found.st_mtime_ns}")
    return digest(*seen) if seen else ""


def _files_of(module: str) -> Iterator[str]:
    """The Python files of the package that a module is in. Imports nothing of it."""
    import importlib.util

    with contextlib.suppress(ImportError, ValueError, AttributeError):
        spec = importlib.util.find_spec(module.partition(".")[0].partition(":")[0])
        if spec is not None and spec.origin is not None and not spec.submodule_search_locations:
            yield spec.origin
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            for directory, folders, names in os.walk(folder):
                folders[:] = sorted(name for name in folders if name != "__pycache__")
                yield from (os.path.join(directory, name) for name in sorted(names) if name.endswith(".py"))


@functools.lru_cache(maxsize=1)
def load(offers: tuple[Offer, ...]) -> Installed:
    """Import the rules of the offers. What cannot be used is left out and named."""
    from flake8_jax.core.registry import declared_fixers, declared_rules

    rules: list[Rule] = []
    fixers: list[Fixer] = []
    origins: list[tuple[str, str]] = []
    troubles: list[str] = []
    for offer in offers:
        reason = _refused(offer)
        if reason is not None:
            troubles.append(f"the rules of {offer} are left out: {reason}")
            continue
        with _without_working_directory():
            modules = list(_modules_of(offer, troubles))
        for module in modules:
            fixers += declared_fixers(module)
        declared = [rule for module in modules for rule in declared_rules(module)]
        for rule in dict.fromkeys(declared):
            if re.fullmatch(rf"{offer.prefix}\d\d\d", rule.code):
                rules.append(rule)
                origins.append((rule.code, f"{offer.package} {offer.version}"))
            else:
                troubles.append(
                    f"the rule {rule.name} of {offer} is left out: its code {rule.code} must be {offer.prefix} and three "
                    "digits"
                )
        if not declared and not any(str(offer) in trouble for trouble in troubles):
            troubles.append(f"{offer} has no rules: no module of it declares one with `@rule`")
    return Installed(tuple(map(_guarded, rules)), tuple(fixers), tuple(origins), tuple(troubles))


def _refused(offer: Offer) -> str | None:
    if offer.prefix == "JAX" or _PREFIX.fullmatch(offer.prefix) is None:
        return (
            f"the name of an entry point of {GROUP} is the prefix of its codes: two or three capital letters, not JAX"
        )
    if not all(part.isidentifier() for part in offer.module.split(".")):
        return f"`{offer.module}` is not the name of a module or package"
    return None


def _modules_of(offer: Offer, troubles: list[str]) -> Iterator[ModuleType]:
    """The module that an offer names and, if it is a package, the modules in it whose names do not start with ``_``."""
    import pkgutil

    module = _imported(offer.module, offer, troubles)
    if module is None:
        return
    yield module
    for info in pkgutil.iter_modules(getattr(module, "__path__", ()), f"{module.__name__}."):
        if not info.name.rpartition(".")[2].startswith("_"):
            inner = _imported(info.name, offer, troubles)
            if inner is not None:
                yield inner


def _imported(name: str, offer: Offer, troubles: list[str]) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # other people's code
        troubles.append(
            f"{name} of {offer} cannot be imported: {type(error).__name__}: {error}; its rules are left out, so fix, "
            "update or uninstall the package"
        )
        return None


@contextlib.contextmanager
def _without_working_directory() -> Iterator[None]:
    """Imports do not look first where ``python -m`` was called: that is the linted project, which may have a module of any
    name."""
    before = list(sys.path)
    first = sys.path[0] if sys.path else None
    with contextlib.suppress(OSError):
        if first is not None and os.path.realpath(first or os.curdir) == os.path.realpath(os.curdir):
            del sys.path[0]
    try:
        yield
    finally:
        sys.path[:] = before


def _guarded(rule: Rule) -> Rule:
    """The rule, whose exceptions are all reported as defects of it and end nothing else."""
    if rule.visits_nodes:
        return rule
    check = rule.check

    @functools.wraps(check)
    def guarded(event: Any) -> Any:
        try:
            return check(event)
        except Exception as error:  # other people's code
            raise TypeError(f"{type(error).__name__}: {error}") from error

    return replace(rule, check=guarded)
