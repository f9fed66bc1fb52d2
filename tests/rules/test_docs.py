"""Every manual page is true: its examples are linted, and where JAX is installed, run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.jax_programs import Program, Runner
from support.pages import Example, parse_page
from support.wording import private_words

from flake8_jax.core.registry import Rule
from flake8_jax.rules import all_rules

EXAMPLES = [
    pytest.param(rule, example, id=f"{rule.name}-{example.kind.replace(' ', '-')}-{number}")
    for rule in all_rules()
    for number, example in enumerate(parse_page(rule.doc).examples)
]


TITLES = (
    "Why is this bad?",
    "Example",
    "Use instead",
    "Not reported",
    "Limitations",
    "Fix safety",
    "How it is verified",
    "Since",
    "Related rules",
    "JAX documentation",
    "Further reading",
)
OPTIONAL = {"Not reported", "Related rules", "JAX documentation", "Further reading"}


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_example_is_linted_as_its_labels_say(rule: Rule, example: Example, check: Callable[..., None]) -> None:
    check({file.name: file.text for file in example.files}, opt_in=frozenset({rule.name}))


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_page_is_complete(rule: Rule) -> None:
    page = parse_page(rule.doc)
    assert page.summary.endswith("."), "the first line is one sentence"
    titles = [section.title for section in page.sections if section.title]
    assert titles == [title for title in TITLES if title in titles], "each section once, in one order"
    assert set(TITLES) - set(titles) <= OPTIONAL
    kinds = {example.kind for example in page.examples}
    assert {"bad", "good"} <= kinds
    for example in page.examples:
        names = {label.rule for label in example.labels}
        assert rule.name in names if example.kind == "bad" else not names
        assert (example.oracle_file is not None) == (example.kind == "bad"), "a bad example demonstrates its defect"


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_since_is_a_version_of_the_changelog(rule: Rule) -> None:
    text = (Path(__file__).parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (\d+\.\d+\.\d+)( \(unreleased\))?$", text, re.MULTILINE)
    allowed = {f"{version}, not released yet." if open_ else f"{version}." for version, open_ in headings}
    assert (parse_page(rule.doc).section("Since") or "").strip() in allowed


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_related_rules_exist(rule: Rule) -> None:
    known = {other.code: other.name for other in all_rules()}
    for code, name in re.findall(r"(JAX\d{3}) \(`([a-z0-9-]+)`\)", parse_page(rule.doc).section("Related rules") or ""):
        assert known[code] == name and code != rule.code


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_pages_have_no_private_words(rule: Rule) -> None:
    prose = [part for number, part in enumerate(re.split(r"```(?:python)?\n", rule.doc)) if number % 2 == 0]
    assert private_words("\n".join(prose)) == []


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_fixable_rules_say_how(rule: Rule) -> None:
    text = parse_page(rule.doc).section("Fix safety") or ""
    says_none = text.startswith("No fix.")
    assert says_none == (rule.fixable == "never")
    assert text.strip() not in ("No fix.", "Unsafe."), "the reason or the consequence is missing"


PROGRAMS = [
    Program(
        str(param.id),
        Path(__file__).with_name("run_on_jax.py"),
        rule.name,
        files={file.name: file.text for file in example.files},
        arguments={
            "file": example.oracle_file or example.files[0].name,
            "expression": "demonstrate()" if example.oracle_file else "",
            "raises": example.raises or "",
        },
    )
    for param in EXAMPLES
    for rule, example in [param.values]
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_example_does_on_jax_what_it_says(program: Program, on_jax: Runner) -> None:
    assert on_jax(program) == ""
