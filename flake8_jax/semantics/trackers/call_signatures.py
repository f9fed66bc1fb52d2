"""Calls of library functions that raise TypeError before the function runs: their arguments do not fit its parameters.

Vocabulary
----------
mismatch    such a call: no release that the tables know takes its arguments.

A call is judged only if all of its arguments are known, and if an import of the file names the function or, outside of loops, a
``partial`` holds it. A function that a variable holds is often one of several, and what chooses it chooses the arguments.

Limitations: methods; releases that the tables do not know. Nothing is reported if the project asks for older ones only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from flake8_jax.core import ir
from flake8_jax.knowledge.call_signatures import Problem, Signatures
from flake8_jax.knowledge.history import Version
from flake8_jax.semantics.events.events import CallMismatch
from flake8_jax.semantics.machine.tracker import Tracker
from flake8_jax.semantics.trackers.products import Products
from flake8_jax.semantics.trackers.versions import ApiUses, Versions

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.arguments import Call
    from flake8_jax.semantics.domain.scopes import ModuleScope
    from flake8_jax.semantics.machine.core import Machine


class CallSignatures(Tracker):
    """names: the functions whose signatures are known; empty unless a rule listens."""

    def __init__(self, m: Machine) -> None:
        self.names: frozenset[str] = frozenset()
        self._tables: Mapping[str, Signatures] = {}

    def open(self, tables: Mapping[str, Signatures]) -> None:
        """Some rule listens to mismatches."""
        self._tables = tables
        self.names = frozenset[str]().union(*[table.names for table in tables.values()])

    def newest(self, library: str) -> Version:
        """The newest release that the table of a library knows."""
        return self._tables[library].newest

    def check(self, m: Machine, name: str, at: Call) -> None:
        """A library function of ``names`` is called."""
        node, args = at.node, at.args
        if not isinstance(node, ir.Call) or not _all_known(node, at):
            return
        table = self._tables[name.partition(".")[0]]
        problem = table.problem(name, len(args.values), args.kwargs)
        versions, scope = m.trackers[ApiUses].versions, at.frame.scope
        if problem is None or versions is None or m.program.is_project(name.partition(".")[0]):
            return
        if m.trackers[Products].chosen_at == len(m.path.stack):
            return
        if not versions.is_imported(scope, node.func) and (m.path.loops or not _is_partial(node, at)):
            return
        if not _is_for(versions, scope, name, table) or _has_history(versions, name, problem):
            return
        if not versions.guards.guard(scope, node.start, node.end):
            newest = table.of(name)[0]
            left = newest.by_name.difference(args.kwargs, newest.positional[: len(args.values)])
            m.bus.emit(CallMismatch(m.path.context(scope), node, name, problem, table.title, table.newest, left))


def _all_known(node: ir.Call, at: Call) -> bool:
    """What the call passes is what the program writes, with what a ``partial`` has bound before. Else something calls the
    function on its own account, as ``map`` does."""
    args = at.args
    if args.star is not None or args.double_star is not None or args.unknown_rest or at.decorating:
        return False
    if any(argument.star for argument in node.args):
        return False
    written = {argument.keyword for argument in node.args if argument.keyword is not None}
    by_position = sum(argument.keyword is None for argument in node.args)
    return written <= args.kwargs.keys() and by_position <= len(args.values)


def _is_partial(node: ir.Call, at: Call) -> bool:
    """A ``partial`` has bound arguments before the call passes its own."""
    return len(at.args.values) + len(at.args.kwargs) > len(node.args)


def _is_for(versions: Versions, scope: ModuleScope, name: str, table: Signatures) -> bool:
    """The project supports a release that the table knows."""
    library = name.partition(".")[0]
    return versions.is_wanted(scope) and versions.supports_some(scope, library, table.oldest, table.newest)


def _has_history(versions: Versions, name: str, problem: Problem) -> bool:
    """Another rule says what became of the argument."""
    history = versions.histories.of(name)
    if history is None:
        return False
    told = {*history.needed(name), *(a for a in problem.names if history.change(f"{name}({a}=)") is not None)}
    return bool(told.intersection(problem.names)) or history.change(f"{name}()") is not None
