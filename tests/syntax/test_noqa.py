"""Suppression comments: what they silence, and adding and removing them."""

from __future__ import annotations

import pytest

from flake8_jax.core.findings import Edit
from flake8_jax.syntax.edits import apply_edits
from flake8_jax.syntax.lower import lower
from flake8_jax.syntax.noqa import directives, insert_noqa, noqa_row, remove_codes


def silenced(text: str, code: str = "JAX101", mark: str = "BAD") -> bool:
    return directives(text, lower(text)).suppressing(code, text.index(mark)) is not None


@pytest.mark.parametrize(
    "text",
    [
        "BAD  # noqa\n",
        "BAD  # NOQA\n",
        "BAD  #noqa\n",
        "BAD  # noqa: JAX101\n",
        "BAD  # noqa:jax101\n",
        "BAD  # noqa: E501,JAX101\n",
        "BAD  # noqa: E501, JAX203 JAX101 because of this\n",
        "BAD  # type: ignore # noqa: JAX1\n",
        "BAD  # noqa: some text\n",
        "x = (BAD,\n  1)  # noqa\n",
        "x = (1,  # noqa\n  BAD)\n",
        "x = ('''\n''', BAD)  # noqa\n",
        "if (BAD and\n    a):  # noqa\n  pass\n",
        "def f(\n  a=BAD,\n  # noqa: JAX101\n): pass\n",
        "a = 1; BAD  # noqa\n",
        "a = '#' + BAD  # noqa\n",
        "x = ('a'  # noqa\n  'b', BAD)\n",
        "x = (f'{a}'  # noqa\n  f'b', BAD)\n",
        "x = f'{a['#']}', BAD  # noqa\n",
        "# jaxlint: noqa\nBAD\n",
        "BAD\n  # jaxlint: noqa: JAX203, JAX1\n",
        "BAD\n# flake8: noqa\n",
        "BAD  # noqa",
        "BAD  # noqa\r\n",
    ],
)
def test_silenced(text: str) -> None:
    assert silenced(text)


@pytest.mark.parametrize(
    "text",
    [
        "BAD\n",
        "BAD\na  # noqa\n",
        "# noqa\nBAD\n",
        "BAD  # noqa: JAX102\n",
        "BAD  # noqa: JAX1011\n",
        "BAD  # noqaa\n",
        "BAD; '# noqa'\n",
        "BAD + '''\n# noqa\n'''\n",
        "BAD + f'{a} # noqa'\n",
        "BAD + f'{a:# noqa}'\n",
        "BAD + f'{a['b']} # noqa {c[' # noqa']}'\n",
        "BAD + r'\\\\' + '# noqa'\n",
        "BAD + '# noqa' 'b'\n",
        "BAD + r'\\'# noqa'\n",
        "BAD  # jaxlint: noqa\n",
        "# jaxlint: noqa: JAX2\nBAD\n",
        "if BAD:\n  a  # noqa\n",
        "if a:  # noqa\n  BAD\n",
        "@a  # noqa\ndef BAD(): pass\n",
    ],
)
def test_not_silenced(text: str) -> None:
    assert not silenced(text)


def test_the_answer_names_the_directive() -> None:
    text = "# jaxlint: noqa: JAX2\na  # noqa: JAX101,JAX203\nb  # noqa\n"
    noqa = directives(text, lower(text))
    assert [text[d.start : d.end] for d in noqa.directives] == [
        "# jaxlint: noqa: JAX2", "# noqa: JAX101,JAX203", "# noqa",
    ]  # fmt: skip
    assert noqa.suppressing("JAX203", text.index("a  #")) is noqa.directives[1]
    assert noqa.suppressing("JAX204", text.index("a  #")) is noqa.directives[0]
    assert noqa.suppressing("JAX301", text.index("a  #")) is None


def test_decorators_hold_comments_too() -> None:
    assert silenced("@f('#', BAD)  # noqa\ndef g(): pass\n")
    assert not silenced("@f('# noqa', BAD)\ndef g(): pass\n")


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("BAD\n", "BAD  # noqa: JAX101\n"),
        ("BAD", "BAD  # noqa: JAX101"),
        ("BAD  \t\r\na\r\n", "BAD  # noqa: JAX101\r\na\r\n"),
        ("BAD  # because\n", "BAD  # because  # noqa: JAX101\n"),
        ("BAD  # noqa: E501 long\n", "BAD  # noqa: E501, JAX101 long\n"),
        ("BAD  # noqa: JAX1\n", "BAD  # noqa: JAX1\n"),
        ("BAD  # noqa\n", "BAD  # noqa\n"),
        ("x = BAD + '''\n# noqa\n''' + a\n", "x = BAD + '''\n# noqa\n''' + a  # noqa: JAX101\n"),
        ("x = BAD + f'''\n{a}\n'''; '''\n'''\n", "x = BAD + f'''\n{a}\n'''; '''\n'''  # noqa: JAX101\n"),
        ("x = BAD + \\\n  a + \\\n  b\n", "x = BAD + \\\n  a + \\\n  b  # noqa: JAX101\n"),
        ("x = (BAD,\n  1)\n", "x = (BAD,  # noqa: JAX101\n  1)\n"),
        ("BAD  # \\\n", "BAD  # \\  # noqa: JAX101\n"),
        ("x = ['a\\\n', BAD]\n", "x = ['a\\\n', BAD]  # noqa: JAX101\n"),
    ],
)
def test_adding(text: str, after: str) -> None:
    row = text[: text.index("BAD")].count("\n") + 1
    assert apply_edits(text, insert_noqa(text, {row: ["JAX101"]})) == after
    assert silenced(after)
    assert insert_noqa(after, {row: ["JAX101"]}) == ()


def test_adding_to_several_rows_of_one_string_adds_one_comment() -> None:
    text = "a = b + '''\n''' + c\n"
    edits = insert_noqa(text, {1: ["JAX203", "JAX101"], 2: ["JAX101"]}, lower(text))
    assert apply_edits(text, edits) == "a = b + '''\n''' + c  # noqa: JAX101, JAX203\n"
    assert noqa_row(text, lower(text), 0) == 2


@pytest.mark.parametrize(
    ("text", "unused", "after"),
    [
        ("a  # noqa\n", [], "a\n"),
        ("a  # noqa: JAX101\n", ["JAX101"], "a\n"),
        ("a  # noqa: JAX101, E501\n", ["JAX101"], "a  # noqa: E501\n"),
        ("a  # noqa: JAX101 because\n", ["JAX101"], "a  # because\n"),
        ("a  # noqa: JAX101 - traced, see #12\n", ["JAX101"], "a\n"),
        ("a  # noqa: JAX101 (a reason)\n", ["JAX101"], "a\n"),
        ("a  # noqa: JAX101 - a reason # type: ignore\n", ["JAX101"], "a  # type: ignore\n"),
        ("a  # noqa: JAX101, E501 - a reason\n", ["JAX101"], "a  # noqa: E501 - a reason\n"),
        ("# noqa: JAX101 - a reason\nb\n", ["JAX101"], "b\n"),
        ("a  # type: ignore # noqa: JAX101\n", ["JAX101"], "a  # type: ignore\n"),
        ("a\n# jaxlint: noqa\nb\n", [], "a\nb\n"),
        ("a  # noqa # type: ignore\n", [], "a  # type: ignore\n"),
    ],
)
def test_removing(text: str, unused: list[str], after: str) -> None:
    module = lower(text)
    (directive,) = directives(text, module).directives
    edit = remove_codes(text, module, directive, unused)
    assert isinstance(edit, Edit)
    assert apply_edits(text, [edit]) == after
