"""Two draws from one key of which only one is used: ``jnp.where`` picks between what was computed from either.

Vocabulary
----------
origin      which of the two draws a value was computed from, each with its guards: none, one or both.
guard       a condition of a ``where`` and the outcome for which an element of its result comes from the draw.
picked      guards keep the two draws apart: ``where(c, y, 0)`` and ``where(c, 1, x)`` are never both what was drawn.

The statements behind the draws are followed in the order of the text. Limitations: values that a container, a nested function
or a loop's next iteration takes along are not followed, and then nothing is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import children, walk
from flake8_jax.semantics.domain.code import blocks, called_name
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.stack import Place
from flake8_jax.semantics.trackers.key_names import parts_of_target

_PICKING = frozenset({"where", "select"})
Guard = tuple[str, tuple[int, ...], bool]
"""The text of a condition, how often each of its variables had been bound, and the outcome."""
Origin = frozenset[tuple[int, frozenset[Guard]]]
_NONE: Origin = frozenset()


MAX_GUARDED = 32
"""Of a value with more origins it is not asked whether they exclude each other: each ``where`` may double them."""


class _MetError(Exception):
    """Something depends on both draws, or may."""


def are_alternatives(body: list[ir.Stmt], first: Place, second: Place) -> bool:
    """Whatever the function goes on to compute depends on one of the two draws at most."""
    if first.scope is not second.scope or first.function is None or first.function is not second.function:
        return False
    flow = _Flow(first.scope, first.node, second.node)
    try:
        flow.follow(body)
    except _MetError:
        return False
    return flow.picked


@dataclass(slots=True, eq=False)
class _Flow:
    """What the statements so far have computed from which draw. escaped: what other code gets. picked: some guards kept the
    draws apart."""

    scope: ModuleScope
    first: Any
    second: Any
    origins: dict[str, Origin] = field(default_factory=dict)
    versions: Counter[str] = field(default_factory=Counter)
    escaped: Origin = _NONE
    picked: bool = False

    def follow(self, body: Iterable[ir.Stmt]) -> None:
        """Go through statements in the order of the text. Raises _MetError where both draws may meet."""
        for statement in body:
            if isinstance(statement, (ir.Assign, ir.AnnAssign, ir.AugAssign)):
                self._assign(statement)
            elif isinstance(statement, (ir.Return, ir.ExprStmt)):
                if statement.value is not None:
                    self._escape(self._origin(statement.value))
            elif inner := blocks(statement):
                if isinstance(statement, (ir.For, ir.While)) and self._reads(statement):
                    raise _MetError  # the next iteration may see either
                within = {id(one) for one in inner}
                if any(id(part) not in within and self._reads(part) for part in children(statement)):
                    raise _MetError  # what runs depends on it
                self.follow(inner)
            elif self._reads(statement):
                raise _MetError

    def _assign(self, statement: ir.Assign | ir.AnnAssign | ir.AugAssign) -> None:
        origin = self._origin(statement.value) if statement.value is not None else _NONE
        targets = statement.targets if isinstance(statement, ir.Assign) else [statement.target]
        for target in (part for whole in targets for part in parts_of_target(whole)):
            if isinstance(target, ir.Name):
                before = self.origins.get(target.id, _NONE) if isinstance(statement, ir.AugAssign) else _NONE
                self.origins[target.id] = self._joined(origin, before)
                self.versions[target.id] += 1
            elif origin or self._reads(target):
                raise _MetError

    def _origin(self, node: Any) -> Origin:
        if node is self.first or node is self.second:
            return frozenset({(1 if node is self.first else 2, frozenset())})
        if isinstance(node, ir.Name):
            return self.origins.get(node.id, _NONE)
        if isinstance(node, ir.Lambda):
            if self._reads(node):
                raise _MetError
            return _NONE
        if isinstance(node, ir.Call) and called_name(node.func, self.scope) in _PICKING and len(node.args) == 3:
            condition, one, other = (argument.value for argument in node.args)
            chosen = [
                self._guarded(self._origin(value), condition, held) for value, held in ((one, True), (other, False))
            ]
            return self._joined(self._origin(condition), *chosen)
        return self._joined(*(self._origin(child) for child in children(node)))

    def _guarded(self, origin: Origin, condition: ir.Expr, held: bool) -> Origin:
        names = sorted({part.id for part in walk(condition) if isinstance(part, ir.Name)})
        versions = tuple(self.versions[name] for name in names)
        guard = (self.scope.text[condition.start : condition.end], versions, held)
        return frozenset((draw, guards | {guard}) for draw, guards in origin)

    def _joined(self, *origins: Origin) -> Origin:
        """What depends on all of these. Raises _MetError where no guards keep the two draws apart."""
        joint = _NONE.union(*origins)
        if len(joint) > MAX_GUARDED:
            raise _MetError
        ones, others = ([guards for draw, guards in joint if draw == number] for number in (1, 2))
        for one in ones:
            for other in others:
                if not any((text, versions, not held) in other for text, versions, held in one):
                    raise _MetError
                self.picked = True
        return joint

    def _escape(self, origin: Origin) -> None:
        self.escaped = self._joined(self.escaped, origin)

    def _reads(self, node: Any) -> bool:
        return any(
            part is self.first
            or part is self.second
            or (isinstance(part, ir.Name) and self.origins.get(part.id, _NONE))
            for part in walk(node)
        )
