"""Two uses of a key that need the same numbers: their results are compared, or several arrays are shuffled alike.

Vocabulary
----------
compared    the two results of one function of the project, or of one comprehension, are the two sides of a difference, a
            quotient, a comparison or a product of matrices: finite differences, a search, the random features of a kernel.
each array  a loop shuffles each of its elements, and no iteration starts from what another one gave.

Names prove no intention: that ``decode`` undoes ``encode`` is not asked. Limitations: results that pass through a container
before they meet; ``key_comparisons`` follows these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import last_name, names_read, statement_at
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.stack import Place
from flake8_jax.semantics.trackers.key_names import called_as

_COMPARING = frozenset({"-", "/", "@"})
_COMPARED_BY = frozenset(
    {"dot", "matmul", "inner", "vdot", "einsum", "isclose", "allclose", "array_equal", "subtract", "divide"}
)
"""Functions of ``jax.numpy`` and NumPy that do the same."""


def are_compared(body: list[ir.Stmt], first: Place, second: Place) -> bool:
    """One function of the project gave both results, and an expression compares them."""
    now, then = first.link, second.link
    if now is None or then is None or now.fn is None or now.fn is not then.fn or first.scope is not second.scope:
        return False
    ours, theirs = (_standing_for(body, place.node) for place in (first, second))
    if not ours or not theirs:
        return False
    for statement in body:
        for node in walk(statement):
            for one, other in _sides(node, first.scope):
                if (_holds(one, ours) and _holds(other, theirs)) or (_holds(one, theirs) and _holds(other, ours)):
                    return True
    return False


def only_decides(body: list[ir.Stmt], place: Place) -> bool:
    """``f1 = score(key, m1)``, and the code does nothing with ``f1`` but compare it: a search among candidates."""
    node, name = _standing_for(body, place.node)
    statement = statement_at(body, node)
    if not name or not isinstance(statement, ir.Assign):
        return False
    parts = [part for one in body for part in walk(one)]
    tests = [part for part in parts if isinstance(part, ir.Compare)]
    read = [p for p in parts if isinstance(p, ir.Name) and p.id == name and p is not statement.targets[0]]
    return bool(read) and all(any(test.start <= p.start < test.end for test in tests) for p in read)


def elements_are_compared(body: list[ir.Stmt], first: Place) -> bool:
    """``low, high = (price(key, v) for v in (1.0, 1.1))``: an expression compares two elements of a comprehension."""
    statement = statement_at(body, first.node)
    if not isinstance(statement, ir.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if not isinstance(target, (ir.Tuple, ir.List)) or not isinstance(statement.value, ir.Comprehension):
        return False
    names = {element.id for element in target.elts if isinstance(element, ir.Name)}
    sides = (pair for other in body for node in walk(other) for pair in _sides(node, first.scope))
    return any(
        len((names & names_read(one)) | (names & names_read(two))) > 1 for one, two in sides if _both(names, one, two)
    )


def _both(names: set[str], one: Any, two: Any) -> bool:
    return bool(names & names_read(one)) and bool(names & names_read(two))


def _standing_for(body: list[ir.Stmt], node: Any) -> tuple[Any, str]:
    """The call itself, and the name that an assignment gives what it returns."""
    statement = statement_at(body, node)
    target = statement.targets[0] if isinstance(statement, ir.Assign) and len(statement.targets) == 1 else None
    return node, target.id if isinstance(target, ir.Name) and statement.value is node else ""  # type: ignore[union-attr]


def _sides(node: Any, scope: ModuleScope) -> Iterator[tuple[Any, Any]]:
    if isinstance(node, ir.BinOp) and node.op in _COMPARING:
        yield node.left, node.right
    elif isinstance(node, ir.Compare) and len(node.comparators) == 1:
        yield node.left, node.comparators[0]
    elif isinstance(node, ir.Call) and called_as(scope, node.func) in _COMPARED_BY:
        values = [argument.value for argument in node.args if not argument.keyword][-3:]
        yield from ((a, b) for i, a in enumerate(values) for b in values[i + 1 :])


def _holds(side: Any, what: tuple[Any, str]) -> bool:
    node, name = what
    if side.start <= node.start and node.end <= side.end:
        return True
    return bool(name) and name in names_read(side)


def shuffles_each(body: list[ir.Stmt], node: Any) -> bool:
    """A call in a loop takes the element of the iteration: each of several arrays gets the same permutation."""
    loop = None
    for statement in body:
        loop = next((s for s in walk(statement) if isinstance(s, ir.For) and s.start <= node.start < s.end), loop)
    if loop is None or not isinstance(node, ir.Call):
        return False
    if isinstance(loop.iter, ir.Call) and last_name(loop.iter.func) == "range":
        return False
    elements = {n.id for n in walk(loop.target) if isinstance(n, ir.Name)}
    return any(elements & names_read(argument.value) for argument in node.args)
