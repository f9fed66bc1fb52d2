"""``match`` patterns: what they test by value, and what they bind.

Vocabulary
----------
subject     the value that a pattern is matched with.
by value    matching asks for the truth of ``subject == value``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import Const, DictValue, Tree, TupleValue, Unknown, Value
from flake8_jax.semantics.interpreter.containers import item_of
from flake8_jax.semantics.interpreter.types import instance_test
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import evaluate


def compares_by_value(pattern: ir.Pattern) -> bool:
    """Whether matching asks for the truth of ``subject == value``."""
    if isinstance(pattern, ir.MatchValue):
        return not (isinstance(pattern.value, ir.Constant) and pattern.value.kind in ("none", "bool", "str"))
    if isinstance(pattern, ir.MatchOr):
        return any(compares_by_value(p) for p in pattern.patterns)
    if isinstance(pattern, ir.MatchAs):
        return pattern.pattern is not None and compares_by_value(pattern.pattern)
    return False


def compares_with_number(pattern: ir.Pattern) -> bool:
    """Whether matching compares the subject with a number: pointless for anything but a number or a lone array."""
    if isinstance(pattern, ir.MatchValue):
        return isinstance(pattern.value, ir.Constant) and pattern.value.kind in ("int", "float")
    if isinstance(pattern, ir.MatchOr):
        return any(compares_with_number(p) for p in pattern.patterns)
    return isinstance(pattern, ir.MatchAs) and pattern.pattern is not None and compares_with_number(pattern.pattern)


def matches(m: Machine, frame: Frame, pattern: ir.Pattern, subject: Value) -> bool | None:
    """Whether the subject matches; None where that is not known."""
    if isinstance(pattern, ir.MatchAs):
        return True if pattern.pattern is None else matches(m, frame, pattern.pattern, subject)
    if isinstance(pattern, ir.MatchOr):
        outcomes = [matches(m, frame, one, subject) for one in pattern.patterns]
        return True if True in outcomes else None if None in outcomes else False
    if isinstance(pattern, ir.MatchClass):
        is_instance = instance_test(m, subject, evaluate(m, frame, pattern.cls))
        return None if is_instance and (pattern.patterns or pattern.keyword_patterns) else is_instance
    if isinstance(pattern, ir.MatchValue) and isinstance(pattern.value, ir.Constant) and isinstance(subject, Const):
        return bool(pattern.value.value == subject.value)
    return None


def asked_of(m: Machine, frame: Frame, pattern: ir.Pattern) -> list[Value]:
    """The classes of which a pattern asks whether the subject is an instance; nothing if it asks anything else."""
    if isinstance(pattern, ir.MatchOr):
        found = [asked_of(m, frame, one) for one in pattern.patterns]
        return [cls for classes in found for cls in classes] if all(found) else []
    if isinstance(pattern, ir.MatchAs):
        return asked_of(m, frame, pattern.pattern) if pattern.pattern is not None else []
    return [evaluate(m, frame, pattern.cls)] if isinstance(pattern, ir.MatchClass) else []


def bind_pattern(m: Machine, frame: Frame, pattern: ir.Pattern, subject: Value) -> None:
    """Bind the names of a pattern that matched."""
    bind = _BINDERS.get(type(pattern))
    if bind is not None:
        bind(m, frame, pattern, subject)


def _bind_as(m: Machine, frame: Frame, pattern: ir.MatchAs, subject: Value) -> None:
    if pattern.pattern is not None:
        bind_pattern(m, frame, pattern.pattern, subject)
    if pattern.name:
        m.journal.write(frame.slots, pattern.name, subject)


def _bind_sequence(m: Machine, frame: Frame, pattern: ir.MatchSequence, subject: Value) -> None:
    known = subject.elts if isinstance(subject, TupleValue) else None
    for i, part in enumerate(pattern.patterns):
        if isinstance(part, ir.MatchStar):
            if part.name:
                m.journal.write(frame.slots, part.name, Unknown("rest"))
            known = None
        else:
            value = known[i] if known is not None and i < len(known) else item_of(m, subject, Const(i))
            bind_pattern(m, frame, part, value)


def _bind_mapping(m: Machine, frame: Frame, pattern: ir.MatchMapping, subject: Value) -> None:
    for key, part in zip(pattern.keys, pattern.patterns, strict=True):
        value = evaluate(m, frame, key)
        found = item_of(m, subject, value) if isinstance(subject, (DictValue, Tree, Unknown)) else Unknown("entry")
        bind_pattern(m, frame, part, found)
    if pattern.rest:
        m.journal.write(frame.slots, pattern.rest, Unknown("rest"))


def _bind_class(m: Machine, frame: Frame, pattern: ir.MatchClass, subject: Value) -> None:
    for part in (*pattern.patterns, *pattern.keyword_patterns):
        bind_pattern(m, frame, part, Unknown("part"))


def _bind_or(m: Machine, frame: Frame, pattern: ir.MatchOr, subject: Value) -> None:
    for part in pattern.patterns:
        bind_pattern(m, frame, part, subject)


_BINDERS: dict[type, Callable[[Machine, Frame, Any, Value], None]] = {
    ir.MatchAs: _bind_as,
    ir.MatchSequence: _bind_sequence,
    ir.MatchMapping: _bind_mapping,
    ir.MatchClass: _bind_class,
    ir.MatchOr: _bind_or,
}
