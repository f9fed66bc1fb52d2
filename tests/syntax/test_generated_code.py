"""Generated programs are lowered to what the interpreter reads, whatever their layout."""

from __future__ import annotations

import ast
import symtable
import warnings
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from support.lazily import Lazy
from syntax.oracle import disagreements

from flake8_jax.syntax.lower import SyntaxProblem, lower

hypothesmith = Lazy("hypothesmith")
needs_hypothesmith = pytest.mark.skipif(find_spec("hypothesmith") is None, reason="hypothesmith is not installed")
SLOW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def check(text: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
            symtable.symtable(text, "<text>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        reject()
    try:
        module = lower(text)
    except SyntaxProblem as problem:
        assert "LibCST" in problem.message or "surrogate" in problem.message, problem
        reject()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert disagreements(text, module) == []


@pytest.mark.slow
@needs_hypothesmith
@SLOW
@given(st.deferred(lambda: hypothesmith.from_grammar()))
def test_programs_from_the_grammar(text: str) -> None:
    check(text)


@pytest.mark.slow
@needs_hypothesmith
@SLOW
@given(st.deferred(lambda: hypothesmith.from_node()))
def test_programs_from_trees(text: str) -> None:
    check(text)


LAYOUT = st.sampled_from(["", " ", "\t", "  ", "\\\n", "\n", " # c\n", "\r\n", "\f", "\n\n  # d\n"])
TOKENS = "x = f ( a , * b , k = ( 1 ) ) [ c : d , e ] . g + [ h for i in j if k ] , { l : m , ** n } , lambda : ( o , )"


@SLOW
@given(st.lists(LAYOUT, min_size=60, max_size=60))
def test_layout_inside_brackets_shifts_positions_only(layout: list[str]) -> None:
    words = TOKENS.split()
    text = "y = (" + "".join(f"{blank} {word}" for blank, word in zip(layout, words[2:])) + layout[-1] + ")\n"
    check(text.replace("x =", ""))
