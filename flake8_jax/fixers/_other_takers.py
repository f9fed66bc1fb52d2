"""Further calls that get a key beside the two of a finding.

Vocabulary
----------
taker       a call that gets the key as an argument, or in a dict as one. Draws of ``jax.random`` do not count: each has a
            finding of its own, and a fix. Nor do functions of Python itself.

Limitations: keys in attributes and items, takers in functions inside.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from flake8_jax.core import ir
from flake8_jax.fixers._callers import names
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import binder_before, is_target
from flake8_jax.fixers._source import Declined, FixSource

_NO_DRAWS = frozenset(
    f"jax.random.{name}" for name in ("split", "fold_in", "key_data", "clone", "key_impl", "wrap_key_data")
)
_THREE = 3
TAKEN = "no automatic fix, because other calls get `{}`, too; split it once into a key for each of them"


def other_takers(source: FixSource, first: ir.Expr, second: ir.Expr, *, with_draws: bool = False) -> list[ir.Name]:
    """Other calls that take the very key of the two uses, in the order of the text: a fix of the two alone would leave them a
    used key. with_draws: those of ``jax.random``, too, but for splits and ``fold_in``."""
    if not isinstance(first, ir.Name) or not isinstance(second, ir.Name):
        return []
    around = source.functions(second)
    made = binder_before(source, source.statement(first), first.id)
    found = []
    for node in names(source, second.id):
        if node is first or node is second or is_target(source, node) or source.functions(node) != around:
            continue
        if made is not None and _is_bound_between(source, made, node):
            continue
        if (
            not _is_taken(source, node, with_draws=with_draws)
            or binder_before(source, source.statement(node), node.id) is not made
        ):
            continue
        if not (_excludes(source, node, first) and _excludes(source, node, second)):
            found.append(node)
    return sorted(found, key=lambda node: node.start)


def _is_bound_between(source: FixSource, made: ir.Stmt, node: ir.Name) -> bool:
    """Some code between a split and a use binds the name, maybe not in every run."""
    return any(made.end <= one.start < node.start and is_target(source, one) for one in names(source, node.id))


def are_compared(source: FixSource, uses: Sequence[ir.Expr]) -> bool:
    """Three calls or more of one function of the project get a key: ``run(key, slow)``, ``run(key, fast)`` and so on compare
    what they are given on the same draws."""
    calls = [source.parent(source.parent(use)) for use in uses]
    callees = {source.slice(call.func) for call in calls if isinstance(call, ir.Call)}
    if len(uses) < _THREE or len(callees) != 1 or not all(isinstance(call, ir.Call) for call in calls):
        return False
    return all(
        isinstance(call, ir.Call)
        and isinstance(call.func, ir.Name)
        and len(call.args) > 1
        and not (Imports(source, call).resolve(call.func) or "").startswith("jax.")
        for call in calls
    )


def check_alone(source: FixSource, use: ir.Expr) -> None:
    """Nothing but one call takes a key.

    Raises:
        Declined: other calls get it as well.
    """
    if other_takers(source, use, use):
        raise Declined(TAKEN.format(source.slice(use)))


def _is_taken(source: FixSource, node: ir.Name, *, with_draws: bool = False) -> bool:
    above = source.parent(node)
    if isinstance(above, ir.Dict):
        above = source.parent(above)
    call = source.parent(above) if isinstance(above, ir.Argument) else None
    if not isinstance(call, ir.Call):
        return False
    if isinstance(call.func, ir.Name) and call.func.id in dir(builtins):
        return False
    name = Imports(source, call).resolve(call.func) or ""
    if with_draws and name.startswith("jax.random."):
        return name not in _NO_DRAWS
    return not name.startswith("jax.")


def _excludes(source: FixSource, node: ir.Node, other: ir.Node) -> bool:
    """The two stand in different branches of an ``if``."""
    above = {id(one): one for one in source.ancestors(node)}
    for one in source.ancestors(other):
        if isinstance(one, ir.If) and id(one) in above and one.orelse:
            return (node.start < one.orelse[0].start) != (other.start < one.orelse[0].start)
    return False
