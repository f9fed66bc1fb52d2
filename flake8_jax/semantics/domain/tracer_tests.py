"""Answers of tests that Python decides, above all of whether values are tracers, and what is made of such answers.

Vocabulary
----------
answer      the value of ``isinstance(x, Tracer)``, of ``not`` such a value, of ``any`` of several …
untraced    the outcome of an answer that says that what was asked about is not traced; see ``Unknown.untraced``.

Limitations: counting, such as ``sum(isinstance(x, Tracer) for x in xs) > 1``, gives an answer without such an outcome.
"""

from __future__ import annotations

from collections.abc import Sequence

from flake8_jax.semantics.domain.values import GRAD, Array, Const, Static, UnionValue, Unknown, Value, holds_tracer

TRACED = Const(True)
"""The answer of ``isinstance(x, Tracer)`` for what is surely a tracer."""
NOT_UNTRACED = Const(False)
"""The opposite of ``TRACED``."""


def class_of(value: Value) -> Unknown:
    """``type(value)``."""
    made = Unknown("type", host_test=True)
    made.type_of = value
    return made


def untraced_outcome(value: Value) -> bool | None:
    """The outcome of a test of the value that says that nothing is traced."""
    if value is TRACED or value is NOT_UNTRACED:
        return value is NOT_UNTRACED
    return value.untraced if isinstance(value, Unknown) else None


def is_answer(value: Value | None) -> bool:
    """Only Python knows the value, or it is so because something is traced."""
    if isinstance(value, Unknown):
        return value.host_test or value.untraced is not None
    return value is TRACED or value is NOT_UNTRACED


def untraced_of_either(a: Value, b: Value) -> bool | None:
    """``Unknown.untraced`` of a value that is ``a`` on one path and ``b`` on the other."""
    return next((o for o in (True, False) if _never_traced(a, o) and _never_traced(b, o)), None)


def _never_traced(value: Value, outcome: bool) -> bool:
    """The value does not come out like that, or only where nothing is traced."""
    if isinstance(value, Const):
        return bool(value.value) is not outcome
    return isinstance(value, Unknown) and value.untraced is outcome


def negated_answer(value: Unknown) -> Unknown:
    """``not value``."""
    doubt = None if value.doubt is None else not value.doubt
    untraced = None if value.untraced is None else not value.untraced
    return Unknown("not", host_test=value.host_test, doubt=doubt, untraced=untraced)


def quantified(answers: Sequence[Value], *, settling: bool) -> Value:
    """``any`` and ``all`` of some answers, none of which is known. settling: the answer that one element is enough for: True
    for ``any``, False for ``all``."""
    unknown = [a for a in answers if isinstance(a, Unknown)]
    if not any(a.host_test or a.doubt is not None for a in unknown):
        return Static("bool")
    doubt = settling if all(a.doubt is settling for a in unknown) and len(unknown) == len(answers) else None
    if doubt is None and any(a.doubt is (not settling) for a in unknown):
        doubt = not settling
    return Unknown(
        "quantified",
        host_test=any(a.host_test for a in unknown),
        doubt=doubt,
        untraced=untraced_of_all(answers, settling=settling),
    )


def untraced_of_all(answers: Sequence[Value], *, settling: bool) -> bool | None:
    """The same of ``a or b`` (settling: True) and ``a and b`` (False)."""
    outcomes = [untraced_outcome(a) for a in answers]
    if (not settling) in outcomes:
        return not settling
    return settling if outcomes and all(o is settling for o in outcomes) else None


def is_known_tracer(value: Value) -> bool:
    """A tracer of ``grad`` alone, which has a value, or the result of a comparison with one. What code compares for equality is
    no number that it differentiates by, as a rule."""
    if isinstance(value, UnionValue):
        return all(is_known_tracer(member) for member in value.members)
    if not isinstance(value, Array) or value.level > GRAD:
        return False
    recipe = value.recipe
    compared = recipe.operands if recipe is not None and recipe.name in _COMPARISONS else ()
    return value.level == GRAD or any(holds_tracer(operand, GRAD) for operand in compared)


_COMPARISONS = frozenset({"<", "<=", ">", ">="})
