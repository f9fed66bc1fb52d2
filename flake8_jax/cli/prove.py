"""``jaxlint prove``: lint, fix a copy, run the user's command with and without the fixes, and compare the results."""

from __future__ import annotations

import ast
import functools
import os
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from flake8_jax.cli.linted import add_lint_options, lint, parse, say_progress, show, understand
from flake8_jax.cli.running import add_device_option, add_process_options, command_parser, fail, finish, missing_command
from flake8_jax.cli.said import tell
from flake8_jax.cli.verify import summary
from flake8_jax.core.cells import SUFFIX
from flake8_jax.core.findings import Positions, Verdict
from flake8_jax.core.report import Change, Diagnostic, RunReport, line_starts
from flake8_jax.runtime_checks.contracts import Fix
from flake8_jax.runtime_checks.observations import line_in_words
from flake8_jax.runtime_checks.project_copy import CopyError, outermost
from flake8_jax.runtime_checks.prove import PROVED, Proof, prove
from flake8_jax.runtime_checks.replays import Function, Place, Runner, Variant
from flake8_jax.runtime_checks.sandbox import kept_folder
from flake8_jax.runtime_checks.speed import sentence
from flake8_jax.settings.tables import ConfigError

if TYPE_CHECKING:
    from flake8_jax.fixing.passes import Origin, Outcome
    from flake8_jax.pipeline.backend import Backend
    from flake8_jax.pipeline.workspace import Question, Workspace

_EPILOG = """\
Write your command after `--`. jaxlint runs it in copies of the project at least three times: twice without the fixes and once
with them. It compares the results of the functions that contain fixes, call by call. The copies leave out version
control, caches and virtual environments. Files above 20 MiB are not copied but linked, so a command that writes to them changes
your own files. Otherwise, your files change only with `--write`.

examples:
  jaxlint prove src/ -- python train.py --steps 20
  jaxlint prove src/ --safe-only --write -- pytest tests/test_model.py -q
  jaxlint prove . --select JAX1 --output-format json -- python -m app

verdicts:
  preserved           proved: the results are the same
  enables             proved: the original raised an error, and the fixed program does what the original does without jit
  intended-change     proved: the purpose of the fix is to change results, such as repeated random numbers, and it changes
                      nothing else
  differs             the fix changes something that it must not change
  blocked             the line did not run, because another error came first
  inconclusive        the line did not run, or jaxlint could compare nothing
  unsupported-target  this machine does not have the device of --target

Exit status: 0 if every fix is proved, 1 if not (also if a fix is inconclusive), 2 for a usage error.
The child process does not protect you from malicious code: the command runs with your rights and can write to your files.
"""


def parser() -> ArgumentParser:
    made = command_parser(
        "prove",
        "Run your command with and without the fixes and compare the results.",
        _EPILOG,
        "[options] [PATH ...] -- COMMAND ...",
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="fix these files or directories (default: .)")
    fix = made.add_argument_group("fixes")
    fix.add_argument(
        "--unsafe-fixes",
        action="store_true",
        default=True,
        dest="unsafe_fixes",
        help="include unsafe fixes, which may change values, dtypes or effects (the default)",
    )
    fix.add_argument("--safe-only", action="store_false", dest="unsafe_fixes", help="include safe fixes only")
    fix.add_argument(
        "--write",
        action="store_true",
        help="write the proved fixes (those with the verdict preserved, enables or intended-change), and no others",
    )
    run = made.add_argument_group("running")
    add_device_option(run)
    add_process_options(run)
    run.add_argument(
        "--attempts", type=int, default=8, metavar="N",
        help="run the command at most N times more, with fewer fixes at a time, to find out which fixes change results "
        "(default: 8)",
    )  # fmt: skip
    add_lint_options(made)
    return made


def run(arguments: Sequence[str], backend: Backend | None = None) -> int:
    """Run ``jaxlint prove``; returns the exit status."""
    args, _, output_format = parse(parser(), arguments)
    if not args.given:
        return fail(missing_command("prove src -- python train.py"))
    return finish(lambda: _run(args, output_format, os.getcwd(), backend), args, CopyError)


def _run(args: Namespace, output_format: str, cwd: str, backend: Backend | None) -> int:
    from flake8_jax.cli.output import withdrawn_shown

    understand(args, cwd)
    if args.command.words[0].endswith(SUFFIX):
        raise ConfigError(
            f"{args.command.words[0]}: fixes of notebooks are not proved; `jaxlint verify` runs notebooks"
        )
    linted = lint(args, cwd, backend, unsafe_fixes=args.unsafe_fixes)
    workspace, question, report = linted.workspace, linted.question, linted.report
    if report.missing:
        return 2
    variants = _Variants(workspace, question, report, unsafe=args.unsafe_fixes)
    functions, fixes = fixes_of(report, variants.numbers)
    proof = Proof({}, frozenset(), (), {})
    if fixes:
        with kept_folder("jaxlint-prove-") as scratch:
            runner = Runner(linted.workload, roots_of(workspace, question, cwd), functions, scratch)
            proof = prove(
                fixes,
                variants.build,
                runner,
                functools.partial(say_progress, args),
                args.attempts,
                impure_of(report, functions),
            )
    if proof.refused:
        raise ConfigError(proof.refused)
    for note in (*proof.notes, *withdrawn_shown(variants.whole, linted.view)):
        tell(note)
    refused = write(variants.changes(proof.safe)) if args.write else ()
    for line in refused:
        tell(line)
    shown = with_fix_verdicts(report, variants.numbers, proof)
    show(args, shown, output_format, linted.view, closing(proof, written=args.write))
    proved = all(verdict.verdict in PROVED for verdict in proof.verdicts.values())
    return 2 if refused else 0 if proved else 1


class _Variants:
    """The project with some of its fixes applied. numbers: of the fixes, by the origin of the finding. whole: the report with
    all of them, and those that were reverted."""

    def __init__(self, workspace: Workspace, question: Question, report: RunReport, *, unsafe: bool) -> None:
        self.workspace = workspace
        self.question = question
        self.unsafe = unsafe
        self._made: dict[frozenset[int], Outcome] = {}
        outcome = self._with_fixes(None)
        self.whole = outcome.report
        applied = set(outcome.applied)
        found = dict.fromkeys(origin for item in report.diagnostics if (origin := origin_of(item)) in applied)
        self.numbers: dict[Origin, int] = {origin: number for number, origin in enumerate(found)}
        self._rows = {origin_of(item): item.end_row - item.row for item in report.diagnostics}

    def _with_fixes(self, only: frozenset[Origin] | None) -> Outcome:
        from flake8_jax.fixing.passes import apply_fixes

        return apply_fixes(self.workspace, self.question, unsafe=self.unsafe, only=only)

    def outcome(self, applied: frozenset[int]) -> Outcome:
        if applied not in self._made:
            self._made[applied] = self._with_fixes(
                frozenset(origin for origin, number in self.numbers.items() if number in applied)
            )
        return self._made[applied]

    def build(self, applied: frozenset[int]) -> Variant:
        """What ``prove`` runs. Raises ConfigError, OSError."""
        outcome = self.outcome(applied)
        texts = {change.path: change.after for change in outcome.report.changes}
        positions = {}
        places = {}
        for origin, offset in outcome.left.items():
            if origin in self.numbers:
                path = origin[0]
                if path not in positions:
                    positions[path] = Positions(line_starts(texts.get(path) or self._text(path)))
                row, column = positions[path].row_column(offset)
                places[self.numbers[origin]] = Place(path, row, column, row + max(0, self._rows[origin]))
        return Variant(
            {change.path: _encoded(change) for change in outcome.report.changes},
            frozenset(self.numbers[origin] for origin in outcome.applied if origin in self.numbers),
            places,
        )

    def changes(self, applied: frozenset[int]) -> tuple[Change, ...]:
        return self.outcome(applied).report.changes if applied else ()

    def _text(self, path: str) -> str:
        from flake8_jax.pipeline.lowering import read_text

        return read_text(path)[0]


def _encoded(change: Change) -> bytes:
    from flake8_jax.fixing.writing import NotWritten, encoded_like

    with open(change.path, "rb") as file:
        data = file.read()
    try:
        return encoded_like(data, change.before, change.after)
    except NotWritten as error:
        raise ConfigError(f"{change.path}: {error}") from error


def origin_of(item: Diagnostic) -> Origin:
    return item.path, item.code, item.finding.start


def write(changes: Sequence[Change]) -> tuple[str, ...]:
    """Write the changes; what was refused, a sentence each."""
    from flake8_jax.fixing.writing import NotWritten, replace_text

    refused = []
    for change in changes:
        try:
            replace_text(change.path, change.before, change.after)
        except NotWritten as error:
            refused.append(str(error))
    return tuple(refused)


def roots_of(workspace: Workspace, question: Question, cwd: str) -> list[str]:
    """The folders that have to be copied: the projects of the files, or if there is none, the working directory."""
    roots = []
    for settings, asked in workspace.projects(workspace.find(question).asked):
        for path in asked:
            inside = path.startswith(os.path.join(cwd, ""))
            roots.append(settings.project_root or (cwd if inside else os.path.dirname(path)))
    return outermost(roots)


# --- functions ---------------------------------------------------------------------------------------------------


def fixes_of(report: RunReport, numbers: Mapping[Origin, int]) -> tuple[list[Function], list[Fix]]:
    """The functions to be captured, and the fixes with the numbers of theirs."""
    scopes = _Scopes(report.texts)
    functions: dict[Function, int] = {}
    fixes: dict[int, Fix] = {}
    for item in report.diagnostics:
        number = numbers.get(origin_of(item))
        if number is not None and number not in fixes:
            mine = list(dict.fromkeys(_functions_of(item, scopes)))
            indices = tuple(functions.setdefault(function, len(functions)) for function in mine)
            place = Place(item.path, item.row, item.column, max(item.row, item.end_row))
            functions.setdefault((item.path, "<module>"), len(functions))  # what becomes of its variables
            fix = item.finding.fix
            message, safe = ("", False) if fix is None else (fix.message, fix.applicability == "safe")
            fixes[number] = Fix(number, item.finding.name, item.code, place, indices, message, safe)
    return list(functions), [fixes[number] for number in sorted(fixes)]


def _functions_of(item: Diagnostic, scopes: _Scopes) -> Iterator[Function]:
    """Innermost first: around the finding, around its edits, and on the way from the root to it."""
    yield from scopes.around(item.path, item.row)
    for edit in item.edits:
        yield from (f for f in scopes.around(item.path, edit.row) if f[1] != "<module>")
    for step in reversed(item.finding.evidence):
        yield from scopes.around(step.path, step.row)


_IMPURE = frozenset(
    {"host-rng-in-staged", "impure-call", "stale-global", "captured-mutation", "self-write", "global-write"}
)


def impure_of(report: RunReport, functions: Sequence[Function]) -> dict[int, str]:
    """By number of a function, a finding in it that runs once a compilation under jit, and in every call without."""
    scopes = _Scopes(report.texts)
    numbers = {function: number for number, function in enumerate(functions)}
    found: dict[int, str] = {}
    for item in report.diagnostics:
        if item.finding.name in _IMPURE:
            for function in _functions_of(item, scopes):
                if function in numbers:
                    where = line_in_words(item.path, item.row, function[0])
                    found.setdefault(numbers[function], f"{item.code} in {where}")
    return found


class _Scopes:
    """Which functions are around a row, by their qualified names."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._spans: dict[str, list[tuple[int, int, str]]] = {}

    def around(self, path: str, row: int) -> list[Function]:
        """Innermost first; the module for a row of none."""
        if path not in self._spans:
            self._spans[path] = sorted(_spans(self._parsed(path), ""), key=lambda span: span[0] - span[1])
        found = [(span[1] - span[0], (path, span[2])) for span in self._spans[path] if span[0] <= row <= span[1]]
        return [function for _, function in sorted(found)] or [(path, "<module>")]

    def _parsed(self, path: str) -> ast.AST:
        text = self._texts.get(path)
        if text is None:
            from flake8_jax.pipeline.lowering import read_text

            text = read_text(path)[0]
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError):  # newer Python than ours: its functions are not known then
            return ast.Module([], [])


def _spans(node: ast.AST, scope: str) -> Iterator[tuple[int, int, str]]:
    """First row (of the first decorator), last row and qualified name of every function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            name = scope + child.name
            first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
            yield first, child.end_lineno or child.lineno, name
            yield from _spans(child, f"{name}.<locals>.")
        elif isinstance(child, ast.ClassDef):
            yield from _spans(child, f"{scope}{child.name}.")
        else:
            yield from _spans(child, scope)


# --- saying it ---------------------------------------------------------------------------------------------------


def with_fix_verdicts(report: RunReport, numbers: Mapping[Origin, int], proof: Proof) -> RunReport:
    """The report with a verdict on the fix of every finding that has one."""

    def verdict(item: Diagnostic) -> Verdict | None:
        return proof.verdicts.get(numbers.get(origin_of(item), -1))

    return msgspec.structs.replace(
        report,
        diagnostics=tuple(
            msgspec.structs.replace(item, finding=msgspec.structs.replace(item.finding, fix_verdict=verdict(item)))
            for item in report.diagnostics
        ),
    )


def closing(proof: Proof, *, written: bool) -> str:
    """The lines below the findings."""
    counts = Counter(verdict.verdict for verdict in proof.verdicts.values())
    lines = [sentence(speed) for speed in proof.speeds]
    lines.append(summary(counts, proof.versions, "fixes") + (f", {proof.runs} runs" if proof.runs else ""))
    if written:
        count = len(proof.safe)
        lines.append(f"Wrote {count} fix{'es' * (count != 1)}." if count else "Wrote nothing.")
    return "\n".join(lines)
