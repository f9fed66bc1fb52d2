"""Options: the keys of ``[tool.jaxlint]``, and how jaxlint reads and checks them.

Vocabulary
----------
options     the keys in one source. An absent key is None.
source      a configuration file, the ``--config`` pairs, or the flags of the command line.
settings    the result for one project, with absolute paths (``resolver``).
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args, get_type_hints

import msgspec

from flake8_jax.core.reading import SizeLimits
from flake8_jax.settings.selection import Layer
from flake8_jax.settings.tables import ConfigError, TomlError, decoded_toml, key_row, load_toml

FILE_NAMES = ("jaxlint.toml", "pyproject.toml")

DEFAULT_EXCLUDE = (
    ".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".jaxlint_cache", ".mypy_cache",
    ".nox", ".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode",
    ".virtual_documents", "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules",
    "site-packages", "venv",
)  # fmt: skip

DEFAULT_TEST_FILES = ("test*.py", "*_test.py", "conftest.py", "tests/")
"""The names by which pytest and unittest find tests, and the folder ``tests/``."""

_FOREIGN_KEYS = frozenset({
    "docstring-style", "required-sections", "section-order", "strict-shapes", "rubric-threshold",
    "severity-overrides", "sarif-rule-docs-base",
})  # fmt: skip
"""Keys of the unrelated package ``jaxlint`` on PyPI, which reads the same table."""


_LARGEST_NUMBER = 2**53
_LONGEST_VERSIONS = 200


def _doc(text: str, example: str) -> msgspec.Meta:
    """Describe a key. example: a line of TOML that sets it."""
    return msgspec.Meta(description=text, examples=[example])


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """The keys of ``[tool.jaxlint]``. Each key may be absent."""

    select: Annotated[
        list[str] | None,
        _doc(
            "Rules to run: codes, prefixes of codes, names or `ALL`. Default: every rule except opt-in rules, which run only "
            "if you name their code, their name or `ALL`.",
            'select = ["JAX1", "key-reuse"]',
        ),
    ] = None
    extend_select: Annotated[
        list[str] | None,
        _doc("Rules to run in addition to those of `select`. Default: none.", 'extend-select = ["legacy-prng-key"]'),
    ] = None
    ignore: Annotated[
        list[str] | None,
        _doc(
            "Rules not to run. If both `select` and `ignore` match a rule, the more specific entry wins: a code or a name "
            "before a prefix, a longer prefix before a shorter one, and each of them before `ALL`. Default: none.",
            'ignore = ["sync-in-loop"]',
        ),
    ] = None
    per_file_ignores: Annotated[
        dict[str, list[str]] | None,
        _doc(
            "Rules not to report in the files that match a gitignore pattern. `!pattern` stands for all files that do not "
            "match. Default: none.",
            'per-file-ignores = { "tests/**" = ["JAX304"], "!src/**" = ["JAX2"] }',
        ),
    ] = None
    test_files: Annotated[
        list[str] | None,
        _doc(
            "The files that are tests, as gitignore patterns. In them, the rules JAX206, JAX901 and JAX902 and those "
            "on keys (JAX3…) are off. Only the full code or name of such a rule in `select` or `extend-select` turns it "
            "on there; a prefix or `ALL` does not. Default: `conftest.py`, all files in "
            "folders named `tests`, and the files `test*.py` and `*_test.py` that contain a test or an assertion.",
            'test-files = ["tests/**", "check_*.py"]',
        ),
    ] = None
    fixable: Annotated[
        list[str] | None,
        _doc("Rules whose fixes `--fix` applies. Default: all.", 'fixable = ["JAX1", "JAX8"]'),
    ] = None
    unfixable: Annotated[
        list[str] | None,
        _doc(
            "Rules whose fixes `--fix` does not apply. If both `fixable` and `unfixable` match a rule, the more specific entry "
            "wins, and `unfixable` wins over an equally specific entry. Default: none.",
            'unfixable = ["key-reuse"]',
        ),
    ] = None
    unsafe_fixes: Annotated[
        bool | None,
        _doc(
            "Whether `--fix` also applies unsafe fixes, which may change values, dtypes or effects. Default: false.",
            "unsafe-fixes = true",
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        _doc(
            "Files and directories that jaxlint does not lint, as gitignore patterns. A list of yours replaces the default "
            "list (caches, virtual environments, build folders); to add patterns to it, use `extend-exclude`.",
            'exclude = [".venv", "build"]',
        ),
    ] = None
    extend_exclude: Annotated[
        list[str] | None,
        _doc(
            "Files and directories that jaxlint does not lint in addition to those of `exclude`, as gitignore patterns. "
            "Default: none.",
            'extend-exclude = ["third_party"]',
        ),
    ] = None
    force_exclude: Annotated[
        bool | None,
        _doc(
            "Whether `exclude` also applies to files that you name on the command line. Default: false.",
            "force-exclude = true",
        ),
    ] = None
    respect_gitignore: Annotated[
        bool | None,
        _doc("Whether jaxlint skips the files that git ignores. Default: true.", "respect-gitignore = false"),
    ] = None
    target_jax: Annotated[
        str | None,
        _doc(
            'The versions of JAX that the code supports: "0.6.2" or ">=0.4.30,<0.8". '
            "Default: what the packaging, requirements, conda or lock files ask for, else the newest known release.",
            'target-jax = ">=0.4.30,<0.8"',
        ),
    ] = None
    output_format: Annotated[
        str | None,
        _doc(
            "The format in which jaxlint prints findings, as with `--output-format`. `jaxlint help check` lists the formats. "
            "Default: `full`.",
            'output-format = "concise"',
        ),
    ] = None
    preview: Annotated[
        bool | None,
        _doc("Whether rules also report less certain findings. Default: false.", "preview = true"),
    ] = None
    transforms: Annotated[
        dict[str, str] | None,
        _doc(
            "Functions that trace their argument, and the transform of JAX that each behaves like. With "
            '`{ "mylib.fast" = "jax.jit" }`, jaxlint analyzes `mylib.fast(f)` like `jax.jit(f)`. Default: none.',
            'transforms = { "mylib.fast" = "jax.jit" }',
        ),
    ] = None
    src: Annotated[
        list[str] | None,
        _doc(
            "Directories from which the code imports its modules. Default: for each file, the directory that contains its "
            "outermost package (a directory with an `__init__.py`).",
            'src = ["src", "scripts"]',
        ),
    ] = None
    unroll_threshold: Annotated[
        int | None,
        _doc(
            "Report Python loops in traced code that unroll into this many iterations or more (JAX408). Default: 32.",
            "unroll-threshold = 64",
        ),
    ] = None
    cache_dir: Annotated[
        str | None,
        _doc(
            "The directory in which jaxlint creates the folder `.jaxlint_cache`. Default: the root of the project.",
            'cache-dir = "/tmp/jaxlint"',
        ),
    ] = None
    max_file_size: Annotated[
        int | None,
        _doc(
            "The largest source file that jaxlint lints, in bytes. For a notebook, this is the size of all its code cells. "
            "jaxlint skips a larger file and prints a message. Default: 5000000.",
            "max-file-size = 10000000",
        ),
    ] = None
    max_notebook_size: Annotated[
        int | None,
        _doc(
            "The largest notebook that jaxlint reads, in bytes, with its outputs and pictures. Default: 100000000.",
            "max-notebook-size = 20000000",
        ),
    ] = None


def option_documentation() -> dict[str, str]:
    """Return the description of each key."""
    return {written: meta.description or "" for written, (_, meta) in _annotated().items()}


def option_examples() -> dict[str, str]:
    """Return a line of TOML for each key that sets it."""
    return {written: (meta.examples or [""])[0] for written, (_, meta) in _annotated().items()}


_TYPES = {
    "list[str]": "list of strings", "dict[str, list[str]]": "table of lists of strings", "bool": "true or false",
    "str": "string", "dict[str, str]": "table of strings", "int": "number",
}  # fmt: skip


def option_types() -> dict[str, str]:
    """Return the type of each key in the words of TOML."""
    return {written: _TYPES[kind] for written, (kind, _) in _annotated().items()}


def _annotated() -> dict[str, tuple[str, msgspec.Meta]]:
    """Return the Python type of each key, without None, and its description."""
    hints = get_type_hints(Options, include_extras=True)
    names = zip(Options.__struct_fields__, Options.__struct_encode_fields__)
    return {written: (_written(hints[name].__origin__), hints[name].__metadata__[0]) for name, written in names}


def _written(optional: Any) -> str:
    """Return the type without None: ``list[str]`` for ``list[str] | None``."""
    kind = next(kind for kind in get_args(optional) if kind is not type(None))
    return str(kind) if get_args(kind) else str(kind.__name__)


@dataclass(frozen=True)
class Settings:
    """The settings of one project. root: the directory to which relative patterns refer.

    origins: the sources that set each key (the path of the configuration file, `--config` or `command line`). The last source
    wins. config_path: the configuration file, or None. project_root: the directory whose files form the program. It is None
    if no directory above contains a configuration, a version control folder or a packaging file.
    """

    root: str
    config_path: str | None = None
    project_root: str | None = None
    layers: tuple[Layer, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    test_files: tuple[str, ...] | None = None
    fixable: tuple[str, ...] | None = None
    unfixable: tuple[str, ...] = ()
    unsafe_fixes: bool = False
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    force_exclude: bool = False
    respect_gitignore: bool = True
    target_jax: str | None = None
    output_format: str = "full"
    preview: bool = False
    transforms: dict[str, str] = field(default_factory=dict)
    src: tuple[str, ...] = ()
    unroll_threshold: int = 32
    cache_dir: str | None = None
    size_limits: SizeLimits = field(default_factory=SizeLimits)
    origins: dict[str, tuple[str, ...]] = field(default_factory=dict)


def option_names() -> tuple[str, ...]:
    """Return the names of the keys in TOML."""
    return tuple(Options.__struct_encode_fields__)


# --- checking ------------------------------------------------------------------------------------


def _remedy(key: str) -> str:
    if key in _FOREIGN_KEYS:
        return (
            "it belongs to the unrelated tool `jaxlint` on PyPI, which reads the same table; "
            "put the settings of this one into jaxlint.toml and that key aside"
        )
    close = difflib.get_close_matches(key[:100], option_names(), n=1)
    return f"did you mean `{close[0]}`?" if close else "`jaxlint config` lists the known keys"


def convert_options(table: dict[str, Any], path: str, text: str, section: str) -> Options:
    """Check a decoded table. Raises ConfigError, which names ``path``, the row and the key."""

    def fail(key: str, what: str) -> ConfigError:
        row = key_row(text, key, section)
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
    """Replace the names of types in a message of msgspec by those of TOML."""
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


# --- sources -------------------------------------------------------------------------------------


def load_options(path: str) -> Options | None:
    """Read the options of a configuration file. Return None for a ``pyproject.toml`` without ``[tool.jaxlint]``."""
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
    """Read the options in ``--config 'key = value'`` arguments. Raises ConfigError."""
    merged = Options()
    for pair in pairs:
        try:
            table = decoded_toml(pair)
        except TomlError as error:
            raise ConfigError(
                f"--config {pair!r}: neither a file nor a TOML pair such as 'select = [\"JAX1\"]': {error}"
            ) from error
        merged = override(merged, convert_options(table, f"--config {pair!r}", "", ""))
    return merged


def override(base: Options, top: Options) -> Options:
    """Override ``base`` by ``top``, key by key."""
    values = {name: value for name in Options.__struct_fields__ if (value := getattr(top, name)) is not None}
    return msgspec.structs.replace(base, **values)
