"""``jaxlint template``: a program to start from, printed or written to a new file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from flake8_jax.cli.parsing import did_you_mean
from flake8_jax.cli.running import add_output_format, columns, command_parser
from flake8_jax.cli.said import print_json, print_program, say, tell
from flake8_jax.templates import names, read, title

_EPILOG = """\
Each template is one file that runs on the CPU, checks its own result, and has no finding of any rule. jaxlint does not
overwrite existing files.

examples:
  jaxlint template --list
  jaxlint template train-step
  jaxlint template shard-map --output normalize.py
"""


def parser() -> argparse.ArgumentParser:
    made = command_parser(
        "template",
        "Print an example program (template) from which you can start your own, or write it to a new file.",
        _EPILOG,
    )
    made.add_argument("name", nargs="?", metavar="NAME", help="print this template (default: list all templates)")
    made.add_argument("--list", action="store_true", help="list all templates")
    made.add_argument(
        "-o", "--output", metavar="FILE", help="write the template to this new file (default: standard output)"
    )
    add_output_format(made)
    return made


def run(arguments: Sequence[str]) -> int:
    """Run ``jaxlint template``; returns the exit status."""
    args = parser().parse_args(arguments)
    if args.list or args.name is None:
        return _list(args.output_format)
    name = args.name.replace("_", "-").removesuffix(".py")
    if name not in names():
        tell(f"there is no template `{args.name}`{did_you_mean(name, names())} (`jaxlint template --list` lists them)")
        return 2
    text = read(name)
    if args.output is not None:
        return _write(args.output, text)
    if args.output_format == "json":
        print_json({"name": name, "title": title(name), "text": text})
    else:
        print_program(text)
    return 0


def _list(output_format: str) -> int:
    if output_format == "json":
        print_json([{"name": name, "title": title(name)} for name in names()])
    else:
        say(columns([(name, title(name)) for name in names()], ""))
    return 0


def _write(output: str, text: str) -> int:
    try:
        with Path(output).open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        tell(f"{output} exists already, and jaxlint does not overwrite it; name a new file")
        return 2
    except OSError as error:
        tell(f"{output}: {error.strerror}; name a file that can be written")
        return 2
    tell(f"wrote {output}")
    return 0
