"""Applying edits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_jax.core.findings import Edit
from flake8_jax.syntax.edits import apply_edits
from flake8_jax.syntax.errors import OverlapError


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
