"""The execution path: where the running code stands, and what the way to it has taught.

Vocabulary
----------
path        the call stack, the loops and the conditions of what runs now.
condition   a test that came out one way on this path; see ``domain.conditions``.
serial      the number of one run of a function. trace: the number of one staging of it.
branch      one alternative of a statement; each open one that may not be taken has a number.

Limitations: threads, signals, the order of evaluation where Python leaves none.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flake8_jax.semantics.domain.stack import Mode
from flake8_jax.semantics.domain.values import Const
from flake8_jax.semantics.events.events import Context
from flake8_jax.semantics.machine.limits import MAX_FORWARDED, MAX_STATEMENTS_PER_ENTRY

if TYPE_CHECKING:
    from flake8_jax.core import ir
    from flake8_jax.semantics.domain.scopes import ModuleScope
    from flake8_jax.semantics.domain.stack import Link, LoopState, Tried
    from flake8_jax.semantics.domain.values import Condition, Value

_NO_LOOPS: frozenset[int] = frozenset()

DISPATCHED = "dispatched"
"""What loops have given the device: the slot of ``ExecutionPath.device`` that says whether it is ``DONE``."""
DONE = Const(True)


_FEW_ELEMENTS = 8
"""So few known elements, such as the metrics of a step, belong to the iteration of the loop around."""


def _repeating(loops: list[LoopState]) -> LoopState:
    """The innermost loop that does not just go over the parts of one result; else the innermost one."""
    return next((loop for loop in reversed(loops) if not 0 < loop.times <= _FEW_ELEMENTS), loops[-1])


class ExecutionPath:
    """The path that runs. What is listed first is of the running entry alone, see ``begin``.

    caught: so many blocks around are to raise, a notebook's cell included if its saved output is an exception; that one is
    failing_cell. tried: the innermost ``try`` around that catches what tracers raise.
    loop_base, branch_base, condition_base: so many loops, branches and conditions were there when the running function began.
    assumed: conditions that callers hold of what it closes over.
    passes: so many loops around are run more than once. branches: the alternatives that may not be taken. forwarded: for each
    call of an object that is under way, how many functions were running when it began. steps: statements run so far.
    probing: so many links lead to the innermost ``try`` around whose handlers go on after what tracers raise, -1 if none does.
    guesses: so many open alternatives are taken only if a guess is right.

    device: slots that say whether the device is done with what loops have given it (see ``readiness``).
    identified: values that conditions are about, by identity. host_choices: the outcomes of tests that chose NumPy where the
    other one chose JAX (``xp = jnp if use_jax else np``). index: the subscript that is being evaluated.
    body_serials: the serial of the run that a staged body had before.
    """

    __slots__ = (
        "_last_context", "assumed", "body_serials", "branch_base", "branches", "branches_made", "caught",
        "condition_base", "conditions", "device", "failing_cell", "forwarded", "guesses", "host_choices",
        "identified", "index", "loop_base", "loops", "mode", "passes", "probing", "serial", "stack", "step_limit", "steps",
        "traces", "tried",
    )  # fmt: skip

    def __init__(self) -> None:
        self._clear()
        self.identified: dict[int, Value] = {}
        self.host_choices: set[Condition] = set()
        self.index: ir.Expr | None = None
        self.device: dict[Any, Any] = {}
        self.body_serials: dict[Any, int] = {}
        self.branches_made = 0
        self.serial = 0
        self.traces = 0
        self.step_limit = MAX_STATEMENTS_PER_ENTRY
        self._last_context: tuple[Any, Context] | None = None

    def _clear(self) -> None:
        self.stack: list[Link] = []
        self.mode = Mode()
        self.conditions: list[Condition] = []
        self.condition_base = 0
        self.assumed: frozenset[Condition] = frozenset()
        self.caught = 0
        self.failing_cell = False
        self.tried: Tried | None = None
        self.loop_base = self.branch_base = 0
        self.loops: list[LoopState] = []
        self.passes = 0
        self.branches: tuple[int, ...] = ()
        self.forwarded: list[int] = []
        self.steps = 0
        self.guesses = 0
        self.probing = -1

    def begin(self) -> tuple[Any, ...]:
        """An entry begins: what the path was, for ``resume``."""
        saved = (
            self.stack, self.mode, self.conditions, self.condition_base, self.assumed, self.caught, self.loop_base,
            self.branch_base, self.loops, self.passes, self.branches, self.forwarded, self.steps, self.tried, self.guesses,
            self.probing,
        )  # fmt: skip
        self._clear()
        return saved

    def resume(self, saved: tuple[Any, ...]) -> None:
        """The entry is over."""
        (
            self.stack, self.mode, self.conditions, self.condition_base, self.assumed, self.caught, self.loop_base,
            self.branch_base, self.loops, self.passes, self.branches, self.forwarded, self.steps, self.tried, self.guesses,
            self.probing,
        ) = saved  # fmt: skip

    def expects_error(self) -> bool:
        """A function that is called now is called for the error that it raises: in a block that is to raise, in a ``try`` that
        names the errors, or staged in the body of any ``try``."""
        if self.caught:
            return True
        if self.tried is None:
            return False
        inside = self.stack[self.tried.depth :]
        return self.tried.named or (len(inside) == 1 and inside[0].kind == "root")

    def tries(self) -> bool:
        """What is called right here may raise: in a block that is to raise, or in the body of a ``try``."""
        if self.caught:
            return True
        return self.tried is not None and (self.tried.named or len(self.stack) <= self.tried.depth)

    def new_serial(self) -> int:
        """A number for one more run of a function."""
        self.serial += 1
        return self.serial

    def new_branch(self) -> int:
        """A number for one more alternative that may not be taken (see ``clocks``)."""
        self.branches_made += 1
        return self.branches_made

    def forward(self) -> bool:
        """An object is about to be called: not if that only led to the call of another object again and again
        (``A.__call__ = A()``). Else ``forwarded`` has one more entry, to be taken off when the call has ended."""
        functions = sum([link.fn is not None for link in self.stack])
        if self.forwarded.count(functions) >= MAX_FORWARDED:
            return False
        self.forwarded.append(functions)
        return True

    def context(self, scope: ModuleScope, *, caught: bool | None = None) -> Context:
        """How the code runs right now, for an event."""
        inner = self.stack[-1] if self.stack else None
        mode, loops = self.mode, self.loops
        state = (inner, mode, self.loop_base, self.caught, caught, scope, len(self.branches) > self.branch_base)
        if not loops and self._last_context is not None and self._last_context[0] == state:
            return self._last_context[1]
        around = _repeating(loops) if loops else None
        made = Context(
            scope=scope,
            staged=mode.staged,
            ambient=mode.ambient,
            once=mode.compiled > 0,
            mapped=bool(mode.mapped_axes),
            trace=mode.trace,
            function=inner.function if inner is not None else "",
            inner=inner.fn if inner is not None else None,
            loop=len(loops) - self.loop_base,
            iterations=math.prod([loop.trip_count for loop in loops]) if loops else 0,
            first=any(loop.runs for loop in loops) if loops else False,
            ready=bool(loops) and self.device.get(DISPATCHED) is DONE,
            guarded=any(loop.guards for loop in loops) if loops else False,
            coarse=around.coarse if around is not None else False,
            epoch=around.epoch if around is not None else False,
            steady=around.steady if around is not None else False,
            carries=around.carries if around is not None else False,
            caught=self.caught > 0 if caught is None else caught,
            presumed=mode.presumed,
            undecided=len(self.branches) > self.branch_base,
            shapes_only=mode.shapes_only,
            loop_ids=frozenset([id(loop) for loop in loops]) if loops else _NO_LOOPS,
            in_main=any(link.function == "main" for link in self.stack),
            differentiated=mode.differentiated,
        )
        if not loops:
            self._last_context = (state, made)
        return made
