"""Lists that a loop fills until the data end them, and then empties, as the code spells them.

    rewards.append(reward)
    if done:
        state = update(state, jnp.array(rewards))
        rewards = []

Vocabulary
----------
emptied     the loop binds the list to an empty one, or clears it, in an ``if`` that asks the data.
asking      such a test is a variable, an item or a call, or one of several of them, but no comparison and no remainder. A
            variable that the loop computes by a comparison of its own counter ends the list after a fixed number of elements.

Limitations: tests before a ``continue``, lists that other functions fill or empty.
"""

from __future__ import annotations

import re
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import all_statements, bound_paths, names_read

_FIXED = re.compile(r"(?i)full|ready|len|size|count|every|update|train|flush|batch|step|period|interval")
"""In the names of variables and functions that say that a list has enough elements."""


def emptied_lists(loop: ir.For | ir.While, text: str) -> frozenset[str]:
    """The lists that the loop empties when the data say so, by their source."""
    found: set[str] = set()
    fixed = _computed_names(loop)
    for statement in all_statements(loop.body):
        if isinstance(statement, ir.If) and _asks_data(statement.test, fixed):
            found |= {text[e.start : e.end] for e in map(_emptied, all_statements(statement.body)) if e is not None}
    return frozenset(found)


def _emptied(statement: ir.Stmt) -> ir.Expr | None:
    """``rewards`` of ``rewards = []`` and of ``rewards.clear()``."""
    value: Any = statement.value if isinstance(statement, (ir.Assign, ir.ExprStmt)) else None
    if isinstance(statement, ir.Assign) and len(statement.targets) == 1:
        empty = isinstance(value, ir.List) and not value.elts
        return statement.targets[0] if empty else None
    clears = isinstance(value, ir.Call) and isinstance(value.func, ir.Attribute) and value.func.attr == "clear"
    return value.func.value if clears else None


def _computed_names(loop: ir.For | ir.While) -> set[str]:
    """The variables that the loop computes by a comparison or a remainder."""
    assigned = [s for s in all_statements(loop.body) if isinstance(s, (ir.Assign, ir.AnnAssign, ir.AugAssign))]
    return set().union(*[bound_paths(s) for s in assigned if s.value is not None and _counts(s.value)])


def _counts(node: ir.Node) -> bool:
    return any(isinstance(n, ir.Compare) or (isinstance(n, ir.BinOp) and n.op == "%") for n in walk(node))


def _asks_data(test: ir.Expr, fixed: set[str]) -> bool:
    """``done``, ``terminated or truncated``, ``dones[i]``, ``not alive``, ``np.any(done)``."""
    names = names_read(test)
    if _counts(test) or not names or not fixed.isdisjoint(names):
        return False
    words = [*names, *[n.attr for n in walk(test) if isinstance(n, ir.Attribute)]]
    return not any(map(_FIXED.search, words))
