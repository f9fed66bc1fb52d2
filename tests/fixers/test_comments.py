"""No fix loses a comment, or writes one twice: each fixture with a comment at every line, fixed."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from fixers.fixtures import Case, all_cases
from flake8_jax.cli import main

CASES = [case for case in all_cases() if not case.name.startswith("crlf")]
COMMENT = re.compile(r"# remark \d+\b")


def remarked(program: str, *, above: bool) -> str:
    """The program with a numbered comment above each statement, or behind each line."""
    tokens = list(tokenize.generate_tokens(io.StringIO(program).readline))
    in_strings = {
        row for token in tokens if token.start[0] != token.end[0] for row in range(token.start[0], token.end[0] + 1)
    }
    has_comment = {token.start[0] for token in tokens if token.type == tokenize.COMMENT}
    starts = _first_rows(tokens)
    rows: list[str] = []
    for number, row in enumerate(program.split("\n"), 1):
        indentation = row[: len(row) - len(row.lstrip())]
        if above and number in starts:
            rows.append(f"{indentation}# remark {number}")
        is_code = row.strip() and number not in in_strings | has_comment and not row.endswith("\\")
        rows.append(f"{row}  # remark {number}" if is_code and not above else row)
    return "\n".join(rows)


def _first_rows(tokens: list[tokenize.TokenInfo]) -> set[int]:
    """The rows where statements begin."""
    found: set[int] = set()
    is_new = True
    for token in tokens:
        if token.type in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER):
            continue
        if is_new:
            found.add(token.start[0])
        is_new = token.type == tokenize.NEWLINE
    return found


@pytest.mark.parametrize("above", [True, False], ids=["above", "behind"])
@pytest.mark.parametrize("rule", sorted({case.rule for case in CASES}))
def test_each_comment_is_there_once(tmp_path: Path, rule: str, above: bool) -> None:
    cases: list[Case] = [case for case in CASES if case.rule == rule]
    for case in cases:
        (tmp_path / f"{case.module}.py").write_text(remarked(case.before, above=above))
    options = ["--isolated", "--no-cache", "--preview", "--select", rule, "--fix", "--unsafe-fixes", "--quiet"]
    main(["check", *options, str(tmp_path)])
    for case in cases:
        text = (tmp_path / f"{case.module}.py").read_text()
        ast.parse(text)
        assert sorted(COMMENT.findall(text)) == sorted(COMMENT.findall(remarked(case.before, above=above))), case.name
