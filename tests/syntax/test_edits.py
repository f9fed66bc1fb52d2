"""Applying edits, and slices that are to stand somewhere else."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.syntax.edits import Context, apply_edits, parenthesize_if_needed, reindent, statement_bounds
from flake8_jax.syntax.errors import OverlapError
from flake8_jax.syntax.lower import lower


def test_edits_apply_in_any_order() -> None:
    edits = [Edit(4, 5, "Z"), Edit(0, 1, "X"), Edit(5, 5, "+"), Edit(5, 5, "-"), Edit(2, 4, "")]
    assert apply_edits("abcdef", edits) == "XbZ+-f"
    assert apply_edits("abcdef", reversed(edits[:3])) == "XbcdZ+f"


@pytest.mark.parametrize("edits", [[Edit(0, 2, ""), Edit(1, 3, "")], [Edit(0, 3, ""), Edit(1, 1, "x")]])
def test_overlapping_edits_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(OverlapError):
        apply_edits("abc", edits)


def test_edits_outside_the_text_are_refused() -> None:
    with pytest.raises(ValueError, match="characters"):
        apply_edits("abc", [Edit(2, 4, "")])


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(0, 30), st.text(max_size=3)), max_size=5))
def test_insertions_keep_all_other_text(text: str, insertions: list[tuple[int, str]]) -> None:
    edits = [Edit(min(at, len(text)), min(at, len(text)), content) for at, content in insertions]
    result = apply_edits(text, edits)
    assert len(result) == len(text) + sum(len(content) for _, content in insertions)


@pytest.mark.parametrize(
    ("text", "mark", "wanted"),
    [
        ("a\nBAD + 1\n", "BAD", "BAD + 1"),
        ("if a:\n  b\n  c(BAD)\n", "BAD", "c(BAD)"),
        ("if BAD:\n  b\n", "BAD", "if BAD:\n  b"),
        ("@BAD\ndef f(): pass\n", "BAD", "@BAD\ndef f(): pass"),
        ("try: a\nexcept b: BAD; c\n", "BAD", "BAD"),
        ("match a:\n  case 1:\n    lambda: BAD\n", "BAD", "lambda: BAD"),
        ("class A:\n  def f(): return BAD\n", "BAD", "return BAD"),
        ("if a: b\nelif c: BAD\n", "BAD", "BAD"),
    ],
)
def test_statement_bounds(text: str, mark: str, wanted: str) -> None:
    bounds = statement_bounds(lower(text), text.index(mark))
    assert bounds is not None
    assert text[slice(*bounds)] == wanted


def test_there_is_no_statement_between_statements() -> None:
    assert statement_bounds(lower("a\n# c\nb\n"), 3) is None


@pytest.mark.parametrize(
    ("text", "indentation", "wanted"),
    [
        ("  x = f(\n    a,\n  )\n", "      ", "x = f(\n        a,\n      )"),
        ("    if a:\n\n        b\n", "", "if a:\n\n    b"),
        ("  x = '''\n  a\n  ''' + (\n  b)\n", "", "x = '''\n  a\n  ''' + (\nb)"),
        ("\tx = (a,\n b)\n", "  ", "x = (a,\n b)"),
        ("  x = (a,\r\n    b)\r\n", "", "x = (a,\r\n  b)"),
    ],
)
def test_reindent(text: str, indentation: str, wanted: str) -> None:
    wrapped = "if 1:\n" + text
    module = lower(wrapped)
    statement = module.body[0]
    assert isinstance(statement, ir.If)
    inner = statement.body[0]
    assert reindent(wrapped, module, inner.start, inner.end, indentation) == wanted


EXPRESSIONS = [
    "a",
    "a.b",
    "a(b)",
    "a[b]",
    "1",
    "1.5",
    "'a'",
    "f'{a}'",
    "...",
    "None",
    "(a, b)",
    "()",
    "a + b",
    "-a",
    "not a",
    "a or b",
    "a < b",
    "a if b else c",
    "lambda: a",
    "[a]",
    "{a: b}",
    "[a for a in b]",
    "(a for a in b)",
    "a ** b",
    "'a' 'b'",
    "(\n  a +\n  b)",
    "f(\n  a\n)",
    "(a\n .b)",
    "(a, (b))",
    "((a), (b))",
    "'''\n'''",
    "(a +  # (\n b)",
    "(a := b)",
]
PLACES = {
    Context.LINE: ("x = {}\n", lambda tree: tree.body[0].value),
    Context.ELEMENT: ("f(x, {}, y)\n", lambda tree: tree.body[0].value.args[1]),
    Context.OPERAND: ("-{} ** 2\n", lambda tree: tree.body[0].value.operand.left),
    Context.PRIMARY: ("{}.shape\n", lambda tree: tree.body[0].value.value),
}


@pytest.mark.parametrize("context", list(Context))
@pytest.mark.parametrize("source", EXPRESSIONS)
def test_parenthesized_slices_mean_the_same_in_their_new_place(source: str, context: Context) -> None:
    text = f"x[{source}]\n"
    module = lower(text)
    statement = module.body[0]
    assert isinstance(statement, ir.ExprStmt) and isinstance(statement.value, ir.Subscript)
    sliced = parenthesize_if_needed(text, module, statement.value.index, context)
    template, find = PLACES[context]
    found = find(ast.parse(template.format(sliced)))
    assert ast.dump(found) == ast.dump(ast.parse(source, mode="eval").body)


@pytest.mark.parametrize(
    ("source", "context"),
    [("a", Context.PRIMARY), ("a.b(c)", Context.PRIMARY), ("a + b", Context.LINE), ("(a, b)", Context.PRIMARY),
     ("f(\n  a)", Context.LINE), ("a if b else c", Context.ELEMENT), ("1", Context.OPERAND)],
)  # fmt: skip
def test_no_parentheses_where_none_are_needed(source: str, context: Context) -> None:
    text = f"x[{source}]\n"
    module = lower(text)
    statement = module.body[0]
    assert isinstance(statement, ir.ExprStmt) and isinstance(statement.value, ir.Subscript)
    assert parenthesize_if_needed(text, module, statement.value.index, context) == source
