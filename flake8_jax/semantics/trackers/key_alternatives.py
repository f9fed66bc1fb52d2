"""Two draws from one key of which only one is used: ``jnp.where`` picks between what was computed from either.

Vocabulary
----------
origin      which of the two draws a value was computed from: the first, the second, both, or none.
picked      a result of ``where`` whose two choices come from one draw each: no element of it depends on both.

The statements behind the draws are followed in the order of the text. Limitations: values that a container, a nested function
or a loop's next iteration takes along are not followed, and then nothing is said.
"""

from __future__ import annotations

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
Origin = frozenset[int]
_NONE: Origin = frozenset()
_BOTH: Origin = frozenset({1, 2})


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
    """What the statements so far have computed from which draw. picked: some ``where`` chose between both."""

    scope: ModuleScope
    first: Any
    second: Any
    origins: dict[str, Origin] = field(default_factory=dict)
    picked: bool = False

    def follow(self, body: Iterable[ir.Stmt]) -> None:
        """Go through statements in the order of the text. Raises _MetError where both draws may meet."""
        for statement in body:
            if isinstance(statement, (ir.Assign, ir.AnnAssign, ir.AugAssign)):
                self._assign(statement)
            elif isinstance(statement, (ir.Return, ir.ExprStmt)):
                if statement.value is not None and self._origin(statement.value):
                    raise _MetError  # it gets out, or into something, beside what is picked
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
                self.origins[target.id] = self._checked(origin | before)
            elif origin or self._reads(target):
                raise _MetError

    def _origin(self, node: Any) -> Origin:
        if node is self.first or node is self.second:
            return frozenset({1 if node is self.first else 2})
        if isinstance(node, ir.Name):
            return self.origins.get(node.id, _NONE)
        if isinstance(node, ir.Lambda):
            if self._reads(node):
                raise _MetError
            return _NONE
        if isinstance(node, ir.Call) and called_name(node.func, self.scope) in _PICKING and len(node.args) == 3:
            condition, one, other = (self._origin(argument.value) for argument in node.args)
            if one and other and one != other:
                self.picked = True
                return condition
            return self._checked(condition | one | other)
        return self._checked(frozenset().union(*(self._origin(child) for child in children(node))))

    def _checked(self, origin: Origin) -> Origin:
        if origin == _BOTH:
            raise _MetError
        return origin

    def _reads(self, node: Any) -> bool:
        return any(
            part is self.first
            or part is self.second
            or (isinstance(part, ir.Name) and self.origins.get(part.id, _NONE))
            for part in walk(node)
        )
