"""Draws that are dead: a function draws numbers, and all of its callers throw away the part of its result that holds them.

``mean, _ = actor(weights, key, x)`` reads what the actor computes and not what it draws; JAX removes such a draw when it
compiles the caller.

Vocabulary
----------
part        which element of a returned tuple a value goes into; ``WHOLE`` where the result is that value, or where it is not
            known into which part it goes.
dead        no code reads it: it only goes into parts of results that the caller binds to ``_``, or to a name that nothing
            reads. To wait for it, or to ask for its shape, is no reading.

Limitations: what goes into an attribute, an element of a container, a nested function, a test or a call that stands alone
counts as read. Dictionaries and named tuples are one part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from flake8_jax.core import ir
from flake8_jax.core.nodes import children
from flake8_jax.semantics.domain.code import last_name, statement_at
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.stack import Place
from flake8_jax.semantics.domain.values import External, ModuleValue
from flake8_jax.semantics.trackers.key_names import Names, NamesOfBodies, body_around
from flake8_jax.semantics.trackers.waits import is_wait

WHOLE: Final = -1
MAX_FOLLOWED: Final = 30
"""So many assignments are followed in one function."""

Parts = frozenset[int]


def is_dead_draw(path: Sequence[Place], names: NamesOfBodies) -> bool:
    """What the last place of a path draws is read neither in its own function nor in those that lead there.

    path: from the function in which two uses of a key part, inwards.
    """
    parts: Parts = frozenset({WHOLE})
    for depth, place in enumerate(reversed(path)):
        if place.function is None or (depth and not _keeps_parts(place)):
            return False
        returned = _Flow(place, names.around(place)).returned(parts)
        if returned is None:
            return False
        if not returned:
            return depth > 0
        parts = returned
    return False


def is_thrown_away(place: Place, names: NamesOfBodies) -> bool:
    """What a call gives is passed on, but only to calls whose results nothing reads: a run that is timed, or warms up."""
    if place.function is None:
        return False
    flow = _Flow(place, names.around(place))
    return flow.returned(frozenset({WHOLE})) == frozenset() and flow.passed


def _keeps_parts(place: Place) -> bool:
    """The call returns what the function of the project does: it calls it, staged or not, or applies a module of Flax."""
    node = place.node
    if not isinstance(node, ir.Call) or place.link is None:
        return False
    if any(argument.keyword in _RETURNING_MORE for argument in node.args):
        return False
    return place.link.fn is not None or last_name(node.func) == "apply"


_RETURNING_MORE = frozenset({"mutable", "capture_intermediates", "has_aux", "method"})
"""Options of Flax's ``apply`` and of gradients that change what comes back."""


class _Flow:
    """Where the value of one node goes in the body of its function. shared: names of it that belong to code around it.
    passed: an assignment reads what another one binds."""

    def __init__(self, place: Place, names: Names) -> None:
        self.node: Any = place.node
        self.body = body_around(place)
        self.scope = place.scope
        function = place.function
        self.shared = {*function.global_names, *function.nonlocal_names} if function is not None else set()
        self.names = names
        self.passed = False

    def returned(self, parts: Parts) -> Parts | None:
        """The parts of the function's result that these parts of the node's value go into; None if other code reads them."""
        found: set[int] = set()
        todo: list[tuple[Any, Parts]] = [(self.node, parts)]
        known: set[int] = set()
        while todo:
            node, held = todo.pop()
            statement = statement_at(self.body, node)
            if statement is None or id(node) in self.names.nested or len(known) > MAX_FOLLOWED:
                return None
            if id(node) in known or self.names.is_read_for_shape(node) or is_wait(statement, self.scope, self.body):
                continue
            known.add(id(node))
            self.passed = self.passed or node is not self.node
            if not isinstance(statement, (ir.Assign, ir.AnnAssign, ir.Return)) or statement.value is None:
                return None
            inside = _part_of(statement.value, node, held, self.scope)
            if inside is None:
                return None
            if isinstance(statement, ir.Return):
                found |= inside
                continue
            targets = statement.targets if isinstance(statement, ir.Assign) else [statement.target]
            for name, part in (pair for target in targets for pair in _bound(target, inside)):
                if name is None or name in self.shared:
                    return None
                todo += [(read, part) for read in self.names.read_after(name, statement)]
        return frozenset(found)


def _part_of(around: Any, node: Any, held: Parts, scope: ModuleScope) -> Parts | None:
    """Into which parts of an expression's value those of a node in it go; None if the expression reads them at once."""
    if around is node:
        return held
    if isinstance(around, ir.Tuple) and not any(isinstance(e, ir.Starred) for e in around.elts):
        inside = [(i, element) for i, element in enumerate(around.elts) if _holds(element, node)]
        return frozenset(i for i, _ in inside) if all(_part_of(e, node, held, scope) for _, e in inside) else None
    if isinstance(around, ir.Subscript) and around.value is node and isinstance(around.index, ir.Constant):
        index = around.index.value
        if WHOLE not in held and type(index) is int and index >= 0:
            return frozenset({WHOLE}) if index in held else frozenset()
    while around is not node:
        if isinstance(around, _READING):
            return None
        if isinstance(around, ir.Call) and not _holds(around.func, node) and _is_of_unknown_object(around, scope):
            return None
        around = next((child for child in children(around) if _holds(child, node)), node)
    return frozenset({WHOLE})


def _is_of_unknown_object(call: ir.Call, scope: ModuleScope) -> bool:
    """``env.step(x)``, ``log.append(x)``: a method of an object may keep what it gets."""
    root = call.func
    while isinstance(root, ir.Attribute):
        root = root.value
    if root is call.func or not isinstance(root, ir.Name):
        return False
    bound = scope.slots.get(root.id)
    return not (isinstance(bound, ModuleValue) or (isinstance(bound, External) and bound.name.startswith(_COMPUTING)))


_COMPUTING = ("jax", "numpy", "optax", "equinox", "flax")
_READING = (ir.Yield, ir.YieldFrom, ir.Await, ir.Lambda, ir.Comprehension, ir.NamedExpr)


def _holds(around: Any, node: Any) -> bool:
    start = getattr(around, "start", None)
    if start is None:
        return any(_holds(child, node) for child in children(around))
    return bool(start <= node.start and node.end <= around.end)


def _bound(target: ir.Expr, parts: Parts) -> Iterator[tuple[str | None, Parts]]:
    """The names that an assignment binds to these parts, but for ``_``; None where it stores them elsewhere."""
    if isinstance(target, (ir.Tuple, ir.List)):
        whole = WHOLE in parts or any(isinstance(element, ir.Starred) for element in target.elts)
        for i, element in enumerate(target.elts):
            if whole or i in parts:
                yield from _bound(element.value if isinstance(element, ir.Starred) else element, frozenset({WHOLE}))
    elif not isinstance(target, ir.Name):
        yield None, parts
    elif set(target.id) != {"_"}:
        yield target.id, parts
