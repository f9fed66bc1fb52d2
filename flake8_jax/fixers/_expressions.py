"""What can be said of an expression before moving it: its effects, its kind, its spelling as an array condition.

Vocabulary
----------
pure        evaluating it changes nothing and costs what it says: names, arithmetic, jax.numpy and the like.
opaque      it calls code that is not known; traced under JAX that should be harmless, yet it is only moved into a
            place where it runs on the same branch as before (a ``lax.cond`` lambda).
effect      it surely changes something (``append``, ``print``, ``:=``); it is never moved.
array       arithmetic shows that the value is an array or a number. tree: a tuple, list or dict. unfit: no JAX
            value at all (a string, None, a function).

Kinds are judged from the text alone and only choose between two fixes; both are unsafe.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterable
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import children, walk
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource, Refused
from flake8_jax.fixers._static import split


class Effect(enum.IntEnum):
    PURE = 0
    OPAQUE = 1
    EFFECT = 2


class Kind(enum.Enum):
    ARRAY = "array"
    UNKNOWN = "unknown"
    TREE = "tree"
    UNFIT = "unfit"


_PURE_ROOTS = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.random.", "jax.scipy.", "numpy.", "math.", "jax.tree.")
_PURE_BUILTINS = frozenset(
    [
        "abs",
        "bool",
        "complex",
        "dict",
        "divmod",
        "enumerate",
        "float",
        "int",
        "isinstance",
        "len",
        "list",
        "max",
        "min",
        "pow",
        "range",
        "reversed",
        "round",
        "sum",
        "tuple",
        "type",
        "zip",
    ]
)
_EFFECT_BUILTINS = frozenset(["print", "input", "open", "exec", "eval", "setattr", "delattr", "next"])
_EFFECT_METHODS = frozenset(
    [
        "append",
        "extend",
        "insert",
        "remove",
        "pop",
        "popitem",
        "clear",
        "update",
        "setdefault",
        "add",
        "discard",
        "write",
        "writelines",
        "send",
        "put",
        "close",
        "sort",
        "reverse",
    ]
)
ARRAY_METHODS = frozenset(
    [
        "all",
        "any",
        "argmax",
        "argmin",
        "argsort",
        "astype",
        "ceil",
        "clip",
        "conj",
        "conjugate",
        "copy",
        "cumprod",
        "cumsum",
        "diagonal",
        "dot",
        "flatten",
        "floor",
        "max",
        "mean",
        "min",
        "prod",
        "ptp",
        "ravel",
        "repeat",
        "reshape",
        "round",
        "sort",
        "squeeze",
        "std",
        "sum",
        "swapaxes",
        "take",
        "trace",
        "transpose",
        "var",
        "get",
    ]
)
_UPDATES = frozenset(
    ["set", "add", "subtract", "multiply", "mul", "divide", "div", "power", "min", "max", "apply", "get"]
)
_WRITTEN_OUT = (ir.List, ir.Tuple, ir.Dict, ir.Set, ir.JoinedStr, ir.Comprehension)


def is_update(node: ir.Call) -> bool:
    """``x.at[i].set(v)`` and its relatives."""
    func = node.func
    return (
        isinstance(func, ir.Attribute)
        and func.attr in _UPDATES
        and isinstance(func.value, ir.Subscript)
        and isinstance(func.value.value, ir.Attribute)
        and func.value.value.attr == "at"
    )


def _call_effect(node: ir.Call, imports: Imports) -> Effect:
    if is_update(node):
        return Effect.PURE
    name = imports.resolve(node.func)
    if name is not None:
        return Effect.PURE if name.startswith(_PURE_ROOTS) and not name.startswith("numpy.random.") else Effect.OPAQUE
    if isinstance(node.func, ir.Name):
        if node.func.id in _EFFECT_BUILTINS:
            return Effect.EFFECT
        return Effect.PURE if node.func.id in _PURE_BUILTINS else Effect.OPAQUE
    if isinstance(node.func, ir.Attribute):
        if node.func.attr in _EFFECT_METHODS:
            return Effect.EFFECT
        return Effect.PURE if node.func.attr in ARRAY_METHODS else Effect.OPAQUE
    return Effect.OPAQUE


def effect(node: ir.Expr, imports: Imports) -> Effect:
    """The worst that evaluating the expression may do. The bodies of lambdas in it do not run."""
    worst = Effect.PURE
    stack: list[object] = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, ir.Lambda):
            continue
        if isinstance(current, (ir.Yield, ir.YieldFrom, ir.Await, ir.NamedExpr)):
            return Effect.EFFECT
        if isinstance(current, ir.Call):
            worst = max(worst, _call_effect(current, imports))
        stack.extend(children(current))  # type: ignore[arg-type]
    return worst


def is_repeatable(node: ir.Expr, imports: Imports) -> bool:
    """Whether it may be evaluated twice: pure, and cheap enough to write twice."""
    return effect(node, imports) is Effect.PURE


def _is_text(node: ir.Expr) -> bool:
    return isinstance(node, ir.Constant) and node.kind in ("str", "bytes")


def array_names(root: ir.Function | ir.Module) -> set[str]:
    """Names that arithmetic or an ordering in the function shows to be numbers or arrays."""
    found: set[str] = set()
    for node in walk(root):
        operands: list[ir.Expr] = []
        if isinstance(node, ir.BinOp):
            # ``+``, ``*`` and ``%`` are for lists and strings as well, but then one is mostly written out.
            if not any(isinstance(side, _WRITTEN_OUT) or _is_text(side) for side in (node.left, node.right)):
                operands = [node.left, node.right]
        elif isinstance(node, ir.UnaryOp) and node.op == "-":
            operands = [node.operand]
        elif isinstance(node, ir.Compare) and any(op in ("<", "<=", ">", ">=") for op in node.ops):
            operands = [node.left, *node.comparators]
        found.update(n.id for n in operands if isinstance(n, ir.Name))
    return found


def kind(node: ir.Expr, imports: Imports, numbers: set[str]) -> Kind:
    """What the value is, as far as the text shows; ``numbers``: names known to be arrays or numbers."""
    known = _KIND.get(type(node))
    if known is not None:
        return known
    compound = _KIND_OF.get(type(node))
    return compound(node, imports, numbers) if compound is not None else Kind.UNKNOWN


def _constant_kind(node: ir.Constant, imports: Imports, numbers: set[str]) -> Kind:
    return Kind.ARRAY if node.kind in ("bool", "int", "float", "complex", "big") else Kind.UNFIT


def _display_kind(node: ir.Tuple | ir.List | ir.Dict, imports: Imports, numbers: set[str]) -> Kind:
    parts = node.values if isinstance(node, ir.Dict) else node.elts
    return Kind.UNFIT if any(kind(p, imports, numbers) is Kind.UNFIT for p in parts) else Kind.TREE


def _comprehension_kind(node: ir.Comprehension, imports: Imports, numbers: set[str]) -> Kind:
    return Kind.UNFIT if node.kind in ("generator", "set") else Kind.TREE


def _name_kind(node: ir.Name, imports: Imports, numbers: set[str]) -> Kind:
    return Kind.ARRAY if node.id in numbers else Kind.UNKNOWN


def _operation_kind(node: ir.BinOp, imports: Imports, numbers: set[str]) -> Kind:
    found: set[Kind] = set()
    operands: list[ir.Expr] = [node.left, node.right]
    while operands:  # a long sum is nested as deeply as it is long
        operand = operands.pop()
        if isinstance(operand, ir.BinOp):
            operands += [operand.left, operand.right]
        else:
            found.add(kind(operand, imports, numbers))
    return next((k for k in (Kind.UNFIT, Kind.TREE) if k in found), Kind.ARRAY)


def _conditional_kind(node: ir.IfExp, imports: Imports, numbers: set[str]) -> Kind:
    sides = kind(node.body, imports, numbers), kind(node.orelse, imports, numbers)
    return Kind.UNFIT if Kind.UNFIT in sides else sides[0] if sides[0] is not Kind.UNKNOWN else sides[1]


def _call_kind(node: ir.Call, imports: Imports, numbers: set[str]) -> Kind:
    name = imports.resolve(node.func)
    if name is not None and name.startswith(("jax.numpy.", "jax.nn.", "jax.scipy.", "jax.random.")):
        if name in ("jax.random.split", "jax.random.key", "jax.random.PRNGKey", "jax.random.fold_in"):
            return Kind.UNKNOWN
        if name.rpartition(".")[2][:1].isupper() or name.startswith("jax.numpy.linalg."):
            return Kind.UNKNOWN
        return Kind.ARRAY
    if is_update(node) or (isinstance(node.func, ir.Attribute) and node.func.attr in ARRAY_METHODS - {"copy", "get"}):
        return Kind.ARRAY
    if isinstance(node.func, ir.Name) and node.func.id in ("abs", "float", "int", "len", "sum", "max", "min"):
        return Kind.ARRAY
    return Kind.UNKNOWN


_KIND = {
    **dict.fromkeys((ir.JoinedStr, ir.Lambda, ir.Set, ir.Starred, ir.Yield, ir.YieldFrom, ir.Await), Kind.UNFIT),
    ir.UnaryOp: Kind.ARRAY,
    ir.Compare: Kind.ARRAY,
}
"""Expressions whose type alone shows what their value is."""
_KIND_OF: dict[type, Callable[[Any, Imports, set[str]], Kind]] = {
    ir.Constant: _constant_kind,
    ir.Tuple: _display_kind,
    ir.List: _display_kind,
    ir.Dict: _display_kind,
    ir.Comprehension: _comprehension_kind,
    ir.Name: _name_kind,
    ir.BinOp: _operation_kind,
    ir.Call: _call_kind,
    ir.IfExp: _conditional_kind,
}


# --- conditions ----------------------------------------------------------------------------------


def is_boolean(node: ir.Expr) -> bool:
    """Whether the text shows that the value is a bool or an array of bools."""
    if isinstance(node, ir.Compare):
        return True
    if isinstance(node, ir.UnaryOp):
        return node.op == "not" or (node.op == "~" and is_boolean(node.operand))
    if isinstance(node, ir.BoolOp):
        return all(is_boolean(v) for v in node.values)
    if isinstance(node, ir.BinOp):
        return node.op in ("&", "|", "^") and is_boolean(node.left) and is_boolean(node.right)
    return isinstance(node, ir.Constant) and node.kind == "bool"


def guards(node: ir.Expr) -> bool:
    """A test on which later operands lean: ``x is not None``, ``isinstance(x, …)``, ``hasattr``."""
    if isinstance(node, ir.UnaryOp) and node.op == "not":
        return guards(node.operand)
    if isinstance(node, ir.Compare):
        return any(op in ("is", "is not") for op in node.ops)
    return (
        isinstance(node, ir.Call)
        and isinstance(node.func, ir.Name)
        and node.func.id in ("isinstance", "hasattr", "callable", "issubclass")
    )


MAX_FOLDED = 64
"""So many operands are put together one after the other. More would nest so deeply that Python cannot read the text (it
refuses 200 brackets in brackets), so they are put together half by half."""


def _conjunction(name: str, operands: list[str]) -> str:
    if len(operands) > MAX_FOLDED:
        middle = len(operands) // 2
        return f"{name}({_conjunction(name, operands[:middle])}, {_conjunction(name, operands[middle:])})"
    text = operands[0]
    for operand in operands[1:]:
        text = f"{name}({text}, {operand})"
    return text


def membership(source: FixSource, left: ir.Expr, elements: Iterable[ir.Expr], *, negated: bool) -> str:
    """``x in (a, b)`` as ``(x == a) | (x == b)``."""
    op, joiner = ("!=", " & ") if negated else ("==", " | ")
    subject = source.atom(left)
    pairs = []
    for element in elements:
        if isinstance(element, ir.Starred):
            raise Refused
        pairs.append(f"({subject} {op} {_operand(source, element)})")
    if not pairs:
        raise Refused
    return joiner.join(pairs)


def _operand(source: FixSource, node: ir.Expr) -> str:
    if isinstance(node, (ir.Constant, ir.UnaryOp, ir.BinOp)) and not source.breaks_outside_brackets(node):
        return source.slice(node)
    return source.atom(node)


def condition(source: FixSource, node: ir.Expr, imports: Imports, traced: ir.Node | None = None) -> str:
    """A test, spelled so that it needs no truth value of an array; fit to be a call argument.

    traced: the part of it that surely is an array.

    Raises:
        Refused: an operand guards the ones after it, or has effects.
    """
    if isinstance(node, ir.BoolOp):
        return logical(source, node, imports, traced)
    if isinstance(node, ir.UnaryOp) and node.op == "not":
        return f"{imports.spell('jax.numpy.logical_not')}({condition(source, node.operand, imports, traced)})"
    if isinstance(node, ir.Compare):
        return comparison(source, node, imports)
    if effect(node, imports) is Effect.EFFECT or isinstance(node, ir.IfExp):
        raise Refused
    return source.argument(node)


def logical(source: FixSource, node: ir.BoolOp, imports: Imports, traced: ir.Node | None = None) -> str:
    """``a and b`` as ``jnp.logical_and(a, b)``; static operands stay with Python, in front of the others."""
    static, rest = split(source, node, traced)
    if not rest:
        static, rest = [], node.values
    if any(guards(v) for v in rest[:-1]) or any(effect(v, imports) is Effect.EFFECT for v in node.values):
        raise Refused
    name = imports.spell("jax.numpy.logical_and" if node.op == "and" else "jax.numpy.logical_or")
    text = _conjunction(name, [condition(source, v, imports, traced) for v in rest])
    return f" {node.op} ".join([*(operand_of_test(source, v) for v in static), text])


def operand_of_test(source: FixSource, node: ir.Expr) -> str:
    """The text of an expression as an operand of ``and`` or ``or``."""
    closed = not isinstance(node, (ir.BoolOp, ir.IfExp, ir.Lambda, ir.NamedExpr))
    return source.argument(node) if closed and not source.breaks_outside_brackets(node) else source.atom(node)


def comparison(source: FixSource, node: ir.Compare, imports: Imports) -> str:
    """A comparison, chains taken apart and membership in a literal spelled out."""
    if any(op in ("in", "not in") for op in node.ops):
        return _containment(source, node, imports)
    if len(node.ops) == 1:
        return source.argument(node)
    if any(op in ("is", "is not") for op in node.ops):
        raise Refused
    if any(not is_repeatable(c, imports) for c in node.comparators[:-1]):
        raise Refused
    terms = [node.left, *node.comparators]
    spans = itertools.pairwise(terms)
    links = [f"{_operand(source, a)} {op} {_operand(source, b)}" for (a, b), op in zip(spans, node.ops, strict=True)]
    return _conjunction(imports.spell("jax.numpy.logical_and"), links)


def _containment(source: FixSource, node: ir.Compare, imports: Imports) -> str:
    """``x in (1, 2)`` and ``1 in x``, or with ``not in``."""
    container, negated = node.comparators[0], node.ops[0] == "not in"
    if len(node.ops) > 1 or not is_repeatable(node.left, imports):
        raise Refused
    if isinstance(container, (ir.Tuple, ir.List, ir.Set)):
        return membership(source, node.left, container.elts, negated=negated)
    if isinstance(node.left, ir.Constant) and node.left.kind in ("int", "float", "bool"):
        name = imports.spell("jax.numpy.all" if negated else "jax.numpy.any")
        op = "!=" if negated else "=="
        return f"{name}({source.atom(container)} {op} {source.slice(node.left)})"
    raise Refused


def test_root(source: FixSource, node: ir.Node) -> ir.Node:
    """The largest test that ``node`` is an operand of: up through ``and``, ``or``, ``not`` and comparisons."""
    root: ir.Node = node
    for above in source.ancestors(node):
        if isinstance(above, (ir.BoolOp, ir.Compare)) or (isinstance(above, ir.UnaryOp) and above.op == "not"):
            root = above
        else:
            return root
    return root
