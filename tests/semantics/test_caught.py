"""What a ``try`` does to the reports in it, and to the code behind them."""

from __future__ import annotations

import dataclasses

import pytest

from flake8_jax.core.registry import Raises
from flake8_jax.rules import all_rules
from flake8_jax.semantics.analysis.analyze import analyze
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile
from flake8_jax.syntax.lower import lower

PROGRAM = """
import jax


@jax.jit
def step(x):
    try:
        if x > 0:
            x = -x
    except jax.errors.TracerBoolConversionError:
        return x
    print(x)
    return x
"""


def reported(*, raises: Raises) -> list[str]:
    rules = [rule for rule in all_rules() if rule.name in ("traced-branch", "print-in-staged")]
    rules = [dataclasses.replace(rule, raises=raises) if rule.level == "error" else rule for rule in rules]
    analysis = analyze([SourceFile("code.py", "code", False, lower(PROGRAM), PROGRAM)], AnalysisRequest(), rules)
    return [finding.name for finding in analysis.findings]


def test_code_behind_a_caught_error_about_a_tracer_does_not_run() -> None:
    assert reported(raises="tracer error") == []
    assert reported(raises="nothing") == ["print-in-staged"]


HANDLED = """
import sys

import jax


def add(x, y):
    return x + y


def train(x):
    step = jax.jit(add)
    return step(x, x, x)


def main(x):
    try:
        train(x)
    except Exception as error:
        print(error)
        {last}


if __name__ == "__main__":
    main(sys.argv)
"""


@pytest.mark.parametrize(
    ("last", "names"),
    [
        ("raise", ["transform-argument-mismatch"]),
        ("raise error", ["transform-argument-mismatch"]),
        ("sys.exit(1)", ["transform-argument-mismatch"]),
        ("raise ValueError('no sum')", []),
        ("sys.exit()", []),
        ("pass", []),
    ],
)
def test_a_handler_that_lets_the_program_fail_hides_no_error(last: str, names: list[str]) -> None:
    rules = [rule for rule in all_rules() if rule.name == "transform-argument-mismatch"]
    text = HANDLED.format(last=last)
    analysis = analyze([SourceFile("code.py", "code", False, lower(text), text)], AnalysisRequest(), rules)
    assert [finding.name for finding in analysis.findings] == names


def test_only_rules_that_report_errors_say_that_jax_raises() -> None:
    raising = {rule.name for rule in all_rules() if rule.raises != "nothing"}
    assert {"traced-branch", "host-cast", "numpy-on-tracer"} <= raising
    assert raising <= {rule.name for rule in all_rules() if rule.level == "error"}
