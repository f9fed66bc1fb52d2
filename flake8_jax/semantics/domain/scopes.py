"""Scopes: modules and frames, and how a name finds its value.

Vocabulary
----------
module scope   one file of the project with its name, its IR and, once it has been run, its global bindings.
frame          the local bindings of one run of a function body (or of a class body).

Limitations: ``exec``, ``locals()``, ``del`` of a global seen from another module, import hooks.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final, Literal

from flake8_jax.core import ir
from flake8_jax.core.cells import cell_starts
from flake8_jax.core.nodes import children, walk
from flake8_jax.core.testing import is_test_file

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.values import ClassValue, Value


State = Literal[0, 1, 2]
NOT_RUN: Final = 0
RUNNING: Final = 1
RUN: Final = 2


class ModuleScope:
    """One file. ``state``: how far its top level has run. ``slots``: its global bindings. ``process``: the points that its
    top level has taken (see ``process``), None before it was run.

    key: its name, unlike those of other files (see ``imports``). cells: of a notebook, where each begins. versions: of
    a notebook that has run, the values of names that several cells bind, each with the number of the cell that left it.
    unjitted: its top level switches ``jax_disable_jit`` on. converts_lists: so do the functions of ``jax.numpy`` in every JAX
    that it is for. is_test: it holds tests. redefined: names for which its top level makes a second function,
    and where it makes the last one.
    """

    __slots__ = (
        "cells", "converts_lists", "function_lines", "is_package", "is_test", "key", "name", "path", "process", "rebound",
        "redefined", "slots", "state", "text", "tree", "unjitted", "versions",
    )  # fmt: skip

    def __init__(self, path: str, name: str, *, is_package: bool, tree: ir.Module, text: str = "") -> None:
        self.path = path
        self.name = self.key = name
        self.is_package = is_package
        self.is_test = is_test_file(path, text)
        self.tree = tree
        self.slots: dict[str, Value] = {}
        self.state: State = NOT_RUN
        self.cells: list[int] = cell_starts(text) if "%%" in text else []
        self.rebound = frozenset(tree.rebound_names)
        self.redefined = {} if self.cells else _redefined(tree.body)
        self.text = text
        self.process: dict[Any, Any] | None = None
        self.unjitted = False
        self.converts_lists = False
        self.versions: dict[str, list[tuple[int, Value]]] = {}

    def cell_of(self, start: int) -> int:
        """The number of the cell, from 1, in which the offset is; 0 if there are none."""
        return bisect_right(self.cells, start)

    def version(self, name: str, start: int) -> Value | None:
        """What a name holds for code at the offset that nothing else in the notebook calls: what the last cell up to there
        left in it, or the first one behind; None where just one cell binds it."""
        versions = self.versions.get(name)
        if not versions:
            return None
        cell = self.cell_of(start)
        return next((value for number, value in reversed(versions) if number <= cell), versions[0][1])


def _redefined(body: list[ir.Stmt]) -> dict[str, int]:
    """``def step`` twice, ``grad_fn = jax.grad(loss)`` twice: names by the start of the last statement that binds them.
    ``f = jax.jit(f)`` makes no other function, and ``@overload`` none at all. ``import numpy as np`` and, further down,
    ``import jax.numpy as np`` bind the name to another library."""
    found: dict[str, list[int]] = {}
    for statement in body:
        if isinstance(statement, ir.FunctionDef):
            overload = any(_last_name(decorator) == "overload" for decorator in statement.decorators)
            found.setdefault(statement.function.name, []).extend([] if overload else [statement.start])
        elif isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Call):
            names = [target.id for target in statement.targets if isinstance(target, ir.Name)]
            read = {node.id for node in walk(statement.value) if isinstance(node, ir.Name)} if names else set()
            for name in names:
                found.setdefault(name, []).extend([] if name in read else [statement.start])
    return {name: starts[-1] for name, starts in found.items() if len(starts) > 1} | _reimported(body)


_WITH_BLOCKS = (ir.If, ir.Try, ir.ExceptHandler, ir.With, ir.For, ir.While)


def _reimported(body: list[ir.Stmt]) -> dict[str, int]:
    """Names under which the top level imports several modules, by the start of the last import that does."""
    modules: dict[str, set[str]] = {}
    last: dict[str, int] = {}
    todo: list[Any] = list(body)
    while todo:
        statement = todo.pop()
        if isinstance(statement, _WITH_BLOCKS):
            todo += children(statement)
        if isinstance(statement, (ir.Import, ir.ImportFrom)):
            source = f"{statement.module}." if isinstance(statement, ir.ImportFrom) else ""
            for imported in statement.names:
                if imported.alias:
                    modules.setdefault(imported.alias, set()).add(source + imported.name)
                    last[imported.alias] = max(statement.start, last.get(imported.alias, 0))
    return {name: last[name] for name, known in modules.items() if len(known) > 1}


def _last_name(node: ir.Expr) -> str:
    return node.attr if isinstance(node, ir.Attribute) else node.id if isinstance(node, ir.Name) else ""


class Frame:
    """Local bindings of one run of a function (``fn`` None: a class body).

    mark: length of the journal at its start. branches: so many alternatives are open around the running statement; undecided:
    those of tests whose outcome is not known, without loops; guesses: those that no evidence says may be taken. vague: it
    returned inside of one of them; setups: those among them that depend on the machine (``Branch.setup``); answers: it returned
    inside of another one. exits: how paths that return inside of them look from the
    start. ended: it returned outside of them.
    doubtful: whether the code is reached from here on depends on a test that only the host can decide. trace: number of
    the trace that it runs in, and so the allocation trace of its variables. attempts: so many ``try`` and ``with`` blocks
    are open whose statements may be there for what they raise. without_events: a loop runs its body only to find the values
    at its head, so loops in it run once. deep_loops: what the last run of a loop that is nested too deeply left behind, by its
    node.
    failed: the call that could not bind its arguments, or the attribute that a tuple lacks, if the running statement has one.
    """

    __slots__ = (
        "answers",
        "attempts",
        "branches",
        "deep_loops",
        "doubtful",
        "ended",
        "exits",
        "failed",
        "fn",
        "guesses",
        "loops",
        "mark",
        "owner",
        "parent",
        "returns",
        "scope",
        "self_value",
        "setups",
        "slots",
        "trace",
        "undecided",
        "vague",
        "without_events",
        "yields",
    )  # fmt: skip

    def __init__(
        self, fn: ir.Function | None, scope: ModuleScope, parent: Frame | None, owner: ClassValue | None = None
    ) -> None:
        self.fn = fn
        self.scope = scope
        self.parent = parent
        self.slots: dict[Any, Any] = {}
        self.owner = owner
        self.returns: list[Value] = []
        self.yields: list[Value] = []
        self.exits: list[dict[tuple[int, Any], tuple[dict[Any, Any], Any, Any]]] = []
        self.loops: list[Any] = []
        self.self_value: Value | None = None
        self.doubtful = False
        self.mark = 0
        self.branches = 0
        self.undecided = 0
        self.guesses = self.setups = 0
        self.vague = self.answers = False
        self.attempts = 0
        self.ended = False
        self.trace = 0
        self.without_events = False
        self.failed: Any = None
        self.deep_loops: dict[int, Any] = {}
