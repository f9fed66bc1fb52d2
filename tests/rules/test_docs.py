"""Every manual page is true: its examples are linted, and where JAX is installed, run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.jax_programs import Program, Runner
from support.pages import Example, parse_page

from flake8_jax.core.registry import Rule
from flake8_jax.rules import all_rules

EXAMPLES = [
    pytest.param(rule, example, id=f"{rule.name}-{example.kind.replace(' ', '-')}-{number}")
    for rule in all_rules()
    for number, example in enumerate(parse_page(rule.doc).examples)
]


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_example_is_linted_as_its_labels_say(rule: Rule, example: Example, check: Callable[..., None]) -> None:
    check({file.name: file.text for file in example.files}, opt_in=frozenset({rule.name}))


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_page_is_complete(rule: Rule) -> None:
    page = parse_page(rule.doc)
    assert page.summary.endswith("."), "the first line is one sentence"
    titles = [section.title for section in page.sections]
    assert titles[0] == "Why it bites"
    assert [title for title in titles if title in ("Why it bites", "Fix", "Proof")] == ["Why it bites", "Fix", "Proof"]
    kinds = {example.kind for example in page.examples}
    assert {"bad", "good"} <= kinds
    for example in page.examples:
        names = {label.rule for label in example.labels}
        assert rule.name in names if example.kind == "bad" else not names
        assert (example.oracle_file is not None) == (example.kind == "bad"), "a Bad example demonstrates its defect"


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_fixable_rules_say_how(rule: Rule) -> None:
    text = parse_page(rule.doc).section("Fix") or ""
    says_none = text.strip().startswith("none")
    assert says_none == (rule.fixable == "never")


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
