"""Two equal draws of which one undoes, mirrors or predicts what was made with the other.

``x + normal(key)`` beside ``x - normal(key)`` is an antithetic pair. Who subtracts numbers that are symmetric around zero has
no reason to, unless they were added elsewhere.

Vocabulary
----------
equal       two draws of one sampler with the same arguments, as written, but for the array whose shape they take.
role        how the numbers of a draw enter a formula: as a term with a sign, as a factor, as a divisor, or bare.
undone      one function adds to an array what another one takes away from what the first one gave, or both turn the same signs.
mirrored    one of two draws enters with the other sign, and no sum holds both: there they would cancel.
predicted   a difference has one draw by itself, and something that was computed of the other one.
scaled      a function is called for what it gave before, and the factor of its numbers has the other sign.
sliced      each iteration of a loop takes another slice of one permutation.

Limitations: formulas of operators only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import all_statements, names_read, nodes_around, statement_at
from flake8_jax.semantics.domain.stack import Link, Place
from flake8_jax.semantics.trackers.key_comparisons import Comparison, changed_by
from flake8_jax.semantics.trackers.key_names import body_around, names_bound

_SYMMETRIC = frozenset(
    f"jax.random.{name}"
    for name in ("normal", "rademacher", "laplace", "logistic", "cauchy", "t", "multivariate_normal")
)
"""Samplers whose numbers are as likely as their negatives."""
_SIGNS = "jax.random.rademacher"
MAX_RENAMED = 3
"""So many assignments are followed from a draw to the formula that it enters."""


class Role(NamedTuple):
    """How a draw enters a formula. within: the sum."""

    kind: Literal["term", "factor", "divisor", "bare"]
    sign: int
    within: Any = None


def are_meant_equal(there: tuple[Place, ...], here: tuple[Place, ...], sampler: str) -> bool:
    """Two draws of one sampler, of which one undoes, mirrors or predicts what was made with the other. there, here: their
    paths, from where they part."""
    first, second = there[-1], here[-1]
    if not sampler or _arguments(first) is None or _arguments(first) != _arguments(second):
        return False
    is_fed = _takes(body_around(here[0]), there[0].node, here[0].node)
    one, other = _role_of(first), _role_of(second)
    if is_fed:
        functions = [path[0].link.fn if path[0].link is not None else None for path in (there, here)]
        return None not in functions and functions[0] is not functions[1] and _undoes(one, other, sampler)
    if _are_in_one_sum(one, other, first, second):
        return False
    return _mirrors(one, other, sampler) or _is_predicted(there, here)


def is_scaled_back(there: Place, here: Place, key: ir.Expr | None) -> bool:
    """``x = move(x, key, s)``, and later ``x = move(x, key, -s)``: what moves back needs the numbers of before."""
    link, body = here.link, body_around(here)
    if key is None or link is None or link.fn is None or there.link is None or there.link.fn is not link.fn:
        return False
    if not isinstance(here.node, ir.Call) or not _takes(body, there.node, here.node):
        return False
    text = here.scope.text
    asked = text[key.start : key.end]
    given: dict[str, set[bool]] = {}
    for call in (node for one in body for node in walk(one) if isinstance(node, ir.Call)):
        if text[call.func.start : call.func.end] == text[here.node.func.start : here.node.func.end]:
            arguments = dict(_by_parameter(call, link))
            if asked in {text[value.start : value.end] for value in arguments.values()}:
                for name, value in arguments.items():
                    given.setdefault(name, set()).add(text[value.start : value.end].startswith("-"))
    factors = _factors(link.fn)
    return any(len(signs) > 1 and name in factors for name, signs in given.items())


def is_sliced_by_turns(body: list[ir.Stmt], here: Place) -> bool:
    """``order = permutation(key, n); fold = order[i::k]``: the slices share no element only if the order stays."""
    statement = statement_at(body, here.node)
    loops = [one for one in all_statements(body) if isinstance(one, ir.For) and one.start <= here.node.start < one.end]
    if not loops or not isinstance(statement, ir.Assign) or statement.value is not here.node:
        return False
    bound = {name.id for target in statement.targets for name in names_bound(target)}
    if len(bound) != 1 or not changed_by(loops[-1]).isdisjoint(names_read(here.node)):
        return False
    counters = {name.id for name in names_bound(loops[-1].target)}
    return any(
        isinstance(node, ir.Subscript)
        and isinstance(node.index, ir.Slice)
        and names_read(node.value) == bound
        and not counters.isdisjoint(names_read(node.index))
        for one in loops[-1].body
        for node in walk(one)
    )


def _arguments(place: Place) -> list[str] | None:
    """The arguments beside the key, as the code spells them; of an array whose shape counts, no name."""
    node: Any = place.node
    if not isinstance(node, ir.Call):
        return None
    given = [a for i, a in enumerate(node.args) if a.keyword != "key" and (a.keyword or i > 0)]
    words = [" ".join(place.scope.text[a.start : a.end].split()) for a in given]
    return [re.sub(r"\b[\w.]+\.(shape|dtype)\b", r"\1", word) for word in words]


def _takes(body: list[ir.Stmt], first: Any, second: Any) -> bool:
    """The second call takes what the first one gives."""
    if second.start <= first.start and first.end <= second.end:
        return True
    statement = statement_at(body, first)
    bound = (
        {name.id for target in statement.targets for name in names_bound(target)}
        if isinstance(statement, ir.Assign)
        else set()
    )
    return not bound.isdisjoint(names_read(second))


def _undoes(one: Role, other: Role, sampler: str) -> bool:
    kinds = {one.kind, other.kind}
    if kinds == {"term"}:
        return one.sign != other.sign
    return kinds == {"factor", "divisor"} or (kinds == {"factor"} and sampler == _SIGNS)


def _mirrors(one: Role, other: Role, sampler: str) -> bool:
    return sampler in _SYMMETRIC and one.sign != other.sign and "divisor" not in (one.kind, other.kind)


def _are_in_one_sum(one: Role, other: Role, first: Place, second: Place) -> bool:
    if first.scope is not second.scope or first.function is not second.function:
        return False
    sums = [role.within if role.within is not None else place.node for role, place in ((one, first), (other, second))]
    return _is_around(sums[0], sums[1]) or _is_around(sums[1], sums[0])


def _is_around(outer: Any, inner: Any) -> bool:
    return bool(outer.start <= inner.start and inner.end <= outer.end)


def _is_predicted(there: tuple[Place, ...], here: tuple[Place, ...]) -> bool:
    first, second = there[0], here[0]
    if first.scope is not second.scope or first.function is not second.function:
        return False
    body = body_around(second)
    bare = [path[0].node for path in (there, here) if _is_given_as_it_is(path)]
    names = {
        name.id
        for one in all_statements(body)
        if isinstance(one, ir.Assign) and any(one.value is node for node in bare)
        for target in one.targets
        for name in names_bound(target)
    }
    pairs = Comparison(second.scope, first.node, second.node).pairs_in(body) if bare else []
    return any(
        any(operand is node for node in bare) or (isinstance(operand, ir.Name) and operand.id in names)
        for operands in pairs
        for operand in operands
    )


def _is_given_as_it_is(path: tuple[Place, ...]) -> bool:
    """A call gives nothing but the numbers that it draws."""
    if len(path) == 1:
        return True
    returned = [one.value for one in all_statements(body_around(path[-1])) if isinstance(one, ir.Return)]
    return len(path) == 2 and len(returned) == 1 and returned[0] is path[-1].node


def _by_parameter(call: ir.Call, link: Link) -> Iterator[tuple[str, ir.Expr]]:
    assert link.fn is not None
    names = [parameter.name for parameter in link.fn.params][int(link.receiver is not None) :]
    for i, argument in enumerate(call.args):
        if argument.star:
            return
        if argument.keyword or i < len(names):
            yield argument.keyword or names[i], argument.value


def _factors(function: ir.Function) -> set[str]:
    """The variables that a function multiplies something by."""
    products = (node for one in function.body for node in walk(one) if isinstance(node, ir.BinOp) and node.op == "*")
    return {name for node in products for side in (node.left, node.right) for name in names_read(side)}


def _role_of(place: Place) -> Role:
    body, node, sign, is_factor = body_around(place), place.node, 1, False
    for _ in range(MAX_RENAMED):
        role, top = _role_in_statement(body, node)
        sign, is_factor = sign * role.sign, is_factor or role.kind == "factor"
        if role.kind in ("term", "divisor"):
            return Role(role.kind, sign, role.within)
        read = _only_read(body, top)
        if read is None:
            break
        node = read
    return Role("factor" if is_factor else "bare", sign)


def _role_in_statement(body: list[ir.Stmt], node: Any) -> tuple[Role, Any]:
    """The role of an expression in its statement, and what holds all of the formula."""
    child, sign, is_factor = node, 1, False
    for parent in reversed(list(nodes_around(body, node.start, node.end))):
        if isinstance(parent, ir.BinOp) and parent is not node:
            is_left = parent.left is child
            if parent.op in ("+", "-"):
                return Role("term", sign if is_left or parent.op == "+" else -sign, parent), parent
            if parent.op == "/" and not is_left:
                return Role("divisor", sign), parent
            if parent.op not in ("*", "/"):
                break
            other = parent.right if is_left else parent.left
            sign, is_factor = -sign if isinstance(other, ir.UnaryOp) and other.op == "-" else sign, True
        elif isinstance(parent, ir.UnaryOp) and parent.op == "-":
            sign = -sign
        elif parent is not node and not isinstance(parent, ir.Attribute):
            if not isinstance(parent, ir.Call) or parent.func is not child:
                return Role("factor" if is_factor else "bare", sign), parent
        child = parent
    return Role("factor" if is_factor else "bare", sign), None


def _only_read(body: list[ir.Stmt], statement: Any) -> Any:
    """Where the code reads what an assignment binds, if one expression does."""
    target = statement.targets[0] if isinstance(statement, ir.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ir.Name):
        return None
    named = [node for one in body for node in walk(one) if isinstance(node, ir.Name) and node.id == target.id]
    read = [node for node in named if node is not target]
    return read[0] if len(read) == 1 and read[0].start >= statement.end else None
