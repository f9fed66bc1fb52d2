"""``jaxlint config`` and ``jaxlint clean``: the keys of the configuration, and removing the cache."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence

from flake8_jax.cli.parsing import CommandParser
from flake8_jax.cli.said import tell
from flake8_jax.core.printable import one_line
from flake8_jax.settings.options import Options, option_documentation
from flake8_jax.settings.resolver import Resolver
from flake8_jax.settings.tables import ConfigError


def config_parser() -> CommandParser:
    made = CommandParser(
        prog="jaxlint config", description="List the keys of [tool.jaxlint] in pyproject.toml (or of jaxlint.toml)."
    )
    made.add_argument("key", nargs="?", metavar="KEY", help="explain this key (default: list all keys)")
    return made


def run_config(arguments: Sequence[str]) -> int:
    args = config_parser().parse_args(arguments)
    documentation = option_documentation()
    if args.key is None:
        width = max(map(len, documentation))
        for key, text in documentation.items():
            print(f"{key:<{width}}  {text}")
        return 0
    if args.key not in documentation:
        close = difflib.get_close_matches(args.key, documentation, n=1)
        hint = f"; did you mean `{close[0]}`?" if close else ""
        tell(f"unknown key `{args.key}`{hint}")
        return 2
    print(documentation[args.key])
    return 0


def clean_parser() -> CommandParser:
    made = CommandParser(
        prog="jaxlint clean", description="Remove the cache of the project, and nothing that jaxlint did not write."
    )
    made.add_argument(
        "--cache-dir",
        metavar="DIRECTORY",
        help="the directory that contains the cache (default: the root of the project)",
    )
    return made


def run_clean(arguments: Sequence[str]) -> int:
    args = clean_parser().parse_args(arguments)
    from flake8_jax.pipeline.cache import cache_home, remove
    from flake8_jax.pipeline.workspace import cache_parent

    cwd = os.getcwd()
    try:
        settings = Resolver(cwd, flags=Options(cache_dir=args.cache_dir)).settings_for(cwd)
    except ConfigError as error:
        tell(error)
        return 2
    parent = cache_parent(settings, cwd)
    home = one_line(cache_home(parent))
    removed = remove(parent)
    if removed is None:
        print(f"{home}: there is no cache of jaxlint here")
        return 0
    if not (removed.left or removed.failed):
        print(f"{home}: removed")
    for path in removed.left:
        tell(f"{path}: left, because the cache did not write it")
    for line in removed.failed:
        tell(f"{line}; it was not removed")
    return 2 if removed.failed else 0
