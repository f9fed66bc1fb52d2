"""What a function does with its parameters on every path: which of them can only be arrays.

A pytree of tracers may be a lone array, a list of them, a dict. Where each path through a staged function does what no
list, tuple or dict supports, its parameter is an array from its first line on.

Vocabulary
----------
demand     a variable on which an expression surely does what only an array supports: ``x - y``, ``jnp.sin(x)``, ``x.shape``,
           ``x[:, 0]``, ``x[1:] += 1.0``, or a call of a function of the project that demands it of its parameter.
after      the demands of the rest of the function; None behind a ``raise``, where any may be said to hold.

Backwards through the statements: a demand holds in front of an ``if`` if both branches make it; a loop may run no iteration, so
only what it does with the elements of its own iterable counts for that one (an empty one is no matter).

Limitations: code in nested functions, in the bodies of ``try`` and of other loops; attributes and items of parameters. A
project with pytree classes that have operators, or attributes like an array's, may pass those instead: these say nothing there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from flake8_jax.core import ir
from flake8_jax.semantics.domain.code import below
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    MAYBE,
    Array,
    External,
    FunctionValue,
    Tree,
    Unknown,
    Value,
)
from flake8_jax.semantics.interpreter.operations import resolve_name
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.recipes import Tangents
from flake8_jax.semantics.trackers.runs import Runs

Demands = frozenset[str]
NOTHING: Demands = frozenset()
MAX_CALLEES = 3

_ON_ARRAYS = ("jax.numpy.", "jax.nn.", "jax.scipy.special.", "jax.lax.")
_OPERANDS = (["x"], ["x", "y"], ["x1", "x2"])
_LISTS_TOO = frozenset({"array", "asarray", "array_equal", "shape", "ndim", "size", "iterable", "isscalar", "result_type",
                        "stop_gradient", "tile", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays"})  # fmt: skip
"""Functions that take lists, or pytrees."""
_STRICT = frozenset({"-", "/", "//", "@", "**"})
_ATTRIBUTES = frozenset({"at", "shape", "ndim", "dtype", "T", "mT", "astype", "reshape", "ravel", "squeeze", "transpose",
                         "swapaxes", "flatten"})  # fmt: skip
_AT_METHODS = frozenset({"set", "add", "multiply", "mul", "divide", "power", "min", "max", "apply", "get"})
_OPERATORS = (
    "__add__",
    "__sub__",
    "__mul__",
    "__truediv__",
    "__matmul__",
    "__neg__",
    "__lt__",
    "__gt__",
    "__jax_array__",
)


class Reading(NamedTuple):
    """How a function is read. operators: they prove an array here. attributes: of arrays that no class of the project has.
    eager: only what JAX arrays alone have counts."""

    m: Machine
    func: FunctionValue
    operators: bool
    attributes: frozenset[str]
    depth: int
    eager: bool


def as_used(m: Machine, func: FunctionValue, bound: dict[str, Value], *, staged: bool) -> dict[str, Value]:
    """The arguments of a run: what is a pytree of tracers and can only be an array is one."""
    if not any(_may_be_array(value, staged=staged) for value in bound.values()):
        return bound
    found = demanded(m, func, eager=not staged)
    if not found:
        return bound
    return {
        name: _array_of(m, v) if name in found and _may_be_array(v, staged=staged) else v for name, v in bound.items()
    }


def _may_be_array(value: Value, *, staged: bool) -> bool:
    if staged:
        return type(value) is Tree and value.level == ABSTRACT and not value.parts
    return type(value) is Unknown and not value.parts and value.parent is None


def _array_of(m: Machine, value: Value) -> Value:
    array = Array(value.level if isinstance(value, Tree) else MAYBE)
    array.origin = value
    marked = m.trackers[Tangents].marked
    if value in marked:
        marked.add(array)
    return array


def demanded(m: Machine, func: FunctionValue, depth: int = MAX_CALLEES, *, eager: bool = False) -> Demands:
    """The parameters that can only be arrays."""
    known = m.trackers[Runs].demands
    key = (id(func.fn), eager)
    if key not in known:
        known[key] = NOTHING
        if not func.fn.is_generator and not func.fn.is_async:
            operators, attributes = _distinguishing(m, eager=eager)
            reading = Reading(m, func, operators and not eager, attributes, depth, eager)
            found = _block(reading, func.fn.body, NOTHING) or NOTHING
            plain = {p.name for p in func.fn.params if p.kind not in ("vararg", "kwarg")}
            own = {func.fn.params[0].name} if func.owner is not None and func.fn.params else set()
            known[key] = found & (plain - own)
    return known[key]


def _distinguishing(m: Machine, *, eager: bool) -> tuple[bool, frozenset[str]]:
    """Whether operators tell arrays from other pytrees of the project, and which attributes do; in eager code, from any other
    objects."""
    others = [
        cls for cls in m.program.classes if eager or cls.traits & {"pytree", "namedtuple"} or cls.has_unknown_base
    ]
    held = {name for cls in others for name in (*cls.namespace, *(f.name for f in cls.fields))}
    return held.isdisjoint(_OPERATORS), _ATTRIBUTES - held


# --- statements ---------------------------------------------------------------------------------------


def _block(r: Reading, body: list[ir.Stmt], after: Demands | None) -> Demands | None:
    for statement in reversed(body):
        after = _statement(r, statement, after)
    return after


def _meet(one: Demands | None, other: Demands | None) -> Demands | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _also(demands: Demands, after: Demands | None) -> Demands | None:
    return None if after is None else demands | after


def _statement(r: Reading, s: ir.Stmt, after: Demands | None) -> Demands | None:
    read = _STATEMENTS.get(type(s))
    if read is not None:
        return read(r, s, after)
    bound = _names_bound(s)
    return after if after is None or not bound else after - bound


def _return(r: Reading, s: ir.Return, after: Demands | None) -> Demands | None:
    return _uses(r, s.value)


def _leave(r: Reading, s: ir.Stmt, after: Demands | None) -> Demands | None:
    return None if isinstance(s, ir.Raise) else NOTHING


def _expression(r: Reading, s: ir.ExprStmt, after: Demands | None) -> Demands | None:
    return _also(_uses(r, s.value), after)


def _assert(r: Reading, s: ir.Assert, after: Demands | None) -> Demands | None:
    return _also(_uses(r, s.test), after)


def _assign(r: Reading, s: ir.Assign | ir.AnnAssign, after: Demands | None) -> Demands | None:
    if s.value is None or after is None:
        return after
    targets = s.targets if isinstance(s, ir.Assign) else [s.target]
    bound = {n for target in targets for n in _names_in(target)}
    rest = after - bound
    if isinstance(s.value, ir.Name) and any(isinstance(t, ir.Name) and t.id in after for t in targets):
        rest |= {s.value.id}
    stored = frozenset[str]().union(*[_uses(r, t) for t in targets if isinstance(t, ir.Subscript)])
    return rest | _uses(r, s.value) | stored


def _augmented(r: Reading, s: ir.AugAssign, after: Demands | None) -> Demands | None:
    if after is None:
        return None
    op, target = s.op.rstrip("="), s.target
    found = _uses(r, s.value) | _operands(r, target, op, s.value)
    if isinstance(target, ir.Name):
        return (after - {target.id}) | found
    found |= _uses(r, target)
    if isinstance(target, ir.Subscript) and isinstance(target.value, ir.Name) and isinstance(target.index, ir.Slice):
        if not r.eager and (op in _STRICT or _is_number(s.value)):
            found |= {target.value.id}
    return after | found


def _if(r: Reading, s: ir.If, after: Demands | None) -> Demands | None:
    body, orelse = _block(r, s.body, after), _block(r, s.orelse, after)
    name, is_none = _none_test(s.test)
    if name:  # a pytree of tracers is not None
        certain, other = (orelse, body) if is_none else (body, orelse)
        if certain is not None and name in certain:
            other = other if other is None else other | {name}
        return _meet(certain, other)
    return _also(_uses(r, s.test), _meet(body, orelse))


def _none_test(test: ir.Expr) -> tuple[str, bool]:
    """The variable that ``x is None`` or ``x is not None`` asks about, and whether for None."""
    if isinstance(test, ir.Compare) and isinstance(test.left, ir.Name) and test.ops in (["is"], ["is not"]):
        other = test.comparators[0]
        if isinstance(other, ir.Constant) and other.kind == "none":
            return test.left.id, test.ops == ["is"]
    return "", False


def _for(r: Reading, s: ir.For, after: Demands | None) -> Demands | None:
    found = _uses(r, s.iter)
    if isinstance(s.iter, ir.Name) and s.iter.id not in _names_bound(s):
        found |= (_block(r, s.body, NOTHING) or NOTHING) & {s.iter.id}
    return _also(found, None if after is None else after - _names_bound(s))


def _while(r: Reading, s: ir.While, after: Demands | None) -> Demands | None:
    return _also(_uses(r, s.test), None if after is None else after - _names_bound(s))


def _with(r: Reading, s: ir.With, after: Demands | None) -> Demands | None:
    found = frozenset[str]().union(*[_uses(r, item.context) for item in s.items])
    bound = {n for item in s.items if item.target is not None for n in _names_in(item.target)}
    inner = _block(r, s.body, after)
    return _also(found, None if inner is None else inner - bound)


_STATEMENTS: dict[type, Callable[[Reading, Any, Demands | None], Demands | None]] = {
    ir.Return: _return, ir.Raise: _leave, ir.Break: _leave, ir.Continue: _leave, ir.ExprStmt: _expression,
    ir.Assert: _assert, ir.Assign: _assign, ir.AnnAssign: _assign, ir.AugAssign: _augmented, ir.If: _if, ir.For: _for,
    ir.While: _while, ir.With: _with,
}  # fmt: skip


def _names_in(target: Any) -> set[str]:
    if isinstance(target, ir.Name):
        return {target.id}
    if isinstance(target, (ir.Tuple, ir.List)):
        return {n for element in target.elts for n in _names_in(element)}
    return _names_in(target.value) if isinstance(target, ir.Starred) else set()


def _names_bound(statement: Any) -> set[str]:
    """The variables that a statement may bind, at any depth."""
    found: set[str] = set()
    todo: list[Any] = [statement]
    while todo:
        n = todo.pop()
        if isinstance(n, ir.Assign):
            found.update(name for target in n.targets for name in _names_in(target))
        elif isinstance(n, (ir.AnnAssign, ir.AugAssign, ir.NamedExpr, ir.For)):
            found |= _names_in(n.target)
        elif isinstance(n, ir.Delete):
            found.update(name for target in n.targets for name in _names_in(target))
        elif isinstance(n, ir.WithItem) and n.target is not None:
            found |= _names_in(n.target)
        elif isinstance(n, (ir.FunctionDef, ir.ClassDef, ir.Lambda)):
            found |= {n.function.name if isinstance(n, ir.FunctionDef) else getattr(n, "name", "")}
            continue
        elif isinstance(n, ir.MatchAs) and n.name:
            found.add(n.name)
        todo += below(n)
    return found


# --- expressions --------------------------------------------------------------------------------------


def _uses(r: Reading, node: Any) -> Demands:
    """The demands of evaluating an expression."""
    if node is None or isinstance(node, (ir.Name, ir.Constant, ir.Lambda)):
        return NOTHING
    read = _EXPRESSIONS.get(type(node))
    return read(r, node) if read is not None else NOTHING


def _all(r: Reading, nodes: Iterable[Any]) -> Demands:
    return frozenset[str]().union(*[_uses(r, node) for node in nodes])


def _binary(r: Reading, node: ir.BinOp) -> Demands:
    return _uses(r, node.left) | _uses(r, node.right) | _operands(r, node.left, node.op, node.right)


def _operands(r: Reading, left: ir.Expr, op: str, right: ir.Expr) -> Demands:
    """Which of two operands can only be arrays: lists add, and repeat by an integer."""
    if not r.operators:
        return NOTHING
    strict = op in _STRICT
    found = set()
    for one, other in ((left, right), (right, left)):
        number = _is_number(other) if op == "+" else op == "*" and _is_number(other, whole=False)
        if isinstance(one, ir.Name) and (strict or number):
            found.add(one.id)
    return frozenset(found)


def _is_number(node: ir.Expr, *, whole: bool = True) -> bool:
    """A literal number, or what divides or subtracts: no list comes out of it."""
    if isinstance(node, ir.UnaryOp) and node.op in ("-", "+"):
        return _is_number(node.operand, whole=whole)
    if isinstance(node, ir.BinOp):
        return node.op in ("/", "**") or (whole and node.op in _STRICT)
    return isinstance(node, ir.Constant) and node.kind in (("int", "float") if whole else ("float",))


def _unary(r: Reading, node: ir.UnaryOp) -> Demands:
    own = {node.operand.id} if isinstance(node.operand, ir.Name) and node.op == "-" and r.operators else set()
    return _uses(r, node.operand) | own


def _compare(r: Reading, node: ir.Compare) -> Demands:
    found = _uses(r, node.left) | _uses(r, node.comparators[0])
    if r.operators and node.ops[0] in ("<", "<=", ">", ">="):
        sides = (node.left, node.comparators[0])
        for one, other in (sides, sides[::-1]):
            if isinstance(one, ir.Name) and isinstance(other, ir.Constant) and other.kind in ("int", "float"):
                found |= {one.id}
    return found


def _first_value(r: Reading, node: ir.BoolOp) -> Demands:
    return _uses(r, node.values[0])


def _choice(r: Reading, node: ir.IfExp) -> Demands:
    return _uses(r, node.test) | (_uses(r, node.body) & _uses(r, node.orelse))


def _attribute(r: Reading, node: ir.Attribute) -> Demands:
    if isinstance(node.value, ir.Name):
        counts = node.attr in r.attributes and not r.eager
        return frozenset({node.value.id}) if counts else NOTHING
    return _uses(r, node.value)


def _subscript(r: Reading, node: ir.Subscript) -> Demands:
    found = _uses(r, node.value) | _uses(r, node.index)
    if isinstance(node.value, ir.Name) and isinstance(node.index, ir.Tuple) and r.operators:
        if any(
            isinstance(e, ir.Slice) or (isinstance(e, ir.Constant) and e.kind == "ellipsis") for e in node.index.elts
        ):
            found |= {node.value.id}
    return found


def _call(r: Reading, node: ir.Call) -> Demands:
    found = _uses(r, node.func) | _all(r, [argument.value for argument in node.args])
    updated = _updated(node.func)
    if updated and "at" in r.attributes:
        found |= {updated}
    return found | _passed(r, node)


def _passed(r: Reading, node: ir.Call) -> Demands:
    """The variables that a call passes where the callee takes arrays only."""
    root = _root(node.func)
    is_plain = any(isinstance(a.value, ir.Name) for a in node.args) and not any(a.star for a in node.args)
    if not is_plain or r.eager or not root or root in r.func.fn.local_names:
        return NOTHING
    names, wanted = _taken(r, resolve_name(r.m, r.func.scope, r.func.closure, node.func))
    written = [(a.keyword or (names[i] if i < len(names) else ""), a.value) for i, a in enumerate(node.args)]
    return frozenset(value.id for name, value in written if name in wanted and isinstance(value, ir.Name))


def _updated(func: ir.Expr) -> str:
    """``x`` of ``x.at[i].set``."""
    item = func.value if isinstance(func, ir.Attribute) and func.attr in _AT_METHODS else None
    at = item.value if isinstance(item, ir.Subscript) else None
    owner = at.value if isinstance(at, ir.Attribute) and at.attr == "at" else None
    return owner.id if isinstance(owner, ir.Name) else ""


def _root(node: ir.Expr) -> str:
    while isinstance(node, ir.Attribute):
        node = node.value
    return node.id if isinstance(node, ir.Name) else ""


def _taken(r: Reading, callee: Value | None) -> tuple[list[str], Demands]:
    """The parameters of a function, and those of them that take arrays only."""
    if isinstance(callee, FunctionValue) and r.depth and not callee.altered and callee.owner is None:
        params = callee.fn.params
        names = [p.name for p in params if p.kind in ("posonly", "positional")]
        return names, demanded(r.m, callee, r.depth - 1)
    if not isinstance(callee, External) or not callee.name.startswith(_ON_ARRAYS):
        return [], NOTHING
    fact, short = r.m.program.knowledge.function(callee.name), callee.name.rpartition(".")[2]
    if fact is None or short in _LISTS_TOO or fact.returns not in ("array", "float", "like(x)", "bool"):
        return [], NOTHING
    operands = [p.partition(":")[0] for p in fact.params]
    if operands in _OPERANDS:
        return operands, frozenset(operands)
    return operands, frozenset(operands[:1]) if fact.rank and operands[:1] in (["x"], ["a"]) else NOTHING


def _comprehension(r: Reading, node: ir.Comprehension) -> Demands:
    first = node.generators[0]
    found = _uses(r, first.iter)
    if isinstance(first.iter, ir.Name) and len(node.generators) == 1 and not first.ifs:
        own = _all(r, [node.key, node.element]) & {first.iter.id}
        found |= own - _names_in(first.target)
    return found


def _parts(r: Reading, node: Any) -> Demands:
    return _all(r, below(node))


def _list(r: Reading, nodes: list[Any]) -> Demands:
    return _all(r, nodes)


_EXPRESSIONS: dict[type, Callable[[Reading, Any], Demands]] = {
    ir.BinOp: _binary, ir.UnaryOp: _unary, ir.Compare: _compare, ir.BoolOp: _first_value, ir.IfExp: _choice,
    ir.Attribute: _attribute, ir.Subscript: _subscript, ir.Call: _call, ir.Comprehension: _comprehension,
    ir.Tuple: _parts, ir.List: _parts, ir.Set: _parts, ir.Dict: _parts, ir.Starred: _parts, ir.NamedExpr: _parts,
    ir.Slice: _parts, ir.JoinedStr: _parts, ir.FormattedValue: _parts, list: _list,
}  # fmt: skip
