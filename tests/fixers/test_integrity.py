"""Whatever a conversion does to real code, the result parses and no comment is lost: tried on this project itself."""

from __future__ import annotations

import ast
import contextlib
import io
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._branches import convert_if, convert_ternary
from flake8_jax.fixers._keys import split_before
from flake8_jax.fixers._loops import convert_for_range, convert_while
from flake8_jax.fixers._source import FixSource, Refused, walk
from flake8_jax.syntax.edits import apply_edits
from flake8_jax.syntax.lower import lower

ROOT = Path(__file__).parents[2] / "flake8_jax"
FILES = sorted(ROOT.rglob("*.py"))


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


def conversions(source: FixSource) -> Iterator[tuple[Edit, ...]]:
    """The edits of each conversion that the file allows, and of a sample of splits."""
    for number, node in enumerate(walk(source.module)):
        conversion = CONVERSIONS.get(type(node))
        if conversion is None or (isinstance(node, ir.Name) and number % 7):
            continue
        with contextlib.suppress(Refused):
            yield tuple(conversion(source, node).edits)


def together(sets: Iterable[tuple[Edit, ...]]) -> list[set[Edit]]:
    """As few sets as one goes: edits of one set are equal, or do not touch."""
    found: list[set[Edit]] = []
    for edits in sets:
        new = next((group for group in found if not any(touch(a, b) for a in group for b in edits)), None)
        if new is None:
            found.append(new := set())
        new |= set(edits)
    return found


def touch(a: Edit, b: Edit) -> bool:
    return a != b and a.start <= b.end and b.start <= a.end


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("path", FILES[::4], ids=lambda p: p.relative_to(ROOT).as_posix())
def test_results_parse_and_keep_comments(path: Path, newline: str) -> None:
    text = path.read_text(encoding="utf-8").replace("\n", newline)
    before = comments(text)
    for edits in together(conversions(FixSource(str(path), text, lower(text)))):
        after = apply_edits(text, sorted(edits, key=lambda edit: (edit.start, edit.end)))
        ast.parse(after)
        assert comments(after) == before
        assert newline == "\n" or after.count("\n") == after.count("\r\n")


def test_there_is_something_to_convert() -> None:
    sources = [FixSource(str(path), text, lower(text)) for path in FILES[::40] for text in [path.read_text("utf-8")]]
    assert sum(1 for source in sources for _ in conversions(source)) > 20
