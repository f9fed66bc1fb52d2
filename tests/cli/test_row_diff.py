"""Changed rows: what is not named stood there before, whatever the texts are."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flake8_jax.history.row_diff import changed_rows


@pytest.mark.parametrize(
    ("before", "after", "rows"),
    [
        ("abc", "abc", ()),
        ("", "", ()),
        ("", "ab", ((1, 2),)),
        ("abc", "aXc", ((2, 2),)),
        ("abc", "ac", ((1, 2),)),
        ("abc", "bc", ((0, 1),)),
        ("abc", "ab", ((2, 3),)),
        ("abcdef", "aXcdYf", ((2, 2), (5, 5))),
        ("aabbaab", "aabXbaab", ((4, 4),)),
        ("abcde", "eabcd", ((1, 1), (5, 6))),
    ],
)
def test_small_texts(before: str, after: str, rows: tuple[tuple[int, int], ...]) -> None:
    assert changed_rows(before, after) == rows


@settings(max_examples=300, deadline=None)
@given(st.text("abcX\n", max_size=60), st.text("abcX\n", max_size=60))
def test_the_rest_stood_there_before(before: str, after: str) -> None:
    rows = changed_rows(before, after)
    assert bool(rows) == (before != after)
    assert list(rows) == sorted(rows)
    lines = iter(before)
    kept = [line for row, line in enumerate(after, 1) if not any(first <= row <= last for first, last in rows)]
    assert all(line in lines for line in kept), "in this order"


@pytest.mark.parametrize("kinds", [1, 2, 50, 3000, 100_000])
def test_long_texts_take_no_time(kinds: int) -> None:
    chance = random.Random(kinds)
    before, after = ([chance.randrange(kinds) for _ in range(50_000)] for _ in range(2))
    start = time.process_time()
    changed_rows(before, after)
    assert time.process_time() - start < 5
