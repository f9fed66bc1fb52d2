"""Tests for packages of rules: each rule's page is checked, and its examples are linted and fixed.

Vocabulary
----------
example     a fenced ``python`` block of a rule's docstring; lines ``# file: name.py`` divide it into files.
label       ``# expect: rule-name`` at the end of a line: a finding stands there, and no finding of the package elsewhere.

Switch it on with ``addopts = "-p flake8_jax.pytest_plugin"``, and let pytest collect the folder with the rules. They have to be
installed (``pip install -e .``): pytest collects the modules that the entry points of the group ``flake8_jax.rules`` lead to.
The fixture ``jaxlint_check`` lints programs of your own tests in the same way.

Limitations: findings of jaxlint's own rules are left out. Nothing runs on JAX.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from flake8_jax.core.findings import Finding, Positions
from flake8_jax.core.registry import Rule
from flake8_jax.pipeline.backend import default_backend
from flake8_jax.pipeline.installed import Installed, find_offers, load
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile
from flake8_jax.syntax.edits import apply_edits
from flake8_jax.syntax.errors import SyntaxProblem
from flake8_jax.syntax.lower import line_starts, lower

_FENCE = re.compile(r"^( *)```python\n(.*?)^ *```[ \t]*$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^# file: *(\S+)[ \t]*$", re.MULTILINE)
_EXPECT = re.compile(r"#\s*expect:\s*([a-z0-9-]+(?:\s*,\s*[a-z0-9-]+)*)\s*$")

Texts = Mapping[str, str]
_Place = tuple[str, int, str]
"""File, row and the name of the rule."""


class RulePageError(AssertionError):
    """What is wrong with a rule or its page."""


def examples_of(page: str) -> list[dict[str, str]]:
    """The examples of a page, each as texts by file name."""
    return [_files_of(textwrap.dedent(block)) for _, block in _FENCE.findall(page)]


def _files_of(block: str) -> dict[str, str]:
    marks = list(_FILE.finditer(block))
    if not marks:
        return {"example.py": block}
    ends = [*(mark.start() for mark in marks[1:]), len(block)]
    return {mark[1]: block[mark.end() + 1 : end] for mark, end in zip(marks, ends)}


def labels_of(texts: Texts) -> set[_Place]:
    """The places that labels name."""
    found: set[_Place] = set()
    for file, text in texts.items():
        for row, line in enumerate(text.splitlines(), 1):
            if match := _EXPECT.search(line):
                found |= {(file, row, name.strip()) for name in match[1].split(",")}
    return found


def findings_in(texts: Texts, rules: Iterable[Rule]) -> list[Finding]:
    """The findings of these rules in a program, with their fixes. Their paths are the names of the files.

    Raises SyntaxProblem for a text that is not Python, RulePageError where a rule raises an exception.
    """
    files = [
        SourceFile(file, _module_name(file), file.endswith("__init__.py"), lower(text), text)
        for file, text in texts.items()
    ]
    request = AnalysisRequest(codes=frozenset(rule.code for rule in rules), preview=True)
    result = default_backend().analyze(files, request)
    if result.crashes:
        raise RulePageError("\n".join(trace for _, _, trace in result.crashes))
    return list(result.findings)


def _module_name(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def check_labels(texts: Texts, rules: Iterable[Rule]) -> list[Finding]:
    """The findings of the rules. Raises RulePageError unless they stand where the labels say."""
    positions = {file: Positions(line_starts(text)) for file, text in texts.items()}
    findings = findings_in(texts, rules)
    found = {(one.path, positions[one.path].row(one.start), one.name) for one in findings}
    wanted = labels_of(texts)
    wrong = [f"{file}:{row}: {name} is expected and not reported" for file, row, name in sorted(wanted - found)]
    wrong += [f"{file}:{row}: {name} is reported and not expected" for file, row, name in sorted(found - wanted)]
    if wrong:
        raise RulePageError("\n".join(wrong))
    return findings


def check_page(rule: Rule) -> None:
    """Raises RulePageError for a page without a summary, without an example that the rule reports, or without one that is
    free of findings."""
    if not rule.summary.endswith("."):
        raise RulePageError(f"{rule.name}: its docstring must begin with a sentence on one line")
    labels = [{name for _, _, name in labels_of(texts)} for texts in examples_of(rule.doc)]
    if not any(rule.name in names for names in labels):
        raise RulePageError(f"{rule.name}: no example on its page has a line that ends in `# expect: {rule.name}`")
    if not any(not names for names in labels):
        raise RulePageError(f"{rule.name}: no example on its page shows what to write instead")


def check_fixes(texts: Texts, rule: Rule, rules: Iterable[Rule]) -> int:
    """Apply each fix of the rule's findings by itself: the result must parse, and the finding must be gone. Returns the number
    of fixes. Raises RulePageError."""
    fixed = 0
    before = [one for one in findings_in(texts, rules) if one.name == rule.name]
    for finding in before:
        if finding.fix is None:
            if rule.fixable == "always":
                raise RulePageError(f'{rule.name}: a finding has no fix, but the rule says fixable="always"')
            continue
        if rule.fixable == "never":
            raise RulePageError(f'{rule.name}: a finding has a fix, but the rule says fixable="never"')
        changed = {**texts, finding.path: apply_edits(texts[finding.path], finding.fix.edits)}
        try:
            after = [one for one in findings_in(changed, rules) if one.name == rule.name]
        except SyntaxProblem as problem:
            raise RulePageError(f"the fixed code does not parse: {problem}\n{changed[finding.path]}") from problem
        if len(after) >= len(before):
            raise RulePageError(f"the finding is still there after its fix:\n{changed[finding.path]}")
        fixed += 1
    return fixed


# --- collecting -----------------------------------------------------------------------------------


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A module with installed rules is a file of tests."""
    if file_path.suffix != ".py":
        return None
    rules = [rule for rule in load(find_offers()).rules if _file_of(rule) == file_path.resolve()]
    return RuleFile.from_parent(parent, path=file_path, rules=rules) if rules else None


def pytest_report_header() -> list[str]:
    """What is wrong with the entry points: their rules are not tested."""
    return [f"jaxlint: {trouble}" for trouble in load(find_offers()).troubles]


def _file_of(rule: Rule) -> Path:
    return Path(inspect.getsourcefile(inspect.unwrap(rule.check)) or "").resolve()


def _of_one_package(rule: Rule, installed: Installed) -> list[Rule]:
    return [one for one in installed.rules if one.code[:-3] == rule.code[:-3]]


class RuleFile(pytest.File):
    """A module with rules."""

    def __init__(self, *, rules: list[Rule], **given: object) -> None:
        super().__init__(**given)  # type: ignore[arg-type]
        self.rules = rules

    def collect(self) -> Iterator[pytest.Item]:
        installed = load(find_offers())
        for rule in self.rules:
            together = _of_one_package(rule, installed)
            yield self._item(rule, "page", partial(check_page, rule))
            for number, texts in enumerate(examples_of(rule.doc), 1):
                yield self._item(rule, f"example-{number}", partial(check_labels, texts, together))
            yield self._item(rule, "fixes", partial(_check_all_fixes, rule, together))

    def _item(self, rule: Rule, what: str, test: Callable[[], object]) -> RuleItem:
        return RuleItem.from_parent(self, name=f"{rule.name}[{what}]", test=test)


def _check_all_fixes(rule: Rule, rules: list[Rule]) -> None:
    fixed = sum(check_fixes(texts, rule, rules) for texts in examples_of(rule.doc))
    if rule.fixable != "never" and not fixed:
        raise RulePageError(f"{rule.name}: no example on its page is fixed, but the rule says fixable={rule.fixable!r}")


class RuleItem(pytest.Item):
    """One test of a rule."""

    def __init__(self, *, test: Callable[[], object], **given: object) -> None:
        super().__init__(**given)  # type: ignore[arg-type]
        self._test = test

    def runtest(self) -> None:
        self._test()

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        if isinstance(excinfo.value, RulePageError):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name


@pytest.fixture
def jaxlint_check() -> Callable[..., list[Finding]]:
    """``jaxlint_check(text)`` or ``jaxlint_check({"a.py": text, …})`` lints a program with all installed rules; the test fails
    unless findings stand where ``# expect: rule-name`` says, and nowhere else. Returns the findings."""

    def check(program: str | Texts) -> list[Finding]:
        texts = {"example.py": program} if isinstance(program, str) else program
        return check_labels(texts, load(find_offers()).rules)

    return check
