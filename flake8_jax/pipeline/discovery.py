"""From paths to files: walking directories, what is left out, and what the program around them is.

Vocabulary
----------
asked       files whose findings are wanted: given by name, or found below a given directory.
context     files of the same project that are analyzed with them, because code crosses files.
walk start  a directory that was given; what is above it does not exclude what is below it.

A file is identified by its absolute path as it was reached; reached twice (through links), it counts once.
Limitations: the user's global gitignore.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from flake8_jax.core.cells import SUFFIX
from flake8_jax.core.reading import read_regular
from flake8_jax.pipeline.patterns import PatternError, PatternSet, as_bytes, complaint
from flake8_jax.settings.options import Settings
from flake8_jax.settings.resolver import Resolver, place_of
from flake8_jax.settings.tables import ConfigError

SUFFIXES = (".py", ".pyi", SUFFIX)
CONTEXT_LIMIT = 20_000
_LOOSE_LIMIT = 2_000
_LARGEST_IGNORE_FILE = 10_000_000
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Patterns:
    """Gitignore patterns relative to ``base``."""

    def __init__(self, base: str, lines: Sequence[bytes]) -> None:
        self.base = base
        self.lines = tuple(lines)
        self._set = _pattern_set(self.lines)

    @classmethod
    def of_setting(cls, base: str, lines: Sequence[str]) -> Patterns:
        """Patterns out of a configuration, which may also be absolute paths. Raises PatternError."""
        for line in lines:
            reason = complaint(line)
            if reason is not None:
                raise PatternError(line, reason)
        return cls(base, [as_bytes(_anchored(line, base)) for line in lines])

    @classmethod
    def of_file(cls, base: str, data: bytes) -> Patterns:
        """The patterns of a gitignore file. As with git, a pattern that is not valid matches nothing."""
        return cls(base, data.removeprefix(_BYTE_ORDER_MARK).split(b"\n"))

    def verdict(self, path: str, *, is_directory: bool = False) -> bool | None:
        """Whether an absolute path matches; None where no pattern mentions it, False where one excludes it again."""
        return self._set.verdict(as_bytes(relative_to(path, self.base)), is_directory=is_directory)

    def matches(self, path: str, *, is_directory: bool = False) -> bool:
        return bool(self.verdict(path, is_directory=is_directory))

    def matches_any_part(self, path: str) -> bool:
        """Whether a file or one of the directories between it and ``base`` matches."""
        return self.matches_above(path) or self.matches(path)

    def matches_above(self, path: str) -> bool:
        """Whether one of the directories between a file and ``base`` matches."""
        relative = as_bytes(relative_to(path, self.base))
        ends = [index for index, byte in enumerate(relative) if byte == _SLASH]
        return any(self._set.verdict(relative[:end], is_directory=True) for end in ends)

    def below(self, start: str) -> Patterns:
        """The patterns that hold below a directory that was asked for: those that match it itself do not.

        Neither do those that match everything in it (``start/**``).
        """
        inside = os.path.join(start, "\x01")
        if not self.matches(start, is_directory=True) and not self.matches(inside):
            return self
        relative = as_bytes(relative_to(start, self.base))
        return Patterns(self.base, [line for line in self.lines if not _concerns(line, relative)])


_SLASH = ord("/")


def _concerns(line: bytes, directory: bytes) -> bool:
    """Whether a pattern matches a directory, or everything in it."""
    lines = [line, line.rstrip(b"/").removesuffix(b"/**")]
    return any(PatternSet([one]).verdict(directory, is_directory=True) for one in lines)


@functools.lru_cache(maxsize=16)
def _pattern_set(lines: tuple[bytes, ...]) -> PatternSet:
    """Both looks at a project, for the files asked for and for their context, need the same patterns."""
    return PatternSet(lines)


def _anchored(line: str, base: str) -> str:
    """A pattern given as an absolute path or with a leading ``./``, relative to ``base``."""
    negation, body = ("!", line[1:]) if line.startswith("!") else ("", line)
    if body.startswith("./"):
        return f"{negation}/{body[2:]}"
    if os.path.isabs(body) and body.startswith(base.rstrip("/") + "/"):
        return negation + body[len(base.rstrip("/")) :]
    return line


def relative_to(path: str, base: str) -> str:
    """``path`` below ``base`` with forward slashes; elsewhere, its parts without the root."""
    prefix = base.rstrip(os.sep) + os.sep
    relative = path[len(prefix) :] if path.startswith(prefix) else path.lstrip(os.sep)
    return relative.replace(os.sep, "/")


@dataclass
class Found:
    """What discovery found. ``asked`` maps absolute paths to whether they were given by name."""

    asked: dict[str, bool] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Ignores:
    """The patterns in force in a directory: the exclusions and the gitignore files from the top down."""

    exclude: Patterns
    ignored: tuple[Patterns, ...] = ()

    def leaves_out(self, path: str, is_directory: bool) -> bool:
        if self.exclude.matches(path, is_directory=is_directory):
            return True
        for patterns in reversed(self.ignored):
            verdict = patterns.verdict(path, is_directory=is_directory)
            if verdict is not None:
                return verdict
        return False


_NONE = Patterns("", ())


class Walker:
    """Walks directories under the settings that hold in each. ``messages`` collects what could not be read."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self.messages: list[str] = []
        self._excludes: dict[tuple[str, tuple[str, ...]], Patterns] = {}
        self._entered: dict[str, _Ignores | None] = {}

    def exclusions(self, settings: Settings) -> Patterns:
        """The patterns of the settings. Raises ConfigError."""
        key = (settings.root, settings.exclude)
        if key not in self._excludes:
            try:
                self._excludes[key] = Patterns.of_setting(*key)
            except PatternError as error:
                place = place_of(settings, ("exclude", "extend-exclude"), error.line)
                raise ConfigError(f"{place}: the pattern {error}") from error
        return self._excludes[key]

    def excluded(self, path: str) -> bool:
        """Whether the settings leave out a file that was given by name, where ``force-exclude`` asks for that."""
        folder = os.path.dirname(path)
        if folder not in self._entered:
            self._entered[folder] = self._enter(folder)
        ignores = self._entered[folder]
        return ignores is None or ignores.leaves_out(path, False)

    def _enter(self, folder: str) -> _Ignores | None:
        """The patterns in force in a folder; None if it is left out itself, or if one above it is."""
        settings = self.resolver.settings_for(folder)
        exclude = self.exclusions(settings)
        ignored = self._inherited(folder, settings)
        if exclude.matches_above(os.path.join(folder, "")):
            return None
        part = ignored[0].base if ignored else folder
        while part != folder:
            part = os.path.join(part, relative_to(folder, part).partition("/")[0])
            above = tuple(patterns for patterns in ignored if part.startswith(patterns.base.rstrip(os.sep) + os.sep))
            if _Ignores(_NONE, above).leaves_out(part, True):
                return None
        return _Ignores(exclude, ignored)

    def _inherited(self, directory: str, settings: Settings) -> tuple[Patterns, ...]:
        """The gitignore files of a directory and of those above it, up to the version control's root."""
        if not settings.respect_gitignore:
            return ()
        chain: list[str] = []
        folder = directory
        while True:
            chain.append(folder)
            if os.path.lexists(os.path.join(folder, ".git")):
                break
            above = os.path.dirname(folder)
            if (
                above == folder or folder == self.resolver.within
            ):  # outside a working tree, what lies above says nothing
                chain = [directory]
                break
            folder = above
        top = chain[-1]
        found = [self._ignore_file(os.path.join(top, ".git", "info", "exclude"), top, follow=True)]
        found += [self._ignore_file(os.path.join(entry, ".gitignore"), entry) for entry in reversed(chain)]
        return tuple(patterns for patterns in found if patterns is not None)

    def _ignore_file(self, path: str, base: str, *, follow: bool = False) -> Patterns | None:
        """The patterns of a file, if it is there. Like git, this follows no symbolic link to a ``.gitignore``."""
        try:
            if not follow and os.path.islink(path):
                return None
            return Patterns.of_file(base, read_regular(path, _LARGEST_IGNORE_FILE, follow=follow))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self.messages.append(f"{path}: cannot be read: {error.strerror}; its patterns are not used")
            return None

    def walk(self, start: str, seen: set[str], *, packages_only: bool = False) -> Iterator[str]:
        """Source files below ``start``, sorted by path; ``seen`` holds the real paths met so far."""
        settings = self.resolver.settings_for(start)
        inherited = tuple(patterns.below(start) for patterns in self._inherited(start, settings))
        ignores = _Ignores(self.exclusions(settings).below(start), inherited)
        real = os.path.realpath(start)
        seen.add(real)
        stack = [(start, real, settings, ignores)]
        while stack:
            directory, real, settings, ignores = stack.pop()
            try:
                with os.scandir(directory) as listing:
                    entries = sorted(listing, key=lambda entry: entry.name)
            except OSError as error:
                self.messages.append(f"{directory}: cannot be read: {error.strerror}")
                continue
            below = []
            for entry in entries:
                is_directory = _is_directory(entry)
                if not is_directory and not entry.name.endswith(SUFFIXES):
                    continue
                if ignores.leaves_out(entry.path, is_directory):
                    continue
                target = os.path.realpath(entry.path) if entry.is_symlink() else os.path.join(real, entry.name)
                if target in seen or (entry.is_symlink() and self.resolver.leads_out(target)):
                    continue
                if not is_directory:
                    if _is_file(entry):
                        seen.add(target)
                        yield entry.path
                    continue
                if packages_only and not os.path.exists(os.path.join(entry.path, "__init__.py")):
                    continue
                seen.add(target)
                below.append((entry.path, target, *self._inside(entry.path, settings, ignores)))
            stack.extend(reversed(below))

    def _inside(self, directory: str, settings: Settings, ignores: _Ignores) -> tuple[Settings, _Ignores]:
        """Settings and patterns on entering a directory of the walk."""
        own = self.resolver.settings_for(directory)
        exclude = ignores.exclude if own.exclude == settings.exclude and own.root == settings.root else None
        ignored = ignores.ignored
        if own.respect_gitignore:
            patterns = self._ignore_file(os.path.join(directory, ".gitignore"), directory)
            ignored = (*ignored, patterns) if patterns is not None else ignored
        return own, _Ignores(exclude or self.exclusions(own), ignored)


def _real_path(path: str, folders: dict[str, str]) -> str:
    """The real path of a file; ``folders`` holds those of folders, of which there are fewer."""
    if os.path.islink(path):
        return os.path.realpath(path)
    folder, name = os.path.split(path)
    if folder not in folders:
        folders[folder] = os.path.realpath(folder)
    return os.path.join(folders[folder], name)


def _is_directory(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a directory, or a link to one. A link that leads nowhere is none."""
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


def discover(paths: Iterable[str], walker: Walker, *, force_exclude: bool | None = None) -> Found:
    """The files asked for by ``paths`` (absolute, files or directories).

    A file given by name is taken whatever its suffix and the exclusions, unless ``force_exclude`` (by default
    the setting of its project) says otherwise. Raises ConfigError, also for a path outside of the resolver's ``within``.
    """
    found = Found()
    seen: set[str] = set()
    folders: dict[str, str] = {}
    for path in paths:
        if walker.resolver.leads_out(os.path.realpath(path)):
            raise ConfigError(f"{path} is outside of {walker.resolver.within} (--within); name a path in it")
        if os.path.isdir(path):
            for file in walker.walk(path, seen):
                found.asked.setdefault(file, False)
        elif os.path.lexists(path):
            real = _real_path(path, folders)
            settings = walker.resolver.settings_for(os.path.dirname(path))
            forced = settings.force_exclude if force_exclude is None else force_exclude
            if forced and walker.excluded(path):
                continue
            if real not in seen or path in found.asked:
                seen.add(real)
                found.asked[path] = True
        else:
            found.missing.append(path)
    found.messages.extend(walker.messages)
    walker.messages.clear()
    return found


def context_files(asked: Sequence[str], settings: Settings, walker: Walker) -> tuple[list[str], bool]:
    """The files of the program that the asked ones belong to, and whether there are more than the limit.

    With a project root, everything below it that is not left out; without, the packages that hold the asked
    files, or their neighbors. No question is about unreadable files here, so they are not reported.
    """
    files: list[str] = []
    seen: set[str] = set()
    limit = CONTEXT_LIMIT
    starts: list[tuple[str, bool]] = []
    if settings.project_root is not None:
        starts.append((settings.project_root, False))
    else:
        limit = _LOOSE_LIMIT
        for directory in sorted({os.path.dirname(path) for path in asked}):
            top = _package_top(directory, walker.resolver.within)
            if top is not None:
                starts.append((top, False))
            elif os.path.basename(directory) not in ("site-packages", "dist-packages"):
                starts.append((directory, True))
    for start, packages_only in starts:
        if os.path.realpath(start) in seen:
            continue
        for path in walker.walk(start, seen, packages_only=packages_only):
            if len(files) >= limit:
                walker.messages.clear()
                return files, True
            files.append(path)
    walker.messages.clear()
    return files, False


def _package_top(directory: str, last: str | None = None) -> str | None:
    """The outermost package directory that holds this one, or None outside packages. last: the outermost that counts."""
    top = None
    while os.path.exists(os.path.join(directory, "__init__.py")):
        top = directory
        if directory == last:
            break
        directory = os.path.dirname(directory)
    return top
