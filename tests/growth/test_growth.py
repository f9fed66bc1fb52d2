"""Programs that grow are valid, and analyzed without a crash; ``benchmarks/growth.py`` measures what they cost."""

from __future__ import annotations

import sys

import pytest

from flake8_jax.fixers import all_fixers
from flake8_jax.fixers._callers import Program
from flake8_jax.rules import all_rules
from flake8_jax.semantics.analysis.analyze import AnalysisOptions, SourceFile, analyse
from flake8_jax.syntax.lower import lower
from growth.generators import GENERATORS, SIZES

NEWER = {"nested-formatted-strings": (3, 12)}
"""Programs that only newer versions of Python compile."""


def analyze(text: str) -> list[str]:
    """The tracebacks of an analysis with all rules and fixers."""
    file = SourceFile("example.py", "example", False, lower(text), text)
    source = Program([(file.path, file.text, file.tree)]).source
    options = AnalysisOptions(rules=list(all_rules()), preview=True, fixers=all_fixers(), fix_source=source)
    return [trace for _, _, trace in analyse([file], options).crashes]


@pytest.mark.parametrize("name", GENERATORS)
def test_a_small_program_of_each_kind_is_valid_and_analyzed(name: str) -> None:
    text = GENERATORS[name](max(SIZES[name] // 50, 4))
    if sys.version_info >= NEWER.get(name, (3, 0)):
        compile(text, name, "exec")
    assert analyze(text) == []
