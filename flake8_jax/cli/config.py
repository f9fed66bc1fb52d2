"""``jaxlint config`` and ``jaxlint clean``: the keys of the configuration, and removing the cache."""

from __future__ import annotations

import argparse
import difflib
import os
import shutil
import sys
from collections.abc import Sequence

from flake8_jax.config import ConfigError, Resolver, option_documentation


def run_config(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="jaxlint config", description="List the keys of [tool.jaxlint] in pyproject.toml (or of jaxlint.toml)."
    )
    parser.add_argument("key", nargs="?", metavar="KEY", help="explain this key")
    args = parser.parse_args(arguments)
    documentation = option_documentation()
    if args.key is None:
        width = max(map(len, documentation))
        for key, text in documentation.items():
            print(f"{key:<{width}}  {text}")
        return 0
    if args.key not in documentation:
        close = difflib.get_close_matches(args.key, documentation, n=1)
        hint = f"; did you mean `{close[0]}`?" if close else ""
        print(f"jaxlint: unknown key `{args.key}`{hint}", file=sys.stderr)
        return 2
    print(documentation[args.key])
    return 0


def run_clean(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="jaxlint clean", description="Remove the cache of the project.")
    parser.add_argument("--cache-dir", metavar="DIRECTORY", help="the cache to remove, where it was put elsewhere")
    args = parser.parse_args(arguments)
    from flake8_jax.engine import cache_directory

    cwd = os.getcwd()
    try:
        settings = Resolver(cwd).settings_for(cwd)
    except ConfigError as error:
        print(f"jaxlint: {error}", file=sys.stderr)
        return 2
    directory = args.cache_dir or cache_directory(settings, cwd)
    if not os.path.isfile(os.path.join(directory, "CACHEDIR.TAG")):
        print(f"{directory}: there is no cache here")
        return 0
    try:
        shutil.rmtree(directory)
    except OSError as error:
        print(f"jaxlint: {directory}: cannot be removed: {error.strerror}", file=sys.stderr)
        return 2
    print(f"{directory}: removed")
    return 0
