"""Seeds that staged code gives to the host's random generators: what it draws after that is the same in every trace.

Vocabulary
----------
generator   one that a module of the host keeps for all: ``random``, ``numpy.random``.
fixed       staged code has given the generator a seed on every path to here, in the trace that runs or, outside of any
            loop or mapping, in one around it. JAX or no JAX, the draws after that are alike.

Limitations: states that are saved and put back (the draws after that are not fixed).
"""

from __future__ import annotations

from typing import Any

from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.values import MISSING, NONE, Const, Value
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker

_GENERATORS = frozenset({"random", "numpy.random"})
_SEEDING, _STATING = frozenset({"seed"}), frozenset({"setstate", "set_state"})
_NO_DRAWS = frozenset({"default_rng", "get_state", "getstate"})
_FIXED = Const(True)


class HostSeeds(Tracker):
    """fixed: the generators, with the number of the trace in which each has its seed."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.fixed: dict[tuple[str, int], Value] = {}

    def enter(self) -> dict[tuple[str, int], Value]:
        saved, self.fixed = self.fixed, {}
        return saved

    def leave(self, saved: Any, *, finished: bool) -> None:
        self.fixed = saved

    def owns(self, slots: dict[Any, Any]) -> bool:
        return slots is self.fixed

    def merge(self, contents: list[Any]) -> Any:
        """A generator is fixed if it is so on every path."""
        return _FIXED if all(content is _FIXED for content in contents) else NONE

    def since(self, mark: Any, run: FinishedRun) -> list[tuple[str, Value]] | None:
        """What a run made of the generators for the code that follows it."""
        trace = self.m.path.mode.trace
        written = dict.fromkeys(slot for slots, slot in run.written if slots is self.fixed and slot[1] == trace)
        return [(generator, self.fixed.get((generator, trace), NONE)) for generator, _ in written] or None

    def replay(self, record: list[tuple[str, Value]], replay: Replay) -> None:
        for generator, state in record:
            self.m.journal.write(self.fixed, (generator, self.m.path.mode.trace), state)


def track_seed(m: Machine, name: str, args: Arguments) -> None:
    """A function of the host's random numbers is called: does it settle, or unsettle, what comes next?"""
    generator, _, function = name.rpartition(".")
    if not m.path.mode.staged or generator not in _GENERATORS:
        return
    state = NONE
    if function in _SEEDING:
        given = [*args.values, *args.kwargs.values()][:1]
        state = _FIXED if given and not (isinstance(given[0], Const) and given[0].value is None) else NONE
    elif function not in _STATING:
        return
    m.journal.write(m.trackers[HostSeeds].fixed, (generator, m.path.mode.trace), state)


def draws_on_host(m: Machine, name: str) -> bool:
    """The function draws of a generator of the host that this trace has not seeded: other numbers in each call."""
    generator, _, function = name.rpartition(".")
    is_draw = generator in _GENERATORS and function.islower() and function not in _SEEDING | _STATING | _NO_DRAWS
    return is_draw and not is_fixed(m, name)


def is_fixed(m: Machine, name: str) -> bool:
    """What the function of that name draws is settled by a seed."""
    fixed = m.trackers[HostSeeds].fixed
    return bool(fixed) and fixed.get((name.rpartition(".")[0], m.path.mode.trace), MISSING) is _FIXED


def fixed_in(m: Machine, trace: int) -> frozenset[str]:
    """The generators that are fixed in a trace."""
    fixed = m.trackers[HostSeeds].fixed
    return frozenset([generator for (generator, where), s in fixed.items() if where == trace and s is _FIXED])


def pass_on(m: Machine, around: int, inside: int) -> None:
    """A trace begins in another one, once: what is fixed there is so here."""
    if not m.path.loops:
        for generator in fixed_in(m, around):
            m.journal.write(m.trackers[HostSeeds].fixed, (generator, inside), _FIXED)
