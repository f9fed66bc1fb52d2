"""Keys that a network of Haiku takes one after the other from the key of its call (``hk.next_rng_key()``).

Limitations: networks whose code jaxlint does not see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.values import FunctionValue, Value
    from flake8_jax.semantics.machine.core import Machine


class KeySequences(Tracker):
    """taken: how often some code, or a remembered run that is done again, took a key."""

    def __init__(self, m: Machine) -> None:
        self.taken = 0

    def call(self, function: FunctionValue, bound: dict[str, Value]) -> int:
        return self.taken

    def since(self, mark: int, run: FinishedRun) -> bool | None:
        return self.taken > mark or None

    def replay(self, record: bool, replay: Replay) -> None:
        self.taken += 1
