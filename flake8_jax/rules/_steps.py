"""Which report stands for a loop whose step is not jitted."""

from __future__ import annotations

from flake8_jax.core.registry import Candidate
from flake8_jax.semantics.events.events import EagerStep, Repetition

GRADIENTS = ("grad", "value_and_grad")


def report_gradients_first(candidates: list[Candidate]) -> list[Candidate]:
    """Keep one report for one defect: a loop that differentiates without ``jit`` is reported there."""
    differentiated = {
        id(c.event.loop)
        for c in candidates
        if isinstance(c.event, Repetition) and c.event.name.rpartition(".")[2].endswith(GRADIENTS)
    }
    return [c for c in candidates if not isinstance(c.event, EagerStep) or id(c.event.loop) not in differentiated]
