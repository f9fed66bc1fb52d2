"""Edits on top of edits: one set that does what two do in turn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flake8_jax.core.findings import Edit
from flake8_jax.syntax.edits import apply_edits, compose

_TEXT = "abcdefghijklmnopqrst"


@st.composite
def edits(draw: st.DrawFn, length: int) -> list[Edit]:
    """Edits that neither overlap nor touch."""
    bounds = sorted(draw(st.lists(st.integers(0, length), max_size=8, unique=True)))
    pairs = zip(bounds[::2], bounds[1::2], strict=False)
    found = [Edit(a, b, draw(st.text("XYZ", max_size=3))) for a, b in pairs]
    if draw(st.booleans()) and not any(e.start <= 0 for e in found):
        found.append(Edit(0, 0, draw(st.text("I", min_size=1, max_size=3))))
    return found


@given(st.data())
def test_compose_is_one_after_the_other(data: st.DataObject) -> None:
    first = data.draw(edits(len(_TEXT)))
    middle = apply_edits(_TEXT, first)
    second = data.draw(edits(len(middle)))
    assert apply_edits(_TEXT, compose(_TEXT, first, second)) == apply_edits(middle, second)
