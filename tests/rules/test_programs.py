"""The programs under ``data/``, one a rule: every line that must be flagged is labelled, every other is silent.

Comments say what running them on JAX shows: ``# raises NAME: expression`` raises, at a labelled line;
``# runs: expression`` does not. ``# reuses keys: expression`` and ``# keeps keys: expression`` say the same of
``KeyReuseError`` while JAX checks keys. That keeps the labels honest.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rules.programs import PROGRAMS, subject
from support.jax_programs import Program, Runner

_CLAIM = re.compile(r"^# (raises \w+|runs|reuses keys|keeps keys): (.+)$", re.MULTILINE)


def _claim(program: Path, says: str, expression: str) -> Program:
    checking = "checking keys: " if says.endswith("keys") else ""
    raises = {"runs": "", "keeps keys": "", "reuses keys": "KeyReuseError"}.get(says, says.removeprefix("raises "))
    return Program(
        f"{program.stem}: {expression}",
        Path(__file__).with_name("run_on_jax.py"),
        program.stem,
        folder=program.parent,
        arguments={"file": program.name, "expression": checking + expression, "raises": raises},
        texts=(program.read_text(encoding="utf-8"),),
    )


CLAIMS = [
    _claim(program, *claim) for program in PROGRAMS for claim in _CLAIM.findall(program.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_program_is_linted_as_its_labels_say(program: Path, check: Callable[..., None]) -> None:
    check(program.read_text(encoding="utf-8"), opt_in=frozenset({subject(program)}))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_claim_holds_on_jax(claim: Program, on_jax: Runner) -> None:
    assert on_jax(claim) == ""


def test_claims_that_need_a_library_stand_alone() -> None:
    mixed = {claim.group for claim in CLAIMS if claim.libraries() and "_with_" not in claim.group}
    assert not mixed, "without the library, claims that need JAX alone are skipped as well"
