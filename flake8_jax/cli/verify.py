"""``jaxlint verify``: lint, then run the user's command and say of every finding whether it is true."""

from __future__ import annotations

import argparse
import functools
import os
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from flake8_jax.cli.linted import add_lint_options, lint, parse, say_progress, show, understand
from flake8_jax.cli.running import (
    add_device_option,
    add_enough_option,
    add_process_options,
    command_parser,
    fail,
    finish,
    missing_command,
)
from flake8_jax.cli.said import tell
from flake8_jax.core.cells import SUFFIX, Rows, in_words
from flake8_jax.core.findings import FIRST_USE, LEADS_TO_USE, USED_AGAIN, Step, Verdict
from flake8_jax.core.report import Diagnostic, RunReport
from flake8_jax.reporters import View
from flake8_jax.runtime_checks.attribution import Span
from flake8_jax.runtime_checks.child.constants import is_name
from flake8_jax.runtime_checks.judges import NEVER_RAN
from flake8_jax.runtime_checks.marks import cases_of, recorded_function
from flake8_jax.runtime_checks.observations import Spot, Use
from flake8_jax.runtime_checks.profile import Function, Profile, unlike
from flake8_jax.runtime_checks.statements import rows_around, rows_of_loop
from flake8_jax.runtime_checks.verify import Asked, RefusedCommand, Verification, verify

if TYPE_CHECKING:
    from flake8_jax.pipeline.backend import Backend

_EPILOG = """\
Write your command after `--`. jaxlint runs it in a child process and observes it. Some findings need several runs, for example
one without jit. If PATH is one notebook and there is no command, jaxlint runs the code cells of the notebook. Otherwise,
without a command, jaxlint calls the functions that contain a finding, or lead to it, with inputs that it makes up from their
signatures. This proves less than a run of your program.

examples:
  jaxlint verify src/model.py
  jaxlint verify src/ -- python train.py --steps 3
  jaxlint verify src/ --select JAX1,JAX3 -- pytest tests/test_model.py -q
  jaxlint verify src/ --for 2m -- uv run train.py
  jaxlint verify analysis.ipynb
  jaxlint verify src/ --target cuda --require confirmed --output-format sarif -- python train.py

verdicts:
  confirmed            the mistake happened
  confirmed-if-traced  without a command: the mistake happened when jaxlint called the function under jax.jit
  confirmed-elsewhere  the error was raised on another line: of the same statement, beside it, or earlier in the function
  refuted              the line ran, and nothing went wrong with these inputs, this JAX and this device
  blocked              another error came first
  inconclusive         the line did not run, or the run neither confirms nor refutes the finding
  unsupported-target   the finding needs measurements on the device of --target, which this machine does not have

Exit status: 1 if a finding is confirmed or confirmed-elsewhere, else 0. With `--require confirmed`: 0 if every finding is
confirmed or there are none, else 1. 2 for a usage error, 130 after Ctrl-C.
The child process does not protect you from malicious code: the command runs with your rights.
"""


def parser() -> argparse.ArgumentParser:
    made = command_parser(
        "verify",
        "Lint, then run your code on JAX to confirm or refute each finding.",
        _EPILOG,
        "[options] [PATH ...] [-- COMMAND ...]",
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="lint these files or directories (default: .)")
    run = made.add_argument_group("running")
    add_device_option(run)
    add_process_options(run)
    add_enough_option(run)
    run.add_argument(
        "--profile", metavar="FILE",
        help="without a command: make up inputs with the shapes, dtypes and values that `jaxlint record` wrote to this profile",
    )  # fmt: skip
    run.add_argument(
        "--require", choices=("confirmed", "none"), default="none",
        help="confirmed: exit with status 1 if a finding is not confirmed, else 0; none: exit with status 1 if a finding is "
        "confirmed, else 0 (default: none)",
    )  # fmt: skip
    add_lint_options(
        made, more="also print findings on lines that your command did not run, and statistics of the analysis"
    )
    return made


def run(arguments: Sequence[str], backend: Backend | None = None) -> int:
    """Run ``jaxlint verify``; returns the exit status."""
    args, command, output_format = parse(parser(), arguments)
    if command == []:
        return fail(missing_command("verify src -- python train.py"))
    return finish(lambda: _run(args, output_format, os.getcwd(), backend), args, RefusedCommand)


def _run(args: argparse.Namespace, output_format: str, cwd: str, backend: Backend | None) -> int:
    understand(args, cwd)
    linted = lint(args, cwd, backend)
    report = linted.report
    if report.missing:
        return 2
    recorded = recorded_by_file(linted.profile)
    asked = [asked_of(item, report.texts, recorded) for item in report.diagnostics]
    found = verify(asked, linted.workload, functools.partial(say_progress, args))
    for note in found.notes:
        tell(note)
    if linted.profile is not None and not linted.workload.command and (said := unlike(linted.profile, found.versions)):
        tell(said)
    counts = Counter(verdict.verdict for verdict in found.verdicts)
    shown = with_verdicts(report, found, args.given)
    left_out: tuple[Diagnostic, ...] = ()
    if output_format == "full" and linted.workload.command and not args.verbose:
        shown, left_out = told_apart(shown)
    behind = "\n" * bool(shown.diagnostics and left_out) + in_short(left_out, linted.view)
    show(args, shown, output_format, linted.view, summary(counts, found.versions), behind)
    if found.interrupted:
        tell("interrupted: the verdicts are on what was seen until then")
        return 130
    if args.require == "confirmed":
        return 0 if set(counts) <= {"confirmed"} else 1
    return 1 if counts["confirmed"] or counts["confirmed-elsewhere"] else 0


def asked_of(item: Diagnostic, texts: Mapping[str, str], recorded: dict[str, list[Function]]) -> Asked:
    """What is asked of a run about a finding. texts: of the files, by path."""
    text = texts.get(item.path, "")
    spot = spot_of(item, text)
    first, again = uses_of(item, texts, spot)
    return Asked(
        item.finding.name, spot, targets_of(item), cases_for(item, recorded), formula_of(item, text),
        statement=rows_around(text, spot.first, spot.last),
        chain=tuple((step.path, step.row) for step in item.finding.evidence if not step.path.endswith(SUFFIX)),
        name=name_of(item, text), column=item.column, code=item.code, first=first, again=again,
        span=span_of(item, text, spot), words=words_of(text, spot), loop=rows_of_loop(text, spot.first),
    )  # fmt: skip


def span_of(item: Diagnostic, text: str, spot: Spot) -> Span | None:
    """Where the text of a finding stands, with columns in bytes from 0."""
    finding = item.finding
    if finding.end <= finding.start or finding.end > len(text):
        return None
    starts = [text.rfind("\n", 0, offset) + 1 for offset in (finding.start, finding.end)]
    columns = [len(text[start:offset].encode()) for start, offset in zip(starts, (finding.start, finding.end))]
    return spot.first, columns[0], spot.last, columns[1]


def words_of(text: str, spot: Spot) -> frozenset[str]:
    """The names in the statement of a finding, ``<lambda>`` where it makes one, and of a decorator that of its function."""
    lines = text.split("\n")
    rows = rows_around(text, spot.first, spot.last)
    shown = "\n".join(lines[row - 1] for row in sorted(rows) if row <= len(lines))
    last = max(rows)
    while shown.lstrip().startswith("@") and last < len(lines) and not lines[last - 1].lstrip().startswith(_DEFINING):
        last += 1
        shown += "\n" + lines[last - 1]
    found = set(re.findall(r"[A-Za-z_]\w*", shown))
    return frozenset(found | ({"<lambda>"} & {f"<{word}>" for word in found}))


_DEFINING = ("def ", "async def ", "class ")


def uses_of(item: Diagnostic, texts: Mapping[str, str], spot: Spot) -> tuple[Use, Use]:
    """The two uses of a key that a finding names. In a loop, both stand at the finding."""
    steps = [step for step in item.finding.evidence if step.kind == "use"]
    first = [place_of(step, texts) for step in steps if step.text in (FIRST_USE, LEADS_TO_USE)]
    again = [place_of(step, texts) for step in steps if step.text == USED_AGAIN]
    if first and item.finding.name == "key-reuse-in-loop":
        first.append((spot.path, spot.first, frozenset(range(spot.first, spot.last + 1))))
    return Use(tuple(first)), Use(tuple(again[:1]))


def place_of(step: Step, texts: Mapping[str, str]) -> tuple[str, int, frozenset[int]]:
    """texts: of files with findings."""
    text = texts.get(step.path)
    if text is None:
        try:
            text = Path(step.path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return step.path, step.row, frozenset({step.row})
        return step.path, step.row, rows_around(text, step.row, step.row)
    row = text.count("\n", 0, step.start) + 1
    return step.path, row, rows_around(text, row, row)


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


def name_of(item: Diagnostic, text: str) -> str:
    """The text of a finding, where that is a name, with dots or without."""
    found = text[item.finding.start : item.finding.end]
    return found if is_name(found) else ""


def spot_of(item: Diagnostic, text: str) -> Spot:
    """The rows of a finding in the text of its file, which for a notebook is that of all its cells."""
    shift = Rows(text).row(item.cell, item.row) - item.row if item.cell is not None else 0
    return Spot(item.path, item.row + shift, max(item.row, item.end_row) + shift)


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

    def judged(item: Diagnostic, verdict: Verdict) -> Diagnostic:
        if item.cell is not None:
            reason = in_words(verdict.reason, Rows(report.texts.get(item.path, "")))
            verdict = msgspec.structs.replace(verdict, reason=reason)
        more = {"versions": found.versions, "reproduce": reproducing(item, command)}
        verdict = msgspec.structs.replace(verdict, details={**verdict.details, **more})
        return msgspec.structs.replace(item, finding=msgspec.structs.replace(item.finding, verdict=verdict))

    return msgspec.structs.replace(report, diagnostics=tuple(map(judged, report.diagnostics, found.verdicts)))


def told_apart(report: RunReport) -> tuple[RunReport, tuple[Diagnostic, ...]]:
    """The report without the findings on lines that no run came to, and these."""
    rest = tuple(item for item in report.diagnostics if _never_ran(item.finding.verdict))
    left = tuple(item for item in report.diagnostics if not _never_ran(item.finding.verdict))
    return msgspec.structs.replace(report, diagnostics=left), rest


def _never_ran(verdict: Verdict | None) -> bool:
    return verdict is not None and NEVER_RAN.items() <= verdict.details.items()


def in_short(items: Sequence[Diagnostic], view: View) -> str:
    """A line for each file with findings on lines that did not run, and how to see them."""
    codes: dict[str, Counter[str]] = {}
    for item in items:
        codes.setdefault(item.path, Counter())[item.code] += 1
    lines = [
        f"{view.styled(view.shown(path), 'path')}: {counts.total()} finding{'s' * (counts.total() > 1)} on lines that did not "
        f"run ({', '.join(sorted(counts))})\n"
        for path, counts in codes.items()
    ]
    hint = "The option `--verbose` shows these findings, and says what kept their lines from running.\n\n"
    return "".join(lines) + hint * bool(lines)


def summary(counts: Counter[str], versions: dict[str, str], of: str = "findings") -> str:
    """``3 confirmed, 1 inconclusive (jax 0.10.2, cpu)``. of: what is counted, in the sentence that there are none."""
    if not counts:
        return f"No {of}, so jaxlint did not run the program."
    parts = [f"{count} {verdict}" for verdict, count in counts.most_common()]
    device = ": ".join(versions[name] for name in ("backend", "device") if name in versions)
    device = f", {device}" if device else ", no device" if "problem" in versions else ""  # else none was asked for
    where = f" (jax {versions['jax']}{device})" if "jax" in versions else ""
    return ", ".join(parts) + where
