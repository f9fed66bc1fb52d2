"""Linting small programs given as text, and comparing what is found with their labels."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.pages import Label, labels_of
from support.wording import problems_of_message

from flake8_jax.cli import main
from flake8_jax.core.findings import Positions
from flake8_jax.core.registry import Report
from flake8_jax.rules import all_rules
from flake8_jax.semantics.analysis.analyze import Analysis, analyze
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile
from flake8_jax.syntax.lower import line_starts, lower

EXPECT = "# expect:"
MISSING = "# missing:"
"""Labels a defect that the analysis is known not to find."""

NAMES_NOTHING = "names nothing that stands on the line"
UNNAMED = {
    "JAX301": NAMES_NOTHING,  # a key that a closure or an object holds: it has no name on the line of the second use
}
"""Rules whose message may name nothing of its line, each with the reason."""

PROJECT = Path(__file__).parents[2] / "project"
"""A folder that is not there: nothing is read from it, only paths are made with it."""

Lint = Callable[..., frozenset[Label]]


def _module_name(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _without_previews(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same check, but for the reports that are only previews."""

    def certain(event: Any) -> list[Report]:
        said = check(event)
        reports = said if isinstance(said, list) else [said] if said else []
        return [report for report in reports if not report.preview]

    return certain


def findings_of(
    root: Path,
    texts: Mapping[str, str],
    opt_in: frozenset[str] = frozenset(),
    request: AnalysisRequest | None = None,
) -> Analysis:
    """What every rule that is on by default or named in ``opt_in`` says of a project of these files; previews of those that are
    named there.

    Raises AssertionError where a rule or the engine crashed.
    """
    files = [
        SourceFile(
            path=str(root / file),
            module_name=_module_name(file),
            is_package=file.endswith("__init__.py"),
            tree=lower(text),
            text=text,
        )
        for file, text in texts.items()
    ]
    rules = [
        rule if request or rule.name in opt_in else replace(rule, check=_without_previews(rule.check))
        for rule in all_rules()
        if not rule.opt_in or rule.name in opt_in
    ]
    analysis = analyze(files, request or AnalysisRequest(preview=bool(opt_in)), rules)
    assert not analysis.crashes, "\n".join(trace for _, _, trace in analysis.crashes)
    return analysis


def lint_texts(root: Path, texts: Mapping[str, str], opt_in: frozenset[str] = frozenset()) -> frozenset[Label]:
    """The places of these findings. Raises AssertionError where a message is not worded as users need it."""
    positions = {file: Positions(line_starts(text)) for file, text in texts.items()}
    found, wrong = set(), []
    for finding in findings_of(root, texts, opt_in).findings:
        file = str(Path(finding.path).relative_to(root))
        row, text = positions[file].row(finding.start), texts[file]
        found.add(Label(file, row, finding.name))
        line = text[text.rfind("\n", 0, finding.start) + 1 : text.find("\n", finding.end)]
        problems = [p for p in problems_of_message(finding.message, line) if p != UNNAMED.get(finding.code)]
        wrong += [f"{finding.code} {problem}: {finding.message}" for problem in problems]
    assert not wrong, "\n".join(wrong)
    return frozenset(found)


@pytest.fixture(scope="session")
def lint() -> Lint:
    """``lint(text)`` or ``lint({"a.py": text, …})``, optionally ``opt_in={"rule-name"}``: the findings."""

    def run(program: str | Mapping[str, str], opt_in: frozenset[str] = frozenset()) -> frozenset[Label]:
        texts = {"example.py": program} if isinstance(program, str) else program
        return lint_texts(PROJECT, texts, opt_in)

    return run


@pytest.fixture(scope="session")
def check(lint: Lint) -> Callable[..., None]:
    """Like ``lint``, but asserts that the findings are exactly the program's ``# expect:`` labels."""

    def run(program: str | Mapping[str, str], opt_in: frozenset[str] = frozenset()) -> None:
        texts = {"example.py": program} if isinstance(program, str) else program
        wanted = {label for file, text in texts.items() for label in labels_of(file, text)}
        missing = {label for file, text in texts.items() for label in labels_of(file, text.replace(MISSING, EXPECT))}
        found = lint(texts, opt_in)
        wrong = [f"missed: {label}" for label in wanted - found]
        wrong += [f"{'found by now, relabel' if label in missing else 'false'}: {label}" for label in found - wanted]
        assert not wrong, "\n".join(sorted(wrong))

    return run


def findings(folder: Path, capsys: pytest.CaptureFixture[str], text: str) -> list[dict[str, Any]]:
    """What the command prints of the rules on reused keys for a file of this text."""
    path = folder / "main.py"
    path.write_text(text)
    capsys.readouterr()
    main(
        ["check", "--no-cache", "--isolated", "--output-format", "json", "--select", "JAX301,JAX302,JAX303", str(path)]
    )
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def check_levels(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    """A program has the findings that the ends of its lines say (``# error``, ``# info``), and no others."""
    rows = enumerate(text.splitlines(), 1)
    expected = {row: mark[1] for row, line in rows if (mark := re.search(r"# (info|warning|error)$", line))}
    found = findings(tmp_path, capsys, text)
    assert {item["location"]["row"]: item["severity"] for item in found} == expected
