"""The machine that runs the IR: the running path, its memory, the program, and what is remembered of each concern.

Vocabulary
----------
entry       where the interpreter starts: a module body, or a function with unknown arguments.
isolated    run as an entry of its own, whatever path asked for it.

Limitations: threads, signals, garbage collection, monkey-patching across modules, the order of evaluation where
Python leaves none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from flake8_jax.semantics.machine.bus import EventBus
from flake8_jax.semantics.machine.journal import Journal
from flake8_jax.semantics.machine.limits import BudgetSpentError, Cut
from flake8_jax.semantics.machine.path import ExecutionPath
from flake8_jax.semantics.machine.tracker import Tracker, Trackers
from flake8_jax.semantics.machine.worklist import Worklist

if TYPE_CHECKING:
    from flake8_jax.core.registry import Rule
    from flake8_jax.semantics.domain.scopes import Frame
    from flake8_jax.semantics.domain.values import Value
    from flake8_jax.semantics.machine.program import Program


class Machine:
    """One analysis of one project. observer: called with each statement
    before it runs, and with each expression and its value (see ``trackers.observations``); None where no rule asks."""

    __slots__ = ("bus", "journal", "observer", "path", "program", "trackers", "worklist")

    def __init__(self, program: Program, rules: tuple[Rule, ...], trackers: Iterable[type[Tracker]]) -> None:
        self.program = program
        self.path = ExecutionPath()
        self.bus = EventBus(rules, self.path)
        self.worklist = Worklist()
        self.trackers = Trackers()
        self.journal = Journal(self.trackers)
        self.observer: Callable[[Frame, Any, Value | None], None] | None = None
        for kind in trackers:
            self.trackers.add(kind(self))

    def isolated(self, file: str, run: Callable[[], object]) -> None:
        """Run something of a file whose effects are for good, whatever branch or loop asked for it: a module, a generic
        object.

        What runs too long or is nested too deeply ends, and rules hear nothing of it.
        """
        path, journal, emissions = self.path.begin(), self.journal.begin(), self.bus.emissions
        program, trackers = self.program.begin(), self.trackers.enter()
        self.bus.emissions = []
        finished = False
        try:
            run()
            finished = True
        except (BudgetSpentError, RecursionError) as error:
            reason = "it runs too many statements" if isinstance(error, BudgetSpentError) else "it is nested too deeply"
            self.worklist.cuts.append(Cut(file, self.path.stack[0].function if self.path.stack else "", reason))
            self.bus.emissions = []
        finally:
            steps = self.worklist.steps_of_file
            steps[file] = steps.get(file, 0) + self.path.steps
            self.bus.settle(self.bus.emissions)
            self.path.resume(path)
            self.journal.resume(journal)
            self.program.resume(program, finished=finished)
            self.bus.emissions = emissions
            self.trackers.leave(trackers, finished=finished)
