"""Programs that grow are valid, and analyzed without a crash; ``benchmarks/growth.py`` measures what they cost."""

from __future__ import annotations

import sys

import pytest

from flake8_jax.fixers.proposals import propose_fixes
from flake8_jax.rules import all_rules
from flake8_jax.semantics.analysis.analyze import analyze
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile
from flake8_jax.syntax.lower import lower
from growth.generators import GENERATORS, SIZES

NEWER = {"nested-formatted-strings": (3, 12)}
"""Programs that only newer versions of Python compile."""


def crashes_in(text: str) -> list[str]:
    """The tracebacks of an analysis with all rules and fixers."""
    file = SourceFile("example.py", "example", False, lower(text), text)
    found = analyze([file], AnalysisRequest(preview=True), all_rules())
    fixes = propose_fixes([(one.finding, one.event) for one in found.reports], [(file.path, file.text, file.tree)])
    return [trace for _, _, trace in (*found.crashes, *fixes.crashes)]


@pytest.mark.parametrize("name", GENERATORS)
def test_a_small_program_of_each_kind_is_valid_and_analyzed(name: str) -> None:
    text = GENERATORS[name](max(SIZES[name] // 50, 4))
    if sys.version_info >= NEWER.get(name, (3, 0)):
        compile(text, name, "exec")
    assert crashes_in(text) == []
