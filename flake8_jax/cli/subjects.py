"""What ``bench``, ``probe`` and ``recompiles`` are about: a function, and where its inputs come from.

--case TEXT, --cases FILE ──► inputs named by us, of a function that can be imported
-- COMMAND, --profile FILE ─► the function and its arguments as the user's command has them
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from flake8_jax.cli.profiles import recorded_python
from flake8_jax.cli.running import (
    RunError,
    add_run_options,
    ask,
    command_parser,
    converted,
    dimension,
    fail,
    names_list,
    positive,
    split_command,
)
from flake8_jax.cli.said import tell
from flake8_jax.runtime_checks.measurements import BenchCase, ProbeCase, RecompileCase
from flake8_jax.runtime_checks.profile import Profile, ProfileError, is_whole, load, unlike
from flake8_jax.settings.tables import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_TARGET_HELP = "the function to measure: module:function, file.py:function or file.py:LINE"
CASE_HELP = "call the function with these inputs, such as 'f32[64,64], n=3'; may be repeated"
LONGEST = 160
LOOPS = "The compiler counts the body of a loop (scan, fori_loop, while_loop) once, so the work of a call is more than that."
_Kind = TypeVar("_Kind")

_INPUTS_HELP = """\
inputs:
  f32[8,128]  bf16[]  bool[4]  key  key[4]  legacy-key     arrays and PRNG keys
  f32[n,3], i32[n], n=100                                  named dimensions
  {"w": f32[3,3], "b": f32[3]}  (f32[2], 0.5)              containers
  weak(f32[])  numpy(f64[3])                               a weak type, a NumPy array
  3, mode="fast"                                           Python values, also by keyword

inputs from a file (--cases), for any pytree, such as a Flax TrainState:
  FILE.toml   cases = ["f32[8]", "f32[9]"], or tables [[cases]] with `inputs` and an optional `name`
  FILE.py     a function cases() that returns or yields one item for each call: a tuple of arguments, a dict of keyword
              arguments, a pair (tuple, dict), or else the only argument; jax.ShapeDtypeStruct stands for an array

inputs from your command: with `-- COMMAND`, jaxlint runs COMMAND until it has called TARGET --calls times, and takes the
function and the arguments from these calls. So TARGET can also be a function inside another one, such as main.step. With
--profile FILE, it runs the command that `jaxlint record` stored in FILE.
"""


def subject_parser(name: str, description: str, epilog: str, note: str = "") -> argparse.ArgumentParser:
    """The parser of ``jaxlint NAME TARGET``. note: more about TARGET. Its options end with ``add_subject_options``."""
    made = command_parser(name, description, f"{_INPUTS_HELP}{epilog}")
    made.add_argument("function", metavar="TARGET", help=_TARGET_HELP + note)
    return made


def add_array_options(group: argparse._ArgumentGroup) -> None:
    """Options that say which arrays inputs such as ``f32[n]`` stand for."""
    group.add_argument(
        "--dim",
        action="append",
        default=[],
        type=dimension,
        metavar="NAME=SIZE",
        help="set the size of a named dimension, as in n=128 (default: 4 for the first name, 5 for the second …)",
    )
    group.add_argument(
        "--seed", type=int, default=0, metavar="N", help="set the seed for the values of arrays (default: 0)"
    )


def add_subject_options(parser: argparse.ArgumentParser, *, platform: bool = True, made_up: bool = True) -> None:
    """Options that say with what TARGET is called, and how its process runs. platform: whether ``--target`` is among them.
    made_up: whether the command makes up inputs if the user gives none."""
    group = parser.add_argument_group("inputs")
    default = " (default: made-up inputs)" if made_up else ""
    group.add_argument("--case", action="append", default=[], metavar="INPUTS", help=CASE_HELP + default)
    group.add_argument(
        "--cases", metavar="FILE.toml|FILE.py", help="also call the function with the inputs in this file"
    )
    add_array_options(group)
    group.add_argument(
        "--static", type=names_list, default=[], metavar="NAMES",
        help="make these parameters static, separated by commas, if the function is not jitted yet",
    )  # fmt: skip
    group.add_argument(
        "--donate",
        type=names_list,
        default=[],
        metavar="NAMES",
        help="donate these parameters, separated by commas, if the function is not jitted yet",
    )
    group.add_argument("--profile", metavar="FILE", help="run the command that `jaxlint record` stored in FILE")
    group.add_argument(
        "--calls", type=positive, default=20, metavar="N",
        help="with a command: stop it after N calls of the function, or 20 s after the first call, and use these calls "
        "(default: 20)",
    )  # fmt: skip

    add_run_options(parser, platform=platform, command=True)


def run_subject(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str],
    work: Callable[[argparse.Namespace, list[str] | None], int],
) -> int:
    """The exit status of ``work`` on our own options and the words of the command (None where there is no ``--``); 2 with a
    message where it raises RunError or ConfigError."""
    own, command = split_command(arguments)
    args = parser.parse_args(own)
    try:
        return work(args, command)
    except (RunError, ConfigError) as error:
        return fail(error)


def measured(
    args: argparse.Namespace,
    command: Sequence[str] | None,
    kind: type[_Kind],
    more: Mapping[str, Any],
    *,
    task: str,
    shapes: int = 8,
) -> _Kind:
    """The result of a task of the child. command: the words after ``--``; more: what the request holds besides TARGET and its
    inputs; shapes: how many different ones of the command's calls are kept.

    Raises RunError, ConfigError.
    """
    recorded = _recorded(args, command)
    request = {**_request(args, command, shapes, recorded), **more}
    if recorded is not None:
        args.python = recorded_python(args.python, recorded)
    result = ask(args, task, request, getattr(args, "platform", None))
    if recorded is not None and (said := unlike(recorded, result["setting"])):
        tell(said)
    return converted(result, kind)


def _request(
    args: argparse.Namespace, command: Sequence[str] | None, shapes: int, recorded: Profile | None
) -> dict[str, Any]:
    """What is measured. Raises RunError."""
    words = list(command or ()) if recorded is None else _command(args, recorded)
    if words and (args.case or args.cases):
        raise RunError("--case and --cases name inputs, and the command gives its own: use one of the two")
    return {
        "target": args.function,
        "static": args.static,
        "donate": args.donate,
        "eager": getattr(args, "eager", False),
        "seed": args.seed,
        "dims": dict(args.dim),
        "cases": [*({"text": text} for text in args.case), *_of_table(args.cases)],
        "cases_file": _program(args.cases),
        "command": words,
        "calls": args.calls,
        "wait": 20.0,
        "shapes": shapes,
    }


def _recorded(args: argparse.Namespace, command: Sequence[str] | None) -> Profile | None:
    """What ``--profile`` names. Raises RunError."""
    if command is not None:
        if not command:
            raise RunError("there is no command after `--`")
        if args.profile:
            raise RunError("--profile names a command, and there is one after `--`: use one of the two")
    if not args.profile:
        return None
    try:
        return load(args.profile)
    except ProfileError as error:
        raise RunError(str(error)) from error


def _command(args: argparse.Namespace, profile: Profile) -> list[str]:
    """The command of a profile. Raises RunError."""
    recorded = profile.command
    if not recorded:
        raise RunError(f"{args.profile}: it holds no command; give one after `--`")
    if not is_whole(recorded):
        shown = shlex.join(recorded)
        raise RunError(f"{args.profile} holds no secrets and no absolute paths of {shown}; give the command after `--`")
    tell(f"running `{shlex.join(recorded)}`, which {args.profile} recorded, until it has called {args.function}")
    return recorded


def _checked(path: str) -> str:
    if not os.path.isfile(path):
        raise RunError(f"--cases {path}: there is no such file")
    if not path.endswith((".py", ".toml")):
        raise RunError(f"--cases {path}: a file of cases ends in .toml or .py")
    return path


def _program(path: str | None) -> str | None:
    return os.path.abspath(_checked(path)) if path and _checked(path).endswith(".py") else None


def _of_table(path: str | None) -> list[dict[str, str]]:
    """The cases of a TOML file. Raises RunError."""
    if not path or _checked(path).endswith(".py"):
        return []
    try:
        with open(path, "rb") as file:
            data = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RunError(f"--cases {path}: {error}") from error
    entries = data.get("cases")
    if not isinstance(entries, list) or not entries:
        raise RunError(f'--cases {path}: it has no `cases = ["f32[8]", …]` and no [[cases]] tables')
    return [_entry(entry, path) for entry in entries]


def _entry(entry: Any, path: str) -> dict[str, str]:
    if isinstance(entry, str):
        return {"text": entry}
    if isinstance(entry, dict) and isinstance(entry.get("inputs"), str) and not entry.keys() - {"inputs", "name"}:
        return {"text": entry["inputs"], "label": str(entry.get("name", ""))}
    raise RunError(
        f"--cases {path}: {entry!r} is not a case; write a text of inputs, or a table with `inputs` and `name`"
    )


_SOURCES = {
    "made up": " (made up; --case says others)",
    "shapes": " (arrays of the shapes that the command traced it with)",
}


def said_inputs(case: BenchCase | RecompileCase | ProbeCase) -> str:
    """The inputs of a case for a reader; what is long is cut."""
    shown = shortened(case.inputs, LONGEST)
    facts = [case.unlike] * bool(case.unlike) + [f"{case.alike} calls like this"] * (case.alike > 1)
    more = f" ({'; '.join(facts)})" if facts else ""
    return f"{shown or 'none'}{_SOURCES.get(case.source, '')}{more}"


def said_left_out(count: int) -> str:
    """How many calls of the command there is nothing of; nothing if there are none."""
    calls = "1 further call" if count == 1 else f"{count} further calls"
    return f"{calls} had inputs of still other shapes, which are left out.\n" if count else ""


def shortened(text: str, most: int) -> str:
    """The text, cut where it is longer than ``most`` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"
