"""``jaxlint inspect``: what jaxlint infers to be staged and traced, function by function."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from flake8_jax.cli.arguments import absolute, add_log_options, add_project_options, resolver_from
from flake8_jax.cli.parsing import CommandParser
from flake8_jax.cli.said import print_json, say, tell
from flake8_jax.core.printable import one_line
from flake8_jax.core.report import RunReport
from flake8_jax.reporters import View
from flake8_jax.settings.tables import ConfigError

if TYPE_CHECKING:
    from flake8_jax.pipeline.backend import Backend


def parser() -> argparse.ArgumentParser:
    made = CommandParser(
        prog="jaxlint inspect",
        usage="jaxlint inspect [options] PATH[:LINE] ...",
        description="Show for every function whether JAX traces it, the call chain, and its parameters.",
    )
    made.add_argument(
        "paths",
        nargs="*",
        metavar="PATH[:LINE]",
        help="show the functions of these files or directories; with a line, only the function around it (default: .)",
    )
    made.add_argument(
        "--output-format", choices=("text", "json"), default="text", help="print text or JSON (default: text)"
    )
    made.add_argument(
        "--profile", metavar="FILE",
        help="compare with a profile of `jaxlint record`: print which share of the parameters that JAX traced jaxlint infers "
        "to be traced (recall), which share of those that it infers JAX traced (precision), and the parameters that differ",
    )  # fmt: skip
    add_project_options(made, preview=False)
    add_log_options(made, findings=False)
    return made


def _split_line(path: str) -> tuple[str, int | None]:
    match = re.fullmatch(r"(.+):(\d+)", path)
    if match is None or os.path.exists(path):
        return path, None
    return match[1], int(match[2])


def run(arguments: Sequence[str], backend: Backend | None = None) -> int:
    """Run ``jaxlint inspect``; returns the exit status."""
    args = parser().parse_args(arguments)
    output_format = args.output_format
    args.output_format = None
    cwd = os.getcwd()
    try:
        return _run(args, output_format, cwd, backend)
    except ConfigError as error:
        tell(error)
        return 2


def _run(args: argparse.Namespace, output_format: str, cwd: str, backend: Backend | None) -> int:
    from flake8_jax.cli.output import troubles
    from flake8_jax.pipeline.backend import default_backend
    from flake8_jax.pipeline.workspace import Question, Workspace

    split = [_split_line(path) for path in args.paths or ["."]]
    paths = absolute([path for path, _ in split], cwd)
    lines = {path: line for path, (_, line) in zip(paths, split) if line is not None}
    workspace = Workspace(
        backend or default_backend(), resolver_from(args, cwd), use_cache=not args.no_cache, jobs=args.jobs
    )
    question = Question(paths, force_exclude=args.force_exclude, collect_functions=True)
    found = workspace.find(question)
    records: list[dict[str, Any]] = []
    crashes: list[tuple[str, str, str]] = []
    messages = list(found.messages)
    for settings, asked in workspace.projects(found.asked):
        project = workspace.run(settings, asked, question)
        crashes += project.crashes
        messages += project.messages
        records += [msgspec.to_builtins(function) for function in project.functions]
    records = [record for record in records if record["filename"] in found.asked]
    for path, line in lines.items():
        if path in found.asked and not any(_is_in(record, path, line) for record in records):
            messages.append(f"{path}:{line}: this line is in no function that jaxlint analyzed")
        records = _narrowed(records, path, line)
    records.sort(key=lambda record: (record["filename"], record["first_line"], record["qualname"]))
    view = View(cwd)
    report = RunReport(messages=tuple(messages), crashes=tuple(crashes), missing=tuple(found.missing))
    for trouble in troubles(report, view, args.verbose):
        print(trouble, file=sys.stderr)
    if args.profile is not None:
        _compare(records, args.profile, output_format)
    elif output_format == "json":
        print_json(records)
    else:
        print("\n".join(_described(record, view) for record in records), end="")
    return 2 if found.missing or crashes else 1 if messages else 0


def _compare(records: list[dict[str, Any]], profile: str, output_format: str) -> None:
    """Print how far inference and record agree on the functions that were asked about."""
    from flake8_jax.cli.profiles import read_profile
    from flake8_jax.runtime_checks.comparison import agreement, disagreements, joined, said_of

    recorded = read_profile(profile).functions
    asked = {os.path.realpath(record["filename"]) for record in records}
    params = [p for p in joined(recorded, records) if p.filename in asked]
    agreed = agreement(params)
    if output_format == "json":
        shares = {"precision": agreed.precision, "recall": agreed.recall, **msgspec.to_builtins(agreed)}
        data = {**shares, "disagreements": disagreements(params, len(params))}
        print_json(data)
        return
    say(f"{said_of(agreed)}\n" + "".join(f"  {one_line(line)}\n" for line in disagreements(params)))


def _is_in(record: dict[str, Any], path: str, line: int) -> bool:
    return bool(record["filename"] == path and record["first_line"] <= line <= record["last_line"])


def _narrowed(records: list[dict[str, Any]], path: str, line: int) -> list[dict[str, Any]]:
    """Of the functions in ``path``, the innermost one that the line is in."""
    around = [record for record in records if _is_in(record, path, line)]
    chosen = max(around, key=lambda record: (record["first_line"], -record["last_line"]), default=None)
    return [r for r in records if r["filename"] != path or r is chosen]


def _described(record: dict[str, Any], view: View) -> str:
    state = "traced" if record["staged"] else "outside tracing"
    if record["ambient"]:
        state += ", constants too"
    if record.get("presumed") and not record["staged"]:
        state += "; also analyzed as users of this module may trace it"
    out = [f"{view.shown(record['filename'])}:{record['line']}: {record['qualname'] or '<module>'}: {state}"]
    for root in record["roots"]:
        out.append(f"    {root['transform']} at {view.shown(root['filename'])}:{root['line']}")
        out += [
            f"      → {view.shown(step['filename'])}:{step['line']} {step['function']}"
            for step in root.get("chain", ())
        ]
    for parameter in record["params"]:
        out.append(f"    {parameter['name']}: {', '.join(parameter['kinds']) or 'unknown'}")
    return "\n".join(out) + "\n"
