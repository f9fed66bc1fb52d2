"""``jaxlint recompiles``: which inputs make a jitted function compile anew."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from flake8_jax.cli.running import (
    INPUTS_HELP,
    TARGET_HELP,
    RunError,
    add_input_options,
    add_run_options,
    ask,
    command_parser,
    converted,
    fail,
    fill_inputs,
    place,
    seconds,
    show_result,
)
from flake8_jax.runtime_checks.measurements import RecompileCase, Recompiles

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_EPILOG = f"""\
{INPUTS_HELP}
FILE.toml:  cases = ["f32[8]", "f32[9]"], or tables [[cases]] with `inputs` and, if you like, `name`
FILE.py:    a function cases() that returns or yields, for each call, a tuple of arguments, a dict of keyword
            arguments, a pair of both, or the only argument

The exit status is 0 if only the first case compiled, 1 if another did, 2 if the function could not be run.

examples:
  jaxlint recompiles train.py:step --case 'f32[8], 0.1' --case 'f32[8], 1' --case 'f32[9], 0.1'
  jaxlint recompiles model.py:decode --static steps --cases shapes.toml
"""


def parser() -> argparse.ArgumentParser:
    made = command_parser(
        "recompiles",
        "Call a jitted function with inputs in turn, and say which calls compile anew, why, and what avoids it.",
        _EPILOG,
    )
    made.add_argument("function", metavar="TARGET", help=f"{TARGET_HELP}; it is jitted first unless it is already")
    made.add_argument("--cases", metavar="FILE.toml|FILE.py", help="more inputs, from a file")
    made.add_argument(
        "--eager", action="store_true", help="call it as it is, and count everything that compiles in the calls"
    )
    add_input_options(made)
    add_run_options(made)
    return made


def run(arguments: Sequence[str]) -> int:
    """Run ``jaxlint recompiles``; returns the exit status."""
    made = parser()
    args = made.parse_args(arguments)
    if not args.case and not args.cases:
        made.error("say the inputs of the calls: --case INPUTS for each, or --cases FILE")
    try:
        request = {**fill_inputs(args), "target": args.function, "eager": args.eager, "cases_file": None}
        if args.cases:
            request = _with_file(request, args.cases)
        result = ask(args, "recompiles", request, args.platform)
    except RunError as error:
        return fail(error)
    recompiles = converted(result, Recompiles)
    show_result(args, recompiles, described)
    return 1 if any(case.compiled for case in recompiles.cases[1:]) else 0


def _with_file(request: dict[str, Any], path: str) -> dict[str, Any]:
    """The request with the cases of a file. Raises RunError."""
    if not os.path.isfile(path):
        raise RunError(f"--cases {path}: there is no such file")
    if path.endswith(".py"):
        return {**request, "cases_file": os.path.abspath(path)}
    if not path.endswith(".toml"):
        raise RunError(f"--cases {path}: a file of cases ends in .toml or .py")
    try:
        with open(path, "rb") as file:
            data = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RunError(f"--cases {path}: {error}") from error
    entries = data.get("cases")
    if not isinstance(entries, list) or not entries:
        raise RunError(f'--cases {path}: it has no `cases = ["f32[8]", …]` and no [[cases]] tables')
    return {**request, "cases": [*request["cases"], *(_entry(entry, path) for entry in entries)]}


def _entry(entry: Any, path: str) -> dict[str, str]:
    if isinstance(entry, str):
        return {"text": entry}
    if isinstance(entry, dict) and isinstance(entry.get("inputs"), str) and not entry.keys() - {"inputs", "name"}:
        return {"text": entry["inputs"], "label": str(entry.get("name", ""))}
    raise RunError(f"--cases {path}: {entry!r} is no case; write a text of inputs, or a table with `inputs` and `name`")


def described(recompiles: Recompiles) -> str:
    """The result for a reader."""
    where = place(recompiles.file, recompiles.line)
    static = f", static: {', '.join(recompiles.static)}" if recompiles.static else ""
    lines = [
        f"{recompiles.name}" + (f" ({where})" if where else "") + f", {recompiles.mode}{static}; {recompiles.setting}"
    ]
    for number, case in enumerate(recompiles.cases):
        lines += _described_case(case, number == 0)
    again = sum(case.compiled for case in recompiles.cases[1:])
    calls = len(recompiles.cases)
    if calls == 1:
        lines.append("One call compiles once; give more cases to see which compile anew.")
    elif again:
        lines.append(f"{again} of {calls - 1} later call{'s' if calls > 2 else ''} compiled anew.")
    else:
        lines.append(f"None of {calls - 1} later call{'s' if calls > 2 else ''} compiled anew.")
    return "\n".join(lines) + "\n"


def _described_case(case: RecompileCase, first: bool) -> list[str]:
    state = "compiled" if first and case.compiled else "COMPILED ANEW" if case.compiled else "from the cache"
    lines = [f"  {case.label}: {case.inputs}: {state} ({seconds(case.seconds)})"]
    if case.names:
        lines.append(f"      compiled: {', '.join(case.names)}")
    if first or not case.compiled:
        return lines
    for difference in case.differences:
        lines += [
            f"      {difference.where}: {difference.now}, in case {case.compared_with} {difference.before}",
            f"        {difference.remedy}",
        ]
    if not case.differences:
        lines.append("      The inputs look the same as in an earlier case to us.")
        lines += [f"      JAX: {line}" for line in case.explanation.splitlines()]
    return lines
