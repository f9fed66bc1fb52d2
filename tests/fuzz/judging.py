"""What counts as broken: programs are linted, fixed, silenced, inspected and reported on in this process.

Vocabulary
----------
texts   the files of a program by name, as text; the folder that they are said to be in holds none of them.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from flake8_jax.cli import main
from flake8_jax.core.report import RunReport
from flake8_jax.fixing.noqa import add_noqa
from flake8_jax.fixing.passes import apply_fixes
from flake8_jax.pipeline.backend import INVALID_SYNTAX, Backend, default_backend
from flake8_jax.pipeline.workspace import Question, Workspace
from flake8_jax.reporters import View, formats, render
from flake8_jax.settings.options import Options
from flake8_jax.settings.resolver import Resolver
from flake8_jax.settings.selection import ALWAYS_ON
from fuzz.case import Broken, Outcome

EVERYTHING = Options(select=["ALL"], preview=True, unsafe_fixes=True)
PARTS = ("fix", "noqa", "inspect", "formats")
"""What can be tried with a program besides linting it."""
_OURS = ("the analysis fails", "the parser fails")
"""Reasons to take a fix back that are defects of jaxlint."""


@functools.cache
def backend() -> Backend:
    return default_backend()


@functools.cache
def empty_folder() -> str:
    return os.path.realpath(tempfile.mkdtemp(prefix="jaxlint-fuzz-"))


def judge_texts(texts: Mapping[str, str], parts: Sequence[str] = PARTS) -> Outcome:
    """Lint a program, and do the other things with it. Raises Broken."""
    with _attributed("the engine"):
        return _judge_texts(texts, parts)


def _judge_texts(texts: Mapping[str, str], parts: Sequence[str]) -> Outcome:
    folder = empty_folder()
    by_path = {os.path.join(folder, name): text for name, text in texts.items()}
    question = Question(tuple(by_path), by_path)
    workspace = Workspace(backend(), Resolver(folder, flags=EVERYTHING), use_cache=False, jobs=1)
    report = workspace.check(question)
    _without_defects(report, by_path)
    outcome: Outcome = Counter(_verdict(report, path, text) for path, text in by_path.items())
    if "inspect" in parts:
        _without_defects(workspace.check(Question(tuple(by_path), by_path, collect_functions=True)), by_path)
    if "noqa" in parts:
        _silence(workspace, question)
    if "fix" in parts and _fix(workspace, question):
        outcome["fixed"] += 1
    if "formats" in parts:
        for name in formats():
            with _attributed(f"the output format {name}"):
                render(name, report, View(folder, True, True)).encode("utf-8", "backslashreplace")
    return outcome


def compiles(text: str) -> bool:
    """Whether this Python takes the text for a program."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<text>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return False
    return True


def _verdict(report: RunReport, path: str, text: str) -> str:
    codes = {item.code for item in report.diagnostics if item.path == path}
    if INVALID_SYNTAX.code not in codes:
        return "findings" if codes else "clean"
    return "refused, though Python compiles it" if compiles(text) else "not Python"


def _without_defects(report: RunReport, texts: Mapping[str, str]) -> None:
    """Raises Broken where something failed, or where a finding is not inside of its file."""
    for who, path, trace in report.crashes:
        raise Broken(f"{who} failed on {os.path.basename(path)}: {trace.strip().rpartition(chr(10))[2]}", trace)
    for withdrawn in report.withdrawn:
        if any(reason in withdrawn.reason for reason in _OURS):
            raise Broken(f"a fix of {withdrawn.code} was taken back: {withdrawn.reason}")
    for item in report.diagnostics:
        text = texts[item.path]
        finding = item.finding
        spans = [(finding.start, finding.end), *((e.start, e.end) for e in (finding.fix.edits if finding.fix else ()))]
        if any(not 0 <= start <= end <= len(text) for start, end in spans):
            raise Broken(f"{item.code} is outside of its file: {spans} of {len(text)} characters")
        if not (1 <= item.row <= item.end_row <= text.count("\n") + text.count("\r") + 1 and item.column >= 1):
            raise Broken(f"{item.code} is at an impossible place: {item.row}:{item.column}")
        for step in finding.evidence:
            if step.path not in texts or not 0 <= step.start <= len(texts[step.path]):
                raise Broken(f"the evidence of {item.code} is outside of its file")


def _fix(workspace: Workspace, question: Question) -> bool:
    """Fix until nothing changes; the result parses, and is fixed."""
    outcome = apply_fixes(workspace, question)
    _without_defects(outcome.report, outcome.texts)
    for change in outcome.report.changes:
        if compiles(change.before) and not compiles(change.after):
            raise Broken("the fixed file is no Python", change.after)
        breaks = set(_breaks(change.before))
        if len(breaks) == 1 and set(_breaks(change.after)) != breaks:
            raise Broken("the fixed file has other line ends", change.after)
    again = apply_fixes(workspace, Question(question.paths, outcome.texts))
    _without_defects(again.report, again.texts)
    for change in again.report.changes:
        raise Broken("a second --fix changes more", f"{change.before}\n#### becomes\n{change.after}")
    return bool(outcome.report.changes)


def _breaks(text: str) -> list[str]:
    """The line ends of a text, in order."""
    return re.findall(r"\r\n|\r|\n", text)


def _silence(workspace: Workspace, question: Question) -> None:
    """After ``--add-noqa`` nothing is left to say, and the program still is one."""
    report = add_noqa(workspace, question)
    _without_defects(report, question.texts)
    texts = {**question.texts, **{change.path: change.after for change in report.changes}}
    for change in report.changes:
        if compiles(change.before) and not compiles(change.after):
            raise Broken("the silenced file is no Python", change.after)
    after = workspace.check(Question(question.paths, texts))
    _without_defects(after, texts)
    for item in after.diagnostics:
        if item.code not in ALWAYS_ON and item.code != "JAX002":
            raise Broken(f"--add-noqa leaves {item.code}", texts[item.path])


# --- the command itself, in this process ----------------------------------------------------------------


def command(folder: Path, *arguments: str, given: bytes = b"", raw: bool = False) -> tuple[int, str, str]:
    """Exit status, output and errors of ``jaxlint`` in a folder. Raises Broken where it ends in another way.

    ``raw``: bytes of the output that are no UTF-8 come as surrogates, so that they can be had back.
    """
    kept = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(data, "utf-8", write_through=True) for data in kept)
    back = os.getcwd()
    streams = sys.stdin, sys.stdout, sys.stderr
    os.chdir(folder)
    sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO(given), "utf-8"), out, err
    status: int | str | None = None
    try:
        with _attributed(f"jaxlint {' '.join(arguments)}"):
            try:
                status = main(list(arguments))
            except SystemExit as ended:
                status = ended.code
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        os.chdir(back)
    texts = [data.getvalue().decode("utf-8", "surrogateescape" if raw else "backslashreplace") for data in kept]
    reported = f"jaxlint {' '.join(arguments)} in {folder}"
    if not isinstance(status, int) or status not in (0, 1, 2):
        raise Broken(f"exit status {status!r} of {reported}", "\n".join(texts))
    for text in texts:
        if "Traceback (most recent call last)" in text or "a defect of jaxlint" in text:
            raise Broken(f"an internal error of {reported}", text)
    return status, texts[0], texts[1]


@contextlib.contextmanager
def _attributed(what: str) -> Iterator[None]:
    """Every exception is Broken: nothing of jaxlint may raise one here."""
    try:
        yield
    except Broken:
        raise
    except Exception as error:
        last = f"{type(error).__name__}: {error}"
        raise Broken(f"{what} raises {last}", traceback.format_exc()) from error
