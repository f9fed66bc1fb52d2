"""Settings: the keys of ``[tool.jaxlint]``, where they come from, and how sources override each other.

Vocabulary
----------
options     the keys as one source writes them; an absent key is None.
settings    the outcome for one project: options of the configuration file, overridden by inline ``--config``
            pairs, overridden by flags; paths are absolute.
project     the files under one configuration (or, without any, under one version-controlled directory).

The nearest configuration of a file counts, whole: it inherits nothing from one further up. In one directory
``jaxlint.toml`` goes before ``pyproject.toml``; a ``pyproject.toml`` without ``[tool.jaxlint]`` does not count.
Not modelled: user-wide configuration.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, get_type_hints

import msgspec

from flake8_jax.core.reading import SizeLimits, read_regular
from flake8_jax.settings.requirements import supported_versions
from flake8_jax.settings.selection import Layer

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE_NAMES = ("jaxlint.toml", "pyproject.toml")

DEFAULT_EXCLUDE = (
    ".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".jaxlint_cache", ".mypy_cache",
    ".nox", ".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode",
    "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv",
)  # fmt: skip

_CONTROL = (".git", ".hg")
_PACKAGING = ("pyproject.toml", "setup.py", "setup.cfg")

_FOREIGN_KEYS = frozenset({
    "docstring-style", "required-sections", "section-order", "strict-shapes", "rubric-threshold",
    "severity-overrides", "sarif-rule-docs-base",
})  # fmt: skip
"""Keys of the unrelated distribution on PyPI that is called ``jaxlint`` and reads the same table."""


class ConfigError(Exception):
    """A configuration that cannot be used. The message names file, line and key, and what to do."""


def _doc(text: str) -> msgspec.Meta:
    return msgspec.Meta(description=text)


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """The keys of ``[tool.jaxlint]``; every one may be absent."""

    select: Annotated[
        list[str] | None,
        _doc("Rules to run: codes, prefixes of codes, names or `ALL`. Default: every rule that is not opt-in."),
    ] = None
    extend_select: Annotated[list[str] | None, _doc("Rules to run in addition to `select`.")] = None
    ignore: Annotated[
        list[str] | None, _doc("Rules not to run. Of `select` and `ignore`, the more specific selector wins.")
    ] = None
    per_file_ignores: Annotated[
        dict[str, list[str]] | None,
        _doc("Rules not to report in files that match a pattern; `!pattern` means all other files."),
    ] = None
    fixable: Annotated[list[str] | None, _doc("Rules whose fixes may be applied. Default: all.")] = None
    unfixable: Annotated[list[str] | None, _doc("Rules whose fixes may not be applied.")] = None
    unsafe_fixes: Annotated[
        bool | None, _doc("Whether `--fix` also applies fixes that may change values, dtypes or effects.")
    ] = None
    exclude: Annotated[
        list[str] | None, _doc("Files and directories to leave out, as gitignore patterns. Replaces the default.")
    ] = None
    extend_exclude: Annotated[list[str] | None, _doc("Patterns to leave out in addition to `exclude`.")] = None
    force_exclude: Annotated[bool | None, _doc("Whether `exclude` also holds for files that are named.")] = None
    respect_gitignore: Annotated[bool | None, _doc("Whether to leave out what git ignores. Default: true.")] = None
    target_jax: Annotated[
        str | None,
        _doc(
            'The versions of JAX that the code supports: "0.6.2" or ">=0.4.30,<0.8". '
            "Default: what pyproject.toml, setup.cfg, setup.py or requirements.txt asks for, else the newest known release."
        ),
    ] = None
    output_format: Annotated[str | None, _doc("How findings are printed. Default: `full`.")] = None
    preview: Annotated[bool | None, _doc("Whether rules report what they are less sure of.")] = None
    transforms: Annotated[
        dict[str, str] | None,
        _doc('Functions of yours that stage like a transform of JAX: `{ "mylib.fast" = "jax.jit" }`.'),
    ] = None
    src: Annotated[
        list[str] | None, _doc("Directories that modules are imported from. Default: found by their `__init__.py`.")
    ] = None
    unroll_threshold: Annotated[
        int | None, _doc("Iterations from which a Python loop in staged code counts as unrolled. Default: 32.")
    ] = None
    cache_dir: Annotated[
        str | None,
        _doc("The directory in which jaxlint makes `.jaxlint_cache` for its cache. Default: that of the project."),
    ] = None
    max_file_size: Annotated[
        int | None,
        _doc(
            "Bytes up to which a source file, or all code cells of a notebook, are linted; larger ones are left out with a "
            "message. Default: 5000000."
        ),
    ] = None
    max_notebook_size: Annotated[
        int | None, _doc("The same for a notebook with its outputs and pictures. Default: 100000000.")
    ] = None


def option_documentation() -> dict[str, str]:
    """What each key means, by the key."""
    hints = get_type_hints(Options, include_extras=True)
    names = zip(Options.__struct_fields__, Options.__struct_encode_fields__)
    return {written: hints[name].__metadata__[0].description or "" for name, written in names}


@dataclass(frozen=True)
class Settings:
    """What holds for one project. ``root`` is the directory that relative patterns refer to.

    origins: by key, where it was set: the path of the configuration file, `--config` or `command line`, the last of which
    goes first. config_path: the configuration file, or None. project_root: the directory whose files form the program, or
    None where none is known (no configuration, version control or packaging file above).
    """

    root: str
    config_path: str | None = None
    project_root: str | None = None
    layers: tuple[Layer, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    fixable: tuple[str, ...] | None = None
    unfixable: tuple[str, ...] = ()
    unsafe_fixes: bool = False
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    force_exclude: bool = False
    respect_gitignore: bool = True
    required: dict[str, str] = field(default_factory=dict)
    output_format: str = "full"
    preview: bool = False
    transforms: dict[str, str] = field(default_factory=dict)
    src: tuple[str, ...] = ()
    unroll_threshold: int = 32
    cache_dir: str | None = None
    size_limits: SizeLimits = field(default_factory=SizeLimits)
    origins: dict[str, tuple[str, ...]] = field(default_factory=dict)


def option_names() -> tuple[str, ...]:
    """The keys as they are written."""
    return tuple(Options.__struct_encode_fields__)


# --- reading -------------------------------------------------------------------------------------


def _key_row(text: str, key: str, section: str) -> int | None:
    """Row of ``key`` in the table ``section`` (or in the file where the section is empty), if it is found."""
    wanted = f"{section}.{key}" if section else key
    current = ""
    for row, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if stripped.startswith("[") and "]" in stripped:
            current = _plain_key(stripped.strip("[").partition("]")[0])
            if current == wanted or current.startswith(f"{wanted}."):
                return row
        elif "=" in stripped:
            written = _plain_key(stripped.partition("=")[0])
            full = f"{current}.{written}" if current else written
            if full == wanted or full.startswith(f"{wanted}.") or (full == section and key in stripped):
                return row
    return None


def _plain_key(written: str) -> str:
    return re.sub(r"""["'\s]""", "", written)


def place_of(settings: Settings, keys: Sequence[str], value: str | None = None) -> str:
    """Where one of these keys was set: ``path:row`` for the file. With ``value``: where this item of a list is."""
    path = settings.config_path
    if path is not None and value is not None:
        written = [key for key in keys if path in settings.origins.get(key, ())]
        rows = [row for key in written if (row := _row_in(path, key, value)) is not None]
        if rows:
            return f"{path}:{rows[0]}"
    origins = [(origin, key) for key in keys for origin in settings.origins.get(key, ())]
    origin, key = origins[-1] if origins else ("command line", "")
    row = _row_in(origin, key) if origin == path else None
    return f"{origin}:{row}" if row is not None else origin


def _row_in(path: str, key: str, value: str | None = None) -> int | None:
    """The row of a key in a configuration file, or of a string in its value."""
    try:
        _, text = load_toml(path)
    except ConfigError:  # it was there a moment ago
        return None
    row = _key_row(text, key, "tool.jaxlint" if os.path.basename(path) == "pyproject.toml" else "")
    if row is None or value is None:
        return row
    lines = text.split("\n")
    quoted = (f'"{value}"', f"'{value}'")
    return next((n for n in range(row, len(lines) + 1) if any(one in lines[n - 1] for one in quoted)), None)


def _remedy(key: str) -> str:
    if key in _FOREIGN_KEYS:
        return (
            "it belongs to the unrelated tool `jaxlint` on PyPI, which reads the same table; "
            "put the settings of this one into jaxlint.toml and that key aside"
        )
    close = difflib.get_close_matches(key[:100], option_names(), n=1)
    return f"did you mean `{close[0]}`?" if close else "`jaxlint config` lists the known keys"


def convert_options(table: dict[str, Any], path: str, text: str, section: str) -> Options:
    """Check a decoded table. Raises ConfigError naming ``path``, the row and the key."""

    def fail(key: str, what: str) -> ConfigError:
        row = _key_row(text, key, section)
        return ConfigError(f"{path}:{row}: {what}" if row is not None else f"{path}: {what}")

    known = option_names()
    for key in table:
        if key not in known:
            shown = key if len(key) <= 100 else f"{key[:100]}…"
            raise fail(key, f"unknown key `{shown}`: {_remedy(key)}")
    try:
        options = msgspec.convert(table, Options)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        key = re.split(r"[.\[`]", where, maxsplit=1)[0]
        raise fail(key, f"`{key}`: {_in_toml_words(what)}") from error
    if options.target_jax is not None and (reason := _bad_versions(options.target_jax)):
        raise fail("target-jax", f"`target-jax`: {reason}")
    for key, number, unit in (
        ("unroll-threshold", options.unroll_threshold, "iterations"),
        ("max-file-size", options.max_file_size, "bytes"),
        ("max-notebook-size", options.max_notebook_size, "bytes"),
    ):
        if number is not None and number < 1:
            raise fail(key, f"`{key}`: expected a number of {unit}, at least 1")
        if number is not None and number > _LARGEST_NUMBER:
            raise fail(key, f"`{key}`: expected a number of {unit}, at most {_LARGEST_NUMBER}")
    return options


def _in_toml_words(message: str) -> str:
    """msgspec's message with the names that TOML has for the types."""
    words = {
        " | null": "", "`array`": "a list", "`object`": "a table", "`str`": "a string", "`int`": "a number",
        "`bool`": "true or false",
    }  # fmt: skip
    for theirs, ours in words.items():
        message = message.replace(theirs, ours)
    return message[:1].lower() + message[1:]


def _bad_versions(text: str) -> str | None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # slow to import, and rarely needed

    if len(text) > _LONGEST_VERSIONS:
        return f"expected at most {_LONGEST_VERSIONS} characters"
    try:
        SpecifierSet(text if re.match(r"\s*[<>=!~]", text) else f"=={text}")
    except InvalidSpecifier:
        return f'`{text}` is neither a version ("0.6.2") nor a specifier (">=0.4.30")'
    return None


def load_toml(path: str) -> tuple[dict[str, Any], str]:
    """Decode a TOML file; returns the table and its text. Raises ConfigError."""
    try:
        text = read_regular(path, _LARGEST_CONFIG).decode("utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        row = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{row}: not UTF-8, which TOML has to be: {error.reason}") from error
    try:
        return _decoded(text), text
    except _TomlError as error:
        raise ConfigError(f"{path}:{error.row}: invalid TOML: {error}") from error


class _TomlError(Exception):
    """The text is no TOML, or is nothing that anybody writes."""

    def __init__(self, message: str, row: int) -> None:
        super().__init__(message)
        self.row = row


def _decoded(text: str) -> dict[str, Any]:
    """The table of a TOML text. Raises _TomlError."""
    lines = text.split("\n")
    for row, line in enumerate(lines, 1):
        if line.count(".") >= _MOST_PARTS and _longest_key(line) > _MOST_PARTS:
            raise _TomlError(f"a key with more than {_MOST_PARTS} parts", row)  # the decoder takes quadratic time
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        # Without a line, it is the end of the file.
        raise _TomlError(str(error), int(found[1]) if found else len(text.splitlines())) from error
    except RecursionError as error:
        deepest = max(range(len(lines)), key=lambda index: lines[index].count("[") + lines[index].count("{"))
        raise _TomlError("nested too deeply", deepest + 1) from error
    except ValueError as error:  # Python converts no more than 4300 digits
        row = next((row for row, line in enumerate(lines, 1) if _MANY_DIGITS.search(line)), 1)
        raise _TomlError("a number with too many digits", row) from error


_LARGEST_CONFIG = 1_000_000
_LARGEST_NUMBER = 2**53
_LONGEST_VERSIONS = 200
_MOST_PARTS = 32
_MANY_DIGITS = re.compile(r"[\d_]{640}")
_KEY_PIECES = re.compile(r""""(?:[^"\\]|\\.?)*(?:"|$)|'[^']*(?:'|$)|[A-Za-z0-9_-]+|[ \t]+|.""", re.DOTALL)


def _longest_key(line: str) -> int:
    """How many parts the longest dotted key in a line has."""
    most = parts = 0
    goes_on = False
    for match in _KEY_PIECES.finditer(line):
        piece = match[0]
        if piece == "#":
            break
        if piece == ".":
            goes_on = True
        elif piece[0] in "\"'-_" or piece[0].isalnum():
            parts = parts + 1 if goes_on else 1
            most, goes_on = max(most, parts), False
        elif not piece.isspace():
            parts, goes_on = 0, False
    return most


def load_options(path: str) -> Options | None:
    """The options of a configuration file; None for a ``pyproject.toml`` that has no ``[tool.jaxlint]``."""
    table, text = load_toml(path)
    if os.path.basename(path) != "pyproject.toml":
        if isinstance(table.get("jaxlint"), dict) or isinstance(table.get("tool"), dict):
            raise ConfigError(f"{path}: write the keys at the top level of this file, without a table around them")
        return convert_options(table, path, text, "")
    tool = table.get("tool")
    section = tool.get("jaxlint") if isinstance(tool, dict) else None
    if section is None:
        return None
    if not isinstance(section, dict):
        raise ConfigError(f"{path}: `tool.jaxlint` has to be a table")
    return convert_options(section, path, text, "tool.jaxlint")


def inline_options(pairs: Sequence[str]) -> Options:
    """The options of ``--config 'key = value'`` arguments. Raises ConfigError."""
    merged = Options()
    for pair in pairs:
        try:
            table = _decoded(pair)
        except _TomlError as error:
            raise ConfigError(
                f"--config {pair!r}: neither a file nor a TOML pair such as 'select = [\"JAX1\"]': {error}"
            ) from error
        merged = override(merged, convert_options(table, f"--config {pair!r}", "", ""))
    return merged


def override(base: Options, top: Options) -> Options:
    """``top`` over ``base``, key by key."""
    values = {name: value for name in Options.__struct_fields__ if (value := getattr(top, name)) is not None}
    return msgspec.structs.replace(base, **values)


# --- finding -------------------------------------------------------------------------------------


def parents(path: str) -> list[str]:
    """The directory ``path`` and everything above it, nearest first."""
    found = [path]
    while (above := os.path.dirname(found[-1])) != found[-1]:
        found.append(above)
    return found


def _looked_up(directory: str, known: dict[str, str | None], find: Callable[[str], str | None]) -> str | None:
    """What ``find`` says of the nearest directory, at or above this one, for which it says something."""
    passed: list[str] = []
    folder = directory
    while folder not in known:
        passed.append(folder)
        found = find(folder)
        above = os.path.dirname(folder)
        if found is not None or above == folder:
            known[folder] = found
        else:
            folder = above
    known.update(dict.fromkeys(passed, known[folder]))
    return known[directory]


def _holds(folder: str, names: tuple[str, ...]) -> bool:
    return any(os.path.lexists(os.path.join(folder, name)) for name in names)


class Resolver:
    """Finds the settings of a file or directory; asks the disk once per directory.

    explicit: a configuration file to use for everything. isolated: use none. inline: ``--config`` pairs.
    flags: options of the command line. Methods raise ConfigError.
    """

    def __init__(
        self,
        cwd: str,
        *,
        explicit: str | None = None,
        isolated: bool = False,
        inline: Options | None = None,
        flags: Options | None = None,
    ) -> None:
        self.cwd = cwd
        self.isolated = isolated
        self.explicit = os.path.join(cwd, explicit) if explicit is not None else None
        self.inline = inline or Options()
        self.flags = flags or Options()
        self._configs: dict[str, str | None] = {}
        self._roots: dict[tuple[str, ...], dict[str, str | None]] = {}
        self._loaded: dict[str, Options | None] = {}
        self._settings: dict[tuple[str | None, str | None], Settings] = {}

    def config_of(self, directory: str) -> str | None:
        """The configuration file that counts in an absolute directory."""
        if self.explicit is not None or self.isolated:
            return self.explicit
        return _looked_up(directory, self._configs, self._config_in)

    def _nearest(self, directory: str, names: tuple[str, ...]) -> str | None:
        """The nearest directory, at or above this one, with an entry of one of these names."""
        known = self._roots.setdefault(names, {})
        return _looked_up(directory, known, lambda folder: folder if _holds(folder, names) else None)

    def project_root_of(self, directory: str) -> str | None:
        """The directory of the version control, or else of the packaging, that ``directory`` is under."""
        return self._nearest(directory, _CONTROL) or self._nearest(directory, _PACKAGING)

    def _config_in(self, folder: str) -> str | None:
        for name in FILE_NAMES:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and self._load(path) is not None:
                return path
        return None

    def _load(self, path: str) -> Options | None:
        if path not in self._loaded:
            self._loaded[path] = load_options(path)
        return self._loaded[path]

    def settings_for(self, directory: str) -> Settings:
        """The settings that hold in an absolute directory."""
        config = self.config_of(directory)
        home = self.cwd if config is None or config == self.explicit else os.path.dirname(config)
        project_root = home if config is not None and config != self.explicit else self.project_root_of(directory)
        key = (config, project_root)
        if key not in self._settings:
            options = self._load(config) if config is not None else None
            settings = self._settings[key] = self._build(options or Options(), config, project_root, home, directory)
            return settings
        return self._settings[key]

    def _build(
        self, written: Options, config: str | None, project_root: str | None, home: str, directory: str
    ) -> Settings:
        merged = override(written, self.inline)
        root = home if config is not None else (project_root or home)
        configured = Layer(_optional(merged.select), _several(merged.extend_select), _several(merged.ignore))
        flagged = Layer(_optional(self.flags.select), _several(self.flags.extend_select), _several(self.flags.ignore))
        ignores = {**(merged.per_file_ignores or {}), **(self.flags.per_file_ignores or {})}
        final = override(merged, self.flags)
        origins: dict[str, tuple[str, ...]] = {}
        for origin, options in ((config, written), ("--config", self.inline), ("command line", self.flags)):
            for name, key in zip(Options.__struct_fields__, Options.__struct_encode_fields__):
                if origin is not None and getattr(options, name) is not None:
                    origins[key] = (*origins.get(key, ()), origin)
        exclude = DEFAULT_EXCLUDE if final.exclude is None else tuple(final.exclude)
        required = {} if self.isolated else supported_versions(directory, load_toml)
        if final.target_jax is not None:
            required["jax"] = final.target_jax
        # A cache directory on the command line refers to where the command runs, one in a file to the file.
        cache_home = self.cwd if self.flags.cache_dir is not None else root
        return Settings(
            root=root,
            config_path=config,
            project_root=project_root,
            layers=(configured, flagged),
            per_file_ignores=tuple((pattern, tuple(selectors)) for pattern, selectors in ignores.items()),
            fixable=_optional(final.fixable),
            unfixable=_several(final.unfixable),
            unsafe_fixes=bool(final.unsafe_fixes),
            exclude=exclude + _several(merged.extend_exclude) + _several(self.flags.extend_exclude),
            force_exclude=bool(final.force_exclude),
            respect_gitignore=final.respect_gitignore is not False,
            required=required,
            output_format=final.output_format or "full",
            preview=bool(final.preview),
            transforms=dict(final.transforms or {}),
            src=tuple(os.path.normpath(os.path.join(root, entry)) for entry in final.src or ()),
            unroll_threshold=final.unroll_threshold or 32,
            cache_dir=os.path.normpath(os.path.join(cache_home, final.cache_dir))
            if final.cache_dir is not None
            else None,
            size_limits=SizeLimits(
                final.max_file_size or SizeLimits.source, final.max_notebook_size or SizeLimits.notebook
            ),
            origins=origins,
        )


def _optional(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


def _several(values: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(values or ())
