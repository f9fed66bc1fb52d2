"""Results that nothing reads: those of a warm-up, which runs only so that JAX compiles.

Vocabulary
----------
discarded   a statement keeps nothing of what a call computes, or only waits for it; or it draws or initializes what nothing
            reads, or of which code reads the shape alone.
warm-up     the code around says that it is one.

Limitations: functions that change an object which they get as an argument.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._comments import comments_above
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import binder_before, is_target, uses
from flake8_jax.fixers._source import FixSource
from flake8_jax.fixers._spare_keys import SPLIT, is_spare

_WARM_UP = re.compile(
    r"warm[-_ ]?(?:up|ing)|(?:trigger|force|pre|jit)[-_ ]?compil|compil\w+ (?:first|once)", re.IGNORECASE
)
_WAIT = "block_until_ready"
_INITS = frozenset({"init", "init_with_output", "lazy_init", "tabulate"})
"""Methods that compute parameters, and do nothing else."""
_SHAPES_ONLY = frozenset({"jax.eval_shape", "jax.make_jaxpr", "jax.linear_transpose"})


def is_discarded(source: FixSource, use: ir.Expr) -> bool:
    """The statement of a use, or the loop around it, throws away what the use computes."""
    statement = source.statement(use)
    if _only_waits(statement) or _is_drawn_in_vain(source, use, statement):
        return True
    loops = [above for above in source.ancestors(statement) if isinstance(above, (ir.For, ir.While))]
    inner = next((loop for loop in loops if source.functions(loop) == source.functions(statement)), None)
    for around in (statement, inner):
        if around is not None and _says_warm_up(source, around) and _keeps_nothing(source, around):
            return True
    return inner is not None and all(_only_waits(one) or _is_kept_for_wait(source, one, inner) for one in inner.body)


def _only_waits(statement: ir.Stmt) -> bool:
    """``_ = f(key)``, ``f(key).block_until_ready()`` or ``jax.block_until_ready(f(key))``."""
    if isinstance(statement, ir.Assign):
        return all(isinstance(target, ir.Name) and target.id == "_" for target in statement.targets)
    call = statement.value if isinstance(statement, ir.ExprStmt) else None
    return isinstance(call, ir.Call) and isinstance(call.func, ir.Attribute) and call.func.attr == _WAIT


def _is_drawn_in_vain(source: FixSource, use: ir.Expr, statement: ir.Stmt) -> bool:
    """``x = jax.random.normal(key)`` or ``params = model.init(key, y)``, and nothing reads the value, or only its shape.

    ``jax.eval_shape(init, key)`` computes shapes alone, too.
    """
    calls = [above for above in source.between(use, statement) if isinstance(above, ir.Call)]
    imports = Imports(source, use)
    names = [imports.resolve(call.func) or "" for call in calls]
    if any(name in _SHAPES_ONLY for name in names):
        return True
    draws = [name.startswith("jax.random.") and name != SPLIT for name in names]
    inits = [isinstance(call.func, ir.Attribute) and call.func.attr in _INITS for call in calls]
    if not any(draws) and not any(inits):
        return False
    targets = statement.targets if isinstance(statement, ir.Assign) else []
    bound = [part for target in targets for part in _parts(target)]
    if not bound or not all(isinstance(part, ir.Name) for part in bound):
        return False
    return all(
        _is_unread(source, part) or _is_read_for_shape(source, part) for part in bound if isinstance(part, ir.Name)
    )


def _is_unread(source: FixSource, name: ir.Name) -> bool:
    """Nothing reads the value of a variable. One of a script may be there to be looked at, unless a later line binds it."""
    if not is_spare(source, name):
        return False
    later = (n for n in walk(source.module) if isinstance(n, ir.Name) and n.id == name.id and n.start > name.start)
    return bool(source.functions(name)) or any(is_target(source, node) for node in later)


def _parts(target: ir.Expr) -> list[ir.Expr]:
    return [p for e in target.elts for p in _parts(e)] if isinstance(target, (ir.Tuple, ir.List)) else [target]


def _is_read_for_shape(source: FixSource, name: ir.Name) -> bool:
    """The function around prints the shapes of a value, and nothing else reads it."""
    around = source.functions(name)
    if not around:
        return False
    nodes = [node for node in walk(around[0]) if isinstance(node, ir.Name) and node.id == name.id and node is not name]
    statements = [source.statement(node) for node in nodes]
    return bool(nodes) and all(isinstance(s, ir.ExprStmt) and "shape" in source.slice(s) for s in statements)


def _is_kept_for_wait(source: FixSource, statement: ir.Stmt, loop: ir.For | ir.While) -> bool:
    """``y = f(key)`` in a loop, whose ``y`` is read only where the loop waits for it."""
    if not isinstance(statement, ir.Assign) or not all(isinstance(target, ir.Name) for target in statement.targets):
        return False
    waits = [one for one in loop.body if isinstance(one, ir.ExprStmt) and _only_waits(one)]
    return bool(waits) and _reads_only(source, uses(statement).binds, loop, waits)


def _keeps_nothing(source: FixSource, statement: ir.Stmt) -> bool:
    """No name that the statement binds is read after it or in an earlier part, and it calls no method for its effect."""
    body = statement.body if isinstance(statement, (ir.For, ir.While)) else [statement]
    if any(isinstance(one, ir.ExprStmt) and not (_only_waits(one) or _calls_function(one)) for one in body):
        return False
    return _reads_only(source, uses(statement).binds, statement, [statement])


def _calls_function(statement: ir.ExprStmt) -> bool:
    return isinstance(statement.value, ir.Call) and isinstance(statement.value.func, ir.Name)


def _reads_only(source: FixSource, names: frozenset[str], around: ir.Stmt, waits: Sequence[ir.Stmt]) -> bool:
    """Some statements inside of another one are all that reads what it binds to the names, once it has bound them."""
    owner = source.functions(around)
    for node in walk(owner[0] if owner else source.module):
        if not isinstance(node, ir.Name) or node.id not in names or is_target(source, node):
            continue
        binder = binder_before(source, source.statement(node), node.id)
        inside = around.start <= node.start < around.end
        if inside:
            is_own = binder is not None and around.start <= binder.start
            if not is_own or not any(one.start <= node.start < one.end for one in waits):
                return False
        elif node.start >= around.end and (binder is None or binder.start < around.end):
            return False
    return True


def _says_warm_up(source: FixSource, statement: ir.Stmt) -> bool:
    """The first line of the statement, or a comment directly above it, mentions a warm-up."""
    start = source.line_start(statement.start)
    if source.starts_line(statement):
        start = comments_above(source, statement.start, next_to=True)
    return _WARM_UP.search(source.text, start, source.line_end(statement.start)) is not None
