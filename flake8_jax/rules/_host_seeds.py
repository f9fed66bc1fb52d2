"""Keys beside the random generators of the host: seeds that these draw, and keys that code ignores in favor of these.

Vocabulary
----------
narrow      a seed that a generator of the host draws from so few numbers that keys repeat within a run.
ignored     a parameter that holds a key by its name, and that the function never reads.

Limitations: limits that are no numbers in the source, seeds that another function draws.
"""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import called_name, path_of
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import Const
from flake8_jax.semantics.events.events import Context, LibraryCall

_INCLUSIVE = frozenset({"random_integers"})
_DRAWING = frozenset({"integers", "randint", "random_integers", "randrange"})
_CONVERTING = frozenset({"int", "int32", "int64", "uint32", "abs"})
_WIDE = 1 << 24
"""Of so many seeds, two of some thousand draws are equal in one of two runs."""
_KEY = re.compile(r"(?:.*_)?(?:key|rng|prng)s?|prng_?key|rng_?key")
"""Names of parameters that hold a key."""
_MAX_STEPS = 4


def narrow_range(event: LibraryCall) -> int:
    """How many seeds there are from which a generator of the host draws the one of a key; 0 if they are enough or unknown."""
    node = event.nodes[0] if event.nodes else None
    call = _draw_behind(node, event.context)
    count = _count(call, event.context.scope) if call is not None else 0
    drawn = event.context.iterations
    return 0 if count >= _WIDE or (drawn and drawn * drawn * 10 < count) else count


def _draw_behind(node: ir.Expr | None, context: Context) -> ir.Call | None:
    """The call of the generator in which a seed comes from, through variables and conversions."""
    for _ in range(_MAX_STEPS):
        if isinstance(node, ir.Name):
            node = _assigned(node.id, context)
        elif isinstance(node, ir.Call) and called_name(node.func, context.scope) in _DRAWING:
            return node
        elif isinstance(node, ir.Call) and called_name(node.func, context.scope) in _CONVERTING and node.args:
            node = node.args[0].value
        elif isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) and node.func.attr == "item":
            node = node.func.value
        else:
            return None
    return None


def _assigned(name: str, context: Context) -> ir.Expr | None:
    """What the innermost function assigns to a variable, if it does so once."""
    body = context.inner.body if context.inner is not None else context.scope.tree.body
    found = [
        node.value
        for statement in body
        for node in walk(statement)
        if isinstance(node, ir.Assign) and any(isinstance(t, ir.Name) and t.id == name for t in node.targets)
    ]
    return found[0] if len(found) == 1 else None


def _count(call: ir.Call, scope: ModuleScope) -> int:
    """From how many numbers the call draws; 0 if that is not known. An array of seeds has no such number."""
    name = called_name(call.func, scope)
    is_host = name == "randint" and path_of(call.func).partition(".")[0] in _modules(scope, "random")
    limits = {a.keyword or i: a.value for i, a in enumerate(call.args) if not a.star}
    if not limits.keys() <= {0, 1, "low", "high", "a", "b", "dtype", "endpoint"}:
        return 0
    first = next((limits[key] for key in (0, "low", "a") if key in limits), None)
    second = next((limits[key] for key in (1, "high", "b") if key in limits), None)
    low, high = (_number(first, scope), _number(second, scope)) if second is not None else (0, _number(first, scope))
    if low is None or high is None:
        return 0
    return max(high - low + (is_host or name in _INCLUSIVE), 0)


def _modules(scope: ModuleScope, library: str) -> set[str]:
    """The names under which the module has a module of the standard library."""
    return {name for name, value in scope.slots.items() if getattr(value, "name", "") == library}


def _number(node: ir.Expr | None, scope: ModuleScope) -> int | None:
    if isinstance(node, ir.Constant) and isinstance(node.value, (int, float)):
        return int(node.value)
    if isinstance(node, ir.Name):
        known = scope.slots.get(node.id)
        return known.value if isinstance(known, Const) and type(known.value) is int else None
    if isinstance(node, ir.BinOp):
        left, right = _number(node.left, scope), _number(node.right, scope)
        if left is None or right is None or not 0 <= right <= _MAX_OPERAND:
            return None
        if node.op == "**":
            return left**right if right <= _MAX_POWER and abs(left) <= _MAX_OPERAND else None
        if node.op == "<<":
            return left << right if right <= _MAX_POWER else None
        return {"+": left + right, "-": left - right, "*": left * right}.get(node.op)
    return None


_MAX_OPERAND = 1 << 32
_MAX_POWER = 64


def ignored_key(event: LibraryCall) -> str:
    """The parameter for a key that a function never reads although it draws from the generator of a module; empty if there is
    none, or an earlier call of the function draws as well."""
    fn, call = event.context.inner, event.at
    if fn is None or not event.name.startswith(("numpy.random.", "random.")) or event.name.endswith(_NO_DRAWS):
        return ""
    keys = [p.name for p in fn.params if _KEY.fullmatch(p.name.lower()) and not p.name.startswith("_")]
    if not keys:
        return ""
    nodes = [node for statement in fn.body for node in walk(statement)]
    read = {node.id for node in nodes if isinstance(node, ir.Name)}
    generator = path_of(call.func).rpartition(".")[0]
    calls = [node.func for node in nodes if isinstance(node, ir.Call) and node.start < call.start]
    if any(generator and path_of(func).startswith(f"{generator}.") for func in calls):
        return ""
    return next((name for name in keys if name not in read), "")


_NO_DRAWS = (".seed", ".default_rng", ".get_state", ".set_state", ".getstate", ".setstate", ".RandomState", ".Random")
