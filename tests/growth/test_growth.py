"""Programs of any length are analyzed in a time that grows with their length."""

from __future__ import annotations

import sys
import time

import pytest

from flake8_jax.fixers import all_fixers
from flake8_jax.fixers._source import FixSource
from flake8_jax.rules import all_rules
from flake8_jax.semantics import AnalysisOptions, SourceFile, analyse
from flake8_jax.syntax.lower import lower
from growth.generators import GENERATORS, SIZES

NEWER = {"nested-formatted-strings": (3, 12)}
"""Programs that only newer versions of Python compile."""


def analyze(text: str) -> list[str]:
    """The tracebacks of an analysis with all rules and fixers."""
    file = SourceFile("example.py", "example", False, lower(text), text)
    options = AnalysisOptions(rules=list(all_rules()), preview=True, fixers=all_fixers(), fix_source=FixSource)
    return [trace for _, _, trace in analyse([file], options).crashes]


@pytest.mark.parametrize("name", GENERATORS)
def test_a_small_program_of_each_kind_is_valid_and_analyzed(name: str) -> None:
    text = GENERATORS[name](max(SIZES[name] // 50, 4))
    if sys.version_info >= NEWER.get(name, (3, 0)):
        compile(text, name, "exec")
    assert analyze(text) == []


@pytest.mark.parametrize(
    "name",
    [
        "sum-of-numbers",
        "sum-of-lists",
        "merge-of-dicts",
        "attribute-chain",
        "subscript-chain",
        "update-chain",
        "conjunction-of-names",
        "conjunction-of-tests",
        "conjunction-of-traced-tests",
        "disjunction-of-calls",
        "isinstance-alternatives",
        "list-appends",
        "transforms",
        "jit-decorators",
        "super-chain",
        "class-chain",
        "dataclass-chain",
        "diamonds",
    ],
)
def test_a_program_half_as_long_as_it_must_handle_takes_a_second_or_two(name: str) -> None:
    text = GENERATORS[name](SIZES[name] // 2)
    before = time.process_time()
    assert analyze(text) == []
    assert time.process_time() - before < 4
