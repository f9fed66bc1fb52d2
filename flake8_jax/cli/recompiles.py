"""``jaxlint recompiles``: which inputs make a jitted function compile again."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import msgspec

from flake8_jax.cli.plots import check_plot, draw_recompiles, save
from flake8_jax.cli.running import RunError, place, seconds, show_result, size
from flake8_jax.cli.said import tell
from flake8_jax.cli.subjects import (
    add_subject_options,
    measured,
    run_subject,
    said_inputs,
    said_left_out,
    shortened,
    subject_parser,
)
from flake8_jax.runtime_checks.measurements import CacheKey, RecompileCase, Recompiles, peak
from flake8_jax.runtime_checks.profile import Profile, load

_LONGEST_REASON, _MOST_KINDS = 240, 40

_EPILOG = """
Exit status: 0 if only the first call compiled, 1 if a later call did, 2 if the function could not be run.

examples:
  jaxlint recompiles train.py:step --case 'f32[8], 0.1' --case 'f32[8], 1' --case 'f32[9], 0.1'
  jaxlint recompiles model.py:decode --static steps --cases shapes.toml --plot compilations.png
  jaxlint recompiles train.py:main.step -- python train.py --steps 20
"""


def parser() -> argparse.ArgumentParser:
    made = subject_parser(
        "recompiles",
        "Call a jitted function with several inputs and show which calls recompile, why, and how to avoid it.",
        _EPILOG,
        "; jaxlint jits it if it is not jitted",
    )
    made.add_argument(
        "--eager",
        action="store_true",
        help="call the function without jit, and explain each compilation that happens inside the calls",
    )
    made.add_argument(
        "--plot",
        metavar="FILE.png|FILE.svg",
        help="draw the compile time and the memory of each call in this file (needs matplotlib)",
    )
    add_subject_options(made, made_up=False)
    return made


def run(arguments: Sequence[str]) -> int:
    """Run ``jaxlint recompiles``; returns the exit status."""
    return run_subject(parser(), arguments, _run)


def _run(args: argparse.Namespace, command: list[str] | None) -> int:
    if not args.case and not args.cases and not args.profile and command is None:
        raise RunError("say the inputs of the calls: --case INPUTS for each, --cases FILE, or your command after `--`")
    check_plot(args.plot)
    recompiles = measured(args, command, Recompiles, {}, task="recompiles", shapes=_MOST_KINDS)
    show_result(args, recompiles, described)
    compiled = sum(case.compiled for case in recompiles.cases)
    if args.profile and (said := made_again(recompiles.name, compiled, load(args.profile))):
        tell(said)
    if args.plot:
        save(draw_recompiles(recompiles), args.plot)
        tell(f"wrote {args.plot}")
    return 1 if any(case.compiled for case in recompiles.cases[1:]) else 0


def described(recompiles: Recompiles) -> str:
    """The result for a reader."""
    where = place(recompiles.file, recompiles.line)
    static = f", static: {', '.join(recompiles.static)}" if recompiles.static else ""
    lines = [
        f"{recompiles.name}" + (f" ({where})" if where else "") + f", {recompiles.mode}{static}; {recompiles.setting}"
    ]
    for number, case in enumerate(recompiles.cases):
        lines += _described_case(case, number == 0)
    lines += _table(recompiles)
    again = sum(case.compiled for case in recompiles.cases[1:])
    calls = len(recompiles.cases)
    if calls == 1 and recompiles.cases[0].alike > 1:
        lines.append(f"All {recompiles.cases[0].alike} calls that were looked at share this compilation.")
    elif calls == 1:
        lines.append("One call compiles once; give more cases to see which recompile.")
    elif again:
        lines.append(f"{again} of {_later(recompiles)} recompiled.")
    else:
        lines.append(f"None of {_later(recompiles)} recompiled.")
    return "\n".join(lines) + "\n" + said_left_out(recompiles.left_out)


def made_again(function: str, compiled: int, profile: Profile) -> str:
    """What to say where the recorded run compiled the function more often, because it made several functions of that name:
    here one of them gets all calls. JAX compiles each function object by itself, and says so in its explanations. compiled:
    how often it was compiled here."""
    name = function.rpartition(".")[2]
    found = [one for one in profile.compilations if one.name == name and any(_ANOTHER in cause for cause in one.causes)]
    count = sum(one.count for one in found)
    if count <= compiled:
        return ""
    return (
        f"the recorded run compiled `{name}` {count} times, because the program makes the function again, and JAX compiles "
        "each function object by itself; here one of them gets all calls"
    )


_ANOTHER = "another function defined on the same line"


def _later(recompiles: Recompiles) -> str:
    """How many calls came after the first; of a command, each stands for all that are like it."""
    count = len(recompiles.cases) - 1
    plural = "s" * (count != 1)
    grouped = any(case.alike > 1 for case in recompiles.cases)
    return f"{count} later kind{plural} of calls" if grouped else f"{count} later call{plural}"


def _table(recompiles: Recompiles) -> list[str]:
    """Compile time and memory of the cases that compiled; nothing where it is one."""
    compiled = [case for case in recompiles.cases if case.compiled]
    if len(compiled) < 2:
        return []
    rows = [("case", "trace", "lower", "compile", "memory", "of it temporary")]
    for case in compiled:
        steps = [seconds(case.steps.get(step, 0.0)) for step in ("trace", "lower", "compile")]
        memory = [size(peak(case.memory)), size(case.memory.get("temp", 0))] if case.memory else ["", ""]
        rows.append((case.label, *steps, *memory))  # type: ignore[arg-type]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    cells = ([f"{cell:>{width}}" for cell, width in zip(row, widths)] for row in rows)
    return ["", *("  " + "  ".join(row) for row in cells), ""]


def _described_case(case: RecompileCase, first: bool) -> list[str]:
    state = "compiled" if first and case.compiled else "RECOMPILED" if case.compiled else "from the cache"
    told = msgspec.structs.replace(case, unlike="") if case.differences else case
    lines = [f"  {case.label}: {said_inputs(told)}: {state} ({seconds(case.seconds)})"]
    if case.names:
        lines.append(f"      compiled: {', '.join(case.names)}")
    if first or not case.compiled:
        return lines
    for difference in case.differences:
        lines += [
            f"      {difference.where}: {_said(difference, case.compared_with)}",
            f"        {difference.remedy}",
        ]
    if not case.differences:
        lines.append("      The inputs look the same as in an earlier case to us.")
    if not case.differences or any(difference.now == difference.before for difference in case.differences):
        lines += [f"      JAX: {shortened(line, _LONGEST_REASON)}" for line in case.explanation.splitlines()]
    return lines


def _said(difference: CacheKey, label: str | None) -> str:
    earlier = label if label is not None and label.startswith("call ") else f"case {label}"
    if difference.now == difference.before:
        return f"{difference.now}, the same text in {earlier}, but another object"
    return f"{difference.now}, but {difference.before} in {earlier}"
