"""``match`` patterns: what they test by value, and what they bind."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import Const, DictValue, Tree, TupleValue, Unknown, Value
from flake8_jax.semantics.interpreter.containers import item_of
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


def bind_pattern(m: Machine, frame: Frame, pattern: ir.Pattern, subject: Value) -> None:
    """Bind the names of a pattern that matched."""
    if isinstance(pattern, ir.MatchAs):
        if pattern.pattern is not None:
            bind_pattern(m, frame, pattern.pattern, subject)
        if pattern.name:
            m.journal.write(frame.slots, pattern.name, subject)
    elif isinstance(pattern, ir.MatchSequence):
        known = subject.elts if isinstance(subject, TupleValue) else None
        for i, part in enumerate(pattern.patterns):
            if isinstance(part, ir.MatchStar):
                if part.name:
                    m.journal.write(frame.slots, part.name, Unknown("rest"))
                known = None
            else:
                value = known[i] if known is not None and i < len(known) else item_of(m, subject, Const(i))
                bind_pattern(m, frame, part, value)
    elif isinstance(pattern, ir.MatchMapping):
        for key, part in zip(pattern.keys, pattern.patterns, strict=True):
            value = evaluate(m, frame, key)
            found = item_of(m, subject, value) if isinstance(subject, (DictValue, Tree, Unknown)) else Unknown("entry")
            bind_pattern(m, frame, part, found)
        if pattern.rest:
            m.journal.write(frame.slots, pattern.rest, Unknown("rest"))
    elif isinstance(pattern, ir.MatchClass):
        for part in (*pattern.patterns, *pattern.keyword_patterns):
            bind_pattern(m, frame, part, Unknown("part"))
    elif isinstance(pattern, ir.MatchOr):
        for part in pattern.patterns:
            bind_pattern(m, frame, part, subject)
