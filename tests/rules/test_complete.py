"""What every rule has: a page, a program and a way to verify its findings, and fixtures where it has a fixer."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from fixers.fixtures import FOLDER as FIXTURES
from fixers.fixtures import cases_of
from rules.programs import PROGRAMS, is_about_one_rule, subject
from support.pages import parse_page

from flake8_jax.core.registry import Rule
from flake8_jax.fixers import all_fixers
from flake8_jax.rules import all_rules
from flake8_jax.runtime_checks.oracles import all_oracles, unproved

CASES = Path(__file__).parents[1] / "cases"


def lacks(rule: Rule) -> Iterator[str]:
    """What is missing of a rule."""
    examples = parse_page(rule.doc).examples
    bad = [example for example in examples if example.kind == "bad"]
    if not rule.doc:
        yield "a page: the docstring of its function"
    elif not bad or len(bad) == len(examples):
        yield "an Example and a Use instead on its page"
    elif not all(example.oracle_file for example in bad):
        yield "`def demonstrate()` in an Example of its page"
    if rule.name not in map(subject, PROGRAMS):
        yield f"a program: data/{rule.name.replace('-', '_')}.py"
    if (rule.name in all_oracles()) == bool(unproved().get(rule.name)):
        yield f"an oracle, or the reason why there is none: runtime_checks/oracles/{rule.name.replace('-', '_')}.py"
    has_fixer, fixtures = rule.name in all_fixers(), FIXTURES / f"{rule.name}.txt"
    if has_fixer != (rule.fixable != "never"):
        yield "a fixer" if rule.fixable != "never" else "`fixable`, for it has a fixer"
    if has_fixer and not (fixtures.exists() and any(case.after is not None for case in cases_of(fixtures))):
        yield f"a fixture that its fixer changes: fixers/fixtures/{fixtures.name}"


def test_every_rule_is_complete() -> None:
    missing = [f"{rule.name} lacks {what}" for rule in all_rules() for what in lacks(rule)]
    assert not missing, "\n".join(missing)


def test_nothing_is_about_a_rule_that_does_not_exist() -> None:
    named = {subject(path) for path in PROGRAMS if is_about_one_rule(path)}
    named |= {path.stem for path in FIXTURES.glob("*.txt")} | {path.name for path in CASES.iterdir() if path.is_dir()}
    named |= all_fixers().keys() | all_oracles().keys() | unproved().keys()
    assert not named - {rule.name for rule in all_rules()}


def test_what_a_rule_lacks_is_named() -> None:
    known = all_rules()[0]
    assert not list(lacks(known))
    unknown = dataclasses.replace(known, name="no-such-rule", doc="", fixable="always")
    assert [said.split(":")[0] for said in lacks(unknown)] == [
        "a page",
        "a program",
        "an oracle, or the reason why there is none",
        "a fixer",
    ]
    fixable = next(rule for rule in all_rules() if rule.name in all_fixers())
    assert list(lacks(dataclasses.replace(fixable, fixable="never"))) == ["`fixable`, for it has a fixer"]
    half = dataclasses.replace(
        known, doc=known.doc.replace("## Use instead", "## Else").replace("## Not reported", "## Else")
    )
    assert list(lacks(half)) == ["an Example and a Use instead on its page"]
    silent = dataclasses.replace(known, doc=known.doc.replace("def demonstrate(", "def show("))
    assert list(lacks(silent)) == ["`def demonstrate()` in an Example of its page"]
