"""Which functions were run, how often, and what is remembered of it.

Vocabulary
----------
context     one function, staged or eager: runs on other inputs are counted for each; those of methods for each member.
member      the subclass that a root runs for, where a family of them has methods that one run cannot follow.
reporting   a function of which some run made a report or consumed a key.
decided     a function whose every path was run by callers.
daring      a call for the error that it raises.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from flake8_jax.core.call_graph import CallGraph, FunctionName
from flake8_jax.semantics.domain.signatures import underlying
from flake8_jax.semantics.domain.values import ClassValue, FunctionValue, Opaque, Value
from flake8_jax.semantics.machine.limits import LINT_CAPS
from flake8_jax.semantics.machine.tracker import Tracker

if TYPE_CHECKING:
    from flake8_jax.semantics.machine.bus import Emission
    from flake8_jax.semantics.machine.core import Machine


MAX_AGAIN = 16
"""So often a function that makes functions is run again on inputs that it had before."""


class Runs(Tracker):
    """memo: remembered runs by function and key. callees: functions that code calls, called_functions: also those that a
    transform runs. member: the present one. dared: functions that have daring calls, trusted: those that have others,
    with the entries that these start at, 0 for a module. tried: transformed functions that have calls in a ``try`` or a
    block that is to raise, sound: those that have others. probed: functions that the program traces in a ``try`` to find out
    whether JAX can trace them, probes: how often it did. wrapped: functions given to unknown code, by what it
    gave. scripted: functions that the top level of a module runs outside of tracing. calls: who calls whom, None unless
    asked for. apart: as contexts, of calls that cannot be remembered, such as those with used keys. lost: how many calls ran
    nothing, because of a limit. class_decorators: functions that decorate classes, with what they made of one;
    demands: parameters that can only be arrays, by function and whether it is read as eager code (``interpreter.usage``);
    giving_back: whether functions that decorate functions gave these back as they were. making:
    functions whose runs make new functions and so are not remembered, with their inputs, and how often these came again."""

    def __init__(self, m: Machine) -> None:
        self.caps = LINT_CAPS
        self.memo: dict[Any, dict[Any, Any]] = {}
        self.contexts: dict[tuple[int, bool, ClassValue | None], int] = {}
        self.apart: dict[tuple[int, bool, ClassValue | None], int] = {}
        self.member: ClassValue | None = None
        self.runs = 0
        self.lost = 0
        self.demands: dict[tuple[int, bool], frozenset[str]] = {}
        self.giving_back: dict[int, bool] = {}
        self.class_decorators: dict[int, tuple[set[str], ClassValue]] = {}
        self.reporting: set[int] = set()
        self.called_functions: set[int] = set()
        self.callees: set[int] = set()
        self.dared: set[int] = set()
        self.trusted: dict[int, set[int]] = {}
        self.tried: set[Value] = set()
        self.sound: set[Value] = set()
        self.probed: set[int] = set()
        self.probes = 0
        self.wrapped: dict[Value, tuple[FunctionValue, ...]] = {}
        self.scripted: set[int] = set()
        self.decided: set[int] = set()
        self.calls: CallGraph | None = None
        self.making: dict[int, dict[Any, int]] = {}
        self.function_names: dict[int, FunctionName] = {}

    def has_run(self, fn: int, *, staged: bool) -> bool:
        """Whether a function ran in that way, for no member."""
        return (fn, staged, None) in self.contexts or (fn, staged, None) in self.apart

    def most(self, fn: int, *, staged: bool) -> int:
        """On so many other inputs a function runs."""
        most = self.caps.staged if staged else self.caps.eager
        if self.runs >= self.caps.generous and fn not in self.reporting:
            return min(most, self.caps.unreported_staged if staged else self.caps.unreported_eager)
        return most

    def may_run_again(self, fn: int, key: Any) -> bool:
        """A run on these inputs made functions, so it was not remembered. It runs once more, and is no run on others: the
        passes of one loop alone would use up a function's runs."""
        known = self.making.get(fn)
        if known is None or key not in known or sum(known.values()) >= MAX_AGAIN:
            return False
        known[key] += 1
        return True

    def is_dared(self, fn: int, seen: frozenset[int] = frozenset()) -> bool:
        """All known calls of a function expect it to raise, or stand in functions of which that is true."""
        if fn not in self.dared:
            return False
        seen |= {fn}
        return all(start in seen or self.is_dared(start, seen) for start in self.trusted.get(fn, ()))


def track_form_called(m: Machine, form: Value) -> None:
    """A transformed function is called: for the error that it raises, perhaps."""
    runs = m.trackers[Runs]
    (runs.tried if m.path.tries() else runs.sound).add(form)


def track_probed(m: Machine, operand: Value) -> None:
    """A function is traced but not run. In the body of a ``try``, this is a probe: what JAX raises is its answer."""
    function = underlying(operand)
    if m.path.probing == len(m.path.stack) and isinstance(function, FunctionValue):
        m.trackers[Runs].probed.add(id(function.fn))
        m.trackers[Runs].probes += 1


def track_probed_failures(m: Machine, emissions: Iterable[Emission]) -> None:
    """A probe has met these errors."""
    failing = [e.event.context.inner for e in emissions if e.rule.raises == "tracer error"]
    m.trackers[Runs].probed.update([id(function) for function in failing if function is not None])


def track_dared(m: Machine, functions: Iterable[Value]) -> None:
    """A call in a block that is to raise may run these functions."""
    m.trackers[Runs].dared.update([id(func.fn) for func in functions if isinstance(func, FunctionValue)])


def track_wrapped(m: Machine, func: Value, given: Iterable[Value], result: Value) -> None:
    """Unknown code is called: with functions of the project, or it is what came of such a call."""
    runs = m.trackers[Runs]
    functions: tuple[FunctionValue, ...] = ()
    for value in given:
        functions += (value,) if isinstance(value, FunctionValue) else runs.wrapped.get(value, ())
    if functions:
        runs.wrapped[result] = functions
    if not runs.wrapped:
        return
    root: Value | None = func
    while root is not None and root not in runs.wrapped:
        root = root.parent if isinstance(root, Opaque) else None
    held = runs.wrapped[root] if root is not None else ()
    if m.path.caught:
        track_dared(m, (*held, *functions))
    elif held:
        first = m.path.stack[0] if m.path.stack else None
        start = id(first.fn) if first is not None and first.kind == "entry" else 0
        for function in held:
            runs.trusted.setdefault(id(function.fn), set()).add(start)


def track_called(m: Machine, func: FunctionValue, kind: str) -> None:
    """A function is about to be run, or an earlier run of it repeated."""
    fn, runs = func.fn, m.trackers[Runs]
    runs.called_functions.add(id(fn))
    if kind == "call" and not m.path.mode.staged and not (m.path.stack and m.path.stack[0].kind == "entry"):
        runs.scripted.add(id(fn))
    if kind != "entry":
        if m.path.expects_error():
            runs.dared.add(id(fn))
        else:
            first = m.path.stack[0] if m.path.stack else None
            start = id(first.fn) if first is not None and first.kind == "entry" else 0
            runs.trusted.setdefault(id(fn), set()).add(start)
    if kind == "call":
        runs.callees.add(id(fn))
    if runs.calls is not None:
        names = runs.function_names
        caller = next((names[id(link.fn)] for link in reversed(m.path.stack) if id(link.fn) in names), None)
        names[id(fn)] = name = (func.scope.path, fn.qualname)
        runs.calls.add_call(name, caller)
