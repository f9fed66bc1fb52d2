"""Running a whole body: the top level of a module.

Every module starts with a process that has taken no turn yet (see ``trackers.process``).
"""

from __future__ import annotations

from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.values import Unknown
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import run_block
from flake8_jax.semantics.trackers.process import Process, new_process


def run_module(m: Machine, scope: ModuleScope) -> None:
    """Run a module's top level, for good, whatever path asked for it."""

    def run() -> None:
        frame = Frame(None, scope, None)
        frame.slots = scope.slots
        scope.slots["__name__"] = Unknown("__name__")
        scope.slots["__file__"] = Unknown("__file__")
        process = m.trackers[Process]
        process.turns = new_process()
        run_block(m, frame, scope.tree.body)
        scope.process = process.turns

    m.isolated(scope.path, run)
