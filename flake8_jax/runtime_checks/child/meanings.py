"""What was meant where a finding stands: the original program with that put in, as a reference that owes nothing to the fix.

Vocabulary
----------
kind   ``put``: ``x[i] = v`` on a JAX array gives ``x`` a new array, made by NumPy. ``update``: the result of ``x.at[…].set(v)``
       becomes ``x``. ``nan``: a comparison with NaN asks whether the value is NaN. ``float``: integers that are differentiated
       by are floats. ``name``: a function or a keyword argument has the name that took the place of its own.

The syntax tree of the original is changed, or JAX itself, never its text. A place that does not look as expected is left as it
is; the program then does what it did.
"""

from __future__ import annotations

import ast
import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

PUT, NAN, NAMED = "__jaxlint_put__", "__jaxlint_nan__", "__jaxlint_named__"


@dataclass(frozen=True)
class Meaning:
    """number: of the finding. row, column: where the expression begins, 1-based, the column in bytes. name: for the kind
    ``name``, the one to use."""

    number: int
    kind: str
    row: int
    column: int
    name: str = ""


class Meant(ast.NodeTransformer):
    """Puts meanings into a module. on_put: called with the number of each."""

    def __init__(self, meanings: list[Meaning], on_put: Callable[[int], None]) -> None:
        self._at: dict[tuple[str, int, int], Meaning] = {(m.kind, m.row, m.column): m for m in meanings}
        self._on_put = on_put

    def _here(self, kind: str, node: Any) -> Meaning | None:
        return self._at.get((kind, node.lineno, node.col_offset + 1))

    def _made(self, kind: str, at: Any, made: ast.AST, node: ast.AST) -> ast.AST:
        self._on_put(self._at[kind, at.lineno, at.col_offset + 1].number)
        return ast.copy_location(made, node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        array = _updated(node.value)
        if self._here("update", node.value) is None or not isinstance(array, (ast.Name, ast.Attribute, ast.Subscript)):
            return node
        return self._made("update", node.value, ast.Assign([_stored(array)], node.value), node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) != 1 or self._here("put", target) is None or not _can_be_put(target):
            return node
        return self._made("put", target, _put(target, node.value, ""), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if self._here("put", node.target) is None or not _can_be_put(node.target):
            return node
        return self._made("put", node.target, _put(node.target, node.value, type(node.op).__name__), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if self._here("nan", node) is None or len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
            return node
        same = ast.Constant(isinstance(node.ops[0], ast.Eq))
        return self._made("nan", node, _call(NAN, node.left, node.comparators[0], same), node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        self.generic_visit(node)
        meaning = self._here("name", node)
        if meaning is not None and node.arg is not None and meaning.name.isidentifier():
            node.arg = meaning.name
            self._on_put(meaning.number)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        meaning = self._here("name", node)
        if meaning is not None and "." in meaning.name and isinstance(node.ctx, ast.Load):
            return self._made("name", node, _call(NAMED, ast.Constant(meaning.name)), node)
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        meaning = self._here("name", node)
        if meaning is None or "." not in meaning.name or not isinstance(node.ctx, ast.Load):
            return node
        return self._made("name", node, _call(NAMED, ast.Constant(meaning.name)), node)


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _stored(node: Any) -> Any:
    """The same expression as a target."""
    copied = ast.parse(ast.unparse(node), mode="eval").body
    copied.ctx = ast.Store()  # type: ignore[attr-defined]
    return copied


def _can_be_put(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript) and isinstance(target.value, (ast.Name, ast.Attribute, ast.Subscript))


def _put(target: Any, value: ast.expr, operator: str) -> ast.Assign:
    made = _call(PUT, target.value, _index(target.slice), value, ast.Constant(operator))
    return ast.Assign([_stored(target.value)], made)


def _index(index: ast.expr) -> ast.expr:
    """The index as an argument: ``1:3`` becomes ``slice(1, 3, None)``."""
    if isinstance(index, ast.Slice):
        return _call("slice", *(part or ast.Constant(None) for part in (index.lower, index.upper, index.step)))
    if isinstance(index, ast.Tuple):
        return ast.Tuple([_index(part) for part in index.elts], ast.Load())
    return index


def _updated(node: ast.AST) -> ast.expr | None:
    """The array behind ``x.at[i].set(v)``, or behind a chain of those."""
    found: ast.expr | None = None
    while (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Subscript)
        and isinstance(node.func.value.value, ast.Attribute)
        and node.func.value.value.attr == "at"
    ):
        found = node = node.func.value.value.value
    return found


# --- at run time -------------------------------------------------------------------------------------------------


def put(array: Any, index: Any, value: Any, operator: str) -> Any:
    """``array`` with ``array[index] = value``, or ``array[index] += value`` where there is an operator."""
    import jax
    import numpy

    if not isinstance(array, jax.Array):
        array[index] = _combined(array[index], value, operator) if operator else value
        return array
    if isinstance(array, jax.core.Tracer) or isinstance(value, jax.core.Tracer):
        return array.at[index].set(_combined(array[index], value, operator) if operator else value)
    changed = numpy.array(array)
    changed[index] = _combined(changed[index], numpy.asarray(value), operator) if operator else numpy.asarray(value)
    return jax.numpy.asarray(changed)


def _combined(one: Any, other: Any, operator: str) -> Any:
    import operator as operators

    names = {"Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "Pow": "pow", "Mod": "mod",
             "FloorDiv": "floordiv", "BitAnd": "and_", "BitOr": "or_", "BitXor": "xor"}  # fmt: skip
    return getattr(operators, names[operator])(one, other)


def is_nan(one: Any, other: Any, same: bool) -> Any:
    """What a comparison of a value with NaN was to say. same: by ``==``."""
    import jax.numpy as jnp

    asked = other if isinstance(one, float) and one != one else one
    found = jnp.isnan(asked)
    return found if same else ~found


def named(name: str) -> Any:
    """What a dotted name stands for, its longest part that is a module imported."""
    parts = name.split(".")
    parts[0] = {"jnp": "jax.numpy", "lax": "jax.lax", "np": "numpy"}.get(parts[0], parts[0])
    parts = ".".join(parts).split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        return functools.reduce(getattr, parts[length:], found)
    raise ImportError(name)


HELPERS: dict[str, Callable[..., Any]] = {PUT: put, NAN: is_nan, NAMED: named}


def install(jax: Any) -> None:
    """From now on, integers that are differentiated by are floats."""
    for name in ("grad", "value_and_grad"):
        setattr(jax, name, _with_floats(getattr(jax, name)))


def _with_floats(real: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(real)
    def making(fun: Any, argnums: Any = 0, *rest: Any, **more: Any) -> Any:
        made = real(fun, argnums, *rest, **more)
        wanted = (argnums,) if isinstance(argnums, int) else tuple(argnums)

        @functools.wraps(made)
        def called(*arguments: Any, **keywords: Any) -> Any:
            given = [float(a) if n in wanted and type(a) is int else a for n, a in enumerate(arguments)]
            return made(*given, **keywords)

        return called

    return making
