"""Two calls that need the same numbers: what one does the other undoes, or their results are compared with each other.

Vocabulary
----------
inverse     ``rotate`` and ``inverse_rotate``, ``encode`` and ``decode``: names that differ in a word for that alone.
compared    the two results of one function of the project are the two sides of a difference, a quotient or a product of
            matrices: finite differences, the random features of a kernel.
variants    ``benchmark_jax(n, key=key)`` and ``benchmark_lax(n, key=key)``: the same arguments, and names that share a word
            for a measurement.
each array  a loop shuffles each of its elements, and no iteration starts from what another one gave.

Limitations: names in other languages; results that pass through a container before they meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import last_name, names_read, spelled, statement_at
from flake8_jax.semantics.domain.stack import Place

_UNDOING = frozenset(
    {"inverse", "inverted", "invert", "inv", "reverse", "reversed", "undo", "back", "backward", "bwd", "forward", "fwd",
     "adjoint", "transpose", "transposed"}
)  # fmt: skip
_OPPOSITES = (("", "un"), ("", "de"), ("", "dis"), ("en", "de"), ("com", "decom"), ("add", "remove"))
_MEASURING = frozenset(
    {"bench", "benchmark", "compare", "eval", "evaluate", "measure", "profile", "run", "solve", "test", "time"}
)
_COMPARING = frozenset({"-", "/", "@"})
_COMPARED_BY = frozenset(
    {
        "dot",
        "matmul",
        "inner",
        "vdot",
        "einsum",
        "cdist",
        "isclose",
        "allclose",
        "array_equal",
        "subtract",
        "divide",
        "mse",
    }
)


def undoes(first: Any, second: Any) -> bool:
    """By their names one of the called functions is the inverse of the other."""
    if not isinstance(first, ir.Call) or not isinstance(second, ir.Call):
        return False
    one, other = (last_name(call.func).lower().strip("_").split("_") for call in (first, second))
    if one == other or not all(one) or not all(other):
        return False
    left, right = ([word for word in words if word not in _UNDOING] for words in (one, other))
    if left == right:
        return True
    unlike = [pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
    return len(one) == len(other) and len(unlike) == 1 and (_opposite(*unlike[0]) or _opposite(*reversed(unlike[0])))


def _opposite(one: str, other: str) -> bool:
    """``rotate`` and ``unrotate``, ``encode`` and ``decode``."""
    return any(
        one.startswith(does) and other == undoes + one[len(does) :] and len(one) > len(does) + 2
        for does, undoes in _OPPOSITES
    )


def are_variants(first: Place, second: Place) -> bool:
    """Two functions are measured on the same arguments."""
    one, other = first.node, second.node
    if not isinstance(one, ir.Call) or not isinstance(other, ir.Call) or len(one.args) != len(other.args):
        return False
    names = [set(last_name(call.func).lower().split("_")) for call in (one, other)]
    if names[0] == names[1] or not names[0] & names[1] & _MEASURING:
        return False
    text, again = first.scope.text, second.scope.text
    return all(
        a.keyword == b.keyword and spelled(a.value, text) == spelled(b.value, again)
        for a, b in zip(one.args, other.args, strict=True)
    )


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
            for one, other in _sides(node):
                if (_holds(one, ours) and _holds(other, theirs)) or (_holds(one, theirs) and _holds(other, ours)):
                    return True
    return False


def _standing_for(body: list[ir.Stmt], node: Any) -> tuple[Any, str]:
    """The call itself, and the name that an assignment gives what it returns."""
    statement = statement_at(body, node)
    target = statement.targets[0] if isinstance(statement, ir.Assign) and len(statement.targets) == 1 else None
    return node, target.id if isinstance(target, ir.Name) and statement.value is node else ""  # type: ignore[union-attr]


def _sides(node: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(node, ir.BinOp) and node.op in _COMPARING:
        yield node.left, node.right
    elif isinstance(node, ir.Call) and last_name(node.func) in _COMPARED_BY:
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
