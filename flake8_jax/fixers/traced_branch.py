"""JAX101: a truth test becomes a selection, a logical operator becomes its jnp equivalent.

The largest construct around the test that can be converted whole is converted: an ``if`` statement or a conditional
expression with every ``and``, ``or``, ``not`` and chain in its test. Limitations: ``assert``, ``match``, filters; code
beside a branch that asks whether JAX traces.
"""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import CHOOSES, LOGIC, unsafe
from flake8_jax.fixers._branches import convert_if, convert_ternary
from flake8_jax.fixers._conditions import is_surely_array, may_be_tree
from flake8_jax.fixers._consequences import with_consequences
from flake8_jax.fixers._expressions import Effect, Kind, condition, effect, is_boolean, is_repeatable, test_root
from flake8_jax.fixers._flow import is_inspected
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._loops import convert_while
from flake8_jax.fixers._selection import Setting, setting
from flake8_jax.fixers._source import FixSource, Refused, fixer
from flake8_jax.fixers._static import split
from flake8_jax.semantics.events.events import TruthTest

_ASKS = re.compile(
    r"(?:^|[._])(?:(?:is|in|under|inside|within)_)+(?:jit|jitted|jitting|tracing|traced?|tracer|staged|staging)\Z"
)
"""Names of functions that tell whether JAX traces: ``in_jit``, ``_is_under_jit``, ``compat.is_tracing``."""
_STATIC = re.compile(r"\bis\b|\b(?:isinstance|hasattr|callable|len)\(|\.(?:ndim|shape|dtype|size)\b")
"""What a test asks of a value that a tracer answers."""

_PLAIN = (ir.Assign, ir.AnnAssign, ir.AugAssign, ir.Return, ir.ExprStmt, ir.Argument, ir.Tuple, ir.List, ir.Dict)


@fixer("traced-branch")
def fix(event: TruthTest, source: FixSource) -> Fix | None:
    root = test_root(source, event.at)
    # Each operand of ``a and b and …`` is a finding of its own, and all of them have the same fix.
    return source.remember("fix of a test", root, lambda: _fix(source, root, event.at))


def _fix(source: FixSource, root: ir.Node, traced: ir.Node) -> Fix | None:
    try:
        return _converted(source, root, traced)
    except Refused:
        return None


def _converted(source: FixSource, root: ir.Node, traced: ir.Node) -> Fix | None:
    """The largest construct around a test, converted. traced: the first operand of it that is."""
    above = source.parent(root)
    if _is_beside_staged_code(source, root):
        return None
    if isinstance(above, (ir.If, ir.IfExp)) and root is above.test and is_inspected(source, above):
        return None
    if isinstance(above, ir.IfExp) and root is above.test:
        return convert_ternary(source, above, traced)
    if isinstance(above, ir.If) and root is above.test:
        loop = source.place(above).owner
        if isinstance(loop, ir.While) and isinstance(above.body[0], ir.Break):
            return convert_while(source, loop)
        if _is_behind_another(source, above, traced):
            return None
        return convert_if(source, above, traced)
    if isinstance(above, ir.While):
        return convert_while(source, above)
    if isinstance(above, (ir.Assert, ir.Generator, ir.MatchCase, ir.Match, ir.If)):
        return None
    if not isinstance(root, (ir.BoolOp, ir.UnaryOp, ir.Compare)):
        return None
    return _value(source, root, traced)


def _is_behind_another(source: FixSource, branch: ir.If, traced: ir.Node) -> bool:
    """An ``elif`` behind a test of the same values that has to stay: the function raises there, whatever follows."""
    above = source.parent(branch)
    if not isinstance(above, ir.If) or above.orelse != [branch] or _STATIC.search(source.slice(above.test)):
        return False
    if not _values(source, above.test) & _values(source, branch.test):
        return False
    try:
        convert_if(source, above, traced)
    except Refused:
        return True
    return False


def _values(source: FixSource, test: ir.Expr) -> set[str]:
    """The variables and attributes that a test reads, without what it calls."""
    imports = Imports(source, test)
    called = {id(part) for call in _calls(test) for part in walk(call.func)}
    names = [node for node in walk(test) if isinstance(node, (ir.Name, ir.Attribute)) and id(node) not in called]
    inner = {id(node.value) for node in names if isinstance(node, ir.Attribute)}
    return {source.slice(node) for node in names if id(node) not in inner and imports.resolve(node) is None}


def _is_beside_staged_code(source: FixSource, root: ir.Node) -> bool:
    """A branch around asks whether JAX traces (``if in_jit(): … else: …``), so that this code may be for values alone."""
    return any(
        isinstance(above, (ir.If, ir.IfExp))
        and any(_ASKS.search(source.slice(call.func)) for call in _calls(above.test))
        for above in source.ancestors(root)
    )


def _calls(test: ir.Expr) -> list[ir.Call]:
    return [node for node in walk(test) if isinstance(node, ir.Call)]


def _value(source: FixSource, root: ir.BoolOp | ir.UnaryOp | ir.Compare, traced: ir.Node) -> Fix:
    """A logical expression that is no test: its value is used."""
    imports = Imports(source, root)
    if isinstance(root, ir.BoolOp) and not _is_logical(source, root, traced):
        text, announced = _operand_value(source, root, imports), CHOOSES
    else:
        text, announced = condition(source, root, imports, traced), LOGIC
    plain = isinstance(source.parent(root), _PLAIN)
    if text.startswith("(") and not plain:
        text = f"({text})"
    elif text == source.slice(root):
        raise Refused
    if source.comments(root.start, root.end):
        raise Refused
    what = "membership test" if text.startswith("(") else "logical operator"
    edits = (Edit(root.start, root.end, text), *imports.edits)
    return with_consequences(source, root, unsafe(f"Replace the {what} with array operations", announced, edits))


def _is_logical(source: FixSource, root: ir.BoolOp, traced: ir.Node) -> bool:
    """Its value is a truth: of booleans, or of such behind operands that Python goes on testing."""
    static, rest = split(source, root, traced)
    leads = [id(v) for v in static] == [id(v) for v in root.values[: len(static)]]
    return all(is_boolean(v) for v in (rest if leads and rest else root.values))


def _operand_value(source: FixSource, root: ir.BoolOp, imports: Imports) -> str:
    """``a or b`` gives one of its operands: ``jnp.where(a, a, b)``; an ``a`` that may be None is asked for it first."""
    if len(root.values) != 2:
        raise Refused
    first, second = root.values
    if not is_repeatable(first, imports) or effect(second, imports) is Effect.EFFECT:
        raise Refused
    if not isinstance(second, (ir.Constant, ir.Name, ir.BinOp, ir.UnaryOp, ir.Compare, ir.Call, ir.Attribute)):
        raise Refused
    if isinstance(second, ir.Constant) and second.kind not in ("int", "float", "bool"):
        raise Refused
    one, other = source.argument(first), source.argument(second)
    test = condition(source, first, imports)
    where = imports.spell("jax.numpy.where")
    chosen = f"{one}, {other}" if root.op == "or" else f"{other}, {one}"
    text = f"{where}({test}, {chosen})"
    use = setting(source, root)
    if not _is_number(use, second):
        raise Refused
    if isinstance(first, ir.Name) and root.op == "or" and _is_optional(source, first):
        if not isinstance(source.parent(root), (ir.Assign, ir.Return)):
            raise Refused
        return f"{other} if {one} is None else {text}"
    if not _is_number(use, first):
        raise Refused  # ``None or x`` is x, but an array of None is an error
    return text


def _is_number(use: Setting, node: ir.Expr) -> bool:
    """An array or a number, and never None."""
    if isinstance(node, ir.Name) and _is_optional(use.source, node):
        return False
    known = is_surely_array(use.source, node) and not may_be_tree(use.source, node)
    return known or use.kind(node) is Kind.ARRAY


def _is_optional(source: FixSource, name: ir.Name) -> bool:
    around = source.functions(name)
    return bool(around) and any(
        p.name == name.id and isinstance(p.default, ir.Constant) and p.default.kind == "none" for p in around[0].params
    )
