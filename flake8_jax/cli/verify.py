"""``jaxlint verify``: lint, then run the user's command and say of every finding whether it is true."""

from __future__ import annotations

import argparse
import functools
import os
import shlex
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from flake8_jax.cli.linted import add_lint_options, lint, parse, say_progress, show
from flake8_jax.cli.running import add_device_option, add_process_options, command_parser, fail, finish, missing_command
from flake8_jax.cli.said import tell
from flake8_jax.core.report import Diagnostic, RunReport
from flake8_jax.runtime_checks.marks import cases_of, recorded_function
from flake8_jax.runtime_checks.observations import Spot
from flake8_jax.runtime_checks.profile import Function, Profile
from flake8_jax.runtime_checks.verify import Asked, RefusedCommand, Verification, verify

if TYPE_CHECKING:
    from flake8_jax.pipeline.backend import Backend

_EPILOG = """\
The command after `--` is yours. It is run in a child process, once for every way of watching that the findings need, and is
observed, not changed. Its own checks may fail meanwhile; that is said. Without a command, the functions that lead to a
finding are called with inputs made up from their signatures, which proves less.

examples:
  jaxlint verify src/model.py
  jaxlint verify src/ -- python train.py --steps 3
  jaxlint verify src/ --select JAX1,JAX3 -- pytest tests/test_model.py -q
  jaxlint verify src/ --target cuda --require confirmed --output-format sarif -- python train.py

verdicts: confirmed; confirmed-if-traced (nothing shows that the argument is); confirmed-elsewhere (another line of the same
function); refuted (on these inputs, JAX and backend); blocked (another error comes first); inconclusive (the line did not
run, or nothing decisive was seen); unsupported-target (there is no such device to measure on).

Exit status: 1 if a finding is confirmed, else 0; with `--require confirmed` 0 if all are, else 1; 2 for a wrong call.
This is no sandbox against malice: the command runs with your rights.
"""


def parser() -> argparse.ArgumentParser:
    made = command_parser(
        "verify",
        "Lint, then confirm or refute each finding by running your code on JAX.",
        _EPILOG,
        "[options] [PATH ...] [-- COMMAND ...]",
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
    add_lint_options(made)
    return made


def run(arguments: Sequence[str], backend: Backend | None = None) -> int:
    """Run ``jaxlint verify``; returns the exit status."""
    args, command, output_format = parse(parser(), arguments)
    if command == []:
        return fail(missing_command("verify src -- python train.py"))
    return finish(lambda: _run(args, output_format, os.getcwd(), backend), args.python, RefusedCommand)


def _run(args: argparse.Namespace, output_format: str, cwd: str, backend: Backend | None) -> int:
    linted = lint(args, cwd, backend)
    report = linted.report
    if report.missing:
        return 2
    recorded = recorded_by_file(linted.profile)
    asked = [
        Asked(
            item.finding.name, spot_of(item), targets_of(item), cases_for(item, recorded),
            formula_of(item, report.texts.get(item.path, "")),
        )
        for item in report.diagnostics
    ]  # fmt: skip

    found = verify(asked, linted.workload, functools.partial(say_progress, args))
    for note in found.notes:
        tell(note)
    counts = Counter(verdict.verdict for verdict in found.verdicts)
    shown = with_verdicts(report, found, args.command)
    show(args, shown, output_format, linted.view, summary(counts, found.versions))
    if args.require == "confirmed":
        return 0 if set(counts) <= {"confirmed"} else 1
    return 1 if counts["confirmed"] or counts["confirmed-elsewhere"] else 0


def recorded_by_file(profile: Profile | None) -> dict[str, list[Function]]:
    """The functions of a profile by file."""
    found: dict[str, list[Function]] = {}
    for function in profile.functions if profile is not None else ():
        found.setdefault(os.path.realpath(function.filename), []).append(function)
    return found


def cases_for(item: Diagnostic, recorded: dict[str, list[Function]]) -> tuple[str, ...]:
    """The inputs that were recorded of the function that a finding stands in."""
    function = recorded_function(item, recorded.get(os.path.realpath(item.path), ()))
    text = cases_of(function) if function is not None else None
    return (text,) if text is not None else ()


def formula_of(item: Diagnostic, text: str) -> tuple[str, str] | None:
    """The text of a finding and what its fix makes of it; None where the fix reaches further, imports aside."""
    finding = item.finding
    if finding.fix is None:
        return None
    inside = [edit for edit in finding.fix.edits if finding.start <= edit.start and edit.end <= finding.end]
    if any(
        edit not in inside and not edit.content.strip().startswith(("import ", "from ")) for edit in finding.fix.edits
    ):
        return None
    after, end = "", finding.start
    for edit in sorted(inside):
        after, end = after + text[end : edit.start] + edit.content, edit.end
    return text[finding.start : finding.end], after + text[end : finding.end]


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


def summary(counts: Counter[str], versions: dict[str, str]) -> str:
    """``3 confirmed, 1 inconclusive (jax 0.10.2, cpu)``."""
    parts = [f"{count} {verdict}" for verdict, count in counts.most_common()] or ["nothing to prove"]
    device = ": ".join(versions[name] for name in ("backend", "device") if name in versions) or "no device"
    where = f" (jax {versions['jax']}, {device})" if "jax" in versions else ""
    return ", ".join(parts) + where
