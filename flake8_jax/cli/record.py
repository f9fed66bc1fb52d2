"""``jaxlint record``: run the user's command and write down what JAX really traces and compiles."""

from __future__ import annotations

import argparse
import functools
import os
import shutil
import sys
from collections.abc import Sequence

import msgspec

from flake8_jax.cli.arguments import refuse_source_as_output, refuse_unwritable
from flake8_jax.cli.linted import notebook_cells
from flake8_jax.cli.running import (
    add_enough_option,
    add_output_format,
    add_process_options,
    command_parser,
    fail,
    find_python,
    finish,
    limits_of,
    missing_command,
    split_command,
    status_of,
    understood,
)
from flake8_jax.cli.said import print_json, tell
from flake8_jax.runtime_checks.profile import (
    DEFAULT,
    VERSION,
    Compilation,
    Function,
    Profile,
    compilations,
    save,
    shown_command,
    shown_path,
)
from flake8_jax.runtime_checks.sandbox import AS_IT_IS, Launch, describe, missing_jax, run_child
from flake8_jax.settings.tables import ConfigError

_EPILOG = """\
For each function, jaxlint records how often it ran, how often JAX was tracing it, and whether each parameter was a tracer, an
array, a key or a plain value, with shapes and dtypes. For each compilation, it records the place, the time, and why JAX
compiled again. It does not record the contents of arrays. Your command runs unchanged, but somewhat slower.

examples:
  jaxlint record -- python train.py --steps 3
  jaxlint record --root src -- pytest tests -q -n 4
  jaxlint record --for 2m -- uv run train.py
  jaxlint inspect src --profile .jaxlint/profile.json

jaxlint does not change the output of the program. It prints its own summary on standard error.

Exit status: that of the command; 0 if `--for` stopped the command, 124 if `--timeout` did; 2 for a usage error.
"""


def parser() -> argparse.ArgumentParser:
    made = command_parser(
        "record",
        "Run your command and record what JAX traces and compiles.",
        _EPILOG,
        "[options] -- COMMAND ...",
    )
    made.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="PATH",
        help="record the functions of the code in this folder; may be repeated (default: .)",
    )
    made.add_argument(
        "--profile", default=DEFAULT, metavar="FILE", help=f"write the profile to this file (default: {DEFAULT})"
    )
    group = made.add_argument_group("the process that runs your command")
    add_process_options(group, seconds=None)
    add_enough_option(group)
    add_output_format(made)
    return made


def run(arguments: Sequence[str]) -> int:
    """Run ``jaxlint record``; returns the exit status."""
    own, command = split_command(arguments)
    args = parser().parse_args(own)
    if not command:
        return fail(missing_command("record -- python train.py"))
    return finish(functools.partial(_run, args, command), args)


def _run(args: argparse.Namespace, words: list[str]) -> int:
    command = understood(words, os.getcwd())
    args.python = find_python(args.python, command)
    roots = [os.path.abspath(root) for root in args.root or ["."]]
    for root in roots:
        if not os.path.exists(root):
            raise ConfigError(f"{root}: there is no such file or directory (`--root`)")
    refuse_source_as_output(args.profile, (), "--profile")
    refuse_unwritable(args.profile, "--profile")
    cells = notebook_cells(command.words, os.getcwd())
    request = {"roots": roots, "command": list(command.words), "cells": cells, "watches": [], "record": True}
    limits = limits_of(args)
    launch = Launch(args.python, limits, command.variables, None, command.options, AS_IT_IS)
    # The command's own output goes where it would go, but for readers of JSON.
    output = (None, None) if args.output_format == "text" else (sys.stderr, None)
    sys.stdout.flush()
    outcome = run_child("observe", request, launch, output=output, keep=True)
    refused = outcome.of("refused")
    if refused:
        raise ConfigError(refused[0]["text"])
    recorded, seen, ended = outcome.of("record"), outcome.of("observations"), outcome.of("ended")
    if not recorded:
        tell(f"nothing was recorded: {describe(outcome, limits)}")
        return 2
    known = [*ended, *outcome.of("versions")]
    versions = known[0]["versions"] if known else {}
    said = [raised["message"] for raised in seen[-1]["raised"]] + [end["failure"] for end in ended]
    missing = missing_jax(args.python, versions, said)
    if missing:
        raise ConfigError(missing)
    base = os.path.dirname(os.path.dirname(os.path.abspath(args.profile)))
    functions = [msgspec.convert(row, Function) for row in recorded[-1]["functions"]]
    compiled = compilations(seen[-1]["compilations"], base)
    python = shown_path(os.path.abspath(shutil.which(args.python) or args.python), base)
    profile = Profile(VERSION, shown_command(words, base), versions, functions, compiled, python)
    if outcome.state != "ok" and not ended:
        tell(f"{describe(outcome, limits)}; what was seen until then is recorded")
    written = save(profile, args.profile)
    if not written:
        tell(f"no function and no compilation was seen: {args.profile} keeps what was recorded before")
    if args.output_format == "json":
        print_json(profile)
    elif written:
        tell(text_of(profile, args.profile).rstrip("\n"), several_lines=True)
    if ended and ended[0]["interrupted"]:
        tell("the command set its own trace function, which ended the recording")
    return status_of(outcome)


def text_of(profile: Profile, path: str) -> str:
    """What was recorded, in a few lines."""
    staged = sum(function.staged_calls > 0 for function in profile.functions)
    recorded = "1 function" if len(profile.functions) == 1 else f"{len(profile.functions)} functions"
    count = sum(c.count for c in profile.compilations)
    compiled = "1 compilation" if count == 1 else f"{count} compilations"
    lines = [f"Recorded {recorded}, {staged} of them while JAX traced, and {compiled} into {path}."]
    again = [c for c in profile.compilations if c.count > 1][:5]
    lines += [_again(c) for c in again]
    return "\n".join(lines) + "\n"


def _again(compiled: Compilation) -> str:
    place = f"{os.path.relpath(compiled.filename)}:{compiled.row}"
    cause = f": {compiled.causes[-1][:200]}" if compiled.causes else ""
    return f"  {place}: {compiled.name} compiled {compiled.count} times, {compiled.seconds:.2f} s{cause}"
