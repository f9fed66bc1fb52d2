"""A finding says how certain it is: it fails on a path that the program takes, or lacks part of the evidence."""

from __future__ import annotations

import pytest

from flake8_jax.rules import all_rules
from flake8_jax.semantics.analysis.analyze import analyze
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile
from flake8_jax.syntax.lower import lower

DRAW = "    a = jax.random.normal(key)\n"


@pytest.mark.parametrize(
    ("first", "confidence"), [(DRAW, "certain"), ("    if early:\n    " + DRAW, "likely")], ids=["certain", "likely"]
)
def test_confidence(first: str, confidence: str) -> None:
    text = f"import jax\n\n\ndef draw(key, early):\n    a = 0.0\n{first}    return a + jax.random.normal(key)\n"
    source = SourceFile("main.py", "main", False, lower(text), text)
    found = analyze([source], AnalysisRequest(), [r for r in all_rules() if r.name == "key-reuse"]).findings
    assert [(f.name, f.level, f.confidence) for f in found] == [
        ("key-reuse", "error" if confidence == "certain" else "info", confidence)
    ]
