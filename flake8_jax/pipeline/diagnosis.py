"""From findings to diagnostics: what is selected, what comments suppress, where it stands.

Vocabulary
----------
selection   the codes that are on in a project, and in each file of it.
unused      a code in a ``# noqa`` comment that suppresses nothing, though its rule is on.
named       a rule whose name, and not its code, stands in a ``# noqa`` comment. As in flake8, this comment suppresses all
            findings on its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from flake8_jax.core import ir
from flake8_jax.core.cells import SUFFIX, Rows, in_cell, is_one_word
from flake8_jax.core.findings import Finding, Fix, Positions
from flake8_jax.core.report import Diagnostic, RunReport, line_starts, place
from flake8_jax.core.testing import holds_tests
from flake8_jax.pipeline.backend import INVALID_SYNTAX, UNUSED_NOQA, Backend
from flake8_jax.pipeline.discovery import Patterns
from flake8_jax.pipeline.lowering import Problem
from flake8_jax.pipeline.patterns import PatternError
from flake8_jax.settings.options import DEFAULT_TEST_FILES, Settings
from flake8_jax.settings.resolver import place_of
from flake8_jax.settings.selection import (
    SelectorError,
    codes_of,
    enabled,
    enabled_in_preview,
    fixable_codes,
    off_in_tests,
)
from flake8_jax.settings.tables import ConfigError
from flake8_jax.syntax.errors import UNSUPPORTED
from flake8_jax.syntax.noqa import Directive, Noqa, directives, noqa_row, remove_codes


class Selection:
    """Which codes are on in which file of a project. Raises ConfigError for selectors that match nothing.

    asked: the codes that would be on without ``--preview``."""

    def __init__(self, settings: Settings, backend: Backend) -> None:
        try:
            self.asked = enabled(settings.layers, backend.rules)
            self.codes = enabled_in_preview(settings.layers, backend.rules) if settings.preview else self.asked
            self.fixable = fixable_codes(settings.fixable, settings.unfixable, backend.rules)
            self._ignores = _ignores(settings, backend)
            self._off_in_tests = off_in_tests(settings.layers, backend.rules)
        except SelectorError as error:
            raise ConfigError(f"{_origin(error.selector, settings)}: {error}") from error
        self._has_own_tests = settings.test_files is not None
        self._test_files = _test_files(settings)
        self._known = frozenset(backend.rules)
        self.code_of = {rule.name: code for code, rule in backend.rules.items()}
        self._prefixes = tuple(sorted({code[:-3] for code in backend.rules}))
        self._by_path: dict[str, frozenset[str]] = {}

    def ignored_in(self, path: str) -> frozenset[str]:
        """The codes that ``per-file-ignores`` turns off in a file; ``!pattern`` is for all other files."""
        if path not in self._by_path:
            found: frozenset[str] = frozenset()
            for patterns, inverted, codes in self._ignores:
                if patterns.matches_any_part(path) is not inverted:
                    found |= codes
            self._by_path[path] = found
        return self._by_path[path]

    def off_as_test(self, path: str, text: str) -> frozenset[str]:
        """The codes that are off in a file because it is a test. By the default patterns, it also has to hold tests."""
        is_test = self._test_files.matches_any_part(path) and (self._has_own_tests or holds_tests(path, text))
        return self._off_in_tests if is_test else frozenset()

    def judges(self, code: str, path: str, text: str) -> bool:
        """Whether a code, or prefix of one, can be said to be unused in a file: some rule of it runs, or none exists."""
        codes = self.codes - self.off_as_test(path, text)
        return any(on.startswith(code) for on in codes) or not any(known.startswith(code) for known in self._known)

    def is_ours(self, code: str) -> bool:
        """Whether a code, or prefix of one, begins like those of jaxlint and of installed rule packages."""
        return code.startswith(self._prefixes)

    def is_on(self, code: str, path: str) -> bool:
        return code in self.codes and code not in self.ignored_in(path)


def _ignores(settings: Settings, backend: Backend) -> list[tuple[Patterns, bool, frozenset[str]]]:
    """Patterns of ``per-file-ignores``, whether they stand for all other files, and codes.

    Patterns with the same codes are matched at once, for there may be thousands of them. Raises ConfigError, SelectorError.
    """
    positive: dict[frozenset[str], list[str]] = {}
    found: list[tuple[Patterns, bool, frozenset[str]]] = []
    try:
        distinct = dict.fromkeys(selectors for _, selectors in settings.per_file_ignores)
        selected = {selectors: codes_of(selectors, backend.rules) for selectors in distinct}
        for pattern, selectors in settings.per_file_ignores:
            codes = selected[selectors] - {INVALID_SYNTAX.code}
            if pattern.startswith("!"):
                found.append((Patterns.of_setting(settings.root, [_inner(pattern)]), True, codes))
            else:
                positive.setdefault(codes, []).append(pattern)
        found += [(Patterns.of_setting(settings.root, lines), False, codes) for codes, lines in positive.items()]
    except PatternError as error:
        place = place_of(settings, ("per-file-ignores",), error.line)
        raise ConfigError(f"{place}: the pattern {error}") from error
    return found


def _test_files(settings: Settings) -> Patterns:
    """Patterns of ``test-files``. Raises ConfigError."""
    try:
        own = settings.test_files
        return Patterns.of_setting(settings.root, DEFAULT_TEST_FILES if own is None else own)
    except PatternError as error:
        raise ConfigError(f"{place_of(settings, ('test-files',), error.line)}: the pattern {error}") from error


def _inner(pattern: str) -> str:
    """The pattern without its ``!``."""
    if not pattern[1:].strip():
        raise PatternError(pattern, "no name is left of it")
    return pattern[1:]


def _origin(selector: str, settings: Settings) -> str:
    """Where a selector was written: the command line has the last layer."""
    flags = settings.layers[-1] if settings.layers else None
    if flags is not None and selector in (*(flags.select or ()), *flags.extend_select, *flags.ignore):
        return "command line"
    keys = ("select", "extend-select", "ignore", "per-file-ignores", "fixable", "unfixable")
    return place_of(settings, keys, selector)


def placed(
    path: str,
    findings: Sequence[Finding],
    text: str,
    module: ir.Module,
    selection: Selection,
    ignore_noqa: bool,
) -> list[Diagnostic]:
    """The findings in one file that no comment suppresses, and the comments that suppress nothing."""
    positions = Positions(module.line_starts)
    shown = list(findings)
    if not ignore_noqa and "noqa" in text.lower():
        comments = directives(text, module)
        used: dict[Directive, set[str]] = {}
        shown = []
        for finding in findings:
            directive = comments.suppressing(finding.code, finding.start)
            if directive is None:
                shown.append(finding)
            else:
                used.setdefault(directive, set()).add(finding.code)
        if selection.is_on(UNUSED_NOQA.code, path):
            shown += _unused(path, text, module, comments, used, selection)
    noqa_rows: dict[int, int] = {}  # a line may have many findings
    items: list[Diagnostic] = []
    for finding in shown:
        row = positions.row(finding.start)
        if row not in noqa_rows:
            noqa_rows[row] = noqa_row(text, module, finding.start)
        items.append(place(finding, positions, noqa_rows[row]))
    if path.endswith(SUFFIX):
        rows = Rows(text)
        items = [in_cell(item, rows) for item in items]
    return items


def named_in_comments(path: str, text: str, module: ir.Module, code_of: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each comment that names a rule. code_of: codes by the names of rules."""
    if _NAMED.search(text) is None:
        return
    positions = Positions(module.line_starts)
    for directive in directives(text, module).directives:
        names = [word for word in directive.words if word in code_of]
        if not names:
            continue
        row = positions.row(directive.start)
        place = f"{path}:{row}"
        if path.endswith(SUFFIX):
            place = "{}:cell {}:{}".format(path, *Rows(text).place(row))
        start = "# jaxlint: noqa" if directive.whole_file else "# noqa"
        yield (
            f"{place}: `{start}: {', '.join(directive.words)}` suppresses all findings "
            f"{'in the file' if directive.whole_file else 'on its line'}, because it contains a name instead of a code; "
            f"write `{start}: {', '.join(code_of[name] for name in names)}`"
        )


_NAMED = re.compile(r"#[^\r\n]*?noqa\s*:\s*[a-z][a-z0-9]*-", re.IGNORECASE)


def _unused(
    path: str,
    text: str,
    module: ir.Module,
    comments: Noqa,
    used: dict[Directive, set[str]],
    selection: Selection,
) -> Iterable[Finding]:
    rule = UNUSED_NOQA
    for directive in comments.directives:
        unused = [
            code
            for code in directive.codes
            if selection.is_ours(code)
            and selection.judges(code, path, text)
            and not any(silenced.startswith(code) for silenced in used.get(directive, ()))
        ]
        if unused:
            fix = Fix("remove the unused codes", "safe", (remove_codes(text, module, directive, unused),))
            message = f"`noqa` comment suppresses no {', '.join(unused)}"
            yield Finding(rule.code, rule.name, rule.level, path, directive.start, directive.end, message, (), fix)


def undecodable(path: str, problem: Problem) -> RunReport:
    """The report on a text that cannot even be decoded."""
    return RunReport(
        diagnostics=(syntax_diagnostic(path, "", problem),), rules={INVALID_SYNTAX.code: INVALID_SYNTAX}, checked=1
    )


_OTHER_SHEBANG = re.compile(r"#!(?!.{0,200}python)")
_PLACEHOLDER = "{{"
"""In the path of a template of a project (cookiecutter, copier), whose files become Python when it is filled in."""


def syntax_diagnostic(path: str, text: str, problem: Problem) -> Diagnostic:
    starts = line_starts(text)
    row = min(max(problem.row, 1), len(starts))
    offset = min(starts[row - 1] + max(problem.column, 1) - 1, len(text))
    rule = INVALID_SYNTAX
    level, message = rule.level, problem.message
    if text:
        unit = "cell" if path.endswith(SUFFIX) else "file"
        skipped = f"jaxlint skips this {unit}"
        remedy = (
            "" if _PLACEHOLDER in path else "; correct it" + (" or add the file to `exclude`" if unit == "file" else "")
        )
        message = f"{skipped}, because it is not valid Python: {message}{remedy}"
        if problem.message.endswith(UNSUPPORTED):
            level, message = "warning", f"{skipped}, though Python runs it: {problem.message}; write it in another way"
    if path.endswith(SUFFIX) and is_one_word(text, row):
        level = "info"  # ``stop``, ``assert``: where "Run all" is to end
    if _OTHER_SHEBANG.match(text):
        level, message = "info", f"{message}; its first line runs another program than Python"
    if _PLACEHOLDER in path:
        level, message = "info", f"{message}; this looks like a template: add it to `exclude`"
    finding = Finding(rule.code, rule.name, level, path, offset, offset, message)
    if text:
        item = place(finding, Positions(starts), row)
        return in_cell(item, Rows(text)) if path.endswith(SUFFIX) else item
    return Diagnostic(finding, problem.row, problem.column, problem.row, problem.column, problem.row)
