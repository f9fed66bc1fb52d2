"""What ``verify`` and ``prove`` share: they lint first, then run the user's command, then show the findings."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from flake8_jax.cli.arguments import (
    absolute,
    add_log_options,
    add_project_options,
    add_selection_options,
    refuse_source_as_output,
    refuse_unwritable,
    resolver_from,
    wants_color,
    wants_links,
)
from flake8_jax.cli.profiles import read_profile, recorded_python
from flake8_jax.cli.running import find_python, limits_of, split_command, understood
from flake8_jax.cli.said import say, tell
from flake8_jax.core.cells import SUFFIX, code_cells
from flake8_jax.core.report import RunReport
from flake8_jax.core.writing import write_whole
from flake8_jax.reporters import View, formats, render
from flake8_jax.runtime_checks.profile import Profile
from flake8_jax.runtime_checks.sandbox import standard_input
from flake8_jax.runtime_checks.verify import Workload
from flake8_jax.settings.tables import ConfigError

if TYPE_CHECKING:
    from flake8_jax.pipeline.backend import Backend
    from flake8_jax.pipeline.workspace import Question, Workspace


@dataclass(frozen=True)
class Linted:
    """The findings, how they were come by, how they are shown, and what is to be run. profile: what ``--profile`` names."""

    workspace: Workspace
    question: Question
    report: RunReport
    view: View
    workload: Workload
    profile: Profile | None


def add_lint_options(
    parser: argparse.ArgumentParser, *, fixes: bool = True, more: str = "also print statistics of the analysis"
) -> None:
    """Options on what is linted and how the findings are shown. fixes: with their fixes. more: what ``--verbose`` does."""
    shown = ("text", *formats()) if fixes else ("text", "json")
    parser.add_argument(
        "--output-format", choices=["text", *formats()], metavar="FORMAT", default="text",
        help=f"print the result in this format: {', '.join(shown)} (default: text)",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output-file", metavar="FILE",
        help="write the findings to this file (default: standard output)" if fixes else argparse.SUPPRESS,
    )  # fmt: skip
    add_selection_options(parser, fixes=fixes)
    add_project_options(parser)
    add_log_options(parser, more=more)


def parse(
    parser: argparse.ArgumentParser, arguments: Sequence[str]
) -> tuple[argparse.Namespace, list[str] | None, str]:
    """Our own options, with the words of the command in ``given``; these words (None where there is no ``--``); and the format
    of the findings."""
    own, command = split_command(arguments)
    args = parser.parse_args(own)
    args.given = command or []
    output_format = "full" if args.output_format == "text" else args.output_format
    args.output_format = None  # a setting of the lint elsewhere, which knows no ``text``
    return args, command, output_format


def understand(args: argparse.Namespace, cwd: str) -> None:
    """Find out what the command means, and which interpreter runs it: without a command, the one that recorded the profile.
    Raises ConfigError."""
    args.command = understood(args.given, cwd)
    if not args.given and getattr(args, "profile", None) is not None:
        args.python = recorded_python(args.python, read_profile(args.profile))
    args.python = find_python(args.python, args.command)


def lint(args: argparse.Namespace, cwd: str, backend: Backend | None, *, unsafe_fixes: bool = False) -> Linted:
    """Lint what was asked for; troubles are printed. Raises ConfigError."""
    from flake8_jax.cli.output import troubles
    from flake8_jax.pipeline.backend import default_backend
    from flake8_jax.pipeline.workspace import Question, Workspace

    paths = absolute(args.paths or ["."], cwd)
    notebook = _notebook(args, paths, cwd)
    refuse_source_as_output(args.output_file, args.paths)
    refuse_unwritable(args.output_file, "--output-file")
    if notebook is None:
        args.extend_exclude = [*(args.extend_exclude or ()), f"*{SUFFIX}"]
    workspace = Workspace(
        backend or default_backend(), resolver_from(args, cwd), use_cache=not args.no_cache, jobs=args.jobs
    )
    path = getattr(args, "profile", None)
    profile = read_profile(path) if path is not None else None
    recorded = profile.recorded() if profile is not None else ()
    question = Question(paths, {}, args.force_exclude, args.ignore_noqa, recorded=recorded)
    report = workspace.check(question)
    color = wants_color(args.color, sys.stdout.isatty()) and args.output_file is None
    view = View(cwd, color, unsafe_fixes, wants_links(color, sys.stdout.isatty()))
    for line in troubles(report, view, args.verbose):
        print(line, file=sys.stderr)
    command = args.command
    workload = Workload(
        command.words, tuple(paths), cwd, args.python, args.target or "", limits_of(args), tuple(args.given),
        command.variables, command.options, notebook_cells(command.words, cwd), standard_input(),
    )  # fmt: skip
    return Linted(workspace, question, report, view, workload, profile)


def _notebook(args: argparse.Namespace, paths: Sequence[str], cwd: str) -> str | None:
    """The notebook that is the command, or that is linted if there is none. Raises ConfigError."""
    words = args.command.words
    if words and words[0].endswith(SUFFIX):
        return os.path.normpath(os.path.join(cwd, words[0]))
    notebooks = [path for path in paths if path.endswith(SUFFIX)]
    if notebooks and (words or len(paths) > 1):
        raise ConfigError(
            f"{notebooks[0]}: give a notebook alone, or as the command: `-- {os.path.basename(notebooks[0])}`"
        )
    if notebooks:
        args.command = msgspec.structs.replace(args.command, words=(notebooks[0],))
        args.given = [args.paths[0]]
    return notebooks[0] if notebooks else None


def notebook_cells(words: Sequence[str], cwd: str) -> dict[str, list[tuple[int, str, bool]]]:
    """The code cells of the notebook that is the command, if it is one: row, text, and whether it is to raise.

    Raises ConfigError, OSError.
    """
    from flake8_jax.pipeline.lowering import read_text

    if not words or not words[0].endswith(SUFFIX):
        return {}
    path = os.path.normpath(os.path.join(cwd, words[0]))
    if not os.path.isfile(path):
        raise ConfigError(f"{words[0]}: there is no such notebook")
    text, problem = read_text(path)
    if problem is not None:
        raise ConfigError(f"{path}: {problem.message}")
    return {path: list(code_cells(text))}


def say_progress(args: argparse.Namespace, text: str) -> None:
    if not (args.quiet or args.silent):
        tell(text)


def show(
    args: argparse.Namespace, report: RunReport, output_format: str, view: View, closing: str, behind: str = ""
) -> None:
    """Print the findings, or write them to the file that was asked for; closing: a last word for readers; behind: what stands
    behind the findings."""
    from flake8_jax.cli.output import READERS_FORMATS

    text = "" if args.silent else render(output_format, report, view) + behind
    if args.output_file is not None:
        write_whole(args.output_file, text.encode("utf-8", "backslashreplace"))
    else:
        print(text, end="")
    if output_format in READERS_FORMATS and not (args.quiet or args.silent):
        say(f"{closing}\n")
