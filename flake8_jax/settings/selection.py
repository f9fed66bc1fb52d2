"""Decide which rules are on, from the selectors in the layers of the settings.

Vocabulary
----------
selector    a rule's code (``JAX101``), its name (``traced-branch``), a prefix of its code (``JAX1``) or ``ALL``.
layer       the selectors of one source (the configuration or the command line). A later ``select`` replaces earlier layers.

Within a layer, the more specific selector wins: a code or a name, then a longer prefix, a shorter prefix, and ``ALL``. If two
selectors are equally specific, the one that turns the rule off wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from flake8_jax.core.report import RuleInfo

ALWAYS_ON = frozenset({"JAX001"})
"""jaxlint always reports a file that does not parse, because it cannot report anything else in this file."""

_OFF_IN_TESTS = ("JAX3", "JAX206", "JAX901", "JAX902")
"""Prefixes of the rules on keys, waiting and timing. Tests reuse keys to compare results, and wait and compile on purpose."""

_EXACT = 100
_NO_OPS = frozenset({"I001", "I002"})
"""Selectors of import sorting, which ruff-lsp passes to every program that it runs. They select nothing here."""


class SelectorError(ValueError):
    """A selector that matches no rule. The message names it and suggests another one."""

    def __init__(self, selector: str, hint: str) -> None:
        super().__init__(f"unknown rule selector `{selector}`{hint}")
        self.selector = selector


@dataclass(frozen=True)
class Layer:
    """The selectors of one source. select: None if the source does not set it. named: codes that another tool selects.
    written: whether a user wrote the selectors, so that a code among them also counts in test files."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    written: bool = True


def matching(selector: str, rules: Mapping[str, RuleInfo]) -> tuple[int, frozenset[str]]:
    """Return the specificity of a selector and the codes that it matches.

    Raises SelectorError if it matches none.
    """
    text = selector.strip()
    upper = text.upper()
    if upper == "ALL":
        return 0, frozenset(rules)
    if upper in _NO_OPS:
        return 0, frozenset()
    if upper in rules:
        return _EXACT, frozenset({upper})
    named = frozenset(code for code, rule in rules.items() if rule.name == text.lower())
    if named:
        return _EXACT, named
    if re.fullmatch(r"[A-Z]+\d*", upper):
        prefixed = frozenset(code for code in rules if code.startswith(upper))
        if prefixed:
            return len(upper), prefixed
    raise SelectorError(text, _suggestion(text, rules))


def _suggestion(text: str, rules: Mapping[str, RuleInfo]) -> str:
    import difflib

    known = [name for rule in rules.values() for name in (rule.code, rule.name)]
    close = difflib.get_close_matches(text, known, n=1) or difflib.get_close_matches(text.upper(), known, n=1)
    if close:
        return f"; did you mean `{close[0]}`?"
    return "; use a code (JAX101), a prefix (JAX1), a name (traced-branch) or ALL (`jaxlint rules` lists them)"


def enabled(layers: Sequence[Layer], rules: Mapping[str, RuleInfo]) -> frozenset[str]:
    """Return the codes of the rules that are on. Without ``select``, all rules that are not opt-in are on. A code, a name or
    ``ALL`` turns an opt-in rule on, but a prefix does not."""
    return _on(layers, rules, frozenset(code for code, rule in rules.items() if rule.opt_in))


def enabled_in_preview(layers: Sequence[Layer], rules: Mapping[str, RuleInfo]) -> frozenset[str]:
    """Return the codes of the rules that are on with ``--preview``: also those of opt-in rules that it turns on in part."""
    return _on(layers, rules, frozenset(code for code, rule in rules.items() if rule.opt_in and not rule.is_previewed))


def _on(layers: Sequence[Layer], rules: Mapping[str, RuleInfo], opt_in: frozenset[str]) -> frozenset[str]:
    """Return the codes that are on. opt_in: the codes that are off by default, and that a prefix does not turn on."""
    on = set(rules.keys() - opt_in)
    for layer in layers:
        if layer.select is not None:
            on = set()
        graded = [(*matching(s, rules), True) for s in (*(layer.select or ()), *layer.extend_select)]
        graded += [(*matching(s, rules), False) for s in layer.ignore]
        # Ascending specificity; at the same one, False (off) comes after True.
        for specificity, codes, turn_on in sorted(graded, key=lambda grade: (grade[0], not grade[2])):
            is_prefix = 0 < specificity < _EXACT
            on = on | (codes - opt_in if is_prefix else codes) if turn_on else on - codes
    return frozenset(on | (ALWAYS_ON & rules.keys()))


def off_in_tests(layers: Sequence[Layer], rules: Mapping[str, RuleInfo]) -> frozenset[str]:
    """Return the codes that are off in test files: those of ``_OFF_IN_TESTS`` that no layer selects by code or name."""
    asked: set[str] = set()
    for layer in layers:
        if layer.select is not None:
            asked = set()
        selectors = (*(layer.select or ()), *layer.extend_select) if layer.written else ()
        for selector in (*selectors, *layer.named):
            specificity, codes = matching(selector, rules)
            asked |= codes if specificity == _EXACT else set()
    return frozenset(code for code in rules if code.startswith(_OFF_IN_TESTS) and code not in asked)


def codes_of(selectors: Iterable[str], rules: Mapping[str, RuleInfo]) -> frozenset[str]:
    """Return all codes that the selectors match."""
    return frozenset(code for selector in selectors for code in matching(selector, rules)[1])


def fixable_codes(
    fixable: Sequence[str] | None, unfixable: Sequence[str], rules: Mapping[str, RuleInfo]
) -> frozenset[str]:
    """Return the codes whose fixes jaxlint may apply. The more specific selector of ``fixable`` and ``unfixable`` wins."""
    layer = Layer(tuple(fixable) if fixable is not None else ("ALL",), (), tuple(unfixable))
    return _on([layer], rules, frozenset())
