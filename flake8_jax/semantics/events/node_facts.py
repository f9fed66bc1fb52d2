"""What a rule on LibCST nodes may ask the analysis about a node.

Vocabulary
----------
run         one way in which the analysis saw a node: an expression with its value, or a statement, on one call chain.
guess       a run that only happens if a test came out in a way that nothing shows: no evidence.

Limitations: a node that is never evaluated has no run: a name that is assigned to, an annotation, a definition in code that the
analysis leaves out. Of equal runs the first counts, and of each node at most ``MAX_RUNS`` are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from flake8_jax.core.findings import Fix, Step
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.values import BuiltinValue, External, Unknown, Value, is_tracer
from flake8_jax.semantics.events.events import Context

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import ModuleScope
    from flake8_jax.semantics.domain.stack import Link
    from flake8_jax.syntax.nodes import NodeTree

MAX_RUNS = 8


class NodeRun(msgspec.Struct, frozen=True, eq=False):
    """What the analysis knows about a node on one call chain. A node in a function that two callers call has two runs.
    - ``value``: the abstract value of an expression; None for a statement.
    - ``kinds``: the kinds of the value, such as ``traced``, ``pytree``, ``concrete``, ``static``, ``function`` and
      ``unknown``. The page on ``jaxlint inspect`` lists all of them.
    - ``context``: how the code runs on this call chain, a ``Context``. For example, ``context.staged`` is True if JAX
      certainly traces the code.
    - ``links``: the call chain, beginning with the outermost call.
    - ``guess``: the code runs only after a test whose outcome jaxlint guesses, so the run proves no mistake.
    - ``is_evidence``: whether an exception here would certainly reach the user."""

    value: Value | None
    kinds: frozenset[str]
    context: Context
    links: tuple[Link, ...]
    guess: bool = False

    @property
    def is_evidence(self) -> bool:
        """Whether an exception here would surely reach the user."""
        return not self.guess and not self.context.presumed and not self.context.caught


class NodeReported(msgspec.Struct, frozen=True, eq=False):
    """The event of a finding of a rule on nodes: how the code ran, and the fix that the rule made."""

    context: Context
    fix: Fix | None


Places = Mapping[tuple[int, int], Sequence[NodeRun]]
"""The runs of a file by offsets: of expressions by start and end, of statements by start and -1."""


class NodeFacts:
    """What the analysis knows about the nodes of a file: the second argument of a rule on nodes. Each method takes a node of
    the tree that jaxlint visits, and raises ``LookupError`` for any other node."""

    def __init__(
        self,
        tree: NodeTree,
        scope: ModuleScope,
        places: Places,
        describe: Callable[[tuple[Link, ...]], tuple[Step, ...]],
    ) -> None:
        self._tree = tree
        self._scope = scope
        self._places = places
        self._describe = describe

    @property
    def path(self) -> str:
        """Return the absolute path of the file."""
        return self._scope.path

    @property
    def text(self) -> str:
        """Return the text of the file. Offsets count its code points."""
        return self._tree.text

    def span(self, node: Any) -> tuple[int, int]:
        """Return the offsets at which a node starts and ends, without parentheses around it."""
        return self._tree.span(node)

    def source(self, node: Any) -> str:
        """Return the text of a node."""
        start, end = self.span(node)
        return self.text[start:end]

    def parent(self, node: Any) -> Any:
        """Return the node that contains a node; None for the module."""
        return self._tree.parent(node)

    def runs(self, node: Any) -> tuple[NodeRun, ...]:
        """Return what the analysis knows about an expression or a statement, for each call chain on which it ran; () if it did
        not run."""
        start, end = self.span(node)
        return tuple(self._places.get((start, end)) or self._places.get((start, -1)) or ())

    def value(self, node: Any) -> Value:
        """Return the abstract value of an expression: what its values on all call chains have in common, or ``Unknown`` if
        there is none. A list or a dict contains what it contained last."""
        values = [run.value for run in self.runs(node) if run.value is not None]
        return joining.join_all(values) if values else Unknown("never evaluated")

    def name(self, node: Any) -> str | None:
        """Return the canonical name of a library object, such as ``jax.numpy.where`` or ``builtins.len``; None if the
        expression is not one, or is not the same on every call chain."""
        value = self.value(node)
        if isinstance(value, BuiltinValue):
            return f"builtins.{value.name}" if value.bound is None else None
        return value.name if isinstance(value, External) else None

    def is_staged(self, node: Any) -> bool:
        """Return whether JAX certainly traces the code on at least one call chain."""
        return any(run.context.staged and run.is_evidence for run in self.runs(node))

    def is_eager(self, node: Any) -> bool:
        """Return whether the code certainly runs outside tracing on at least one call chain."""
        return any(not run.context.staged and run.is_evidence for run in self.runs(node))

    def is_traced(self, node: Any) -> bool:
        """Return whether an expression certainly is a tracer on at least one call chain."""
        return any(run.value is not None and is_tracer(run.value) and run.is_evidence for run in self.runs(node))

    def is_static(self, node: Any) -> bool:
        """Return whether an expression is, on every call chain, a Python value that is known at trace time."""
        runs = self.runs(node)
        return bool(runs) and all(run.kinds == {"static"} for run in runs)

    def chain(self, node: Any) -> tuple[Step, ...]:
        """Return a call chain that leads to a node, if possible one on which the node is a tracer, or else one on which JAX
        traces the code. The output shows it below the finding."""
        run = self.best_run(node)
        return self._describe(run.links) if run is not None else ()

    def best_run(self, node: Any) -> NodeRun | None:
        """Return the run whose call chain ``chain`` returns; None if the node did not run."""
        return max(self.runs(node), key=_rank, default=None)


def _rank(run: NodeRun) -> tuple[bool, bool, bool]:
    traced = run.value is not None and is_tracer(run.value)
    return run.is_evidence, traced, run.context.staged
