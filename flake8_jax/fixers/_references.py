"""Arrays that one name alone refers to: binding that name to another array loses no reference.

Vocabulary
----------
new         NumPy would have made a new array here, and JAX makes one.
view        an expression whose value is the array itself, or may share its memory in NumPy.
kept        a second reference to the array, or to a view of it, stays behind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._callers import binders, names, scope_of
from flake8_jax.fixers._expressions import ARRAY_METHODS, is_update
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import target_names
from flake8_jax.fixers._source import FixSource
from flake8_jax.fixers._staging import (
    JAX_FUNCTIONS,
    STATIC_ATTRIBUTES,
    gives_jax_array,
    is_bound_elsewhere,
    is_surely_array,
    is_surely_traced,
    may_hold_argument,
    staging_of,
)

_VIEW_ATTRIBUTES = frozenset({"T", "mT", "real", "imag", "at"})
_VIEW_METHODS = frozenset({"diagonal", "ravel", "reshape", "squeeze", "swapaxes", "transpose", "get", "view"})
_VIEW_FUNCTIONS = frozenset({
    "array_split", "asarray", "astype", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to",
    "diag", "diagonal", "dsplit", "expand_dims", "flip", "fliplr", "flipud", "hsplit", "imag", "matrix_transpose",
    "moveaxis", "permute_dims", "ravel", "real", "reshape", "rollaxis", "rot90", "split", "squeeze", "swapaxes",
    "transpose", "trim_zeros", "unstack", "vsplit",
})  # fmt: skip
"""NumPy's functions of these names may give a view: what is written into the result shows in the argument."""
_READING_BUILTINS = frozenset({"print", "len", "float", "int", "bool", "str", "repr"})
_OPERATIONS = (ir.BinOp, ir.UnaryOp, ir.Compare, ir.If, ir.While, ir.Assert, ir.ExprStmt, ir.FormattedValue)
"""They compute something new from an array, or test it."""


def is_local_array(source: FixSource, name: ir.Name, statement: ir.Stmt) -> bool:
    """A name is bound to new JAX arrays only, and nothing else refers to them.

    A parameter counts where every run makes a new tracer of it (a caller that is traced itself would pass on its own), and
    something reads it after ``statement``.
    """
    owner = scope_of(source, name)
    if owner is None:
        is_own = not source.functions(name) and not _hands_on(source, name.id)
    else:
        is_own = not owner.is_generator and not is_bound_elsewhere(source, owner, name.id)
    if not is_own:
        return False
    bound = binders(source, owner if owner is not None else source.module, name.id)
    if owner is not None and may_hold_argument(source, name, owner):
        if not _is_new_in_every_run(source, name, owner, statement):
            return False
    elif not bound:
        return False
    if not all(_binds_new_array(source, one) for one in bound):
        return False
    reads = [node for node in names(source, name.id) if scope_of(source, node) is owner and not is_bound(source, node)]
    return all(keeps_no_reference(source, node, owner) for node in reads)


def _is_new_in_every_run(source: FixSource, name: ir.Name, owner: ir.Function, statement: ir.Stmt) -> bool:
    """A transform makes a tracer of a parameter for every run, and something reads it after ``statement``."""
    staging = staging_of(source, owner)
    if staging is None or not staging.at_boundary or not is_surely_traced(source, name):
        return False
    return is_read_after(source, name, statement)


def _hands_on(source: FixSource, name: str) -> bool:
    """Whether other files may take a name of the module, or functions of it rebind it."""
    if source.program is None or name in (source.module.star_exports or ()):
        return True
    declared = any(isinstance(n, ir.Function) and name in n.global_names for n in walk(source.module))
    return declared or source.program.imported_elsewhere(source, name)


def _binds_new_array(source: FixSource, statement: ir.Stmt) -> bool:
    if isinstance(statement, ir.AugAssign):
        return isinstance(statement.target, ir.Name)
    if isinstance(statement, ir.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ir.Name):
        return is_new_array(source, statement.value)
    if isinstance(statement, ir.AnnAssign) and statement.value is not None and isinstance(statement.target, ir.Name):
        return is_new_array(source, statement.value)
    return False


def is_new_array(source: FixSource, node: ir.Expr) -> bool:
    """The value is a JAX array in every run, and NumPy would have made a new one here."""
    if isinstance(node, ir.IfExp):
        return is_new_array(source, node.body) and is_new_array(source, node.orelse)
    if isinstance(node, (ir.BinOp, ir.UnaryOp, ir.Compare)):
        return is_surely_array(source, node)
    if not isinstance(node, ir.Call):
        return False
    qualified = Imports(source, node).resolve(node.func)
    if qualified is None:
        if is_update(node):
            return is_surely_array(source, node)
        func = node.func
        copies = isinstance(func, ir.Attribute) and func.attr in ARRAY_METHODS - _VIEW_METHODS
        return copies and is_surely_array(source, node)
    if not gives_jax_array(qualified) or qualified.startswith("jax.lax."):
        return False
    return qualified.rpartition(".")[2] not in _VIEW_FUNCTIONS and not any(a.keyword == "copy" for a in node.args)


def is_bound(source: FixSource, node: ir.Name) -> bool:
    """Whether a name stands where it is bound, or is what an item of it is assigned to."""
    below: msgspec.Struct = node
    for above in source.ancestors(node):
        if isinstance(above, ir.Subscript) and above.value is below and _is_stored(source, above):
            return True
        if not isinstance(above, (ir.Tuple, ir.List, ir.Starred)):
            return _is_stored(source, below)
        below = above
    return False


def _is_stored(source: FixSource, node: msgspec.Struct) -> bool:
    """Whether an expression is the target of an assignment."""
    above = source.parent(node)
    if isinstance(above, ir.Assign):
        return any(target is node for target in above.targets)
    return isinstance(above, (ir.AugAssign, ir.AnnAssign, ir.For, ir.WithItem, ir.Generator)) and above.target is node


def keeps_no_reference(source: FixSource, node: ir.Expr, owner: ir.Function | None) -> bool:
    """What an array is read for leaves no second reference to it, and no view of it."""
    below, above = node, source.parent(node)
    while _is_view(source, below, above):
        if isinstance(above, ir.Argument):
            above = source.parent(above)
        below, above = above, source.parent(above)  # type: ignore[assignment]
    if isinstance(above, _OPERATIONS) or _returns_to_caller(source, above, owner):
        return True
    keeps_none = _KEEPS_NONE.get(type(above))
    return keeps_none is not None and keeps_none(source, above, below)


def _returns_to_caller(source: FixSource, above: msgspec.Struct, owner: ir.Function | None) -> bool:
    """The function that owns an array returns it, maybe in a display of others."""
    while isinstance(above, (ir.Tuple, ir.List, ir.Dict)):
        above = source.parent(above)
    if not isinstance(above, ir.Return):
        return False
    around = source.functions(above)
    return bool(around) and around[0] is owner


def _attribute_is_no_view(source: FixSource, above: ir.Attribute, below: ir.Expr) -> bool:
    return above.attr in STATIC_ATTRIBUTES or above.attr in ARRAY_METHODS - _VIEW_METHODS or above.attr == "at"


def _call_only_reads(source: FixSource, above: ir.Argument, below: ir.Expr) -> bool:
    call = source.parent(above)
    return isinstance(call, ir.Call) and _only_reads(source, call)


_KEEPS_NONE: dict[type, Callable[[FixSource, Any, ir.Expr], bool]] = {
    ir.IfExp: lambda source, above, below: above.test is below,
    ir.Subscript: lambda source, above, below: above.index is below,
    ir.AugAssign: lambda source, above, below: above.value is below,
    ir.Attribute: _attribute_is_no_view,
    ir.Argument: _call_only_reads,
}
"""By what stands above an array that is read: whether it keeps no reference."""


def _is_view(source: FixSource, node: ir.Expr, above: msgspec.Struct) -> bool:
    """What stands above an array may be the array itself or a view of it."""
    if isinstance(above, ir.Subscript):
        return above.value is node
    if isinstance(above, ir.Attribute):
        return above.attr in _VIEW_ATTRIBUTES - {"at"}
    if isinstance(above, ir.Call):
        return isinstance(node, ir.Attribute) and node.attr in _VIEW_METHODS
    if isinstance(above, ir.Argument):
        call = source.parent(above)
        name = Imports(source, call).resolve(call.func) if isinstance(call, ir.Call) else None
        return name is not None and name.startswith(JAX_FUNCTIONS) and name.rpartition(".")[2] in _VIEW_FUNCTIONS
    return False


def _only_reads(source: FixSource, call: ir.Call) -> bool:
    """A call of a library function that gives something new, or of a builtin that keeps nothing."""
    name = Imports(source, call).resolve(call.func)
    if name is None:
        return isinstance(call.func, ir.Name) and call.func.id in _READING_BUILTINS
    return name in ("jax.debug.print", "numpy.array") or gives_jax_array(name) or name.startswith("jax.lax.")


def is_read_after(source: FixSource, name: ir.Name, statement: ir.Stmt) -> bool:
    """Whether anything may read the variable after a statement: later in the text, in a loop around it that does not bind
    it first, or in a function that captures it."""
    owner = scope_of(source, name)
    loops = _loops_around(source, statement, name.id)
    start = max((end for _, end in loops), default=statement.end)
    for node in names(source, name.id):
        if scope_of(source, node) is not owner or (is_bound(source, node) and not _augments(source, node)):
            continue
        inside = any(first <= node.start < last for first, last in loops)
        outside = statement.start <= node.start < statement.end
        captured = source.functions(node)[:1] != ([owner] if owner is not None else [])
        if captured or (not outside and (node.start >= min(start, statement.end) or inside)):
            return True
    return False


def _loops_around(source: FixSource, statement: ir.Stmt, name: str) -> list[tuple[int, int]]:
    """Where the loops around a statement start and end, up to one that binds the name first."""
    loops: list[tuple[int, int]] = []
    for above in source.ancestors(statement):
        if isinstance(above, (ir.Function, ir.ClassDef)):
            break
        if isinstance(above, ir.For) and name in target_names(above.target):
            break
        if isinstance(above, (ir.For, ir.While)):
            loops.append((above.start, above.end))
    return loops


def _augments(source: FixSource, node: ir.Name) -> bool:
    above = source.parent(node)
    return isinstance(above, ir.AugAssign) and above.target is node
