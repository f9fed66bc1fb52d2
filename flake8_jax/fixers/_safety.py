"""Small questions about values and places. Each answers yes only where it is certain; ``_conditions`` says what they are for.

Limitations: see ``_staging`` and ``_callers``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._callers import binders, names, scope_of
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import STATEMENTS, FixSource, Use
from flake8_jax.fixers._staging import is_surely_array, may_hold_argument
from flake8_jax.knowledge import load
from flake8_jax.semantics.events.events import LibraryCall

_NUMBERS = frozenset({"float", "int", "uint", "bool", "complex", "double", "single"})
_OF_NUMBERS = frozenset({"zeros", "ones", "empty", "eye", "identity", "arange"})
_FROZEN = frozenset({"typing.NamedTuple", "flax.struct.dataclass", "flax.struct.PyTreeNode", "equinox.Module"})
_ALWAYS_NUMBERS = frozenset({"linspace", "sqrt", "exp", "log", "sin", "cos"})


# --- names ------------------------------------------------------------------------------------------


def is_called_by_name(event: LibraryCall, source: FixSource) -> bool:
    """A call spells the function that it calls, by an import or as a builtin. A variable, a parameter, an entry of a table or a
    ``partial`` may stand for another function elsewhere, or bind arguments of its own."""
    func = event.at.func
    written = Imports(source, event.at).resolve(func)
    if written is not None:
        return load().canonical(written) == load().canonical(event.name)
    if not isinstance(func, ir.Name) or f"builtins.{func.id}" != event.name or func.id in source.module.bound_names:
        return False
    return scope_of(source, func) is None


# --- NumPy arrays, and containers ------------------------------------------------------------------


def is_surely_host_array(source: FixSource, node: ir.Expr) -> bool:
    """The value is a NumPy array in every run: NumPy made it here, or the one statement that binds the name."""
    if isinstance(node, ir.Name):
        owner = scope_of(source, node)
        place = owner if owner is not None else source.module
        bound = binders(source, place, node.id)
        if len(bound) != 1 or not isinstance(bound[0], ir.Assign) or not isinstance(bound[0].targets[0], ir.Name):
            return False
        if owner is not None and any(p.name == node.id for p in owner.params):
            return False
        node = bound[0].value
    if not isinstance(node, ir.Call):
        return False
    fact = load().function(Imports(source, node).resolve(node.func) or "")
    return fact is not None and fact.returns == "host"


def is_surely_host_array_of_numbers(source: FixSource, node: ir.Expr) -> bool:
    """The value is a NumPy array in every run, and holds neither strings nor objects: it is computed or made of numbers."""
    if not is_surely_host_array(source, node):
        return False
    if isinstance(node, ir.Name):
        owner = scope_of(source, node)
        (statement,) = binders(source, owner if owner is not None else source.module, node.id)
        node = statement.value if isinstance(statement, ir.Assign) and statement.value is not None else node
    return isinstance(node, ir.Call) and _makes_numbers(source, node)


def _makes_numbers(source: FixSource, call: ir.Call) -> bool:
    """A call of NumPy makes an array of numbers, by its ``dtype`` or by what it is given."""
    imports = Imports(source, call)
    dtypes = [a.value for a in call.args if a.keyword == "dtype"]
    if dtypes:
        dtype = imports.resolve(dtypes[0]) or source.slice(dtypes[0])
        return dtype.removeprefix("builtins.").removeprefix("numpy.").rstrip("0123456789_").strip("'\"") in _NUMBERS
    name = (imports.resolve(call.func) or "").rpartition(".")[2]
    if name in _ALWAYS_NUMBERS:
        return True
    if len(call.args) != 1:
        return False
    return _lists_numbers(call.args[0].value) if name in ("array", "asarray") else name in _OF_NUMBERS


def _lists_numbers(node: ir.Expr) -> bool:
    return isinstance(node, (ir.List, ir.Tuple)) and all(
        isinstance(e, ir.Constant) and e.kind in ("int", "float", "bool") for e in node.elts
    )


def may_be_tree(source: FixSource, node: ir.Expr, depth: int = 8) -> bool:
    """The value may be None or a container of arrays: it comes from a parameter, and not every call of the function surely
    gives that an array or a number."""
    while isinstance(node, ir.Subscript):
        node = node.value
    if not isinstance(node, ir.Name):
        return isinstance(node, (ir.Tuple, ir.List, ir.IfExp, ir.NamedExpr))
    owner = scope_of(source, node)
    if depth == 0 or owner is None:
        return True
    if not may_hold_argument(source, node, owner):
        values = [
            given(s, node.id) for s in binders(source, owner, node.id) if isinstance(s, (ir.Assign, ir.AnnAssign))
        ]
        return any(value is not None and may_be_tree(source, value, depth - 1) for value in values)
    definition = source.parent(owner)
    if not isinstance(definition, ir.FunctionDef) or source.program is None:
        return True
    uses = source.program.uses(source, definition)
    return not uses or not all(_gives_array(use, owner, node.id, depth - 1) for use in uses)


def given(statement: ir.Assign | ir.AnnAssign, name: str) -> ir.Expr | None:
    """What an assignment gives a name: of ``a, b = x, y``, the element for it."""
    target = statement.targets[0] if isinstance(statement, ir.Assign) else statement.target
    value = statement.value
    if isinstance(target, ir.Tuple) and isinstance(value, ir.Tuple) and len(target.elts) == len(value.elts):
        pairs = zip(target.elts, value.elts, strict=True)
        return next((v for t, v in pairs if isinstance(t, ir.Name) and t.id == name), value)
    return value


def _gives_array(use: Use, function: ir.Function, name: str, depth: int) -> bool:
    """One use of a function is a call that surely gives a parameter an array or a number."""
    call = use.source.parent(use.node)
    if not isinstance(call, ir.Call) or call.func is not use.node or any(a.star for a in call.args):
        return False
    positional = [p.name for p in function.params if p.kind in ("posonly", "positional")]
    for position, argument in enumerate(call.args):
        if name == (argument.keyword or (positional[position] if position < len(positional) else None)):
            value = argument.value
            if isinstance(value, ir.Constant):
                return value.kind in ("int", "float")
            known = is_surely_array(use.source, value) and not may_be_tree(use.source, value, depth)
            return known or is_surely_host_array(use.source, value)
    return False


# --- objects, and kernels --------------------------------------------------------------------------


def takes_no_attribute(source: FixSource, target: ir.Attribute) -> bool:
    """Assigning to an attribute surely raises: it is one of an array's own, of a frozen class, or a property."""
    if target.attr in ("T", "mT", "real", "imag", "at", "flat"):
        return True
    definition = _class_of(source, target.value)
    if definition is None:
        return False
    imports = Imports(source, definition)
    if any(imports.resolve(base.value) in _FROZEN for base in definition.bases):
        return not _in_constructor(source, target)
    if any(_freezes(imports, decorator) for decorator in definition.decorators):
        return True
    found = [s for s in definition.body if isinstance(s, ir.FunctionDef) and s.function.name == target.attr]
    texts = [source.slice(d) for s in found for d in s.decorators]
    return bool(found) and texts == ["property"]


def may_be_host_attribute(source: FixSource, target: ir.Attribute) -> bool:
    """The file gives an attribute of this name an array of NumPy."""
    return any(is_surely_host_array(source, value) for value in _given_to_attributes(source, target.attr))


def _given_to_attributes(source: FixSource, name: str) -> Iterator[ir.Expr]:
    """What statements assign to ``object.name``, or to the name in the body of a class."""
    for statement in walk(source.module):
        if not isinstance(statement, (ir.Assign, ir.AnnAssign)) or statement.value is None:
            continue
        in_class = isinstance(source.parent(statement), ir.ClassDef)
        for target in statement.targets if isinstance(statement, ir.Assign) else [statement.target]:
            named = isinstance(target, ir.Attribute) and target.attr == name
            if named or (in_class and isinstance(target, ir.Name) and target.id == name):
                yield statement.value


def _freezes(imports: Imports, decorator: ir.Expr) -> bool:
    """A decorator makes a class whose instances refuse assignments."""
    if not isinstance(decorator, ir.Call):
        return imports.resolve(decorator) in _FROZEN
    return imports.resolve(decorator.func) in _FROZEN or any(
        option.keyword == "frozen" and isinstance(option.value, ir.Constant) and option.value.value is True
        for option in decorator.args
    )


def _in_constructor(source: FixSource, node: ir.Node) -> bool:
    around = source.functions(node)
    return bool(around) and around[0].name in ("__init__", "__post_init__", "setup")


def _class_of(source: FixSource, node: ir.Expr) -> ir.ClassDef | None:
    """The class of this file that the value of a name surely is an instance of."""
    if not isinstance(node, ir.Name):
        return None
    owner = scope_of(source, node)
    place = owner if owner is not None else source.module
    bound = binders(source, place, node.id)
    parameter = next((p for p in owner.params if p.name == node.id), None) if owner is not None else None
    if parameter is not None and not bound and owner is not None:
        above = source.parent(source.parent(owner)) if isinstance(source.parent(owner), ir.FunctionDef) else None
        if isinstance(above, ir.ClassDef) and parameter is owner.params[0]:
            return above
        return _named_class(source, parameter.annotation)
    if len(bound) == 1 and isinstance(bound[0], ir.Assign) and isinstance(bound[0].targets[0], ir.Name):
        value = bound[0].value
        return _named_class(source, value.func) if isinstance(value, ir.Call) else None
    return None


def _named_class(source: FixSource, node: ir.Expr | None) -> ir.ClassDef | None:
    name = node.id if isinstance(node, ir.Name) else node.value if isinstance(node, ir.Constant) else None
    found = [s for s in source.module.body if isinstance(s, ir.ClassDef) and s.name == name]
    return found[0] if len(found) == 1 and len(binders(source, source.module, found[0].name)) == 1 else None


def is_kernel(source: FixSource, node: ir.Node) -> bool:
    """A function around a node is passed to Pallas: its arguments are references, whose items are assigned to."""
    for function in source.functions(node):
        definition = source.parent(function)
        uses = [Use(source, name) for name in names(source, function.name)]
        if isinstance(definition, ir.FunctionDef) and source.program is not None:
            uses += source.program.uses(source, definition) or []
        elif isinstance(definition, ir.Lambda):
            uses.append(Use(source, definition))
        if any(_is_for_pallas(use) for use in uses):
            return True
    return False


def _is_for_pallas(use: Use) -> bool:
    """Whether an expression is in an argument of ``pallas_call`` or similar functions."""
    for above in use.source.ancestors(use.node):
        if isinstance(above, STATEMENTS):
            return False
        if isinstance(above, ir.Call):
            fact = load().transform(Imports(use.source, above).resolve(above.func) or "")
            if fact is not None and fact.model.startswith("pallas"):
                return True
    return False


# --- indices ---------------------------------------------------------------------------------------


def selects_each_item_once(source: FixSource, index: ir.Expr) -> bool:
    """No item is selected twice by an index: it has integers, slices, ``None`` and ``...`` only."""
    parts = index.elts if isinstance(index, ir.Tuple) else [index]
    return all(isinstance(part, ir.Slice) or _is_number(source, part) for part in parts)


def _is_number(source: FixSource, node: ir.Expr, depth: int = 8) -> bool:
    """A Python integer, None or ``...`` for certain."""
    answer = _NUMBER_IF.get(type(node))
    return depth > 0 and answer is not None and answer(source, node, depth - 1)


def _is_item_of_shape(source: FixSource, node: ir.Subscript, depth: int) -> bool:
    return isinstance(node.value, ir.Attribute) and node.value.attr == "shape" and not isinstance(node.index, ir.Slice)


def _is_call_of_integer(source: FixSource, node: ir.Call, depth: int) -> bool:
    return isinstance(node.func, ir.Name) and node.func.id in ("len", "int") and node.func.id not in _taken(source)


def _is_numeric_variable(source: FixSource, node: ir.Name, depth: int) -> bool:
    owner = scope_of(source, node)
    if owner is None or any(p.name == node.id for p in owner.params):
        return False
    bound = binders(source, owner, node.id)
    return bool(bound) and all(_binds_number(source, statement, node.id, depth) for statement in bound)


_NUMBER_IF: dict[type, Callable[[FixSource, Any, int], bool]] = {
    ir.Constant: lambda source, node, depth: node.kind in ("int", "none", "ellipsis"),
    ir.UnaryOp: lambda source, node, depth: node.op == "-" and _is_number(source, node.operand, depth),
    ir.BinOp: lambda source, node, depth: (
        _is_number(source, node.left, depth) and _is_number(source, node.right, depth)
    ),
    ir.Subscript: _is_item_of_shape,
    ir.Attribute: lambda source, node, depth: node.attr in ("ndim", "size"),
    ir.Call: _is_call_of_integer,
    ir.Name: _is_numeric_variable,
}
"""By type of an expression, whether it is a number for certain; the last argument bounds the depth."""


def _taken(source: FixSource) -> set[str]:
    return set(source.module.bound_names)


def _binds_number(source: FixSource, statement: ir.Stmt, name: str, depth: int) -> bool:
    if (
        isinstance(statement, ir.For)
        and isinstance(statement.iter, ir.Call)
        and isinstance(statement.iter.func, ir.Name)
    ):
        called, target = statement.iter.func.id, statement.target
        if called in _taken(source):
            return False
        if called == "enumerate":
            return isinstance(target, ir.Tuple) and isinstance(target.elts[0], ir.Name) and target.elts[0].id == name
        return called == "range" and isinstance(target, ir.Name)
    if isinstance(statement, ir.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ir.Name):
        value = statement.value
        return not isinstance(value, ir.Name) and _is_number(source, value, depth)
    return False
