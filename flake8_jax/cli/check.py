"""``jaxlint check``: lint, and fix where asked to.

With ``-`` the program comes on standard input under the name ``--stdin-filename``; with ``--fix`` its fixed text
is all that goes to standard output, whatever else happens, since editors put it in place of the user's file.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from flake8_jax.cli.arguments import (
    absolute,
    add_log_options,
    add_project_options,
    add_selection_options,
    refuse_source_as_output,
    resolver_from,
    wants_color,
    wants_links,
)
from flake8_jax.cli.parsing import CommandParser
from flake8_jax.cli.process import InputError, read_input
from flake8_jax.cli.progress import progress_bar
from flake8_jax.cli.said import print_program, tell
from flake8_jax.core.printable import one_line
from flake8_jax.core.report import Change, RunReport
from flake8_jax.core.writing import write_whole
from flake8_jax.reporters import View, formats, render
from flake8_jax.settings.resolver import Resolver
from flake8_jax.settings.tables import ConfigError

if TYPE_CHECKING:
    from flake8_jax.fixing.passes import Outcome
    from flake8_jax.history.baseline import Judged
    from flake8_jax.pipeline.backend import Backend
    from flake8_jax.pipeline.lowering import Problem
    from flake8_jax.pipeline.workspace import PhaseProgress, Question, Workspace
    from flake8_jax.runtime_checks.profile import Profile


DEFAULT_BASELINE = ".jaxlint-baseline.json"


def parser() -> argparse.ArgumentParser:
    """The options of ``check``."""
    made = CommandParser(
        prog="jaxlint check",
        usage="jaxlint [check] [options] [PATH ...]",
        description="Lint Python files for mistakes in their use of JAX.",
        epilog="Exit status: 0 if there are no findings or `--fix` fixed all of them; 1 if there are findings, or if `--diff` "
        "shows a change; 2 for a usage or configuration error, a fix that could not be written, or a failure of jaxlint.",
    )
    made.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="lint these files or directories; `-` reads standard input (default: .)",
    )
    fix = made.add_argument_group("fixes")
    fix.add_argument("--fix", action="store_true", default=False, help="apply safe fixes to the files")
    fix.add_argument("--no-fix", dest="fix", action="store_false", help=argparse.SUPPRESS)
    fix.add_argument(
        "--unsafe-fixes",
        action="store_true",
        default=None,
        help="also apply (or show) unsafe fixes, which may change values, dtypes or effects",
    )
    fix.add_argument("--no-unsafe-fixes", dest="unsafe_fixes", action="store_false", help=argparse.SUPPRESS)
    fix.add_argument(
        "--prove", action="store_true",
        help="with --fix: run the command after `--` and write only the fixes that this run proves, unsafe ones only with "
        "--unsafe-fixes; see `jaxlint prove --help`",
    )  # fmt: skip
    fix.add_argument(
        "--fix-only", action="store_true", help="apply safe fixes, and do not report the remaining findings"
    )
    fix.add_argument("--show-fixes", action="store_true", help="list the fixes that jaxlint applied")
    fix.add_argument("--diff", action="store_true", help="print the fixes as a patch, and do not change files")
    fix.add_argument(
        "--add-noqa", action="store_true", help="add a `# noqa: CODE` comment to the line of every finding"
    )
    output = made.add_argument_group("output")
    output.add_argument(
        "--output-format",
        choices=formats(),
        metavar="FORMAT",
        help=f"print findings in this format: {', '.join(formats())} (default: full)",
    )
    output.add_argument(
        "-o", "--output-file", metavar="FILE", help="write the findings to this file (default: standard output)"
    )
    output.add_argument(
        "--profile", metavar="FILE",
        help="use a profile of `jaxlint record`: treat functions as traced if JAX traced them in the run, and say below each "
        "finding how often its function ran",
    )  # fmt: skip
    output.add_argument("--statistics", action="store_true", help="also print how many findings each rule has")
    output.add_argument(
        "--show-files", action="store_true", help="list the files that jaxlint would lint, and lint nothing"
    )
    output.add_argument(
        "--show-settings", action="store_true", help="print the settings of the first path, and lint nothing"
    )
    output.add_argument("-w", "--watch", action="store_true", help="lint again whenever a file changes")
    output.add_argument("-e", "--exit-zero", action="store_true", help="exit with status 0 even if there are findings")
    output.add_argument(
        "--exit-non-zero-on-fix", action="store_true", help="exit with status 1 if jaxlint fixed anything"
    )
    new = made.add_argument_group("new findings only")
    new.add_argument(
        "--since", metavar="REVISION",
        help="report (and fix) only findings that concern changes since this git revision: those on changed lines, and those "
        "whose call chain contains a changed line",
    )  # fmt: skip
    new.add_argument("--baseline", metavar="FILE", help="do not report the findings that this baseline file contains")
    new.add_argument(
        "--write-baseline",
        action="store_true",
        help=f"write all present findings to the file that --baseline names (default: {DEFAULT_BASELINE})",
    )
    add_selection_options(made)
    add_project_options(made, stdin=True)
    add_log_options(made)
    return made


@dataclass(frozen=True)
class _Stdin:
    """Standard input: its bytes, the absolute path that it is linted under, its text or why it has none."""

    data: bytes
    path: str
    text: str
    problem: Problem | None


@dataclass(frozen=True)
class _Call:
    """One call of the command, worked out."""

    args: argparse.Namespace
    workspace: Workspace
    question: Question
    view: View
    output_format: str
    stdin: _Stdin | None
    profile: Profile | None = None


def run(arguments: Sequence[str], backend: Backend | None = None) -> int:
    """Run ``jaxlint check``; returns the exit status."""
    given = list(arguments)
    if "--prove" in given[: given.index("--") if "--" in given else len(given)]:
        return _prove(given, backend)
    args = parser().parse_args(given)
    cwd = os.getcwd()
    try:
        resolver = resolver_from(args, cwd)
        if args.show_settings:
            return _show_settings(resolver, _start(args, cwd))
        if args.show_files:
            return _show_files(resolver, absolute(args.paths or ["."], cwd))
        if (wrong := _wrong_together(args)) is not None:
            raise ConfigError(wrong)
        refuse_source_as_output(args.output_file, args.paths)
        if args.watch:
            return _watch(args, resolver, cwd, backend)
        with progress_bar(not (args.quiet or args.silent)) as progress:
            return _run(_worked_out(args, resolver, cwd, backend, progress))
    except ConfigError as error:
        tell(error)
        return 2


def _wrong_together(args: argparse.Namespace) -> str | None:
    """What cannot be asked for at once."""
    new = [name for name in ("since", "baseline") if getattr(args, name) is not None]
    if args.add_noqa and new:
        return f"--add-noqa silences all findings, so --{new[0]} does not go with it"
    if args.since is not None and "-" in args.paths:
        return "--since compares files with a revision, not standard input (`-`)"
    changing = [name for name in ("fix", "fix_only", "diff", "since", "watch") if getattr(args, name)]
    if args.write_baseline and changing:
        return (
            f"--write-baseline keeps all findings as they are, so --{changing[0].replace('_', '-')} does not go with it"
        )
    return None


def _watch(args: argparse.Namespace, resolver: Resolver, cwd: str, backend: Backend | None) -> int:
    from flake8_jax.cli.watch import watch

    if "-" in args.paths:
        raise ConfigError("--watch looks at files, not standard input (`-`)")

    def lint() -> int:
        try:  # in every run: the configuration may have changed
            return _run(_worked_out(args, resolver_from(args, cwd), cwd, backend, None))
        except ConfigError as error:
            tell(error)
            return 2

    asked = absolute(args.paths or ["."], cwd)
    missing = [path for path in asked if not os.path.exists(path)]
    if missing:
        raise ConfigError(f"{missing[0]}: there is no such file or directory")
    project = resolver.project_root_of(_start(args, cwd))
    return watch(lint, [*asked, *([project] if project is not None else [])])


def _prove(given: list[str], backend: Backend | None) -> int:
    """``check --fix --prove`` is ``prove --write``, with safe fixes alone unless more is asked for."""
    from flake8_jax.cli.prove import run as run_prove

    cut = given.index("--") if "--" in given else len(given)
    options = [option for option in given[:cut] if option not in ("--prove", "--fix")]
    if "--fix" not in given[:cut]:
        tell("--prove goes with --fix; `jaxlint prove` changes nothing")
        return 2
    applicability = [] if "--unsafe-fixes" in options else ["--safe-only"]
    return run_prove(["--write", *applicability, *options, *given[cut:]], backend)


def _start(args: argparse.Namespace, cwd: str) -> str:
    """The directory whose settings decide how the whole run is shown: that of the first path."""
    first = (args.paths or ["."])[0]
    path = os.path.normpath(os.path.join(cwd, (args.stdin_filename or ".") if first == "-" else first))
    return path if os.path.isdir(path) else os.path.dirname(path)


def _worked_out(
    args: argparse.Namespace, resolver: Resolver, cwd: str, backend: Backend | None, progress: PhaseProgress | None
) -> _Call:
    from flake8_jax.pipeline.backend import default_backend
    from flake8_jax.pipeline.cache import Cache
    from flake8_jax.pipeline.workspace import Question, Workspace, cache_directory

    settings = resolver.settings_for(_start(args, cwd))
    if settings.output_format not in formats():
        from flake8_jax.settings.resolver import place_of

        where = place_of(settings, ["output-format"])
        raise ConfigError(
            f"{where}: unknown output format `{settings.output_format}`; known are {', '.join(formats())}"
        )
    paths = args.paths or ["."]
    if "-" in paths and len(paths) > 1:
        raise ConfigError("`-` stands for standard input and cannot be given together with paths")
    stdin = _read_stdin(args, cwd) if "-" in paths else None
    asked = (stdin.path,) if stdin is not None else absolute(paths, cwd)
    texts = {stdin.path: stdin.text} if stdin is not None else {}
    if backend is None:
        backend = default_backend(None if args.no_cache else Cache(cache_directory(settings, cwd)))
    profile = None
    if args.profile is not None:
        from flake8_jax.cli.profiles import read_profile

        profile = read_profile(args.profile)
    recorded = profile.recorded() if profile is not None else ()
    workspace = Workspace(backend, resolver, use_cache=not args.no_cache, jobs=args.jobs, progress=progress)
    color = wants_color(args.color, sys.stdout.isatty()) and args.output_file is None
    return _Call(
        args,
        workspace,
        Question(asked, texts, args.force_exclude, args.ignore_noqa, recorded=recorded),
        View(cwd, color, settings.unsafe_fixes, wants_links(color, sys.stdout.isatty())),
        settings.output_format,
        stdin,
        profile,
    )


def _read_stdin(args: argparse.Namespace, cwd: str) -> _Stdin:
    from flake8_jax.pipeline.lowering import decode_text

    try:
        data = read_input()
    except InputError as error:
        raise ConfigError(f"`-`: {error}") from error
    path = os.path.normpath(os.path.join(cwd, args.stdin_filename or "-"))
    text, problem = decode_text(data, path)
    return _Stdin(data, path, text, problem)


def _run(call: _Call) -> int:
    args = call.args
    if args.add_noqa:
        return _add_noqa(call)
    if args.write_baseline:
        return _write_baseline(call)
    if call.stdin is not None and call.stdin.problem is not None:
        from flake8_jax.pipeline.diagnosis import undecodable

        if args.fix or args.fix_only:
            _print_source(call.stdin.data)
        return _finish(call, undecodable(call.stdin.path, call.stdin.problem))
    if args.fix or args.fix_only or args.diff:
        return _fix(call)
    return _finish(call, call.workspace.check(call.question))


def _fix(call: _Call) -> int:
    """Fix in memory, then write, or print the patch, or print the source that came on standard input."""
    from flake8_jax.cli.output import unified_diff
    from flake8_jax.fixing.passes import apply_fixes

    args, stdin = call.args, call.stdin
    only = None
    if args.since is not None or args.baseline is not None:
        new = _new_only(call, call.workspace.check(call.question))
        only = {(item.path, item.code, item.finding.start) for item in new.diagnostics}
    outcome = apply_fixes(call.workspace, call.question, only=only)
    report = outcome.report
    if args.diff:
        for change in report.changes:
            if not print_program(unified_diff(change, call.view)):
                tell(
                    f"{call.view.shown(change.path)}: this patch contains escape sequences; redirect it to a file to apply it"
                )
        _trouble(call, report)
        fixed = sum(item.count for item in report.fixed)
        if fixed and not (args.quiet or args.silent):
            print(f"Would fix {fixed} problem{'s' if fixed != 1 else ''}.", file=sys.stderr)
        return max(_trouble_status(report), 1 if report.changes else 0)
    if stdin is not None:
        refused = _print_fixed(stdin, outcome.texts[stdin.path])
    else:
        refused = _write(report.changes)
    status = _finish(call, _as_written(call, outcome, refused) if refused else report)
    return 2 if refused else status


def _print_fixed(stdin: _Stdin, text: str) -> dict[str, str]:
    """Print the fixed source; the given one where the fixed one cannot be encoded, and then why, by path."""
    from flake8_jax.fixing.writing import NotWritten, encoded_like

    try:
        written = encoded_like(stdin.data, stdin.text, text, stdin.path) if text != stdin.text else stdin.data
    except NotWritten as error:
        _print_source(stdin.data)
        return {stdin.path: f"{stdin.path}: left as it is: {error}"}
    _print_source(written)
    return {}


def _as_written(call: _Call, outcome: Outcome, refused: Mapping[str, str]) -> RunReport:
    """The report on the files as they are now, where some could not be written: their findings are still there."""
    from flake8_jax.fixing.passes import without_fixes

    tried = outcome.report
    reverted = {
        (p, code, start if p in refused else outcome.left[p, code, start]) for p, code, start in outcome.reverted
    }
    report = without_fixes(call.workspace.check(call.question), reverted)
    messages = dict.fromkeys((*report.messages, *tried.messages, *refused.values()))
    return msgspec.structs.replace(
        report,
        messages=tuple(messages),
        fixed=tuple(item for item in tried.fixed if item.path not in refused),
        withdrawn=tried.withdrawn,
        changes=tuple(change for change in tried.changes if change.path not in refused),
    )


def _write(changes: Sequence[Change]) -> dict[str, str]:
    """Write the changes; returns why, by path, for each that could not be written."""
    from flake8_jax.fixing.writing import NotWritten, replace_text

    refused: dict[str, str] = {}
    for change in changes:
        try:
            replace_text(change.path, change.before, change.after)
        except NotWritten as error:
            refused[change.path] = str(error)
    return refused


def _print_source(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _finish(call: _Call, report: RunReport) -> int:
    """Print the report; returns the exit status."""
    args = call.args
    fixes = args.fix or args.fix_only
    if call.profile is not None:
        from flake8_jax.runtime_checks.marks import marked

        report = marked(report, call.profile)
    report = _new_only(call, report)
    if args.fix_only:
        report = msgspec.structs.replace(report, diagnostics=())
    text = _text(call, report)
    if args.output_file is not None:
        _write_output_file(args.output_file, text)
    elif call.stdin is not None and fixes:
        print(text, end="", file=sys.stderr)
    else:
        print(text, end="")
    _trouble(call, report)
    if args.exit_non_zero_on_fix and report.fixed:
        return max(1, _trouble_status(report))
    return max(_trouble_status(report), 1 if report.diagnostics and not args.exit_zero else 0)


def _new_only(call: _Call, report: RunReport) -> RunReport:
    """The report on new work, where that was asked for. Raises ConfigError."""
    args = call.args
    if args.since is not None:
        from flake8_jax.history.changes import GitError, changed_since, new_findings

        try:
            # The revision has to exist, with or without findings.
            note = changed_since(args.since, _start(args, call.view.cwd)).note
            new = new_findings(report.diagnostics, args.since)
        except GitError as error:
            raise ConfigError(str(error)) from error
        report = msgspec.structs.replace(report, diagnostics=new, notes=(*report.notes, *([note] if note else ())))
    if args.baseline is not None:
        from flake8_jax.history.baseline import BaselineError, load, without_known

        try:
            report = without_known(report, load(args.baseline), args.baseline, _judged(call))
        except BaselineError as error:
            raise ConfigError(str(error)) from error
    return report


def _judged(call: _Call) -> Judged:
    """What this run says something of: the rules that are on for the first path, in the files that were asked for."""
    from flake8_jax.history.baseline import judged_by
    from flake8_jax.pipeline.diagnosis import Selection

    settings = call.workspace.resolver.settings_for(_start(call.args, call.view.cwd))
    return judged_by(call.question.paths, Selection(settings, call.workspace.backend).codes)


def _write_baseline(call: _Call) -> int:
    """Keep all present findings; exit status 0, for they are none any more."""
    from flake8_jax.history.baseline import BaselineError, write

    path = call.args.baseline or DEFAULT_BASELINE
    if call.args.baseline is None and os.path.islink(path):  # the project's link, of which the user need not know
        raise ConfigError(f"{path}: this is a symbolic link; remove it, or name the file to write with `--baseline`")
    report = call.workspace.check(call.question)
    _trouble(call, report)
    if _trouble_status(report):
        return _trouble_status(report)
    try:
        count = write(path, report, _judged(call))
    except BaselineError as error:
        raise ConfigError(str(error)) from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    if not call.args.silent:
        print(f"{one_line(path)}: {count} finding{'s' if count != 1 else ''} kept")
    return 0


def _text(call: _Call, report: RunReport) -> str:
    """The findings and what belongs to them, as asked for."""
    from flake8_jax.cli.output import READERS_FORMATS, fixes_shown, statistics, summary

    args, view = call.args, call.view
    if args.silent:
        return ""
    readable = call.output_format in READERS_FORMATS
    text = fixes_shown(report, view) if args.show_fixes and readable else ""
    if args.statistics:
        return text + statistics(report, call.output_format, view)
    text += render(call.output_format, report, view)
    if readable and not args.quiet:
        text += ("\n" if text and call.output_format == "full" else "") + summary(report, view)
    return text


def _write_output_file(path: str, text: str) -> None:
    try:
        write_whole(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise ConfigError(f"--output-file {path}: cannot be written: {error.strerror}") from error


def _trouble(call: _Call, report: RunReport) -> None:
    """Say on standard error what went wrong."""
    from flake8_jax.cli.output import READERS_FORMATS, counters, hidden_note, troubles, withdrawn_shown

    args = call.args
    if report.known and call.output_format not in READERS_FORMATS and not (args.quiet or args.silent):
        print(f"jaxlint: {hidden_note(report)}", file=sys.stderr)
    for line in (*troubles(report, call.view, args.verbose), *withdrawn_shown(report, call.view)):
        print(line, file=sys.stderr)
    if args.verbose:
        print(f"files asked for: {report.checked}\n{counters(report)}", end="", file=sys.stderr)


def _trouble_status(report: RunReport) -> int:
    return 2 if report.crashes or report.missing or report.unusable else 1 if report.messages else 0


def _add_noqa(call: _Call) -> int:
    """Append ``# noqa: CODES`` to the line of every finding."""
    from flake8_jax.fixing.noqa import add_noqa

    if call.stdin is not None:
        raise ConfigError("--add-noqa changes files; it cannot be used with standard input")
    silenced = add_noqa(call.workspace, call.question)
    refused = _write(silenced.changes)
    report = msgspec.structs.replace(silenced, messages=(*silenced.messages, *refused.values()))
    _trouble(call, report)
    if not (call.args.quiet or call.args.silent):
        added = sum(item.path not in refused for item in report.diagnostics)
        print(f"Silenced {added} problem{'s' if added != 1 else ''}.")
    return 2 if refused else _trouble_status(report)


def _show_settings(resolver: Resolver, start: str) -> int:
    print(f"# settings in {one_line(start)}")
    settings = resolver.settings_for(start)
    for name, value in {**vars(settings), "required": resolver.required_in(start, settings)}.items():
        print(one_line(f"{name.replace('_', '-')} = {value!r}"))
    return 0


def _show_files(resolver: Resolver, paths: Sequence[str]) -> int:
    from flake8_jax.pipeline.discovery import Walker, discover

    found = discover(paths, Walker(resolver))
    print("".join(f"{one_line(path)}\n" for path in sorted(found.asked)), end="")
    for line in (*found.messages, *(f"{path}: there is no such file or directory" for path in found.missing)):
        tell(line)
    return 2 if found.missing else 1 if found.messages else 0
