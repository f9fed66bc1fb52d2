"""Whatever a conversion does to real code, the result parses and no comment is lost: tried on this project itself."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flake8_jax.core import ir
from flake8_jax.core.findings import Fix
from flake8_jax.fixers._branches import convert_if, convert_ternary
from flake8_jax.fixers._keys import split_before
from flake8_jax.fixers._loops import convert_for_range, convert_while
from flake8_jax.fixers._source import FixSource, Refused, walk
from flake8_jax.syntax.edits import apply_edits
from flake8_jax.syntax.lower import lower

ROOT = Path(__file__).parents[2] / "flake8_jax"
FILES = sorted(ROOT.glob("*/*.py"))


def _split_key(source: FixSource, node: ir.Name) -> Fix:
    if not isinstance(source.parent(node), ir.Argument):
        raise Refused
    return Fix("", "unsafe", tuple(split_before(source, node)))


CONVERSIONS: dict[type, Callable[[FixSource, Any], Fix]] = {
    ir.If: convert_if,
    ir.IfExp: convert_ternary,
    ir.While: convert_while,
    ir.For: convert_for_range,
    ir.Name: _split_key,
}


def comments(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("path", FILES[::4], ids=lambda p: f"{p.parent.name}/{p.name}")
def test_results_parse_and_keep_comments(path: Path, newline: str) -> None:
    text = path.read_text(encoding="utf-8").replace("\n", newline)
    source = FixSource(str(path), text, lower(text))
    before = comments(text)
    for number, node in enumerate(walk(source.module)):
        conversion = CONVERSIONS.get(type(node))
        if conversion is None or (isinstance(node, ir.Name) and number % 7):
            continue
        try:
            fix = conversion(source, node)
        except Refused:
            continue
        after = apply_edits(text, fix.edits)
        ast.parse(after)
        assert comments(after) == before
        assert newline == "\n" or after.count("\n") == after.count("\r\n")
