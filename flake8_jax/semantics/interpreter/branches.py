"""Statements that run one of several blocks: ``if`` and ``match``, and what they share with ``try``.

Vocabulary
----------
branch      one block, with what is learnt on entering it. All branches run from the same state; those that go on are merged.
doubtful    whether a branch is taken is a guess.
chain       an ``if`` with its ``elif``s, run side by side, so that a long one costs no Python stack.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.conditions import branch_condition
from flake8_jax.semantics.domain.joining import are_unequal_flags, are_unlike
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.stack import BREAK, CONTINUE, NORMAL, RAISE, RETURN, Flow, LoopState, Writes
from flake8_jax.semantics.domain.values import GRAD, Condition, Static, Tree, Unknown, Value, is_traced_array
from flake8_jax.semantics.events.events import TruthTest
from flake8_jax.semantics.interpreter.conditions import (
    Test,
    condition_of,
    hold,
    judge_reports,
    picks_iteration,
    picks_others,
    track_host_choice,
    usual_outcome,
)
from flake8_jax.semantics.interpreter.operators import as_array
from flake8_jax.semantics.interpreter.patterns import (
    asked_of,
    bind_pattern,
    compares_by_value,
    compares_with_number,
    matches,
)
from flake8_jax.semantics.interpreter.types import asks_for_tracers
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import RUN, evaluate, run_block
from flake8_jax.semantics.trackers.runs import Runs

MAX_PENDING = 12
"""So many tests of a chain are run side by side; the rest of it is a block."""


class Branch(msgspec.Struct, frozen=True, eq=False):
    """One alternative: what is learnt on entering it, then what runs. guess: no evidence says that it may be taken (see
    ``conditions``). barred: taken only where nothing is traced, and this is staged. failed: the tests before it. setup:
    whether it is taken depends on the machine, such as on what is installed, and not on what JAX can trace."""

    run: Callable[[], Flow]
    learn: tuple[Callable[[Machine], None], ...] = ()
    key: Any = None
    truth: bool = True
    guess: bool = False
    barred: bool = False
    failed: tuple[Condition, ...] = ()
    setup: bool = False


def run_branches(m: Machine, frame: Frame, branches: list[Branch]) -> Flow:
    """Run all branches from the same state and merge those that fall through."""
    live: list[Writes] = []
    live_branches: list[Branch] = []
    flows: list[Flow] = []
    doubtful, doubts, around = frame.doubtful, [], m.path.branches
    for branch in branches:
        frame.doubtful = doubtful
        m.path.branches = (*around, m.path.new_branch())
        mark, reports, conditions = len(m.journal.entries), len(m.bus.emissions), len(m.path.conditions)
        for learn in branch.learn:
            learn(m)
        if branch.key is not None:
            hold(m, Condition(branch.key, branch.truth))
        for test in branch.failed:
            hold(m, test)
        frame.branches += 1
        frame.undecided += 1
        frame.guesses += branch.guess
        frame.setups += branch.setup
        m.path.guesses += branch.guess or branch.barred
        flow = branch.run()
        m.path.guesses -= branch.guess or branch.barred
        frame.setups -= branch.setup
        frame.guesses -= branch.guess
        frame.undecided -= 1
        frame.branches -= 1
        del m.path.conditions[conditions:]
        _judge_branch(m, branch, reports)
        writes = m.journal.rollback(mark)
        flows.append(flow)
        if flow == NORMAL:
            live.append(writes)
            live_branches.append(branch)
            doubts.append(frame.doubtful)
    m.path.branches = around
    left = any(f in (RETURN, BREAK, CONTINUE) for f in flows)
    frame.doubtful = doubtful or (
        bool(live) and all(d or (left and a.guess) for a, d in zip(live_branches, doubts, strict=True))
    )
    if not live:
        return next((f for f in (RETURN, BREAK, CONTINUE) if f in flows), RAISE)
    tests = [Condition(a.key, a.truth) if a.key is not None else None for a in live_branches]
    _track_host_choices(m, live, tests)
    guesses = [branch for branch in live_branches if branch.guess]
    guessed = guessed_names(frame, live, flags=not all(branch.setup for branch in guesses)) if guesses else []
    m.journal.merge(live, _labels_of(m, live_branches, tests), tests)
    write_guessed(m, frame, guessed)
    if len(live) == 1 and len(branches) > 1 and live_branches[0].key is not None:
        hold(m, Condition(live_branches[0].key, live_branches[0].truth))
    return NORMAL


def write_guessed(m: Machine, frame: Frame, names: list[str]) -> None:
    """Only Python knows which values these variables have."""
    for name in names:
        m.journal.write(frame.slots, name, Unknown(name, host_test=True))


def guessed_names(frame: Frame, live: list[Writes], *, flags: bool = True) -> list[str]:
    """The variables that one branch leaves an array and another a container: which it is was decided by something unknown.
    flags: also those that are different flags."""
    guessed: list[str] = []
    for where in {where for writes in live for where in writes if where[0] == id(frame.slots)}:
        held = [writes[where][2] if where in writes else frame.slots.get(where[1]) for writes in live]
        if are_unlike(held) or (flags and are_unequal_flags(held)):
            guessed.append(where[1])
    return guessed


def _judge_branch(m: Machine, branch: Branch, reports: int) -> None:
    """Forget what was reported since ``reports`` that is true only where a guess is right."""
    if branch.barred:
        del m.bus.emissions[reports:]
    elif branch.guess and m.path.mode.staged and branch.key is not None:
        m.bus.drop_guesses(reports)
    elif branch.guess or m.path.mode.optional:  # a handler, the host's own choice, or what runs elsewhere
        m.bus.drop_errors(reports)


def _labels_of(m: Machine, branches: list[Branch], tests: list[Condition | None]) -> list[frozenset[Condition]]:
    """What holds where each branch was taken: its test, that the tests before it failed, and that no other branch was."""
    serial = m.path.new_branch()
    return [
        frozenset([branch_condition(serial, i), *branch.failed, *([test] if test is not None else ())])
        for i, (branch, test) in enumerate(zip(branches, tests, strict=True))
    ]


def _track_host_choices(m: Machine, live: list[Writes], labels: list[Condition | None]) -> None:
    """``if use_jax: xp = jnp`` with ``else: xp = np``: see ``track_host_choice``."""
    if len(live) != 2:
        return
    for where, (slots, slot, _) in {**live[0], **live[1]}.items():
        held = [writes[where][2] if where in writes else slots.get(slot) for writes in live]
        track_host_choice(m, held, labels)


def _blocks_of_type_checking(m: Machine, frame: Frame, node: ir.If) -> tuple[list[ir.Stmt], list[ir.Stmt]] | None:
    """The block that type checkers alone read, and the one that Python runs, of ``if TYPE_CHECKING:`` and its negation."""
    negated = isinstance(node.test, ir.UnaryOp) and node.test.op == "not"
    test = node.test.operand if isinstance(node.test, ir.UnaryOp) and negated else node.test
    if last_name(test) != "TYPE_CHECKING" or not isinstance(evaluate(m, frame, test), Static):
        return None
    return (node.orelse, node.body) if negated else (node.body, node.orelse)


_DECLARATIONS = (ir.Import, ir.ImportFrom, ir.FunctionDef, ir.ClassDef, ir.Assign, ir.AnnAssign)
"""Statements whose names annotations may use. Python does not run them, so a later binding of such a name replaces it."""


class Chain(msgspec.Struct, frozen=True, eq=False):
    """An ``if`` with its ``elif``s. pending: the tests whose outcome is not known. tail: what runs where all of them fail.
    mark: the length of the journal behind the first test."""

    pending: list[tuple[ir.If, Test]]
    tail: list[ir.Stmt]
    mark: int


def _if(m: Machine, frame: Frame, node: ir.If) -> Flow:
    blocks = _blocks_of_type_checking(m, frame, node)
    if blocks is not None:
        declarations: list[ir.Stmt] = [statement for statement in blocks[0] if isinstance(statement, _DECLARATIONS)]
        run_branches(m, frame, [Branch(partial(run_block, m, frame, declarations)), Branch(lambda: NORMAL)])
        return run_block(m, frame, blocks[1])
    known = len(m.path.conditions)
    chain = _tested(m, frame, node)
    pending = chain.pending
    if not pending:
        return run_block(m, frame, chain.tail)
    tests = m.journal.rollback(chain.mark)
    del m.path.conditions[known:]
    branches = _branches_of(m, frame, chain, tests)
    loop = m.path.loops[-1] if m.path.loops else None
    counting = [current for current, condition in pending if condition.counter]
    if loop is None or not counting:
        return run_branches(m, frame, branches)
    loop.tested = True
    picked = any(picks_iteration(m, frame, current.test) for current in counting)
    loop.picked += picked
    flow = _run_guarded(m, frame, chain, branches, loop)
    rest = len(pending) == 1 and _leaves(node.body) and picks_others(m, frame, node.test)
    loop.picked -= picked and not rest
    return flow


def _run_guarded(m: Machine, frame: Frame, chain: Chain, branches: list[Branch], loop: LoopState) -> Flow:
    """Run the branches of a chain that looks at a counter: those that only some iterations run are guarded."""
    pending = chain.pending
    leaves = any(_leaves(current.body) for current, _ in pending)
    usual = usual_outcome(m, frame, pending[0][0].test) if len(pending) == 1 else None
    if usual is not None:
        flow = run_branches(
            m, frame, [_guarded(loop, branch) if branch.truth is not usual else branch for branch in branches]
        )
        loop.guards += usual and leaves
        return flow
    frequent = all(condition.frequent for _, condition in pending if condition.counter)
    loop.guards += 1
    loop.frequent += frequent
    flow = run_branches(m, frame, branches)
    if not leaves:
        loop.frequent -= frequent
        loop.guards -= 1  # else ``if step % 100: continue`` guards the rest of the block, which reverts it
    return flow


def _guarded(loop: LoopState, branch: Branch) -> Branch:
    """The branch of a few iterations."""

    def run() -> Flow:
        loop.guards += 1
        flow = branch.run()
        loop.guards -= 1
        return flow

    return msgspec.structs.replace(branch, run=run)


def _tested(m: Machine, frame: Frame, node: ir.If) -> Chain:
    """The chain of tests from ``node`` on, up to one that surely holds, or to so many that the rest is a block."""
    pending: list[tuple[ir.If, Test]] = []
    current, mark = node, -1
    while True:
        condition = condition_of(m, frame, current.test, "elif" if current.is_elif else "if", current)
        if mark < 0:
            mark = len(m.journal.entries)
        if condition.truth is True:
            return Chain(pending, current.body, mark)
        if condition.truth is None:
            if m.path.loops and _moves_bound(current):
                condition = msgspec.structs.replace(condition, counter=True)
            pending.append((current, condition))
            for learn in condition.when_false:
                learn(m)
        following = current.orelse
        first = following[0] if len(following) == 1 else None
        full = condition.truth is None and len(pending) > MAX_PENDING
        if full or not isinstance(first, ir.If) or not first.is_elif:
            return Chain(pending, following, mark)
        current = first


def _branches_of(m: Machine, frame: Frame, chain: Chain, tests: Writes) -> list[Branch]:
    """A branch for each test, and one where all fail. tests: what evaluating them wrote."""
    branches: list[Branch] = []
    failed: tuple[Callable[[Machine], None], ...] = ()
    against: tuple[Condition, ...] = ()
    doubtful = False
    for current, condition in chain.pending:
        guess = doubtful or True in condition.guesses
        doubtful = doubtful or False in condition.guesses
        learn, barred = (*failed, *condition.when_true), condition.untraced is True
        branches.append(
            Branch(partial(run_block, m, frame, current.body), learn, condition.key, True, guess, barred, against)
        )
        failed = (lambda m: m.journal.replay(tests),)
        against += (Condition(condition.key, False),) if condition.key is not None else ()
    key = chain.pending[-1][1].key if len(chain.pending) == 1 else None
    barred = any(condition.untraced is False for _, condition in chain.pending)
    branches.append(Branch(partial(run_block, m, frame, chain.tail), failed, key, False, doubtful, barred, against))
    return branches


def _leaves(body: list[ir.Stmt]) -> bool:
    """The block ends the iteration or the function."""
    return bool(body) and isinstance(body[-1], (ir.Continue, ir.Return))


def _match(m: Machine, frame: Frame, node: ir.Match) -> Flow:
    subject = evaluate(m, frame, node.subject)
    number = as_array(subject) if any(compares_with_number(c.pattern) for c in node.cases) else subject
    if is_traced_array(number) and any(compares_by_value(c.pattern) for c in node.cases) and m.bus.wants(TruthTest):
        m.bus.emit(TruthTest(m.path.context(frame.scope), node.subject, number, "match", node))
    branches: list[Branch] = []
    exhaustive = guess = barred = False
    for case in node.cases:
        outcome = matches(m, frame, case.pattern, subject)
        if outcome is False:
            continue
        asked = asked_of(m, frame, case.pattern) if outcome is None else []
        for_tracers = any(asks_for_tracers(cls) for cls in asked)
        guesses = bool(asked) and isinstance(subject, (Unknown, Tree))
        is_guess = guess or (guesses and not (for_tracers and is_traced_tree(subject)))
        branches.append(Branch(partial(_run_case, m, frame, case, subject), guess=is_guess, barred=barred))
        guess = guess or (guesses and case.guard is None)
        barred = barred or (m.path.mode.staged and case.guard is None and for_tracers)
        if case.guard is None and outcome:
            exhaustive = True
            break
    if len(branches) < len(node.cases) and frame.fn is not None:
        m.trackers[Runs].decided.add(id(frame.fn))
    if exhaustive and len(branches) == 1:
        return branches[0].run()
    if not exhaustive:
        branches.append(Branch(lambda: NORMAL, guess=guess))
    return run_branches(m, frame, branches)


def is_traced_tree(value: Value) -> bool:
    """A lone tracer, or a container of tracers."""
    return isinstance(value, Tree) and value.level >= GRAD


def _run_case(m: Machine, frame: Frame, case: ir.MatchCase, subject: Value) -> Flow:
    """The block of a case, behind its guard."""
    bind_pattern(m, frame, case.pattern, subject)
    if case.guard is None:
        return run_block(m, frame, case.body)
    condition = condition_of(m, frame, case.guard, "case", case.guard)
    if condition.truth is False:
        return RAISE
    reports = len(m.bus.emissions)
    flow = run_block(m, frame, case.body)
    judge_reports(m, condition, reports, outcome=True)
    return flow


def _moves_bound(node: ir.If) -> bool:
    """``if steps >= next_report: …; next_report += every``: once in a while, however the steps are counted."""
    if not isinstance(node.test, ir.Compare) or _leaves(node.body):
        return False
    moved = {s.target.id for s in node.body if isinstance(s, ir.AugAssign) and isinstance(s.target, ir.Name)}
    return any(isinstance(n, ir.Name) and n.id in moved for n in (node.test.left, *node.test.comparators))


RUN.update({ir.If: _if, ir.Match: _match})
