"""Which report stands for a loop whose step is not jitted."""

from __future__ import annotations

from typing import TypeGuard

from flake8_jax.core.registry import Candidate
from flake8_jax.semantics.events.events import EagerStep, Repetition

GRADIENTS = ("grad", "value_and_grad")


def report_gradients_first(candidates: list[Candidate]) -> list[Candidate]:
    """Keep one report for one defect: a loop that differentiates without ``jit`` is reported there. Where only the optimizer
    runs without it, a gradient of a compiled function is part of that defect."""
    differentiated: set[int] = set()
    mapped: set[int] = set()
    stepped: set[int] = set()
    leading: set[tuple[int, int]] = set()
    for candidate in candidates:
        event = candidate.event
        if isinstance(event, EagerStep) and event.kind in _WHOLE:
            stepped.add(id(event.loop))
        elif isinstance(event, Repetition) and event.how == "traced":
            (differentiated if _is_gradient(event) else mapped).add(id(event.loop))
            leading.add((id(event.loop), (event.called or event.at).start))
    kept = [
        c
        for c in candidates
        if not _is_covered(c.event, differentiated, mapped, stepped) or _is_other_work(c.event, leading)
    ]
    told = {id(c.event.loop) for c in kept if isinstance(c.event, EagerStep) and c.event.kind != "some"}
    return [c for c in kept if not _is_some(c.event) or (id(c.event.loop) not in told and c is _fullest(kept, c.event))]


_MODELS = frozenset({"model", "layer", "layers"})
_WHOLE = _MODELS | {"optimizer"}


def _is_gradient(event: Repetition) -> bool:
    return event.name.rpartition(".")[2].endswith(GRADIENTS)


def _is_some(event: object) -> TypeGuard[EagerStep]:
    """Operations of several statements of a loop."""
    return isinstance(event, EagerStep) and event.kind == "some"


def _fullest(candidates: list[Candidate], event: EagerStep) -> Candidate:
    """Of the reports of one loop, the first one that counts most operations: paths to it may differ."""
    return max((c for c in candidates if _is_some(c.event) and c.event.loop is event.loop), key=_count)


def _count(candidate: Candidate) -> int:
    return candidate.event.count if isinstance(candidate.event, EagerStep) else 0


def _is_other_work(event: object, leading: set[tuple[int, int]]) -> bool:
    """A function that the loop calls beside the one that differentiates. leading: loops, and the calls that lead there."""
    if not isinstance(event, EagerStep) or (event.kind != "function" and event.called is None):
        return False
    return (id(event.loop), (event.called or event.at).start) not in leading


def _is_covered(event: object, differentiated: set[int], mapped: set[int], stepped: set[int]) -> bool:
    if isinstance(event, EagerStep):
        return id(event.loop) in differentiated or (event.kind in _MODELS and id(event.loop) in mapped)
    return isinstance(event, Repetition) and event.how == "differentiated" and id(event.loop) in stepped
