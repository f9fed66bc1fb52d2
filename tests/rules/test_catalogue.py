"""The catalogue: every rule has a code and a name of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flake8_jax.core.registry import ClashError, ordered
from flake8_jax.rules import all_rules


@pytest.mark.parametrize("field", ["code", "name"])
def test_two_rules_of_one_name_are_an_error(field: str) -> None:
    first, second = all_rules()[5:7]
    clash = replace(second, **{field: getattr(first, field)})
    with pytest.raises(ClashError, match=rf"called {getattr(first, field)}: {first.check.__module__}\."):
        ordered([first, clash])
    assert ordered([second, first]) == (first, second)
