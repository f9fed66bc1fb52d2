"""What a recorded run showed, kept in a file: which parameters were tracers, and what was compiled, where and why.

Vocabulary
----------
profile      the file, ``.jaxlint/profile.json``. It holds kinds, shapes and dtypes, and no contents of arrays and texts. JAX's
             explanations of compilations are kept without what they quote, the command without what may be secret.
compilation  an entry of the program that XLA compiled, by the place that called it.

The file is JSON with a ``version``; another version than ours is refused, not guessed at. File names are relative to the
folder that the profile was made in, where they are below it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from flake8_jax.core.reading import read_regular
from flake8_jax.core.recorded import RecordedFunction, RecordedParameter
from flake8_jax.core.writing import write_whole

VERSION = 1
_LARGEST = 1_000_000_000
DEFAULT = os.path.join(".jaxlint", "profile.json")


class Arguments(msgspec.Struct, frozen=True):
    """What parameters were in so many observed calls; as in Function."""

    observed: int
    params: dict[str, dict[str, int]]
    avals: dict[str, list[str]] = {}


class Function(msgspec.Struct, frozen=True):
    """One function that ran. line: of its first decorator; last: of its end, 0 in older profiles. staged_calls: made while
    JAX traced; ambient_calls: while it built a jaxpr. params: how often each parameter was of which kind (see
    ``child.recorder``). avals: up to four of each. ambient: of the ambient calls alone, where there were others. statics: up to
    four values of each parameter that was a plain number, a flag or None."""

    filename: str
    qualname: str
    line: int
    calls: int
    staged_calls: int
    ambient_calls: int
    observed: int
    params: dict[str, dict[str, int]]
    avals: dict[str, list[str]] = {}
    ambient: Arguments | None = None
    last: int = 0
    statics: dict[str, list[str]] = {}

    def recorded(self) -> RecordedFunction:
        """Return the function as the analysis reads it: from its calls while JAX built a jaxpr, if there were any."""
        part = self.ambient or Arguments(self.observed, self.params, self.avals)
        params = (RecordedParameter(n, tuple(k.items()), tuple(part.avals.get(n, ()))) for n, k in part.params.items())
        observed = part.observed if self.ambient_calls else 0
        return RecordedFunction(os.path.normpath(self.filename), self.qualname, self.line, observed, tuple(params))


class Compilation(msgspec.Struct, frozen=True):
    """``count`` compilations of ``name`` asked for at a place; seconds: in all; causes: JAX's explanations, each once;
    signatures: the types of the arguments, each once."""

    name: str
    filename: str
    row: int
    function: str
    count: int
    seconds: float
    causes: list[str] = []
    signatures: list[str] = []


class Profile(msgspec.Struct, frozen=True):
    """A recorded run. versions: of Python, JAX and the device. interpreter: the Python that ran it, by its path in the
    project; one of another folder keeps its name only, behind ``…``."""

    version: int
    command: list[str]
    versions: dict[str, str]
    functions: list[Function]
    compilations: list[Compilation]
    interpreter: str = ""

    def recorded(self) -> tuple[RecordedFunction, ...]:
        """Return the functions as the analysis reads them."""
        return tuple(function.recorded() for function in self.functions)


def interpreter_of(profile: Profile) -> str:
    """Return the path of the Python that ran a profile as it was loaded; empty if it is not known, or gone."""
    found = profile.interpreter
    return found if os.path.isabs(found) and os.access(found, os.X_OK) else ""


def unlike(profile: Profile, versions: Mapping[str, str]) -> str:
    """Return what to say where a run has another JAX or Python than the recorded one; empty if it has the same."""
    names = [name for name in ("jax", "python") if {name} <= profile.versions.keys() & versions.keys()]
    if all(profile.versions[name] == versions[name] for name in names):
        return ""
    shown = {"jax": "JAX", "python": "Python"}
    before = " and ".join(f"{shown[name]} {profile.versions[name]}" for name in names)
    now = " and ".join(f"{shown[name]} {versions[name]}" for name in names)
    return (
        f"the profile was recorded with {before}, and this run used {now}, which may trace and compile otherwise; name the "
        "other Python with `--python`, or record again"
    )


class ProfileError(Exception):
    """The file is no profile of ours; the message names it and says what to do."""


def compilations(seen: Iterable[dict[str, Any]], base: str) -> list[Compilation]:
    """Sum the compilations of the user's code by name and innermost place; the most expensive come first. base: the
    folder from which paths in JAX's explanations are shown.
    """
    groups: dict[tuple[str, str, int, str], list[dict[str, Any]]] = {}
    for item in seen:
        if item["stack"]:
            path, row, function, _ = item["stack"][0]
            groups.setdefault((item["name"], path, row, function), []).append(item)
    found = [
        Compilation(
            *key, len(items), sum(item["seconds"] for item in items),
            list(dict.fromkeys(_cause(item["reason"], base) for item in items if item.get("reason"))),
            list(dict.fromkeys(item["signature"] for item in items if item.get("signature"))),
        )
        for key, items in groups.items()
    ]  # fmt: skip
    return sorted(found, key=lambda c: -c.seconds)


def _cause(reason: str, base: str) -> str:
    """JAX's explanation in one line, without the identities of objects, which differ from run to run, without texts that the
    program passes as static arguments, and with paths from ``base`` on."""
    words = [word for word in reason.split() if not word.startswith("id=")]
    text = _QUOTED.sub("'…'", " ".join(words))
    return _PATHS.sub(lambda found: shown_path(found[0], base), text)


_QUOTED = re.compile(r"(?<![\w\])])'[^']*'|(?<![\w\])])\"[^\"]*\"")
_PATHS = re.compile(r"(?:[A-Za-z]:\\|/)[^\s:,;)'\"]+[/\\][^\s:,;)'\"]+")
_SECRET = re.compile(r"key|token|secret|passw|pwd|credential|auth|cookie|private|dsn|webhook", re.IGNORECASE)
_RANDOM = re.compile(
    r"^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_\-+/=.]{20,}$|^(?:sk|pk|ghp|gho|hf|xox[a-z]|glpat|AKIA)[-_A-Z0-9]"
)
_URL = re.compile(r"(\w+://)[^/@\s]+@")
_PROGRAM = re.compile(r"^(?:python[\d.]*|pytest|py\.test)(?:\.exe)?$")
_WITHIN = re.compile(r"(?:(?<![\w.~$}\-/\\…])|(?<=^-[A-Za-z]))(?:[A-Za-z]:\\|/)[^\s:,;)\]}'\"]+")
"""An absolute path within a word, as in ``[/data/a,/data/b]`` or ``-I/usr/include``."""
HIDDEN = "***"


def is_whole(command: Sequence[str]) -> bool:
    """Return whether the profile holds the command unchanged, so that jaxlint can run it again."""
    return not any(HIDDEN in word or "…" in word for word in command)


def shown_path(path: str, base: str) -> str:
    """Return a path without what it reveals about this machine: from ``base`` on, or its last part."""
    inside = _relative(path, base)
    return os.path.join("…", os.path.basename(path.rstrip("/\\"))) if os.path.isabs(inside) else inside


def shown_command(words: Sequence[str], base: str) -> list[str]:
    """Return a command without secrets and absolute paths: it hides the values of options and variables with such
    names, texts that look like keys, and code. An interpreter of another folder keeps its name only, so that the shell
    finds one.
    """
    shown: list[str] = []
    hide = False
    for word in words:
        name, equals, value = word.partition("=")
        if hide and not word.startswith("-"):
            shown.append(HIDDEN)
        elif shown[-1:] == ["-c"] and len(shown) > 1 and "python" in shown[-2]:
            shown.append("…")
        elif equals and re.fullmatch(r"-{0,2}[A-Za-z_][\w.\-]*", name):
            shown.append(f"{name}={HIDDEN if _SECRET.search(name) else _shown_word(value, base)}")
        else:
            shown.append(_shown_word(word, base))
        hide = word.startswith("-") and not equals and bool(_SECRET.search(word))
    return shown


def _shown_word(word: str, base: str) -> str:
    parts = word.split(os.pathsep)
    if len(parts) > 1 and any(os.path.isabs(part) for part in parts) and "://" not in word:
        return os.pathsep.join(_shown_word(part, base) for part in parts)
    if os.path.isabs(word):
        shown, name = shown_path(word, base), os.path.basename(word)
        return name if _PROGRAM.match(name) and shown != _relative(word, base) else shown
    if _RANDOM.search(word) and not word.endswith((".py", ".toml", ".yaml", ".json")) and "/" not in word:
        return HIDDEN
    if "://" in word:
        return _URL.sub(rf"\1{HIDDEN}@", word)
    return _WITHIN.sub(lambda found: shown_path(found[0], base), word)


def save(profile: Profile, path: str) -> bool:
    """Write a profile and return whether it was written: an empty profile does not replace one with content.

    jaxlint hides the folder that it creates from git. Raises OSError.
    """
    if not profile.functions and not profile.compilations and _says_something(path):
        return False
    folder = Path(path).parent
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    if is_new and folder.name == os.path.dirname(DEFAULT):
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    base = os.path.dirname(os.path.dirname(os.path.abspath(path)))
    functions = [msgspec.structs.replace(f, filename=_relative(f.filename, base)) for f in profile.functions]
    compiled = [msgspec.structs.replace(c, filename=_relative(c.filename, base)) for c in profile.compilations]
    kept = msgspec.structs.replace(profile, functions=functions, compilations=compiled)
    write_whole(path, msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
    return True


def _says_something(path: str) -> bool:
    try:
        known = load(path)
    except ProfileError:
        return False
    return bool(known.functions or known.compilations)


def load(path: str) -> Profile:
    """Read a profile and make its file names absolute. Raises ProfileError."""
    base = os.path.dirname(os.path.dirname(os.path.abspath(path)))
    try:
        data = read_regular(path, _LARGEST)
        version = msgspec.json.decode(data, type=_Versioned).version
        if version != VERSION:
            raise ProfileError(f"{path}: this profile has version {version}, known is {VERSION}: record it again")
        found = msgspec.json.decode(data, type=Profile)
    except OSError as error:
        raise ProfileError(f"{path}: {error.strerror}; make one with `jaxlint record -- COMMAND`") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProfileError(f"{path}: this is not a profile ({error}); record it again") from error
    functions = [msgspec.structs.replace(f, filename=os.path.join(base, f.filename)) for f in found.functions]
    compiled = [msgspec.structs.replace(c, filename=os.path.join(base, c.filename)) for c in found.compilations]
    inside = found.interpreter and not found.interpreter.startswith("…")
    python = os.path.join(base, found.interpreter) if inside else found.interpreter
    return msgspec.structs.replace(found, functions=functions, compilations=compiled, interpreter=python)


class _Versioned(msgspec.Struct):
    version: int


def _relative(path: str, base: str) -> str:
    inside = path.startswith(os.path.join(base, ""))
    return os.path.relpath(path, base) if inside else path
