"""Does all that a function reads stay as it is while loops run? Then it does not matter in which iteration it is traced.

Vocabulary
----------
fixed       a value that nothing can change: a number, an array of JAX, a function of a library; or a function that reads
            fixed values alone. A name is fixed if all that it is bound to is.
open        any other value: an object, a list, an array of NumPy, an argument of an unknown caller. Another name may refer to
            it, so any code that is not known may change it.

What the loops may change: see ``_quiet``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flake8_jax.core import ir
from flake8_jax.core.nodes import children, walk
from flake8_jax.fixers._callers import binders, names, scope_of
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import uses
from flake8_jax.fixers._quiet import Listener, arguments_of, binds_name
from flake8_jax.fixers._safety import may_be_tree
from flake8_jax.fixers._source import FixSource
from flake8_jax.fixers._staging import is_bound_elsewhere, is_surely_array

_DEPTH = 6
_FIXED_RESULTS = ("jax.", "optax.", "math.")


def stays_the_same(source: FixSource, moved: ir.Node, loops: Sequence[ir.Node]) -> bool:
    """Nothing that ``moved`` reads, or that functions read which it calls, changes while the loops run."""
    reader = _Reader()
    reader.read(source, moved)
    rebound = frozenset().union(*[uses(loop).binds for loop in loops])
    here = next(iter(source.functions(moved)), None)
    if any(name in rebound and there is source and owner is here for there, owner, name in reader.captured):
        return False
    if not reader.has_open:
        return True
    listener = Listener(frozenset(name for _, _, name in reader.captured))
    return all(listener.is_quiet(source, loop, {id(moved)}) for loop in loops)


# --- what is read --------------------------------------------------------------------------------------


@dataclass
class _Reader:
    """What a function reads, found by following the functions of the project that it names.

    captured: the variables that followed functions read, by file, function around, and name.
    """

    has_open: bool = False
    captured: list[tuple[FixSource, ir.Function | None, str]] = field(default_factory=list)
    _seen: set[int] = field(default_factory=set)

    def read(self, source: FixSource, node: ir.Node) -> None:
        """Follow what an expression or a definition reads from outside."""
        if id(node) in self._seen:
            return
        self._seen.add(id(node))
        for name in sorted(uses(node).reads):
            found = next((n for n in names(source, name) if node.start <= n.start < node.end), None)
            if found is None:
                continue
            owner = _owner(source, found, node)
            self.captured.append((source, owner, name))
            followed = _function_of(source, found, owner)
            if followed is not None:
                self.read(source, followed)
            elif not _is_fixed(source, found, _DEPTH):
                self.has_open = True


def _owner(source: FixSource, name: ir.Name, within: ir.Node) -> ir.Function | None:
    """The function around ``within`` whose variable a name is; None for the module's."""
    inside = {id(n) for n in walk(within)}
    owner = scope_of(source, name)
    return None if owner is not None and id(owner) in inside else owner


def _function_of(source: FixSource, name: ir.Name, owner: ir.Function | None) -> ir.Node | None:
    """The one function of this file that a name stands for."""
    bound = binders(source, owner if owner is not None else source.module, name.id)
    if len(bound) != 1 or (owner is None and name.id in source.module.rebound_names):
        return None
    if isinstance(bound[0], ir.FunctionDef):
        return bound[0]
    if isinstance(bound[0], ir.Assign) and isinstance(bound[0].value, ir.Lambda):
        return bound[0].value
    return None


def _is_fixed(source: FixSource, node: ir.Expr, depth: int) -> bool:
    """The value can be changed by nothing, and neither can what the name stands for, but by the statements that bind it."""
    if isinstance(node, ir.Constant):
        return True
    if isinstance(node, (ir.BinOp, ir.UnaryOp, ir.Tuple, ir.Compare)):
        return depth > 0 and all(_is_fixed(source, part, depth - 1) for part in _parts(node))
    if isinstance(node, ir.Call):
        name = Imports(source, node).resolve(node.func)
        if name is None:
            return isinstance(node.func, ir.Name) and node.func.id in ("int", "float", "len", "round", "str", "bool")
        return name.startswith(_FIXED_RESULTS)
    if not isinstance(node, ir.Name):
        return False
    if is_surely_array(source, node) and not may_be_tree(source, node):
        return True
    return depth > 0 and _is_fixed_name(source, node, depth - 1)


def _parts(node: ir.Expr) -> list[ir.Expr]:
    return [part for part in children(node) if isinstance(part, ir.Node)]  # type: ignore[misc]


def _is_fixed_name(source: FixSource, node: ir.Name, depth: int) -> bool:
    qualified = Imports(source, node).resolve(node)
    if qualified is not None:
        return source.program is not None and source.program.is_library(qualified)
    owner = scope_of(source, node)
    if owner is None and (node.id in source.module.rebound_names or source.program is None):
        return False
    if owner is not None and is_bound_elsewhere(source, owner, node.id):
        return False
    bound = binders(source, owner if owner is not None else source.module, node.id)
    values = [b.value for b in bound if isinstance(b, (ir.Assign, ir.AnnAssign, ir.AugAssign)) and b.value is not None]
    if len(values) < len(bound) or not all(binds_name(b) for b in bound):
        return False
    if not all(_is_fixed(source, value, depth) for value in values):
        return False
    if owner is not None and any(p.name == node.id for p in owner.params):
        return _is_given_fixed(source, owner, node.id, depth)
    return bool(bound) or (owner is None and node.id not in source.module.bound_names)


def _is_given_fixed(source: FixSource, function: ir.Function, name: str, depth: int) -> bool:
    """Every caller of a function is known, and passes a fixed value for a parameter."""
    passed = arguments_of(source, function, name)
    return passed is not None and all(_is_fixed(there, value, depth) for there, value in passed)
