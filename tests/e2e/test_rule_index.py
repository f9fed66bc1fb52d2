"""The index of the rules is what the rules say of themselves."""

from __future__ import annotations

from flake8_jax.pipeline.backend import default_backend
from scripts.rule_index import INDEX, index


def test_the_index_is_up_to_date() -> None:
    written = INDEX.read_text(encoding="utf-8")
    assert written == index(default_backend().rules.values()), "run `python scripts/rule_index.py`"
