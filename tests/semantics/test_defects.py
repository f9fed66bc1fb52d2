"""A defect of one rule costs the reports of that rule alone, and is reported itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from flake8_jax.core.registry import Rule
from flake8_jax.rules import all_rules
from flake8_jax.semantics.analysis.analyze import Analysis, analyze
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile
from flake8_jax.syntax.lower import lower

PROGRAM = """
import jax


@jax.jit
def step(key, x):
    if x > 0:
        return x
    first = jax.random.normal(key)
    print(x)
    return first + jax.random.normal(key)
"""
CODES = {"traced-branch": "JAX101", "print-in-staged": "JAX205", "key-reuse": "JAX301"}


def failing(error: type[Exception]) -> Callable[[Any], Any]:
    def fail(_: Any) -> Any:
        raise error("a defect")

    return fail


def analyzed(**changes: dict[str, Any]) -> Analysis:
    """The analysis with three rules. changes: by the name of a rule (``_`` for ``-``), what it has instead."""
    rules: list[Rule] = [
        dataclasses.replace(rule, **changes.get(rule.name.replace("-", "_"), {}))
        for rule in all_rules()
        if rule.name in CODES
    ]
    return analyze([SourceFile("code.py", "code", False, lower(PROGRAM), PROGRAM)], AnalysisRequest(), rules)


@pytest.mark.parametrize(
    "error", [AttributeError, TypeError, ValueError, LookupError, AssertionError, ZeroDivisionError, NameError]
)
def test_a_rule_that_fails_costs_its_report_alone(error: type[Exception]) -> None:
    assert [finding.name for finding in analyzed().findings] == list(CODES)
    analysis = analyzed(traced_branch={"check": failing(error)})
    assert [finding.name for finding in analysis.findings] == ["print-in-staged", "key-reuse"]
    assert {(rule, path) for rule, path, _ in analysis.crashes} == {("traced-branch", "code.py")}
    assert all(trace.endswith("a defect\n") for _, _, trace in analysis.crashes)


def test_reports_stay_where_a_rule_fails_to_say_which_are_superseded() -> None:
    analysis = analyzed(key_reuse={"settle": failing(ZeroDivisionError)})
    assert [finding.name for finding in analysis.findings] == list(CODES)
    assert [(rule, path) for rule, path, _ in analysis.crashes] == [("key-reuse", "code.py")]
