"""Single statements, broken where ruff breaks them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from flake8_jax.syntax.layout import lay_out

WIDTH = 40


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("x = 1", "x = 1"),
        ("x = function(first, second, third_one_here)", "x = function(\n    first, second, third_one_here\n)"),
        ("x = f(  # why", None),
        ("x = f(  # why\na)", "x = f(  # why\n    a,\n)"),
        ("x = '''a\nb'''", None),
        ("with a_very_long_name(of_a_context), another: ", None),
        ("x = [first_element, second_element, third]", "x = [\n    first_element,\n    second_element,\n    third,\n]"),
        ("x = f(first,)", "x = f(\n    first,\n)"),
        ("x = f(\n    first, second\n)", "x = f(first, second)"),
        (
            "return first_operand + second_operand * third",
            "return (\n    first_operand\n    + second_operand * third\n)",
        ),
        ("return f(first_argument) + second_operand_of", "return (\n    f(first_argument)\n    + second_operand_of\n)"),
        (
            "elif first_operand > 0 and second_operand > 1:",
            "elif (\n    first_operand > 0\n    and second_operand > 1\n):",
        ),
        ("x = f(first_argument, second)  # a long comment", "x = f(\n    first_argument, second\n)  # a long comment"),
        ("x = f(first_argument, second)  # noqa: JAX101", "x = f(first_argument, second)  # noqa: JAX101"),
        ("from library import first_name, second_name", "from library import (\n    first_name,\n    second_name,\n)"),
        (
            "@functools.partial(jax.jit, static_argnames='n')",
            "@functools.partial(\n    jax.jit, static_argnames='n'\n)",
        ),
    ],
)
def test_a_line(line: str, wanted: str | None) -> None:
    assert lay_out(line, width=WIDTH, indent="", unit="    ") == wanted


NAMES = st.sampled_from(["x", "rate", "params", "self.limit", "gradients", "jnp.pi", "a_rather_long_name", 'b["key"]'])
NUMBERS = st.sampled_from(["0", "1.5", "-1", '"text"', "None"])


def _extended(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Expressions over others, as fixes write them."""
    several = st.lists(inner, min_size=1, max_size=4)
    operators = st.sampled_from([" + ", " * ", " / ", " @ ", " - "])
    functions = st.sampled_from(["jnp.where", "f", "jax.lax.cond", "self.layers[0].apply"])
    # An operand is a name or in parentheses: how tightly operators bind must not change what is generated.
    operand = st.one_of(NAMES, st.builds("({})".format, inner), st.builds("f({})".format, inner))
    return st.one_of(
        st.builds(lambda f, args: f"{f}({', '.join(args)})", functions, several),
        st.builds(lambda f, args, value: f"{f}({', '.join(args)}, axis={value})", functions, several, inner),
        st.builds(lambda args: f"[{', '.join(args)}]", several),
        st.builds(lambda args: f"({', '.join(args)},)" if len(args) == 1 else f"({', '.join(args)})", several),
        st.builds(lambda args: "{" + ", ".join(f'"k{i}": {a}' for i, a in enumerate(args)) + "}", several),
        st.builds(lambda a, op, b, c: f"{a}{op}{b}{op}{c}", operand, operators, operand, operand),
        st.builds(lambda a, b: f"jnp.logical_and({a} > {b}, {b} < 2.0)", operand, operand),
        st.builds(lambda a, b, c: f"f(({a}) if {b} > 0 else {c})", operand, operand, operand),
        st.builds("f(lambda: {})".format, inner),
        st.builds("[{} for i, x in enumerate(xs)]".format, inner),
        st.builds("{}.at[i].set({})".format, NAMES, inner),
    )


EXPRESSIONS = st.recursive(st.one_of(NAMES, NUMBERS), _extended, max_leaves=14)
STATEMENTS = st.builds(
    lambda head, value: head.format(value),
    st.sampled_from(["x = {}", "return {}", "self.state = {}", "x += {}", "f({})", "x, y = {}, 1", "if {}:"]),
    EXPRESSIONS,
)


def formatted(program: str, folder: Path, width: int) -> str:
    """The program as ruff formats it."""
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", str(width), "-"]
    return subprocess.run(command, input=program, capture_output=True, text=True, check=True, cwd=folder).stdout


COMMENTED = [
    "x = f(a,\n# of b\nb)",
    "x = f(a,  # of a\n# of b\nb  # behind b\n)",
    "x = f(  # of f\na, b)",
    "return jnp.where(x > 0,\n# first\na,\n# second\njnp.where(y,\n# third\nb, c))  # of all",
    "x = a + f(b,\n# of c\nc) + d",
    "x, y = f(a,\n# of b\nb), g(c)",
    "x = f(lambda y: (\n    y + 1  # one more\n), [\n    1,  # one\n    2,\n], z=3)",
    "f(a, *b,  # of b\n**c)",
    "if f(a,  # of a\nb):",
]


@pytest.mark.parametrize("line", COMMENTED)
@pytest.mark.parametrize("width", [30, 88])
def test_comments_between_arguments(line: str, width: int, tmp_path: Path) -> None:
    """They stay where they are, and ruff has nothing to change."""
    text = lay_out(line, width=width, indent="    ", unit="    ")
    assert text is not None
    comments = re.compile(r"#[^\n]*")
    assert comments.findall(text) == comments.findall(line)
    program = f"def function():\n    {text}\n" + ("        pass\n" if text.endswith(":") else "")
    assert formatted(program, tmp_path, width) == program


def test_an_expression_with_other_comments_keeps_its_rows() -> None:
    line = "x = f(a, b,\n    # below\n)"
    assert lay_out(line, width=WIDTH, indent="", unit="    ") == line


@settings(max_examples=12, deadline=None, derandomize=True, phases=[Phase.generate])
@given(lines=st.lists(STATEMENTS, min_size=20, max_size=20), width=st.sampled_from([60, 80, 88, 100]))
def test_ruff_leaves_what_was_laid_out(lines: list[str], width: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Twenty statements at a time, in a function: ruff has nothing to change in what is laid out of its own flat text."""
    out = ["def function():"]
    for line in lines:
        text = lay_out(line, width=width, indent="    ", unit="    ")
        assert text is not None, line
        out.append("    " + text + ("\n        pass" if text.endswith(":") else ""))
    program = "\n".join(out) + "\n"
    assert formatted(program, tmp_path_factory.getbasetemp(), width) == program
