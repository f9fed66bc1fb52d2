"""``jaxlint record``: run the user's command and write down what JAX really traces and compiles."""

from __future__ import annotations

import argparse
import functools
import os
import sys
from collections.abc import Sequence

import msgspec

from flake8_jax.cli.arguments import refuse_source_as_output
from flake8_jax.cli.running import (
    add_output_format,
    add_process_options,
    command_parser,
    fail,
    find_python,
    finish,
    limits_of,
    missing_command,
    split_command,
)
from flake8_jax.cli.said import print_json, say, tell
from flake8_jax.runtime_checks.profile import DEFAULT, VERSION, Compilation, Function, Profile, compilations, save
from flake8_jax.runtime_checks.sandbox import Launch, describe, run_child
from flake8_jax.settings.tables import ConfigError

_EPILOG = """\
For every function of your code: how often it ran, how often while JAX traced it, and whether each parameter was a tracer, an
array, a key or a plain value, with shapes and dtypes. For every compilation: where, how long, and why anew. Contents of arrays
are not kept. The command runs with your rights and as it is, somewhat slower.

examples:
  jaxlint record -- python train.py --steps 3
  jaxlint record --root src -- pytest tests -q
  jaxlint inspect src --profile .jaxlint/profile.json

Exit status: that of the command; 2 for a wrong call.
"""


def parser() -> argparse.ArgumentParser:
    made = command_parser(
        "record",
        "Run your command and record what JAX traces and compiles.",
        _EPILOG,
        "[options] -- COMMAND ...",
    )
    made.add_argument(
        "--root", action="append", default=[], metavar="PATH", help="code that is recorded; may be repeated; default: ."
    )
    made.add_argument("--profile", default=DEFAULT, metavar="FILE", help=f"where to write; default: {DEFAULT}")
    add_process_options(made.add_argument_group("the process that runs your command"), seconds=None)
    add_output_format(made)
    return made


def run(arguments: Sequence[str]) -> int:
    """Run ``jaxlint record``; returns the exit status."""
    own, command = split_command(arguments)
    args = parser().parse_args(own)
    args.python = find_python(args.python)
    if not command:
        return fail(missing_command("record -- python train.py"))
    return finish(functools.partial(_run, args, command), args.python)


def _run(args: argparse.Namespace, command: list[str]) -> int:
    roots = [os.path.abspath(root) for root in args.root or ["."]]
    for root in roots:
        if not os.path.exists(root):
            raise ConfigError(f"{root}: there is no such file or directory (`--root`)")
    refuse_source_as_output(args.profile, (), "--profile")
    request = {"roots": roots, "command": command, "watches": [], "record": True}
    limits = limits_of(args)
    # The command's own output goes where it would go, but for readers of JSON.
    output = sys.stdout if args.output_format == "text" else sys.stderr
    sys.stdout.flush()
    outcome = run_child("observe", request, Launch(args.python, limits), output=output)
    refused = outcome.of("refused")
    if refused:
        raise ConfigError(refused[0]["text"])
    recorded, seen, ended = outcome.of("record"), outcome.of("observations"), outcome.of("ended")
    if not recorded:
        tell(f"nothing was recorded: {describe(outcome, limits)}")
        return 2
    profile = Profile(
        VERSION,
        command,
        ended[0]["versions"],
        [msgspec.convert(row, Function) for row in recorded[0]["functions"]],
        compilations(seen[0]["compilations"]),
    )
    save(profile, args.profile)
    if args.output_format == "json":
        print_json(profile)
    else:
        say(text_of(profile, args.profile))
    if ended[0]["interrupted"]:
        tell("the command set a trace function of its own, which ended the recording")
    return int(ended[0]["status"])


def text_of(profile: Profile, path: str) -> str:
    """What was recorded, in a few lines."""
    staged = sum(function.staged_calls > 0 for function in profile.functions)
    lines = [
        f"Recorded {len(profile.functions)} functions, {staged} of them while JAX traced, and "
        f"{sum(c.count for c in profile.compilations)} compilations into {path}."
    ]
    again = [c for c in profile.compilations if c.count > 1][:5]
    lines += [_again(c) for c in again]
    return "\n".join(lines) + "\n"


def _again(compiled: Compilation) -> str:
    place = f"{os.path.relpath(compiled.filename)}:{compiled.row}"
    cause = f": {compiled.causes[-1][:200]}" if compiled.causes else ""
    return f"  {place}: {compiled.name} compiled {compiled.count} times, {compiled.seconds:.2f} s{cause}"
