"""The message of every unsafe fix says what may change, in one of the sentences that ``_announced`` knows; that of a safe one
says nothing of the kind."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from fixers.fixtures import all_cases
from flake8_jax.cli import main
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers import all_fixers
from flake8_jax.fixers._announced import BRANCHES, CAST, May, all_announced, extended, unsafe

CASES = all_cases()


def findings(folder: Path, rule: str) -> list[dict[str, Any]]:
    """What jaxlint says of the programs of a rule, its own findings alone."""
    for case in CASES:
        if case.rule == rule:
            own = folder / f"of_{case.module}"  # what one program says keeps fixes from the others of its folder
            own.mkdir()
            (own / f"{case.module}.py").write_text(case.before, encoding="utf-8")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        main(
            ["check", "--isolated", "--no-cache", "--preview", "--select", rule, "--output-format", "json", str(folder)]
        )
    found: list[dict[str, Any]] = json.loads(said.getvalue())
    return found


@pytest.mark.parametrize("rule", sorted(all_fixers()))
def test_each_unsafe_fix_says_what_may_change(rule: str, tmp_path: Path) -> None:
    known = all_announced()
    fixes = [fix for one in findings(tmp_path, rule) if (fix := one["fix"]) is not None]
    assert fixes
    for fix in fixes:
        what, *sentences = fix["message"].split("; ")
        assert what[0].isupper()
        assert bool(sentences) == (fix["applicability"] == "unsafe"), fix["message"]
        assert all(sentence in known for sentence in sentences), fix["message"]


def test_sentences_are_sentences() -> None:
    for sentence in all_announced():
        assert ";" not in sentence and not sentence.endswith(".") and len(sentence) <= 110


def test_a_fix_with_more_edits_announces_each_change_once() -> None:
    fix = unsafe("Cast", CAST, [Edit(0, 1, "a")])
    more = extended(fix, "and select", [CAST.sentence, BRANCHES.sentence], [Edit(0, 1, "b")])
    assert more.message == f"Cast, and select; {CAST.sentence}; {BRANCHES.sentence}"
    safe = extended(Fix("Use it", "safe", ()), "and so on", [], [])
    assert (safe.message, safe.applicability) == ("Use it, and so on", "safe")


NARROW = {
    "JAX101": "y = 300 if jnp.max(x) > 0 else jnp.max(x)\n    return y",
    "JAX108": "return x + (100, 200, 300)[jnp.argmax(x)] * 2",
    "JAX201": "return x + int(jnp.sum(x))",
    "JAX202": "return jnp.max(x).item() * 3 + x",
}


@pytest.mark.parametrize("rule", NARROW)
def test_integers_that_overflow_in_another_dtype_are_announced(rule: str, tmp_path: Path) -> None:
    """A Python integer has the dtype of what it meets; an array has its own."""
    text = f"import jax\nimport jax.numpy as jnp\n\n\n@jax.jit\ndef f(x):\n    {NARROW[rule]}\n\n\nf(jnp.arange(3))\n"
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        main(["check", "--isolated", "--no-cache", "--select", rule, "--output-format", "json", str(tmp_path)])
    (finding,) = json.loads(said.getvalue())
    sentences = finding["fix"]["message"].split("; ")[1:]
    assert any("overflow" in sentence for sentence in sentences), sentences
    assert any(all_announced()[sentence].may & (May.OVERFLOW | May.VALUES) for sentence in sentences)
