"""Keys by the counter of an inner loop: the next iteration of the loop around it makes the same keys again.

    for epoch in range(epochs):
        for i, batch in enumerate(batches):
            subkey = jax.random.fold_in(key, i)      epoch 1 has the keys of epoch 0

Vocabulary
----------
counted     what the key depends on: a counter of the inner loop, and variables that the outer loop does not bind.

Limitations: loops in several functions, counters that the code counts up itself.
"""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.semantics.domain.code import bound_paths, called_name, nodes_around, path_of, paths_read
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.events.events import LibraryCall

_COUNTING = frozenset({"range", "trange", "enumerate", "count"})
_WRAPPING = frozenset({"tqdm", "track", "progress_bar"})
RUNS = re.compile(r"seed|trial|run|rep|fold|exp(?![a-z])|experiment|chain|sample|test|config")
"""Names of counters whose iterations may be meant to be alike: each value stands for an experiment."""
EVALUATING = re.compile(r"eval|test|valid|plot|bench|visual|metric|show|demo|render")


def outer_loop(event: LibraryCall) -> ir.For | ir.While | None:
    """The outermost loop of whose iterations a key does not depend, though it depends on a counter of a loop inside."""
    context = event.context
    depends = _depends(event)
    body = context.inner.body if context.inner is not None else context.scope.tree.body
    if not depends or (context.inner is not None and EVALUATING.search(context.inner.name)):
        return None
    loops = [n for n in nodes_around(body, event.at.start, event.at.end) if isinstance(n, (ir.For, ir.While))]
    counting = next((i for i, loop in reversed(list(enumerate(loops))) if _counts(loop, depends)), 0)
    inner, around = loops[counting] if loops else None, loops[:counting]
    if not isinstance(inner, ir.For) or not all(is_counter(loop, context.scope) for loop in (inner, *around)):
        return None
    own = targets_of(inner)
    for outer in around:
        bound = bound_paths(outer)
        if not ((depends | paths_read(inner.iter)) - own).isdisjoint(bound) or _assigns(inner, own):
            return None
        if any(RUNS.search(name) for name in own | targets_of(outer)):
            return None
    return around[0] if around else None


def _depends(event: LibraryCall) -> set[str]:
    """The variables and attributes that a key is made of; empty if that is not plain."""
    node = event.nodes[0] if event.nodes else None
    name = event.name.rpartition(".")[2]
    if event.fact is None or event.fact.key_effect not in ("make", "derive", "consume", "split"):
        return set()
    if name == "fold_in":
        return _paths(event.nodes[:2]) if len(event.nodes) > 1 else set()
    if event.fact.key_effect == "make":
        return _paths((node,))
    return _paths((node.value, node.index)) if isinstance(node, ir.Subscript) else set()


def _paths(nodes: tuple[ir.Expr | None, ...]) -> set[str]:
    """What simple expressions read; empty if one of them is a call, a key that another expression makes."""
    found: set[str] = set()
    for node in nodes:
        if node is None or isinstance(node, (ir.Call, ir.Subscript)):
            return set()
        found |= paths_read(node)
    return found


def _counts(loop: ir.For | ir.While, depends: set[str]) -> bool:
    return isinstance(loop, ir.For) and not targets_of(loop).isdisjoint(depends)


def targets_of(loop: ir.For | ir.While) -> set[str]:
    """The variable that counts the iterations."""
    target = loop.target if isinstance(loop, ir.For) else None
    if isinstance(target, ir.Tuple) and isinstance(loop, ir.For):
        target = target.elts[0]
    return {path_of(target)} if isinstance(target, ir.Name) else set()


def is_counter(loop: ir.For | ir.While, scope: ModuleScope) -> bool:
    """The loop counts, or goes on until something holds."""
    if isinstance(loop, ir.While):
        return True
    counted = loop.iter
    if isinstance(counted, ir.Call) and called_name(counted.func, scope) in _WRAPPING and counted.args:
        counted = counted.args[0].value
    if not isinstance(counted, ir.Call) or called_name(counted.func, scope) not in _COUNTING:
        return False
    return called_name(counted.func, scope) == "enumerate" or isinstance(loop.target, ir.Name)


def _assigns(loop: ir.For, names: set[str]) -> bool:
    """The body gives the counter another value, such as one of the whole run."""
    return any(not names.isdisjoint(bound_paths(statement)) for statement in loop.body)
