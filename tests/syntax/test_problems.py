"""Texts that cannot be lowered are refused with a place and a reason, and never end the process."""

from __future__ import annotations

import gc
import sys
import threading

import libcst as cst
import msgspec
import pytest

from flake8_jax.core import ir
from flake8_jax.core.stack import on_stack
from flake8_jax.syntax.lower import SyntaxProblem, lower


@pytest.mark.parametrize(
    ("text", "row", "column"),
    [
        ("a = = 1\n", 1, 5),
        ("a = 1\nb = (\n", 2, 5),
        ("caf\u00e9 = = 1\n", 1, 8),
        ("a = 'b\n", 1, 5),
        ("a\nb\0c\n", 2, 2),
        ("a\n'\ud800'\n", 2, 2),
        ("\u00e9 = '\ud800'\n", 1, 6),
    ],
)
def test_a_problem_has_its_place_in_code_points(text: str, row: int, column: int) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        lower(text)
    assert (caught.value.row, caught.value.column) == (row, column)


@pytest.mark.parametrize(
    "text", ["if a:\nb\n", "  a\n b\n", "def f(:\n", "f'{a'\n", "x = 0b\n", "print 'a'\n", "\\", "(]"]
)
def test_what_is_not_python_is_a_problem(text: str) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        lower(text)
    assert caught.value.message


@pytest.mark.parametrize("word", ["break", "continue"])
@pytest.mark.parametrize(
    "before",
    [
        "",
        "if a:\n ",
        "def f():\n ",
        "class C:\n ",
        "for i in a:\n def f():\n  ",
        "while a:\n class C:\n  ",
        "for i in a:\n pass\nelse:\n ",
        "while a:\n pass\nelse:\n ",
        "try:\n pass\nfinally:\n ",
        "with a:\n ",
        "match a:\n case 1:\n  ",
        "for i in a:\n break\nif a: ",
    ],
)
def test_a_loop_statement_outside_of_a_loop_is_a_problem_as_for_the_compiler(before: str, word: str) -> None:
    text = f"{before}{word}\n"
    with pytest.raises(SyntaxError) as expected:
        compile(text, "a.py", "exec")
    with pytest.raises(SyntaxProblem) as caught:
        lower(text)
    assert caught.value.message == expected.value.msg
    assert (caught.value.row, caught.value.column) == (expected.value.lineno, expected.value.offset)


@pytest.mark.parametrize("word", ["break", "continue"])
@pytest.mark.parametrize(
    "before",
    [
        "for i in a:\n ",
        "while a:\n if b:\n  ",
        "for i in a:\n for j in a:\n  pass\n else:\n  ",
        "while a:\n def f():\n  pass\n ",
        "while a:\n class C:\n  pass\n ",
        "while a:\n x = lambda: 1\n ",
        "for i in a:\n try:\n  pass\n finally:\n  ",
        "for i in a:\n match i:\n  case 1:\n   ",
    ],
)
def test_a_loop_statement_in_a_loop_is_none(before: str, word: str) -> None:
    text = f"{before}{word}\n"
    compile(text, "a.py", "exec")
    lower(text)


def test_python_that_the_parser_does_not_know_is_a_problem_with_its_row() -> None:
    with pytest.raises(SyntaxProblem, match="not supported by LibCST") as caught:
        lower("a = 1\n(b): int\n")
    assert caught.value.row == 2


def test_indentation_that_the_parser_does_not_know_is_a_problem_with_its_row() -> None:
    with pytest.raises(SyntaxProblem, match="indentation of tabs and spaces") as caught:
        lower("class A:\n\t def f(self):\n\t\t return 1\n")
    assert caught.value.row == 2


def test_newer_python_that_libcst_alone_would_not_build_is_lowered() -> None:
    statement = lower("a = 1\n\nb = t'c' t'd'\n").body[1]
    assert isinstance(statement, ir.Assign)
    assert isinstance(statement.value, ir.JoinedStr)
    assert (statement.value.start, statement.value.end) == (11, 20)


def test_libcst_checks_nodes_again_afterwards() -> None:
    lower("a = 1\n")
    with pytest.raises(cst.CSTValidationError):
        cst.Name("")


def depth_of(node: object) -> int:
    """How deep a representation nests, without recursion."""
    deepest = 0
    pending = [(node, 0)]
    while pending:
        current, depth = pending.pop()
        deepest = max(deepest, depth)
        if isinstance(current, list):
            pending += [(item, depth) for item in current]
        elif isinstance(current, msgspec.Struct):
            pending += [(getattr(current, field), depth + 1) for field in current.__struct_fields__]
    return deepest


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("x = " + "+".join(["a"] * 1500) + "\n", 1500),
        ("x = a" + ".b(c)" * 300 + "\n", 600),
        ("if a:\n  b\n" + "elif a:\n  b\n" * 3000, 3000),
        ("x = " + " and ".join(["a"] * 5000) + "\n", 2),
        ("x = " + "(" * 190 + "a" + ")" * 190 + "\n", 2),
        ("x = " + "[" * 190 + "a" + "]" * 190 + "\n", 190),
        ("x = (" + "'a' " * 3000 + ")\n", 2),
        ("x = [" + "a, " * 20000 + "]\n", 3),
        ("".join(" " * i + "if a:\n" for i in range(90)) + " " * 90 + "b\n", 90),
    ],
    ids=["sum", "chain", "elif", "and", "parentheses", "lists", "strings", "elements", "blocks"],
)
def test_deep_code_is_lowered(text: str, depth: int) -> None:
    assert depth_of(lower(text).body) >= depth


@pytest.mark.parametrize(
    "text",
    [
        "[" * 700 + "]" * 700 + "\n",
        "(" * 3000 + "a" + ")" * 3000 + "\n",
        "-" * 3000 + "a\n",
        "a ** " * 900 + "b\n",
        "not " * 3000 + "a\n",
        "a\n" + "x = " + " or ".join(["a"] * 30_000) + "\n",
    ],
    ids=["lists", "parentheses", "minus", "power", "not", "or"],
)
def test_deeper_code_is_lowered_or_refused(text: str) -> None:
    try:
        lower(text)
    except SyntaxProblem as problem:
        assert "nested" in problem.message


def test_nothing_is_left_changed() -> None:
    before = (gc.isenabled(), threading.stack_size(), sys.getrecursionlimit(), threading.active_count())
    lower("a = 1\n")
    with pytest.raises(SyntaxProblem):
        lower("a = = 1\n")
    assert (gc.isenabled(), threading.stack_size(), sys.getrecursionlimit(), threading.active_count()) == before


def test_texts_can_be_lowered_at_the_same_time() -> None:
    texts = [f"def f{i}(a):\n  return a + {i}\n" * 20 for i in range(8)]
    results: dict[int, ir.Module] = {}

    def work(index: int) -> None:
        results[index] = lower(texts[index])

    threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(results[index] == lower(text) for index, text in enumerate(texts))
    assert gc.isenabled()


def test_modules_survive_encoding() -> None:
    module = lower("def f(a, *, b: int = 1) -> c:\n  return f'{a!r:>{b}}', b'\\xff', 1e999, 2**70, '\\ud800'\n")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(module), type=ir.Module) == module


def test_stacks_asked_for_at_the_same_time_leave_the_size_as_it_was() -> None:
    before = threading.stack_size()
    sizes = [(64 + number) << 20 for number in range(8)]

    def work(size: int) -> None:
        for _ in range(40):
            on_stack(size, lambda: None)

    threads = [threading.Thread(target=work, args=(size,)) for size in sizes]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert threading.stack_size() == before
