"""Shapes of arrays, as far as the code of one file tells: from literals, and through the operations that follow.

Vocabulary
----------
shape       a tuple of dimensions; None for a dimension of unknown size. No shape (None) if nothing is known, not even the rank.
on_device   the array is one of JAX, for which an index that is out of bounds raises nothing.

A variable has a shape if the assignment in view surely ran last: the only one of a function or of the file, or the last one
before the use in the same list of statements. Limitations: attributes, containers, functions that several calls reach.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flake8_jax.core import ir
from flake8_jax.rules._units import Unit, library_name, own_expressions, units_of
from flake8_jax.semantics.domain.code import bound_paths, last_name
from flake8_jax.semantics.domain.scopes import ModuleScope

Dims = tuple["int | None", ...]
_DEPTH = 12
_REDUCING = frozenset(
    {"sum", "mean", "max", "min", "prod", "std", "var", "argmax", "argmin", "logsumexp", "median", "any", "all", "norm"}
)
_MAPPED = frozenset({
    "abs", "absolute", "asarray", "array", "ceil", "clip", "cos", "exp", "expm1", "float32", "floor", "log", "log1p",
    "log_softmax", "negative", "ones_like", "relu", "round", "sigmoid", "sign", "sin", "softmax", "softplus", "sqrt", "square",
    "stop_gradient", "tanh", "zeros_like", "gelu", "elu", "device_put",
})  # fmt: skip
_FILLED = {
    "zeros": 0,
    "ones": 0,
    "empty": 0,
    "full": 0,
    "normal": 1,
    "uniform": 1,
    "randint": 1,
    "bernoulli": 2,
    "truncated_normal": 3,
}
_SAME = frozenset({"astype", "copy", "block_until_ready", "clip", "round", "set", "add"})
_TRANSFORMS = frozenset({"jit", "grad", "value_and_grad"})


@dataclass(frozen=True)
class Shape:
    """What is known of an array. inserted: the code itself has just added an axis of length 1."""

    dims: Dims
    on_device: bool
    inserted: bool = False


class FileShapes:
    """The shapes of the expressions of a file."""

    def __init__(self, scope: ModuleScope) -> None:
        self.scope = scope
        self.units = list(units_of(scope))
        self.top = self.units[0]
        named = [u for u in self.units if u.function is not None and u.owner is None]
        self.by_name = {u.function.name: u for u in named if u.function is not None}
        self.named = {id(u): u for u in named}
        self.bound: dict[int, dict[str, list[ir.Stmt]]] = {}

    def shape(self, unit: Unit, node: ir.Expr, depth: int = _DEPTH) -> Shape | None:
        """The shape of an expression in a function."""
        if depth <= 0:
            return None
        read = _READERS.get(type(node))
        return read(self, unit, node, depth - 1) if read is not None else None

    def number(self, unit: Unit, node: ir.Expr | None, depth: int = _DEPTH) -> int | None:
        """The whole number that an expression surely is."""
        if isinstance(node, ir.Constant) and node.kind == "int" and isinstance(node.value, int):
            return node.value
        if isinstance(node, ir.UnaryOp) and node.op == "-":
            value = self.number(unit, node.operand, depth - 1)
            return -value if value is not None else None
        if isinstance(node, ir.Name) and depth > 0:
            found = self.value_of(unit, node)
            return self.number(found[0], found[1], depth - 1) if found is not None else None
        return None

    def value_of(self, unit: Unit, name: ir.Name) -> tuple[Unit, ir.Expr] | None:
        """What a variable was assigned last, and in which function; the argument of the only call that passes a parameter."""
        if name.id in unit.parameters:
            return self._argument(unit, name.id) if name.id not in self._bindings(unit) else None
        found = self._bindings(unit).get(name.id)
        if found is None and unit.function is not None:
            found, unit = self._bindings(self.top).get(name.id), self.top
            if found is None or len(found) > 1:
                return None
        statement = _last_before(unit, found or [], name)
        if (
            isinstance(statement, ir.Assign)
            and isinstance(statement.targets[0], ir.Name)
            and len(statement.targets) == 1
        ):
            return unit, statement.value
        return None

    def _bindings(self, unit: Unit) -> dict[str, list[ir.Stmt]]:
        found = self.bound.get(id(unit))
        if found is None:
            found = self.bound[id(unit)] = {}
            for statement in unit.statements:
                own = statement
                if isinstance(statement, ir.For):
                    own = ir.Assign(statement.start, statement.start, [statement.target], statement.iter)
                elif isinstance(statement, (ir.While, ir.If, ir.Try)):
                    continue
                for path in bound_paths(own):
                    found.setdefault(path.partition(".")[0], []).append(own)
        return found

    def _argument(self, unit: Unit, name: str) -> tuple[Unit, ir.Expr] | None:
        """What the only call of a function in the file passes for a parameter."""
        function = unit.function
        if function is None or id(unit) not in self.named or not unit.body:
            return None
        start, end = self._reach(unit, function.name)
        position = next(i for i, p in enumerate(function.params) if p.name == name)
        calls = [
            (other, call)
            for other in self.units
            for statement in other.statements
            if start <= statement.start < end or other.function is not None
            for call in own_expressions(statement)
            if isinstance(call, ir.Call) and self._calls(other, call.func, function.name)
        ]
        if len(calls) != 1:
            return None
        other, call = calls[0]
        given = self._positional(other, call)
        words = [a.value for a in call.args if a.keyword == name]
        value = words[0] if words else given[position] if given is not None and position < len(given) else None
        return (other, value) if value is not None else None

    def _reach(self, unit: Unit, name: str) -> tuple[int, int]:
        """From where to where the name stands for this function: a notebook may define it again in a later cell."""
        starts = sorted(
            other.body[0].start
            for other in self.named.values()
            if other.function is not None and other.function.name == name and other.body
        )
        later = [start for start in starts if start > unit.body[0].start]
        return unit.body[0].start, later[0] if later else len(self.scope.text) + 1

    def _positional(self, unit: Unit, call: ir.Call) -> list[ir.Expr] | None:
        """The positional arguments, those of a tuple behind a ``*`` too."""
        found: list[ir.Expr] = []
        for argument in call.args:
            value = argument.value
            if argument.keyword or argument.star == 2:
                continue
            if argument.star and isinstance(value, ir.Name):
                known = self.value_of(unit, value)
                value = known[1] if known is not None else value
            if argument.star and not isinstance(value, ir.Tuple):
                return None
            found += value.elts if argument.star and isinstance(value, ir.Tuple) else [value]
        return found

    def _calls(self, unit: Unit, func: ir.Expr, name: str) -> bool:
        """``f(…)``, ``jax.jit(f)(…)``, and ``g(…)`` after ``g = jax.jit(f)``."""
        if isinstance(func, ir.Call):
            operand = func.args[0].value if func.args else None
            return last_name(func.func) in _TRANSFORMS and isinstance(operand, ir.Name) and operand.id == name
        if not isinstance(func, ir.Name):
            return False
        if func.id == name:
            return True
        made = self._bindings(unit).get(func.id) or self._bindings(self.top).get(func.id) or []
        earlier = [s.value for s in made if isinstance(s, ir.Assign) and s.end <= func.start]
        return bool(earlier) and isinstance(earlier[-1], ir.Call) and self._calls(unit, earlier[-1], name)


def _last_before(unit: Unit, found: list[ir.Stmt], use: ir.Node) -> ir.Stmt | None:
    """The assignment that surely ran last before the use."""
    if len(found) == 1:
        return found[0]
    earlier = [s for s in found if s.end <= use.start]
    if not earlier or (unit.function is not None and unit.loops_around(use)):
        return None
    last = earlier[-1]
    is_top = any(last is s for s in unit.body)
    around = unit.loops_around(use)
    return last if is_top and not any(start <= s.start < end for start, end in around for s in found) else None


# --- expressions --------------------------------------------------------------------------------------------------


def _of_name(shapes: FileShapes, unit: Unit, node: Any, depth: int) -> Shape | None:
    found = shapes.value_of(unit, node)
    if found is None or (isinstance(found[1], ir.List) and _grows(shapes.scope, node.id)):
        return None
    return shapes.shape(found[0], found[1], depth)


def _grows(scope: ModuleScope, name: str) -> bool:
    """The file puts more into the list."""
    return re.search(rf"(?<![\w.]){re.escape(name)}(?:\.(?:append|extend|insert|pop)\(|\s*\+=)", scope.text) is not None


def _of_constant(shapes: FileShapes, unit: Unit, node: Any, depth: int) -> Shape | None:
    return Shape((), on_device=False) if node.kind in ("int", "float", "bool") else None


def _of_literal(shapes: FileShapes, unit: Unit, node: Any, depth: int) -> Shape | None:
    """A list of numbers, or of lists of numbers of one length."""
    if any(isinstance(e, ir.Starred) for e in node.elts):
        return None
    inner = [shapes.shape(unit, e, depth) for e in node.elts]
    known = {shape.dims for shape in inner if shape is not None}
    if len(known) > 1 or (node.elts and (not known or None in inner)):
        return None
    return Shape((len(node.elts), *(known.pop() if known else ())), on_device=False)


def _of_attribute(shapes: FileShapes, unit: Unit, node: Any, depth: int) -> Shape | None:
    shape = shapes.shape(unit, node.value, depth) if node.attr == "T" else None
    return Shape(shape.dims[::-1], shape.on_device) if shape is not None else None


def _of_operation(shapes: FileShapes, unit: Unit, node: Any, depth: int) -> Shape | None:
    left, right = shapes.shape(unit, node.left, depth), shapes.shape(unit, node.right, depth)
    if left is None or right is None:
        return None
    if node.op == "@":
        return _product(left, right)
    dims = broadcast(left.dims, right.dims)
    return Shape(dims, left.on_device or right.on_device) if dims is not None else None


def _product(left: Shape, right: Shape) -> Shape | None:
    if not left.dims or not right.dims or len(right.dims) > 2:
        return None
    return Shape((*left.dims[:-1], *right.dims[1:]), left.on_device or right.on_device)


def broadcast(left: Dims, right: Dims) -> Dims | None:
    """The shape of a result element by element; None if the operands do not fit."""
    rank = max(len(left), len(right))
    found: list[int | None] = []
    for a, b in zip((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right):
        if a is not None and b is not None and a != b and 1 not in (a, b):
            return None
        found.append(b if a == 1 else a if b == 1 or b is None else b)
    return tuple(found)


def _of_sign(shapes: FileShapes, unit: Unit, node: Any, depth: int) -> Shape | None:
    return shapes.shape(unit, node.operand, depth) if node.op in ("-", "+") else None


def _of_subscript(shapes: FileShapes, unit: Unit, node: Any, depth: int) -> Shape | None:
    base = shapes.shape(unit, node.value, depth)
    parts = node.index.elts if isinstance(node.index, ir.Tuple) else [node.index]
    if base is None:
        return None
    taken = sum(not _is_none(p) and not _is_ellipsis(p) for p in parts)
    if taken > len(base.dims) or sum(map(_is_ellipsis, parts)) > 1:
        return None
    dims: list[int | None] = []
    left = list(base.dims)
    for part in parts:
        if _is_none(part):
            dims.append(1)
        elif _is_ellipsis(part):
            rest = len(left) - sum(not _is_none(p) for p in parts[parts.index(part) + 1 :])
            dims += left[:rest]
            del left[:rest]
        elif isinstance(part, ir.Slice):
            whole = part.lower is None and part.upper is None and part.step is None
            first = left.pop(0)
            dims.append(first if whole else None)
        elif shapes.number(unit, part) is not None:
            left.pop(0)
        else:
            return None
    return Shape((*dims, *left), base.on_device, inserted=any(map(_is_none, parts)))


def _is_none(node: ir.Expr) -> bool:
    return (isinstance(node, ir.Constant) and node.kind == "none") or last_name(node) == "newaxis"


def _is_ellipsis(node: ir.Expr) -> bool:
    return isinstance(node, ir.Constant) and node.kind == "ellipsis"


# --- calls ----------------------------------------------------------------------------------------------------------


def _of_call(shapes: FileShapes, unit: Unit, node: Any, depth: int) -> Shape | None:
    library = library_name(node.func, shapes.scope)
    name = last_name(node.func)
    if library:
        return _of_library(shapes, unit, node, library, depth) if library.startswith(("jax.", "numpy.")) else None
    if isinstance(node.func, ir.Attribute):
        return _of_method(shapes, unit, node, node.func, depth)
    return _of_function(shapes, unit, name, depth)


def _of_function(shapes: FileShapes, unit: Unit, name: str, depth: int) -> Shape | None:
    """What a function of the file returns, if it has one ``return``."""
    called = shapes.by_name.get(name)
    returns = [s for s in called.statements if isinstance(s, ir.Return)] if called is not None else []
    if called is None or len(returns) != 1 or returns[0].value is None or called.decorators:
        return None
    return shapes.shape(called, returns[0].value, depth)


def _of_library(shapes: FileShapes, unit: Unit, node: ir.Call, library: str, depth: int) -> Shape | None:
    name, device = library.rpartition(".")[2], library.startswith("jax.")
    given = [a.value for a in node.args if not a.keyword and not a.star]
    words = {a.keyword: a.value for a in node.args if a.keyword}
    if name in _FILLED and ".random" not in library and name not in ("zeros", "ones", "empty", "full"):
        return None
    if name in _FILLED and (device or ".random" not in library):
        dims = _dims_of(shapes, unit, words.get("shape", given[_FILLED[name]] if len(given) > _FILLED[name] else None))
        return Shape(dims, device) if dims is not None else None
    if name in ("rand", "randn"):
        return Shape(tuple(shapes.number(unit, g) for g in given), on_device=False)
    if name in ("arange", "linspace") and given:
        return Shape((_count(shapes, unit, name, given, words),), device)
    first = shapes.shape(unit, given[0], depth) if given else None
    if name in _MAPPED and first is not None:
        return Shape(first.dims, device and (first.on_device or name in ("array", "asarray") or device), first.inserted)
    if name in ("dot", "matmul") and len(given) == 2 and first is not None:
        second = shapes.shape(unit, given[1], depth)
        return _product(first, second) if second is not None else None
    if name == "expand_dims" and first is not None:
        return Shape((*first.dims, 1), device, inserted=True)
    if name == "reshape" and len(given) == 2:
        dims = _dims_of(shapes, unit, given[1])
        return Shape(dims, device) if dims is not None else None
    return _reduced(shapes, unit, first, name, given[1:], words)


def _count(shapes: FileShapes, unit: Unit, name: str, given: list[ir.Expr], words: dict[str, ir.Expr]) -> int | None:
    numbers = [shapes.number(unit, g) for g in given]
    if name == "linspace":
        return shapes.number(unit, words["num"]) if "num" in words else numbers[2] if len(numbers) > 2 else 50
    if None in numbers or len(numbers) > 3 or not numbers[-1]:
        return None
    return len(range(*[n for n in numbers if n is not None]))


def _of_method(shapes: FileShapes, unit: Unit, node: ir.Call, func: ir.Attribute, depth: int) -> Shape | None:
    owner = func.value
    if isinstance(owner, ir.Subscript) and isinstance(owner.value, ir.Attribute) and owner.value.attr == "at":
        return shapes.shape(unit, owner.value.value, depth)
    base = shapes.shape(unit, owner, depth)
    given = [a.value for a in node.args if not a.keyword and not a.star]
    words = {a.keyword: a.value for a in node.args if a.keyword}
    if func.attr == "reshape" and given:
        sizes = given[0] if len(given) == 1 else ir.Tuple(node.start, node.end, given)
        dims = _dims_of(shapes, unit, sizes)
        return Shape(dims, base.on_device if base is not None else True) if dims is not None else None
    if func.attr in ("flatten", "ravel"):
        size = 1
        for dim in base.dims if base is not None else (None,):
            if dim is None:
                return Shape((None,), base.on_device if base is not None else True)
            size *= dim
        return Shape((size,), base.on_device if base is not None else True)
    if base is None:
        return None
    if func.attr in _SAME:
        return base
    if func.attr == "dot" and given:
        other = shapes.shape(unit, given[0], depth)
        return _product(base, other) if other is not None else None
    if func.attr == "squeeze":
        if not given and not words and None not in base.dims:
            return Shape(tuple(d for d in base.dims if d != 1), base.on_device)
        axis = shapes.number(unit, given[0] if given else words.get("axis"))
        return _without(base, axis) if axis is not None else None
    return _reduced(shapes, unit, base, func.attr, given, words)


def _reduced(
    shapes: FileShapes, unit: Unit, base: Shape | None, name: str, given: list[ir.Expr], words: dict[str, ir.Expr]
) -> Shape | None:
    if name not in _REDUCING or base is None:
        return None
    axis = words.get("axis", given[0] if given else None)
    keeps = words.get("keepdims")
    kept = isinstance(keeps, ir.Constant) and keeps.value is True
    if axis is None or _is_none(axis):
        return None if kept else Shape((), base.on_device)
    number = shapes.number(unit, axis)
    if number is None or not -len(base.dims) <= number < len(base.dims):
        return None
    if kept:
        dims = list(base.dims)
        dims[number] = 1
        return Shape(tuple(dims), base.on_device, inserted=True)
    return _without(base, number)


def _without(base: Shape, axis: int) -> Shape | None:
    if not -len(base.dims) <= axis < len(base.dims):
        return None
    dims = list(base.dims)
    del dims[axis]
    return Shape(tuple(dims), base.on_device)


def _dims_of(shapes: FileShapes, unit: Unit, node: ir.Expr | None) -> Dims | None:
    """``(3, n)``, ``5``: the dimensions that a shape names."""
    if isinstance(node, ir.Name):
        found = shapes.value_of(unit, node)
        if found is not None and isinstance(found[1], (ir.Tuple, ir.List)):
            unit, node = found
    if isinstance(node, (ir.Tuple, ir.List)):
        if any(isinstance(e, ir.Starred) for e in node.elts):
            return None
        sizes = [shapes.number(unit, e) for e in node.elts]
        return tuple(s if s is None or s >= 0 else None for s in sizes)
    size = shapes.number(unit, node) if node is not None else None
    return (size if size >= 0 else None,) if size is not None else None


_READERS: dict[type, Callable[[FileShapes, Unit, Any, int], Shape | None]] = {
    ir.Name: _of_name,
    ir.Constant: _of_constant,
    ir.List: _of_literal,
    ir.Tuple: _of_literal,
    ir.Attribute: _of_attribute,
    ir.BinOp: _of_operation,
    ir.UnaryOp: _of_sign,
    ir.Subscript: _of_subscript,
    ir.Call: _of_call,
}
