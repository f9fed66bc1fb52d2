"""Keys with which nothing is drawn, although code splits them and hands them on: other keys would change nothing.

Limitations: keys in attributes, keys that a call gets which is no plain call of a function of the project.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._callers import names
from flake8_jax.fixers._conditions import is_discarded
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import is_target, target_names
from flake8_jax.fixers._source import FixSource
from flake8_jax.fixers._spare_keys import SPLIT

_DEPTH = 4


def is_in_vain(source: FixSource, use: ir.Expr) -> bool:
    """The code discards what it computes with the key, or every way of the key ends in a split whose keys nothing takes."""
    return is_discarded(source, use) or _is_idle(source, use, _DEPTH)


def _is_idle(source: FixSource, use: ir.Expr, depth: int) -> bool:
    whole: ir.Expr = use
    while isinstance(above := source.parent(whole), ir.Subscript) and above.value is whole:
        whole = above
    argument = source.parent(whole)
    call = source.parent(argument) if isinstance(argument, ir.Argument) else None
    if not depth or not isinstance(call, ir.Call) or not isinstance(argument, ir.Argument):
        return False
    if Imports(source, call).resolve(call.func) == SPLIT:
        return argument is call.args[0] and _are_idle(source, call, depth - 1)
    found = source.program.called(source, call) if source.program is not None else None
    if found is None or any(a.star for a in call.args):
        return False
    there, definition = found
    name = _parameter(call, argument, definition.function)
    if name is None:
        return False
    reads = [n for s in definition.function.body for n in walk(s) if isinstance(n, ir.Name) and n.id == name]
    return all(is_target(there, n) or _is_idle(there, n, depth - 1) for n in reads)


def _are_idle(source: FixSource, split: ir.Call, depth: int) -> bool:
    """Nothing draws with the keys of a split, which is all that its statement binds to names."""
    statement = source.statement(split)
    if not isinstance(statement, ir.Assign) or statement.value is not split:
        return False
    bound = [name for target in statement.targets for name in target_names(target)]
    targets = [part for target in statement.targets for part in walk(target) if isinstance(part, ir.Attribute)]
    around = source.functions(split)
    if targets or not bound or not around:
        return False
    reads = [n for name in bound for n in names(source, name) if around[0] in source.functions(n)]
    return all(is_target(source, n) or source.statement(n) is statement or _is_idle(source, n, depth) for n in reads)


def _parameter(call: ir.Call, argument: ir.Argument, function: ir.Function) -> str | None:
    """The parameter that an argument of a call is for."""
    if argument.keyword:
        return argument.keyword
    position = [a for a in call.args if not a.keyword].index(argument)
    positional = [p.name for p in function.params if p.kind in ("posonly", "positional")]
    return positional[position] if position < len(positional) else None
