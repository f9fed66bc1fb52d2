"""What each expression of some files was, and how each statement ran, for rules on LibCST nodes.

Vocabulary
----------
observed    a file whose expressions and statements are kept; only where a rule on nodes is selected.

Limitations: a repeated run of a function is not observed again, so its other callers are in no chain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flake8_jax.semantics.domain.joining import join
from flake8_jax.semantics.domain.values import Value
from flake8_jax.semantics.events.node_facts import MAX_RUNS, NodeRun
from flake8_jax.semantics.machine.tracker import Tracker
from flake8_jax.semantics.trackers.records import kind_of

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import Frame
    from flake8_jax.semantics.machine.core import Machine

_Known = dict[tuple[int, int], dict[tuple[Any, ...], NodeRun]]
"""Runs by offsets, and by what tells them apart."""


class Observations(Tracker):
    """files: by path, what was seen of its nodes."""

    def __init__(self, m: Machine) -> None:
        self.files: dict[str, _Known] = {}
        self._machine = m

    def open(self, paths: list[str]) -> None:
        """Observe these files from now on."""
        self.files = {path: {} for path in paths}
        self._machine.observer = self._observe

    def _observe(self, frame: Frame, node: Any, value: Value | None) -> None:
        known = self.files.get(frame.scope.path)
        path = self._machine.path
        if known is None or path.mode.presumed or frame.without_events:
            return
        runs = known.setdefault((node.start, node.end if value is not None else -1), {})
        guess = path.guesses > 0 or frame.doubtful or path.mode.optional
        kinds = frozenset(kind_of(value)) if value is not None else frozenset[str]()
        key = (type(value), kinds, path.mode.staged, path.caught > 0, guess)
        if key not in runs and len(runs) < MAX_RUNS:
            runs[key] = NodeRun(value, kinds, path.context(frame.scope), tuple(path.stack), guess)
        elif key in runs and (first := runs[key].value) is not None and first is not value and value is not None:
            self._join(runs, key, first, value)

    @staticmethod
    def _join(runs: dict[tuple[Any, ...], NodeRun], key: tuple[Any, ...], first: Value, value: Value) -> None:
        """Another value of the same kind: a run stands for both."""
        joined = join(first, value)
        if joined is not first:
            run = runs[key]
            runs[key] = NodeRun(joined, run.kinds, run.context, run.links, run.guess)
