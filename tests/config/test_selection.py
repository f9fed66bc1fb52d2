"""Selectors: what they stand for and which wins."""

from __future__ import annotations

import pytest
from support.backend import RULES

from flake8_jax.settings.selection import ALWAYS_ON, Layer, SelectorError, enabled, fixable_codes, matching

BY_CODE = {rule.code: rule for rule in RULES}


@pytest.mark.parametrize(
    ("selector", "codes"),
    [
        ("JAX101", {"JAX101"}),
        ("jax101", {"JAX101"}),
        ("traced-branch", {"JAX101"}),
        ("JAX5", {"JAX504", "JAX505", "JAX506"}),
        ("J", set(BY_CODE)),
        ("ALL", set(BY_CODE)),
        ("I001", set()),
    ],
)
def test_what_a_selector_stands_for(selector: str, codes: set[str]) -> None:
    assert matching(selector, BY_CODE)[1] == codes


@pytest.mark.parametrize("selector", ["JAX9", "E501", "traced", ""])
def test_a_selector_has_to_match(selector: str) -> None:
    with pytest.raises(SelectorError):
        matching(selector, BY_CODE)


def test_a_typing_error_gets_a_suggestion() -> None:
    with pytest.raises(SelectorError, match="did you mean `traced-branch`"):
        matching("traced-brnch", BY_CODE)


def on(*layers: Layer) -> set[str]:
    return set(enabled(layers, BY_CODE) - ALWAYS_ON)


def test_layers() -> None:
    default = on()
    assert "JAX306" not in default
    assert on(Layer(ignore=("JAX5",))) == default - {"JAX504", "JAX505", "JAX506"}
    assert on(Layer(ignore=("JAX5",)), Layer(extend_select=("JAX505",))) == default - {"JAX504", "JAX506"}
    assert on(Layer(select=("JAX1",)), Layer(select=("JAX2",))) == {"JAX203"}
    assert on(Layer(select=("JAX101",), ignore=("JAX101",))) == set()
    assert on(Layer(select=("JAX505",), ignore=("JAX5",))) == {"JAX505"}
    assert on(Layer(select=("ALL",), ignore=("JAX5", "JAX3"))) == {"JAX002", "JAX101", "JAX203", "JAX703"}


def test_a_prefix_turns_no_opt_in_rule_on() -> None:
    assert "JAX306" not in on(Layer(select=("JAX3",))) | on(Layer(extend_select=("JAX",)))
    assert "JAX306" in on(Layer(select=("JAX306",))) & on(Layer(extend_select=("legacy-prng-key",)))
    assert "JAX306" in on(Layer(select=("ALL",)))
    assert "JAX306" in on(Layer(select=("JAX306",)), Layer(extend_select=("JAX3",)))
    assert "JAX306" in fixable_codes(("JAX3",), (), BY_CODE)


def test_syntax_errors_cannot_be_turned_off() -> None:
    assert "JAX001" in enabled([Layer(select=("JAX1",), ignore=("JAX001",))], BY_CODE)


def test_fixable() -> None:
    assert "JAX101" in fixable_codes(None, (), BY_CODE)
    assert fixable_codes(("JAX5",), ("JAX505",), BY_CODE) - ALWAYS_ON == {"JAX504", "JAX506"}
