"""Whether what NumPy makes of an array goes back to JAX: then the array surely was not meant to leave it.

Vocabulary
----------
round trip   ``jnp.stack([np.roll(x, k) for k in ks])``: a copy to the host and one back, or an error where ``x`` is traced.

Limitations: results that other functions pass on, or that attributes hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import nodes_around
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import External
from flake8_jax.semantics.events.events import LibraryCall

_MAKING = frozenset({"array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "copy", "copyto", "save", "savez",
                     "allclose", "array_equal", "testing"})  # fmt: skip
"""Functions that are called for the copy on the host, or for an answer that the host needs."""


def is_round_trip(event: LibraryCall) -> bool:
    """``jax.numpy`` has the function, and its result is an argument of JAX: where it is made, or by the name that it gets."""
    fact, scope = event.fact, event.context.scope
    if fact is None or fact.equivalent is None or event.name.rpartition(".")[2] in _MAKING:
        return False
    around = list(nodes_around(scope.tree.body, event.at.start, event.at.end))
    functions = [i for i, node in enumerate(around) if isinstance(node, ir.FunctionDef)]
    if not functions:
        return False
    inside = around[functions[-1] :]
    if any(isinstance(node, ir.Call) and node is not event.at and _is_of_jax(scope, node) for node in inside):
        return True
    names = {
        target.id
        for node in inside
        if isinstance(node, ir.Assign)
        for target in node.targets
        if isinstance(target, ir.Name)
    }
    return bool(names) and any(
        isinstance(node, ir.Call) and node.start > event.at.end and _takes(node, names) and _is_of_jax(scope, node)
        for node in walk(inside[0])
    )


def _takes(call: ir.Call, names: Iterable[str]) -> bool:
    return any(isinstance(argument.value, ir.Name) and argument.value.id in names for argument in call.args)


def _is_of_jax(scope: ModuleScope, call: ir.Call) -> bool:
    """``jnp.stack(…)``, ``jax.vmap(f)(…)``: but for maps over trees, which run what they are given on the host."""
    called: Any = call.func
    while isinstance(called, ir.Call):
        called = called.func
    last = called.attr if isinstance(called, ir.Attribute) else ""
    while isinstance(called, ir.Attribute):
        called = called.value
    found = scope.slots.get(called.id) if isinstance(called, ir.Name) else None
    if not isinstance(found, External) or not found.name.startswith("jax"):
        return False
    return not last.startswith("tree") and ".tree" not in found.name and last not in ("map", "device_put", "callback")
