"""The programs under ``data/``, one a rule: every line that must be flagged is labelled, every other is silent.

Comments say what running them on JAX shows: ``# raises NAME: expression`` raises, at a labelled line;
``# runs: expression`` does not. ``# reuses keys: expression`` and ``# keeps keys: expression`` say the same of
``KeyReuseError`` while JAX checks keys. That keeps the labels honest.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from flake8_jax.rules import all_rules

PROGRAMS = sorted((Path(__file__).parent / "data").glob("*.py"))
JAX_INSTALLED = importlib.util.find_spec("jax") is not None

_CLAIM = re.compile(r"^# (raises \w+|runs|reuses keys|keeps keys): (.+)$", re.MULTILINE)


_IMPORT = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)


def _claim(program: Path, says: str, expression: str) -> tuple[str, Path, str, str]:
    name = f"{program.stem}: {expression}"
    if says.endswith("keys"):
        raises = "KeyReuseError" if says == "reuses keys" else ""
        return name, program, f"checking keys: {expression}", raises
    return name, program, expression, says.removeprefix("raises ") if says != "runs" else ""


def _claims() -> list[tuple[str, Path, str, str]]:
    """Name, program, expression and exception of every claim whose program can be imported here."""
    return [
        _claim(program, says, expression)
        for program in PROGRAMS
        for text in [program.read_text(encoding="utf-8")]
        if all(importlib.util.find_spec(library) for library in _IMPORT.findall(text))
        for says, expression in _CLAIM.findall(text)
    ]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_program_is_linted_as_its_labels_say(program: Path, check: Callable[..., None]) -> None:
    check(program.read_text(encoding="utf-8"), opt_in=frozenset({program.stem.replace("_", "-")}))


def test_every_rule_has_a_program() -> None:
    assert {rule.name.replace("-", "_") for rule in all_rules()} <= {program.stem for program in PROGRAMS}


@pytest.fixture(scope="module")
def claims_on_jax(run_on_jax: Callable[..., dict[str, str]]) -> dict[str, str]:
    return run_on_jax(_claims())


@pytest.mark.skipif(not JAX_INSTALLED, reason="JAX is not installed")
@pytest.mark.parametrize("name", [claim[0] for claim in _claims()])
def test_claim_holds_on_jax(name: str, claims_on_jax: dict[str, str]) -> None:
    assert claims_on_jax[name] == ""
