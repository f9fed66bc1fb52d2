"""Which report stands for a loop whose step is not jitted."""

from __future__ import annotations

from typing import TypeGuard

from flake8_jax.core import ir
from flake8_jax.core.registry import Candidate
from flake8_jax.semantics.domain.code import nodes_around, paths_read
from flake8_jax.semantics.events.events import Context, EagerStep, Repetition
from flake8_jax.semantics.events.unjitted import UnjittedFunction

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
    kept = _without_told_functions(kept)
    told = {
        id(c.event.loop)
        for c in kept
        if isinstance(c.event, EagerStep) and c.event.kind != "some" and not _is_stepping(c.event)
    }
    kept = [c for c in kept if not _is_some(c.event) or (id(c.event.loop) not in told and c is _fullest(kept, c.event))]
    others = [c for c in kept if not _is_stepping(c.event)]
    inside = {(c.path, c.start) for c in others} | {
        (e.called.scope.path, e.called.start) for c in others if (e := c.event) and _has_caller(c)
    }
    return [c for c in kept if not _is_stepping(c.event) or not _is_told(c.event, c.path, others, inside)]


def _is_stepping(event: object) -> TypeGuard[EagerStep]:
    """A loop as a whole, which computes each step from the one before."""
    return isinstance(event, EagerStep) and event.kind in ("stepwise", "stepping", "filling")


def _is_told(event: EagerStep, path: str, others: list[Candidate], inside: set[tuple[str, int]]) -> bool:
    """Another report tells of the loop, or of something in it."""
    loop = event.loop
    if any(getattr(c.event, "loop", None) is loop for c in others):
        return True
    return any(at == path and loop.start <= start < loop.end for at, start in inside)


def _without_told_functions(candidates: list[Candidate]) -> list[Candidate]:
    """Of a function that is not jitted, nothing is told where a report on a loop stands in it, or tells of the same call. Of
    several reports on one function in one loop, the first is kept."""
    places = [(c.path, c.start) for c in candidates if not isinstance(c.event, UnjittedFunction)]
    calls = {(c.event.called.scope.path, c.event.called.start) for c in candidates if _has_caller(c)}
    told: set[tuple[int, int]] = set()
    kept: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda c: (c.path, c.start)):
        event = candidate.event
        if not isinstance(event, UnjittedFunction):
            kept.append(candidate)
            continue
        span = event.function.body[0].start, event.function.body[-1].end
        own = [start for path, start in places if path == event.home.path and span[0] <= start < span[1]]
        at = event.called if event.called is not None else event.at
        path = event.called.scope.path if event.called is not None else candidate.path
        key = id(event.function), id(event.loop)
        if own or key in told or (path, at.start) in places or (path, at.start) in calls:
            continue
        told.add(key)
        kept.append(candidate)
    reached = [
        (c.event.called.scope.path, c.event.called.start)
        for c in kept
        if isinstance(c.event, UnjittedFunction) and c.event.called is not None
    ]
    return [c for c in kept if not (isinstance(c.event, UnjittedFunction) and _leads_to(c.event, reached))]


def _has_caller(candidate: Candidate) -> bool:
    return isinstance(candidate.event, (EagerStep, Repetition)) and candidate.event.called is not None


def _leads_to(event: UnjittedFunction, calls: list[tuple[str, int]]) -> bool:
    """The function has a loop with a call of which another report tells."""
    start, end = event.function.body[0].start, event.function.body[-1].end
    return any(path == event.home.path and start <= at < end for path, at in calls)


def is_without_jit_on_purpose(context: Context, at: ir.Node) -> bool:
    """A setting such as ``if use_jit: … else: …`` chooses the code: the program has a compiled form of it, too."""
    for node in nodes_around(context.scope.tree.body, at.start, at.end):
        before = node.function.body if isinstance(node, ir.FunctionDef) else []
        left = [s for s in before if isinstance(s, ir.If) and s.end <= at.start and isinstance(s.body[-1], ir.Return)]
        if any(_asks_for_jit(one) for one in (node, *left)):
            return True
    return False


def _asks_for_jit(node: ir.Node) -> bool:
    paths = paths_read(node.test) if isinstance(node, (ir.If, ir.IfExp)) else set()
    return any("jit" in path.rpartition(".")[2].lower().split("_") for path in paths)


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
