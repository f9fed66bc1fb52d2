"""The options that commands share, and what they mean as settings."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence

from flake8_jax.settings.options import Options, inline_options
from flake8_jax.settings.resolver import Resolver
from flake8_jax.settings.tables import ConfigError


def _list(text: str) -> list[str]:
    return [part for part in re.split(r"[,\s]+", text) if part]


def _patterns(text: str) -> dict[str, list[str]]:
    """``a.py:JAX101,JAX203,b/*.py:JAX3``: pattern, then selectors, until the next pattern."""
    found: dict[str, list[str]] = {}
    pattern = ""
    for token in _list(text):
        before, colon, after = token.rpartition(":")
        if colon:
            pattern = before
            found.setdefault(pattern, [])
            token = after
        if not pattern:
            raise argparse.ArgumentTypeError(f"expected PATTERN:CODE[,CODE…], got `{text}`")
        if token:
            found[pattern].append(token)
    return found


def _jobs(text: str) -> int:
    if text == "auto":
        return 0
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number of processes or `auto`, got `{text}`")
    return int(text)


def add_project_options(parser: argparse.ArgumentParser, *, stdin: bool = False, preview: bool = True) -> None:
    """Options that decide which files are looked at, and under which configuration. stdin: the command reads a program from
    standard input; preview: it reports findings."""
    files = parser.add_argument_group("files")
    files.add_argument(
        "--exclude", action="extend", type=_list, metavar="PATTERNS",
        help="exclude files that match these gitignore patterns, instead of those of the setting `exclude` and its default",
    )  # fmt: skip
    files.add_argument(
        "--extend-exclude", action="extend", type=_list, metavar="PATTERNS",
        help="exclude files that match these gitignore patterns as well",
    )  # fmt: skip
    files.add_argument(
        "--force-exclude",
        action="store_true",
        default=None,
        help="also exclude files that you name on the command line",
    )
    files.add_argument("--no-force-exclude", dest="force_exclude", action="store_false", help=argparse.SUPPRESS)
    files.add_argument(
        "--respect-gitignore", action="store_true", default=None, help="exclude files that git ignores (the default)"
    )
    files.add_argument(
        "--no-respect-gitignore", dest="respect_gitignore", action="store_false", help="include files that git ignores"
    )
    files.add_argument(
        "--stdin-filename", metavar="FILE",
        help="treat standard input (PATH `-`) as the file of this name" if stdin else argparse.SUPPRESS,
    )  # fmt: skip
    files.add_argument(
        "--within", metavar="FOLDER",
        help="read nothing outside this folder: no configuration, no other project files, no links to the outside",
    )  # fmt: skip
    settings = parser.add_argument_group("configuration")
    settings.add_argument(
        "--config", action="append", default=[], metavar="PATH|KEY=VALUE",
        help="use this configuration file for all paths, or set one key, as in 'ignore = [\"JAX1\"]'; may be repeated",
    )  # fmt: skip
    settings.add_argument("--isolated", action="store_true", help="use no configuration file")
    settings.add_argument(
        "--preview", action="store_true", default=None,
        help="also report less certain findings" if preview else argparse.SUPPRESS,
    )  # fmt: skip
    settings.add_argument("--no-preview", dest="preview", action="store_false", help=argparse.SUPPRESS)
    settings.add_argument(
        "--target-jax", metavar="VERSIONS",
        help="set the versions of JAX that the code supports, such as 0.6.2 or '>=0.4.30' (default: those that the project "
        "asks for)",
    )  # fmt: skip
    settings.add_argument("-n", "--no-cache", action="store_true", help="neither read nor write the cache")
    settings.add_argument(
        "--cache-dir", metavar="DIRECTORY", help="create the cache in this directory (default: the root of the project)"
    )
    settings.add_argument(
        "-j", "--jobs", type=_jobs, default=0, metavar="N",
        help="parse files in N processes (default: one for each processor)",
    )  # fmt: skip


def add_log_options(
    parser: argparse.ArgumentParser, *, findings: bool = True, more: str = "also print statistics of the analysis"
) -> None:
    """Options on what else is printed. findings: the command prints findings. more: what ``--verbose`` does."""
    log = parser.add_argument_group("log")
    unused = argparse.SUPPRESS
    log.add_argument("-q", "--quiet", action="store_true", help="print findings only" if findings else unused)
    log.add_argument(
        "-s", "--silent", action="store_true",
        help="print nothing; the exit status gives the result" if findings else unused,
    )  # fmt: skip
    log.add_argument("-v", "--verbose", action="store_true", help=more)
    log.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto",
        help="color the output (default: auto, which means only in a terminal)" if findings else unused,
    )  # fmt: skip


def add_selection_options(parser: argparse.ArgumentParser, *, fixes: bool = True) -> None:
    """Options on what is reported. fixes: the command shows or applies fixes."""
    rules = parser.add_argument_group("rules (RULES are codes, prefixes of codes, names or ALL, separated by commas)")
    rules.add_argument("--select", action="extend", type=_list, metavar="RULES", help="run these rules and no others")
    rules.add_argument("--ignore", action="extend", type=_list, metavar="RULES", help="do not run these rules")
    rules.add_argument(
        "--extend-select", action="extend", type=_list, metavar="RULES", help="run these rules in addition"
    )
    rules.add_argument(
        "--per-file-ignores", action="append", type=_patterns, metavar="PATTERN:RULES",
        help="do not report these rules in files that match the gitignore pattern",
    )  # fmt: skip
    rules.add_argument(
        "--test-files", action="extend", type=_list, metavar="PATTERNS",
        help="treat files that match these gitignore patterns as test files; rules on keys, timing and waiting are off in "
        "them unless selected by code or name",
    )  # fmt: skip
    rules.add_argument(
        "--fixable", action="extend", type=_list, metavar="RULES",
        help="offer fixes of these rules and no others" if fixes else argparse.SUPPRESS,
    )  # fmt: skip
    rules.add_argument(
        "--unfixable", action="extend", type=_list, metavar="RULES",
        help="offer no fixes of these rules" if fixes else argparse.SUPPRESS,
    )  # fmt: skip
    rules.add_argument(
        "--ignore-noqa", action="store_true", help="also report findings that `# noqa` comments suppress"
    )


def flag_options(args: argparse.Namespace) -> Options:
    """The flags as options, to be put over everything else."""
    merged: dict[str, list[str]] = {}
    for patterns in getattr(args, "per_file_ignores", None) or ():
        for pattern, selectors in patterns.items():
            merged.setdefault(pattern, []).extend(selectors)
    names = ("select", "extend_select", "ignore", "fixable", "unfixable", "unsafe_fixes", "test_files", "exclude",
             "extend_exclude", "force_exclude", "respect_gitignore", "target_jax", "output_format", "preview",
             "cache_dir")  # fmt: skip
    return Options(per_file_ignores=merged or None, **{name: getattr(args, name, None) for name in names})


def resolver_from(args: argparse.Namespace, cwd: str) -> Resolver:
    """The settings that the command line asks for. Raises ConfigError."""
    files = [value for value in args.config if os.path.isfile(os.path.join(cwd, value)) or "=" not in value]
    pairs = [value for value in args.config if value not in files]
    if len(files) > 1:
        raise ConfigError(f"--config: {files[0]} and {files[1]} are both files; only one can be used")
    if files and args.isolated:
        raise ConfigError("--isolated: use either this or a configuration file with --config")
    for path in files:
        if not os.path.isfile(os.path.join(cwd, path)):
            raise ConfigError(f"--config {path}: there is no such file")
    flags = flag_options(args)
    if flags.target_jax is not None:
        from flake8_jax.settings.options import convert_options

        convert_options({"target-jax": flags.target_jax}, "--target-jax", "", "")
    within = os.path.realpath(os.path.join(cwd, args.within)) if args.within is not None else None
    if within is not None and not os.path.isdir(within):
        raise ConfigError(f"--within {args.within}: there is no such folder")
    return Resolver(
        cwd,
        explicit=files[0] if files else None,
        isolated=args.isolated,
        inline=inline_options(pairs),
        flags=flags,
        within=within,
    )


def wants_color(choice: str, is_terminal: bool) -> bool:
    """Whether to color: what is asked for, else NO_COLOR and FORCE_COLOR, else whether it is a terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (is_terminal and os.environ.get("TERM") != "dumb")


_LINKING = frozenset({"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "Tabby", "WarpTerminal", "zed"})
"""Values of TERM_PROGRAM."""
_LINKING_TERMS = ("alacritty", "contour", "foot", "wezterm", "xterm-ghostty", "xterm-kitty")
_LINKING_VARIABLES = ("DOMTERM", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WT_SESSION")
_FIRST_VTE = 5000
"""Version of the terminals of GNOME, XFCE and others that shows links (0.50)."""


def wants_links(color: bool, is_terminal: bool) -> bool:
    """Whether to make links of codes: FORCE_HYPERLINK (0 says no), else whether this is a terminal with colors that is known to
    show links. Terminal multiplexers hide which terminal it is, so they get none."""
    forced = os.environ.get("FORCE_HYPERLINK")
    if forced:
        return color and forced != "0"
    term = os.environ.get("TERM", "")
    if not (color and is_terminal) or term.startswith(("screen", "tmux")):
        return False
    version = os.environ.get("VTE_VERSION", "")
    return (
        os.environ.get("TERM_PROGRAM") in _LINKING
        or term.startswith(_LINKING_TERMS)
        or any(os.environ.get(name) for name in _LINKING_VARIABLES)
        or (version.isdecimal() and int(version) >= _FIRST_VTE)
    )


def absolute(paths: Sequence[str], cwd: str) -> tuple[str, ...]:
    return tuple(os.path.normpath(os.path.join(cwd, path)) for path in paths)


def refuse_source_as_output(output: str | None, paths: Sequence[str], option: str = "--output-file") -> None:
    """Raise ConfigError where an output file would take the place of a program.

    ``-o *.py`` in a shell, or a forgotten name, gives such a file.
    """
    from flake8_jax.pipeline.discovery import SUFFIXES

    if output is None or not os.path.isfile(output):
        return
    is_source = any(name.lower().endswith(SUFFIXES) for name in (output, os.path.realpath(output)))
    if is_source or any(os.path.isfile(path) and os.path.samefile(path, output) for path in paths):
        raise ConfigError(
            f"{option} {output}: a source file is there, and it would be overwritten; remove it or name another file"
        )


def refuse_unwritable(output: str | None, option: str) -> None:
    """Raise ConfigError where an output file cannot be written: before the user's command runs, whose results would be lost.
    Folders that are missing are made later."""
    if output is None:
        return
    place = os.path.abspath(output)
    while not os.path.exists(place) and place != os.path.dirname(place):
        place = os.path.dirname(place)
    if not os.access(place, os.W_OK):
        raise ConfigError(
            f"{option} {output}: cannot be written, because {place} is read-only; name another with {option}"
        )
