"""LibCST nodes: their offsets are those of ``ast``, and a replacement means what its node means."""

from __future__ import annotations

import ast

import libcst as cst
import pytest

from flake8_jax.syntax.edits import apply_edits
from flake8_jax.syntax.nodes import NodeTree

TEXT = """\
é = "ü\\"ü"; z = f((v for v in y), 1) + g(w for w in y)
@decorated
def h(a, *b):
    if a:
        return ( a , (2) ) [0]
    elif b:
        return (a + b).c
    else: x = 1, 2
"""


def nodes_in(text: str) -> tuple[NodeTree, list[cst.CSTNode]]:
    tree, found = NodeTree(text), list[cst.CSTNode]()
    tree.walk({cst.BaseExpression: (found.append,), cst.BaseStatement: (found.append,)})
    return tree, found


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_spans_are_those_of_ast(newline: str) -> None:
    text = TEXT.replace("\n", newline)
    starts = NodeTree(text)._starts
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def offset(row: int, column: int) -> int:
        return starts[row - 1] + len(lines[row - 1].encode()[:column].decode())

    wanted = {
        (
            type(node).__name__,
            offset(node.lineno, node.col_offset),
            offset(node.end_lineno or 0, node.end_col_offset or 0),
        )
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.expr)
    }
    tree, found = nodes_in(text)
    spans = {tree.span(node) for node in found if isinstance(node, cst.BaseExpression)}
    missing = [one for one in wanted if one[1:] not in spans]
    assert not missing
    functions = [tree.span(node)[0] for node in found if isinstance(node, cst.FunctionDef)]
    assert functions == [text.index("def h")]


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("x = a * 2\n", "a", "b + c", "x = (b + c) * 2\n"),
        ("x = a\n", "a", "b + c", "x = b + c\n"),
        ("x = (a) * 2\n", "a", "b + c", "x = (b + c) * 2\n"),
        ("x = a * 2\n", "a", "f(b)", "x = f(b) * 2\n"),
        ("x = -(a + b)\n", "a + b", "c", "x = -c\n"),
        ("f(a)\n", "a", "b := 1", "f((b := 1))\n"),
        ("f(a)\n", "a", "1, 2", "f((1, 2))\n"),
        ("if a: pass\n", "a", "b or c", "if (b or c): pass\n"),
    ],
)
def test_a_replaced_expression(before: str, old: str, new: str, after: str) -> None:
    tree, found = nodes_in(before)
    node = next(n for n in found if before[slice(*tree.span(n))] == old)
    edit = tree.replaced(node, cst.parse_expression(f"({new})").with_changes(lpar=[], rpar=[]))
    assert apply_edits(before, [edit]) == after
    ast.parse(after)


def test_a_replaced_statement_keeps_its_place() -> None:
    before = "def f():\n    # why\n    if a:\n        b()  # how\n    return c\n"
    tree, found = nodes_in(before)
    old = next(node for node in found if isinstance(node, cst.If))
    edit = tree.replaced(old, cst.parse_statement("while a:\n  d()\n"))
    assert apply_edits(before, [edit]) == "def f():\n    while a:\n        d()\n    return c\n"


def test_a_removed_node() -> None:
    before = "def f(a):\n    b()\n    return g(a, c)\n"
    tree, found = nodes_in(before)
    tree.walk({cst.Arg: (found.append,)})
    statement = next(node for node in found if isinstance(node, cst.SimpleStatementLine))
    last = next(node for node in found if isinstance(node, cst.Arg) and before[slice(*tree.span(node))] == "c")
    gone = [apply_edits(before, [tree.replaced(node, cst.RemoveFromParent())]) for node in (statement, last)]
    assert gone[0] == "def f(a):\n    return g(a, c)\n"
    assert gone[1] in ("def f(a):\n    b()\n    return g(a)\n", "def f(a):\n    b()\n    return g(a, )\n")


def test_nodes_of_another_tree_are_refused() -> None:
    tree, found = nodes_in("x = 1\n")
    with pytest.raises(LookupError, match="this Name is not a node of the file"):
        tree.span(cst.Name("x"))
    with pytest.raises(TypeError, match="a replacement is a node of LibCST, not str"):
        tree.replaced(found[0], "y")
