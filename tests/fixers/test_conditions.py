"""The conditions of fixes stand in one module, and the page about fixes names those of each safe fix."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

from flake8_jax.fixers import _conditions
from flake8_jax.rules import all_rules

ROOT = Path(__file__).parents[2]
FIXERS = ROOT / "flake8_jax" / "fixers"
PAGE = (ROOT / "docs" / "fixing.md").read_text(encoding="utf-8")
TABLE = re.findall(r"^\| (JAX\d+) \| .* \| ([^|]*) \|$", PAGE, re.MULTILINE)
BEHIND = {"_staging", "_references", "_safety", "_unchanged", "_meant", "_list_uses"}
"""The analyses that answer the conditions."""


@functools.cache
def imported(module: str) -> dict[str, set[str]]:
    """The names that a fixer takes from others, by module."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse((FIXERS / f"{module}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("flake8_jax.fixers."):
            found.setdefault((node.module or "").rpartition(".")[2], set()).update(name.name for name in node.names)
    return found


def conditions_of(module: str) -> set[str]:
    """The conditions that a fixer and its helpers take."""
    seen, left = set[str](), [module]
    while left:
        one = left.pop()
        if one not in seen and one not in BEHIND | {"_conditions"}:
            seen.add(one)
            left += imported(one)
    return set().union(*(imported(one).get("_conditions", set()) for one in seen))


@pytest.mark.parametrize("path", sorted(FIXERS.glob("[a-z]*.py")), ids=lambda path: path.stem)
def test_fixers_take_conditions_from_one_module(path: Path) -> None:
    assert not imported(path.stem).keys() & BEHIND


def test_each_condition_is_used() -> None:
    used = set().union(*(imported(path.stem).get("_conditions", set()) for path in FIXERS.glob("*.py")))
    assert set(_conditions.__all__) == used


@pytest.mark.parametrize(("code", "named"), TABLE, ids=[code for code, _ in TABLE])
def test_the_page_names_what_the_fixer_asks(code: str, named: str) -> None:
    rule = next(rule for rule in all_rules() if rule.code == code)
    assert set(re.findall(r"`(\w+)`", named)) <= conditions_of(rule.name.replace("-", "_"))
