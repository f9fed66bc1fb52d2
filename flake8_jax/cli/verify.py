"""``jaxlint verify``: lint, then run the user's command and say of every finding whether it is true."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from flake8_jax.cli.arguments import (
    absolute,
    add_log_options,
    add_project_options,
    add_selection_options,
    resolver_from,
    wants_color,
)
from flake8_jax.cli.running import add_device_option, add_process_options, find_python, split_command
from flake8_jax.config import ConfigError
from flake8_jax.core.report import Diagnostic, RunReport
from flake8_jax.reporters import View, formats, render
from flake8_jax.runtime_checks.marks import cases_of, recorded_function
from flake8_jax.runtime_checks.observations import Spot
from flake8_jax.runtime_checks.profile import Function, ProfileError, load
from flake8_jax.runtime_checks.sandbox import Limits
from flake8_jax.runtime_checks.verify import Asked, RefusedCommand, Verification, Workload, verify

if TYPE_CHECKING:
    from flake8_jax.backend import Backend

_EPILOG = """\
Without a command, the functions that lead to a finding are called with inputs made up from their signatures. That proves
less than your own: give a command where there is one. It is run in a child process, once for every way of watching that the
findings need, and is observed, not changed. Its own checks may fail meanwhile; that is said.

examples:
  jaxlint verify src/model.py
  jaxlint verify src/ -- python train.py --steps 3
  jaxlint verify src/ --select JAX1,JAX3 -- pytest tests/test_model.py -q
  jaxlint verify src/ --target cuda --require confirmed --output-format sarif -- python train.py

verdicts: confirmed, confirmed-if-traced (nothing shows that the argument is), refuted (on these inputs, JAX and backend),
blocked (another error comes first), inconclusive (the line did not run, or nothing decisive was seen).

Exit status: 0 if all findings have the verdict that `--require` asks for, or none is confirmed; 1 if not; 2 for a wrong call.
This is no sandbox against malice: the command runs with your rights.
"""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="jaxlint verify",
        usage="jaxlint verify [options] [PATH ...] [-- COMMAND ...]",
        description="Lint, then confirm or refute each finding by running your code on JAX.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="files or directories; default: .")
    run = made.add_argument_group("running")
    add_device_option(run)
    add_process_options(run)
    run.add_argument("--profile", metavar="FILE", help="without a command: inputs like those that `jaxlint record` saw")
    run.add_argument(
        "--require", choices=("confirmed", "none"), default="none",
        help="confirmed: exit 1 unless every finding is confirmed",
    )  # fmt: skip
    made.add_argument("--output-format", choices=["text", *formats()], metavar="FORMAT", default="text")
    made.add_argument("-o", "--output-file", metavar="FILE", help="write the findings there")
    add_selection_options(made)
    add_project_options(made)
    add_log_options(made)
    return made


def run(arguments: Sequence[str], backend: Backend | None = None) -> int:
    """Run ``jaxlint verify``; returns the exit status."""
    own, command = split_command(arguments)
    args = parser().parse_args(own)
    args.command = command or []
    args.python = find_python(args.python)
    output_format = "full" if args.output_format == "text" else args.output_format
    args.output_format = None
    cwd = os.getcwd()
    try:
        if command == []:
            raise ConfigError(
                "there is no command after `--`: give one, such as `jaxlint verify src -- python train.py`"
            )
        return _run(args, output_format, cwd, backend)
    except (ConfigError, RefusedCommand) as error:
        print(f"jaxlint: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"jaxlint: {args.python} cannot be started: {error.strerror}; see `--python`", file=sys.stderr)
        return 2


def _run(args: argparse.Namespace, output_format: str, cwd: str, backend: Backend | None) -> int:
    from flake8_jax.backend import default_backend
    from flake8_jax.cli.output import troubles
    from flake8_jax.engine import Question, Workspace

    paths = absolute(args.paths or ["."], cwd)
    workspace = Workspace(
        backend or default_backend(), resolver_from(args, cwd), use_cache=not args.no_cache, jobs=args.jobs
    )
    report = workspace.check(Question(paths, {}, args.force_exclude, args.ignore_noqa))
    color = wants_color(args.color, sys.stdout.isatty()) and args.output_file is None
    view = View(cwd, color)
    for line in troubles(report, view, args.verbose):
        print(line, file=sys.stderr)
    if report.missing:
        return 2
    workload = Workload(
        tuple(args.command), tuple(paths), cwd, args.python, args.target or "",
        Limits(args.timeout, args.memory, not args.no_network),
    )  # fmt: skip
    recorded = _recorded(args.profile)
    asked = [
        Asked(item.finding.name, spot_of(item), targets_of(item), _cases(item, recorded)) for item in report.diagnostics
    ]

    def progress(text: str) -> None:
        if not (args.quiet or args.silent):
            print(f"jaxlint: {text}", file=sys.stderr)

    found = verify(asked, workload, progress)
    for note in found.notes:
        print(f"jaxlint: {note}", file=sys.stderr)
    return _say(args, with_verdicts(report, found, args.command), found, output_format, view)


def _recorded(path: str | None) -> dict[str, list[Function]]:
    """The recorded functions by file. Raises ConfigError."""
    found: dict[str, list[Function]] = {}
    if path is not None:
        try:
            functions = load(path).functions
        except ProfileError as error:
            raise ConfigError(str(error)) from error
        for function in functions:
            found.setdefault(os.path.realpath(function.filename), []).append(function)
    return found


def _cases(item: Diagnostic, recorded: dict[str, list[Function]]) -> tuple[str, ...]:
    function = recorded_function(item, recorded.get(os.path.realpath(item.path), ()))
    text = cases_of(function) if function is not None else None
    return (text,) if text is not None else ()


def spot_of(item: Diagnostic) -> Spot:
    """The rows of a finding."""
    return Spot(item.path, item.row, max(item.row, item.end_row))


def targets_of(item: Diagnostic) -> tuple[tuple[str, bool], ...]:
    """What to call so that the finding is reached: what its chain begins with, then the function that it stands in, under
    jit if the chain says that something traces it."""
    chain = item.finding.evidence
    staged = any(step.kind == "root" for step in chain)
    found = [(f"{step.path}:{step.row}", False) for step in chain[:1]] + [(f"{item.path}:{item.row}", staged)]
    return tuple(dict.fromkeys(found))


def reproducing(item: Diagnostic, command: Sequence[str]) -> str:
    """A call of this command that proves the one finding again."""
    words = ["jaxlint", "verify", item.path, "--select", item.code]
    return shlex.join([*words, "--", *command] if command else words)


def with_verdicts(report: RunReport, found: Verification, command: Sequence[str] = ()) -> RunReport:
    """The report with a verdict on every finding, and how to come by it again."""
    return msgspec.structs.replace(
        report,
        diagnostics=tuple(
            msgspec.structs.replace(
                item,
                finding=msgspec.structs.replace(
                    item.finding,
                    verdict=msgspec.structs.replace(
                        verdict,
                        details={
                            **verdict.details,
                            "versions": found.versions,
                            "reproduce": reproducing(item, command),
                        },
                    ),
                ),
            )
            for item, verdict in zip(report.diagnostics, found.verdicts, strict=True)
        ),
    )


def _say(args: argparse.Namespace, report: RunReport, found: Verification, output_format: str, view: View) -> int:
    text = "" if args.silent else render(output_format, report, view)
    if args.output_file is not None:
        with open(args.output_file, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        print(text, end="")
    counts = Counter(verdict.verdict for verdict in found.verdicts)
    if output_format in ("full", "concise", "grouped") and not args.quiet:
        print(summary(counts, found.versions))
    if args.require == "confirmed":
        return 0 if set(counts) <= {"confirmed"} else 1
    return 1 if counts["confirmed"] or counts["confirmed-elsewhere"] else 0


def summary(counts: Counter[str], versions: dict[str, str]) -> str:
    """``3 confirmed, 1 inconclusive (jax 0.10.2, cpu)``."""
    parts = [f"{count} {verdict}" for verdict, count in counts.most_common()] or ["nothing to prove"]
    where = f" (jax {versions['jax']}, {versions['backend']}: {versions['device']})" if "jax" in versions else ""
    return ", ".join(parts) + where
