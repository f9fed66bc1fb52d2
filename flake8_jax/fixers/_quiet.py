"""Code that changes nothing which existed before: does a loop leave the objects alone that a function reads?

Vocabulary
----------
quiet       code that changes nothing which existed before, but for variables and containers of its own: no store into an
            object, no call of code that is not known.
own         a container that one name alone refers to, made in the function at hand: ``losses = []``.

Limitations: operators and properties of objects count as quiet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import children
from flake8_jax.fixers._callers import binders, names, scope_of
from flake8_jax.fixers._expressions import ARRAY_METHODS, is_update
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource, Use
from flake8_jax.fixers._staging import is_surely_array

_DEPTH = 6
_QUIET_LIBRARIES = frozenset({
    "chex", "datetime", "jax", "jaxlib", "logging", "math", "numpy", "optax", "os", "pathlib", "scipy", "time", "tqdm",
})  # fmt: skip
_CALLING_BACK = frozenset({"callback", "pure_callback", "io_callback"})
_WRITING = frozenset({"copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis", "shuffle", "at"})
_QUIET_BUILTINS = frozenset({
    "abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "float", "format", "frozenset", "int",
    "isinstance", "len", "list", "max", "min", "pow", "print", "range", "repr", "reversed", "round", "set", "sorted", "str",
    "sum", "tuple", "type", "zip",
})  # fmt: skip
_QUIET_METHODS = (ARRAY_METHODS - {"sort"}) | {"block_until_ready", "item", "tolist", "items", "keys", "values"}
_FILLING_METHODS = frozenset({"add", "append", "clear", "extend", "insert", "pop", "setdefault", "update"})
_MAKING = frozenset({"list", "dict", "set", "collections.defaultdict", "collections.deque", "collections.OrderedDict"})
_OPERATIONS = (ir.BinOp, ir.UnaryOp, ir.Compare, ir.If, ir.While, ir.Assert, ir.FormattedValue, ir.Return)
_CONTAINERS = (ir.List, ir.Dict, ir.Set, ir.Comprehension)


@dataclass
class Listener:
    """Finds code that may change what existed before. read: names that the moved function reads: none of them is a
    container of the loop's own."""

    read: frozenset[str]
    _seen: set[int] = field(default_factory=set)

    def is_quiet(self, source: FixSource, node: ir.Node, without: Iterable[int] = ()) -> bool:
        """Running the code changes nothing that existed before. without: identities of nodes that are left out."""
        for part in _walk_without(node, set(without)):
            if isinstance(part, (ir.Yield, ir.YieldFrom, ir.Await)):
                return False
            if isinstance(part, ir.Call) and not self._is_quiet_call(source, part):
                return False
            if isinstance(part, (ir.For, ir.Generator)) and not _iterates_quietly(source, part.iter):
                return False
            if not all(self._is_own_store(source, target) for target in _targets(part)):
                return False
            if isinstance(part, ir.AugAssign) and isinstance(part.target, ir.Name):
                if not self._is_own(source, part.target) and not _is_counted(source, part.target):
                    return False
        return True

    def _is_quiet_call(self, source: FixSource, call: ir.Call) -> bool:
        func = call.func
        name = Imports(source, call).resolve(func)
        if name is not None and source.program is not None and not self._is_project(source, name):
            parts = name.split(".")
            writes = not _WRITING.isdisjoint(parts) or any(a.keyword == "out" for a in call.args)
            return parts[0] in _QUIET_LIBRARIES and not writes and _CALLING_BACK.isdisjoint(parts)
        if isinstance(func, ir.Call):
            made = Imports(source, func).resolve(func.func)
            return made is not None and made.startswith("jax.")
        if name is None and isinstance(func, ir.Attribute):
            return self._is_quiet_method(source, call, func)
        if isinstance(func, ir.Name) and func.id in _QUIET_BUILTINS and func.id not in source.module.bound_names:
            return True
        return self._runs_quiet_function(source, call)

    def _is_quiet_method(self, source: FixSource, call: ir.Call, func: ir.Attribute) -> bool:
        if is_update(call) or func.attr in _QUIET_METHODS or isinstance(func.value, (ir.Constant, ir.JoinedStr)):
            return True
        if func.attr in _FILLING_METHODS:
            return isinstance(func.value, ir.Name) and self._is_own(source, func.value)
        return False

    def _is_own_store(self, source: FixSource, target: ir.Expr) -> bool:
        """An item is stored into a container of the function's own."""
        return (
            isinstance(target, ir.Subscript)
            and isinstance(target.value, ir.Name)
            and self._is_own(source, target.value)
        )

    def _is_own(self, source: FixSource, name: ir.Name) -> bool:
        return name.id not in self.read and _is_own(source, name)

    def _is_project(self, source: FixSource, name: str) -> bool:
        root = name.partition(".")[0]
        return source.program is None or (root not in _QUIET_LIBRARIES and not source.program.is_library(name))

    def _runs_quiet_function(self, source: FixSource, call: ir.Call) -> bool:
        """A function of the project that is quiet itself, or one that JAX compiled."""
        if isinstance(call.func, ir.Name) and is_compiled(source, call.func):
            return True
        found = source.program.called(source, call) if source.program is not None else None
        if found is None:
            return False
        there, definition = found
        function = definition.function
        if function.is_generator or function.global_names or function.nonlocal_names:
            return False
        if id(function) in self._seen:
            return True
        self._seen.add(id(function))
        return all(self.is_quiet(there, statement) for statement in function.body)


def _iterates_quietly(source: FixSource, node: ir.Expr, depth: int = _DEPTH) -> bool:
    """What is iterated over is no generator, which would run code of its own in each iteration."""
    answer = _ITERATES.get(type(node))
    return depth > 0 and answer is not None and answer(source, node, depth - 1)


def _call_iterates_quietly(source: FixSource, node: ir.Call, depth: int) -> bool:
    name = Imports(source, node).resolve(node.func)
    if name is not None:
        return name.partition(".")[0] in ("jax", "numpy")
    if isinstance(node.func, ir.Attribute):
        return node.func.attr in ("items", "keys", "values")
    if not isinstance(node.func, ir.Name) or node.func.id not in _QUIET_BUILTINS:
        return False
    return node.func.id in ("range", "len") or all(_iterates_quietly(source, a.value, depth) for a in node.args)


def _name_iterates_quietly(source: FixSource, node: ir.Name, depth: int) -> bool:
    """A name of an array of JAX, or of values none of which is a generator, those that callers pass included."""
    if is_surely_array(source, node):
        return True
    owner = scope_of(source, node)
    bound = binders(source, owner if owner is not None else source.module, node.id)
    values = [(source, b.value) for b in bound if isinstance(b, ir.Assign)]
    if len(values) < len(bound):
        return False
    if owner is not None and any(p.name == node.id for p in owner.params):
        passed = arguments_of(source, owner, node.id)
        if passed is None:
            return False
        values += passed
    return bool(values) and all(_iterates_quietly(there, value, depth) for there, value in values)


def _is_size(node: ir.Expr) -> bool:
    if isinstance(node, ir.Subscript):
        node = node.value
    return isinstance(node, ir.Attribute) and node.attr in ("shape", "size", "ndim")


_ITERATES: dict[type, Callable[[FixSource, Any, int], bool]] = {
    ir.Call: _call_iterates_quietly,
    ir.Name: _name_iterates_quietly,
    ir.Comprehension: lambda source, node, depth: node.kind != "generator",
    ir.Attribute: lambda source, node, depth: _is_size(node),
    ir.Subscript: lambda source, node, depth: _is_size(node),
    **dict.fromkeys((ir.Tuple, ir.List, ir.Dict, ir.Set, ir.Constant, ir.BinOp), lambda source, node, depth: True),
}
"""By the type of what is iterated over: whether that is quiet."""


def _walk_without(node: ir.Node, without: set[int]) -> Iterator[msgspec.Struct]:
    """All nodes below one, but for those that are left out and what is below them."""
    todo: list[msgspec.Struct] = [node]
    while todo:
        current = todo.pop()
        if id(current) not in without:
            yield current
            todo += children(current)


def is_compiled(source: FixSource, name: ir.Name) -> bool:
    """A name is bound to what a transform of JAX made, or to a function that one decorates."""
    owner = scope_of(source, name)
    bound = binders(source, owner if owner is not None else source.module, name.id)
    return bool(bound) and all(_binds_compiled(source, statement) for statement in bound)


def _binds_compiled(source: FixSource, statement: ir.Stmt) -> bool:
    if isinstance(statement, ir.FunctionDef):
        made = [Imports(source, d).resolve(d.func if isinstance(d, ir.Call) else d) for d in statement.decorators]
        return any(name in ("jax.jit", "functools.partial") for name in made)
    value = statement.value if isinstance(statement, ir.Assign) else None
    name = Imports(source, value).resolve(value.func) if isinstance(value, ir.Call) else None
    return name in ("jax.jit", "jax.pmap", "jax.vmap", "jax.grad", "jax.value_and_grad", "jax.jvp", "jax.vjp")


def _targets(node: msgspec.Struct) -> list[ir.Expr]:
    """What a statement stores into, but for plain names."""
    if isinstance(node, (ir.Assign, ir.Delete)):
        targets = list(node.targets)
    elif isinstance(node, (ir.AugAssign, ir.AnnAssign, ir.For, ir.Generator, ir.WithItem)):
        targets = [node.target] if node.target is not None else []
    else:
        return []
    flat: list[ir.Expr] = []
    while targets:
        target = targets.pop()
        if isinstance(target, (ir.Tuple, ir.List)):
            targets += target.elts
        elif isinstance(target, ir.Starred):
            targets.append(target.value)
        elif not isinstance(target, ir.Name):
            flat.append(target)
    return flat


def _is_counted(source: FixSource, name: ir.Name) -> bool:
    """``total += x`` where the total starts as a number, or is an array of JAX: something new is made."""
    if is_surely_array(source, name):
        return True
    owner = scope_of(source, name)
    if owner is not None and any(p.name == name.id for p in owner.params):
        return False
    bound = binders(source, owner if owner is not None else source.module, name.id)
    values = [b.value for b in bound if isinstance(b, ir.Assign) and binds_name(b)]
    others = [b for b in bound if not isinstance(b, ir.Assign) and not isinstance(b, ir.AugAssign)]
    return bool(values) and not others and all(isinstance(value, ir.Constant) for value in values)


def _is_own(source: FixSource, name: ir.Name) -> bool:
    """A name is bound to new containers only, and nothing else refers to them."""
    owner = scope_of(source, name)
    if owner is not None and any(p.name == name.id for p in owner.params):
        return False
    bound = binders(source, owner if owner is not None else source.module, name.id)
    if not bound or not all(isinstance(b, (ir.Assign, ir.AugAssign)) and binds_name(b) for b in bound):
        return False
    if not all(_makes_container(source, b.value) for b in bound if isinstance(b, ir.Assign)):
        return False
    reads = [node for node in names(source, name.id) if scope_of(source, node) is owner]
    return all(_keeps_no_reference(source, node) for node in reads)


def _makes_container(source: FixSource, node: ir.Expr) -> bool:
    if isinstance(node, _CONTAINERS):
        return True
    if not isinstance(node, ir.Call):
        return False
    name = Imports(source, node).resolve(node.func) or (node.func.id if isinstance(node.func, ir.Name) else "")
    return name in _MAKING or name.rpartition(".")[2] in ("zeros", "ones", "empty", "full")


def _keeps_no_reference(source: FixSource, node: ir.Name) -> bool:
    """What a container is read or bound for makes no second name for it."""
    above = source.parent(node)
    if isinstance(above, ir.Argument):
        call = source.parent(above)
        name = Imports(source, call).resolve(call.func) if isinstance(call, ir.Call) else None
        builtin = isinstance(call, ir.Call) and isinstance(call.func, ir.Name) and call.func.id in _QUIET_BUILTINS
        return builtin or (name is not None and name.partition(".")[0] in _QUIET_LIBRARIES)
    if isinstance(above, (ir.Assign, ir.AugAssign, ir.AnnAssign)):
        return above.value is not node
    if isinstance(above, (ir.Attribute, ir.Subscript)):
        return above.value is node
    if isinstance(above, ir.Tuple):
        return isinstance(source.parent(above), ir.Return)
    return isinstance(above, _OPERATIONS) or (isinstance(above, (ir.For, ir.Generator)) and above.iter is node)


def arguments_of(source: FixSource, function: ir.Function, name: str) -> list[tuple[FixSource, ir.Expr]] | None:
    """What the callers of a function pass for a parameter, its default where they pass none; None where one is not known."""
    definition = source.parent(function)
    if not isinstance(definition, ir.FunctionDef) or source.program is None or definition.decorators:
        return None
    uses_of = source.program.uses(source, definition)
    if not uses_of:
        return None
    found: list[tuple[FixSource, ir.Expr]] = []
    for use in uses_of:
        value = _argument(use, function, name)
        if value is None:
            return None
        found.append((use.source, value))
    return found


def _argument(use: Use, function: ir.Function, name: str) -> ir.Expr | None:
    call = use.source.parent(use.node)
    if not isinstance(call, ir.Call) or call.func is not use.node or any(a.star for a in call.args):
        return None
    positional = [p.name for p in function.params if p.kind in ("posonly", "positional")]
    for position, argument in enumerate(call.args):
        if name == (argument.keyword or (positional[position] if position < len(positional) else None)):
            return argument.value
    return next((p.default for p in function.params if p.name == name), None)


def binds_name(statement: ir.Stmt) -> bool:
    targets = statement.targets if isinstance(statement, ir.Assign) else [getattr(statement, "target", None)]
    return all(isinstance(target, ir.Name) for target in targets)
