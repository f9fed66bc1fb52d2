"""``jaxlint mre``: the smallest script that still shows a finding, and an issue report around it."""

from __future__ import annotations

import argparse
import functools
import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from flake8_jax.cli.arguments import add_project_options, add_selection_options, refuse_unwritable
from flake8_jax.cli.linted import Linted, lint, say_progress
from flake8_jax.cli.running import (
    RunError,
    add_device_option,
    add_output_format,
    add_process_options,
    ask,
    command_parser,
    find_python,
    find_roots,
    finish,
)
from flake8_jax.cli.said import print_json, print_program, tell
from flake8_jax.cli.verify import cases_for, recorded_by_file
from flake8_jax.core.report import Diagnostic, RunReport, line_starts
from flake8_jax.core.writing import write_whole
from flake8_jax.runtime_checks.commands import Command
from flake8_jax.runtime_checks.flattening import FlatteningError, Place, Project, finder
from flake8_jax.runtime_checks.mre import CONFIRMED, Hit, Look, Maker, Outcomes, Search, Subject
from flake8_jax.runtime_checks.mre_report import Issue, head, relocated
from flake8_jax.runtime_checks.sandbox import kept_folder
from flake8_jax.runtime_checks.verify import RefusedCommand
from flake8_jax.settings.options import Options
from flake8_jax.settings.resolver import Resolver
from flake8_jax.settings.tables import ConfigError

if TYPE_CHECKING:
    from flake8_jax.pipeline.backend import Backend

_LAYOUTS = 4  # longer numbers of lines may make a comment longer, which moves the lines
_NEAREST = 3
_SECONDS = 120.0

_EPILOG = """\
If the line has several findings, choose one with `--select CODE`.

jaxlint merges those of your modules that the finding needs into one script. At its end, it adds a call that leads to the
finding. The inputs of this call are made up from signatures, taken from a profile (`--profile`), or your own (`--call`). Then
jaxlint removes code as long as the linter still reports the finding and a run still confirms it with the same exception. Your
files do not change.

examples:
  jaxlint mre src/model.py:42
  jaxlint mre src/model.py:42 --select JAX101 --output mre.py --issue issue.md
  jaxlint mre train.py:10 --call 'train(jnp.ones((8, 4)), steps=3)'
  jaxlint mre src/model.py:42 --profile .jaxlint/profile.json --output-format json

Exit status: 0 if jaxlint wrote a script that shows the finding; 1 if the script does not show it (jaxlint writes it only with
`--unconfirmed`); 2 for a usage error. The child process does not protect you from malicious code: it runs with your rights.
"""


class _Answer(msgspec.Struct, frozen=True):
    """The JSON form. Lines are counted without the comment at the script's head; lines_before: of the files read."""

    script: str | None
    code: str
    rule: str
    verdict: str
    reason: str
    lines_before: int
    lines_after: int
    runs: int
    issue: str


def parser() -> argparse.ArgumentParser:
    made = command_parser(
        "mre",
        "Make the smallest standalone script that still shows a finding, and an issue report.",
        _EPILOG,
        "[options] FILE:LINE",
    )
    made.add_argument("finding", metavar="FILE:LINE", help="the line of the finding")
    made.add_argument("--output", metavar="FILE", help="write the script to this file (default: standard output)")
    made.add_argument(
        "--issue", nargs="?", const="-", metavar="FILE",
        help="make an issue report in Markdown: without FILE, print it instead of the script; with FILE, write it there and "
        "print the script, too",
    )  # fmt: skip
    made.add_argument(
        "--unconfirmed",
        action="store_true",
        help="write the script even if its run does not confirm the finding (exit status 1)",
    )
    add_output_format(made)
    run = made.add_argument_group("running")
    run.add_argument(
        "--call", metavar="CODE",
        help="run this Python code, in which you can use the names of the finding's module, jax, jnp and np (default: a call "
        "that jaxlint makes up)",
    )  # fmt: skip
    run.add_argument(
        "--profile",
        metavar="FILE",
        help="make up inputs with the shapes, dtypes and values that `jaxlint record` wrote to this profile",
    )
    add_device_option(run)
    add_process_options(run, seconds=_SECONDS, late="stop making the script shorter after this time", command=False)
    add_selection_options(made, fixes=False)
    add_project_options(made)
    log = made.add_argument_group("log")
    log.add_argument("-q", "--quiet", action="store_true", help="do not print progress")
    return made


def run(arguments: Sequence[str], backend: Backend | None = None) -> int:
    """Run ``jaxlint mre``; returns the exit status."""
    args = parser().parse_args(arguments)
    args.python = find_python(args.python)
    try:
        return finish(lambda: _run(args, os.getcwd(), backend), args, RefusedCommand)
    except FlatteningError as error:
        tell(f"no script can be made of this: {error}")
        return 1


def _run(args: argparse.Namespace, cwd: str, backend: Backend | None) -> int:
    deadline = time.monotonic() + args.timeout
    path, row = _place(args.finding, cwd)
    refuse_unwritable(args.output, "--output")
    refuse_unwritable(args.issue if args.issue != "-" else None, "--issue")
    args.paths, args.command, args.given = [path], Command(), []
    args.verbose = args.silent = False
    args.color, args.output_file = "never", None
    output_format, args.output_format = args.output_format, None
    linted = lint(args, cwd, backend)
    item = _chosen(linted.report, args.finding, path, row)
    subject = _subject(linted, item, args)
    bases = [base for root in find_roots(os.path.dirname(path)) for base in (root, os.path.join(root, "src"))]
    project = Project(finder([_package_base(path), *bases]))
    with kept_folder("jaxlint-mre-") as folder:
        look = _looker(backend, os.path.realpath(folder), item.code, args.target_jax)
        say = functools.partial(say_progress, args)
        outcomes = Maker(subject, project, look, linted.workload, Search(folder, deadline, say)).make()
    outcomes, script = _finished(outcomes, item, os.path.basename(args.output or "mre.py"))
    report = _issue(args, item, linted.view.path, outcomes, script) if args.issue or output_format == "json" else ""
    confirmed = outcomes.verdict.verdict == CONFIRMED
    written = confirmed or args.unconfirmed
    if output_format == "json":
        shown = _Answer(
            script if written else None, item.code, subject.rule, outcomes.verdict.verdict, outcomes.verdict.reason,
            outcomes.lines_before, outcomes.lines_after, outcomes.runs, report,
        )  # fmt: skip
        print_json(shown)
    if not confirmed:
        reason = f"{outcomes.verdict.verdict}: {outcomes.verdict.reason}"
        tell(f"{item.code} {subject.rule} is not confirmed; {reason}")
        tell("`--call CODE` says what to run; `--unconfirmed` writes the script all the same")
    if written:
        _write(args, output_format, script, report)
        late = "; the time was up, `--timeout` gives it more" if outcomes.late else ""
        say(f"{outcomes.lines_before} lines became {outcomes.lines_after}, {outcomes.runs} runs{late}")
    return 0 if confirmed else 1


def _finished(outcomes: Outcomes, item: Diagnostic, file: str) -> tuple[Outcomes, str]:
    """The script with its head, and the verdict with places in it."""
    code, rule = item.code, item.finding.name
    verdict, comment = outcomes.verdict, ""
    for _ in range(_LAYOUTS):
        comment = head(code, rule, verdict, outcomes.versions, file)
        verdict = relocated(outcomes.verdict, outcomes.ran, file, comment.count("\n") + 1)
    return msgspec.structs.replace(outcomes, verdict=verdict), f"{comment}\n{outcomes.script}"


def _place(text: str, cwd: str) -> tuple[str, int]:
    name, _, row = text.rpartition(":")
    if not name or not row.isdigit():
        raise ConfigError(f"{text}: say which finding, as FILE:LINE (`jaxlint check` lists them)")
    path = os.path.normpath(os.path.join(cwd, name))
    if not os.path.isfile(path):
        raise ConfigError(f"{name}: there is no such file")
    return path, int(row)


def _chosen(report: RunReport, asked: str, path: str, row: int) -> Diagnostic:
    """The finding at a line. Raises ConfigError if there is none, or several."""
    here = [item for item in report.diagnostics if item.path == path]
    found = [item for item in here if item.row == row] or [i for i in here if i.row <= row <= i.end_row]
    codes = list(dict.fromkeys(item.code for item in found))
    if len(codes) == 1:
        return found[0]
    if codes:
        names = ", ".join(dict.fromkeys(f"{item.code} {item.finding.name}" for item in found))
        raise ConfigError(f"{asked}: several findings are there ({names}); choose one with --select CODE")
    near = sorted(here, key=lambda item: abs(item.row - row))[:_NEAREST]
    listed = ", ".join(
        f"line {item.row} ({item.code} {item.finding.name})" for item in sorted(near, key=lambda i: i.row)
    )
    raise ConfigError(
        f"{asked}: there is no finding at this line; " + (f"the nearest: {listed}" if listed else "the file has none")
    )


def _subject(linted: Linted, item: Diagnostic, args: argparse.Namespace) -> Subject:
    finding = item.finding
    text = linted.report.texts[item.path]
    chain = tuple(Place(step.path, step.row) for step in finding.evidence if step.kind != "recorded")
    return Subject(
        finding.name, item.code, finding.message, text[finding.start : finding.end], Place(item.path, item.row), chain,
        any(step.kind == "root" for step in finding.evidence), cases_for(item, recorded_by_file(linted.profile)),
        args.call or "",
    )  # fmt: skip


def _package_base(path: str) -> str:
    folder = os.path.dirname(path)
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder = os.path.dirname(folder)
    return folder


def _looker(backend: Backend | None, folder: str, code: str, target_jax: str | None) -> Look:
    """Lints texts as a project of one file."""
    from flake8_jax.pipeline.backend import default_backend
    from flake8_jax.pipeline.workspace import Question, Workspace

    flags = Options(select=[code], preview=True, target_jax=target_jax)
    resolver = Resolver(folder, isolated=True, flags=flags)
    path = os.path.join(folder, "mre.py")
    known = backend or default_backend()

    def look(text: str) -> list[Hit]:
        workspace = Workspace(known, resolver, use_cache=False, jobs=1)
        report = workspace.check(Question((path,), {path: text}, False, True))
        rows = line_starts(text)
        return [
            Hit(item.row, max(item.row, item.end_row), text[item.finding.start : item.finding.end])
            for item in report.diagnostics
            if item.code == code and item.row <= len(rows)
        ]

    return look


def _issue(args: argparse.Namespace, item: Diagnostic, shown: Any, outcomes: Outcomes, script: str) -> str:
    note = "The script applies `jax.jit` itself, as the linter says that the project does." if outcomes.jitted else ""
    file = os.path.basename(args.output or "mre.py")
    return Issue(
        code=item.code, rule=item.finding.name, message=item.finding.message,
        place=f"{shown(item.path)}:{item.row}",
        chain=[f"`{shown(step.path)}:{step.row}`: {step.text}" for step in item.finding.evidence],
        verdict=outcomes.verdict, versions=outcomes.versions, packages=_packages(args), script=script, file=file,
        note=note,
    ).markdown()  # fmt: skip


def _packages(args: argparse.Namespace) -> dict[str, str]:
    """The versions of packages around JAX, as ``jaxlint env`` has them."""
    try:
        return dict(ask(args, "env", {"all": False})["packages"])
    except RunError:
        return {}


def _write(args: argparse.Namespace, output_format: str, script: str, report: str) -> None:
    if args.output is not None:
        write_whole(args.output, script.encode())
    if args.issue not in (None, "-"):
        write_whole(args.issue, report.encode("utf-8", "backslashreplace"))
    if output_format == "json":
        return
    if args.issue == "-":
        print_program(report)
    elif args.output is None:
        print_program(script)
