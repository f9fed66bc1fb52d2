"""Selections: one value of several by tests, as ``jnp.where`` or ``jax.lax.cond``.

Vocabulary
----------
select      ``jnp.where(test, a, b)``: both values are computed, shapes broadcast, dtypes promote.
cond        ``jax.lax.cond``: one branch runs; both must give the same structure and dtypes.

A select is chosen where the text shows that the values are arrays or numbers, and that each is finite, with its gradients,
where another is taken (``_finite``). A cond is for all others: tuples, values of unknown kind, quotients, logarithms.

Limitations: shapes are compared where both are written out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._callers import binders, scope_of
from flake8_jax.fixers._comments import NONE, Remarks
from flake8_jax.fixers._expressions import Effect, Kind, array_names, condition, effect, kind
from flake8_jax.fixers._finite import is_finite, is_surely_real, written_shape
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._integers import is_integer
from flake8_jax.fixers._names import uses
from flake8_jax.fixers._safety import given, may_be_tree
from flake8_jax.fixers._source import FixSource, Refused
from flake8_jax.fixers._staging import is_surely_array
from flake8_jax.knowledge import load


@dataclass(frozen=True, slots=True)
class Setting:
    """What every step of one conversion needs. traced: what is known to be traced in the test."""

    source: FixSource
    imports: Imports
    numbers: set[str]
    function: ir.Function | None
    traced: ir.Node | None = None

    def condition(self, test: ir.Expr) -> str:
        """A test that needs no truth value of an array. Raises Refused."""
        return condition(self.source, test, self.imports, self.traced)

    def kind(self, node: ir.Expr) -> Kind:
        if self._is_function(node) or self._may_be_none_or_text(node):
            return Kind.UNFIT
        known = kind(node, self.imports, self.numbers)
        if known is not Kind.UNKNOWN:
            return known
        is_array = is_surely_array(self.source, node) and not may_be_tree(self.source, node)
        return Kind.ARRAY if is_array or is_integer(self.source, node) else known

    def _is_function(self, node: ir.Expr) -> bool:
        """A name of a function or class, of the file or a library, or one that is called."""
        if not isinstance(node, (ir.Name, ir.Attribute)):
            return False
        name = self.imports.resolve(node)
        if name is not None:
            return name.partition(".")[0] in load().libraries and name.rpartition(".")[2] not in _CONSTANTS
        if not isinstance(node, ir.Name):
            return False
        owner = scope_of(self.source, node)
        bound = binders(self.source, owner if owner is not None else self.source.module, node.id)
        return any(isinstance(b, (ir.FunctionDef, ir.ClassDef)) for b in bound) or node.id in self.called()

    def _may_be_none_or_text(self, node: ir.Expr) -> bool:
        """A name that a statement above gives None, text or the like, and no later one on the same path binds again."""
        if not isinstance(node, ir.Name):
            return False
        owner = scope_of(self.source, node)
        bound = binders(self.source, owner if owner is not None else self.source.module, node.id)
        for statement in sorted((b for b in bound if b.start < node.start), key=lambda b: -b.start):
            if isinstance(statement, (ir.Assign, ir.AnnAssign)):
                value = given(statement, node.id)
                if value is not None and kind(value, self.imports, self.numbers) is Kind.UNFIT:
                    return True
            above = self.source.place(statement).owner
            if any(above is around for around in self.source.ancestors(node)):
                return False
        return False

    def structure(self, node: ir.Expr) -> tuple[str, ...] | None:
        """Of a list, tuple or dict that is written out, here or where a name is bound for the only time: what the branches of a
        ``cond`` have to agree in. None where the text does not show it."""
        if isinstance(node, ir.Name):
            owner = scope_of(self.source, node)
            bound = binders(self.source, owner if owner is not None else self.source.module, node.id)
            above = [b for b in bound if b.start < node.start]
            value = given(above[0], node.id) if len(above) == 1 and isinstance(above[0], ir.Assign) else None
            return self.structure(value) if value is not None and not isinstance(value, ir.Name) else None
        if isinstance(node, ir.Dict):
            keys = [self.source.slice(key) if key is not None else "**" for key in node.keys]
            return None if "**" in keys else ("dict", *sorted(keys))
        if isinstance(node, (ir.List, ir.Tuple)) and not any(isinstance(e, ir.Starred) for e in node.elts):
            return type(node).__name__, str(len(node.elts))
        return None

    def called(self) -> set[str]:
        """The names that the function around calls."""
        root = self.function if self.function is not None else self.source.module
        return self.source.remember("called names", root, lambda: _called_in(root))

    def effect(self, node: ir.Expr) -> Effect:
        return effect(node, self.imports)

    def movable(self, node: ir.Expr) -> None:
        """Raises Refused where an expression may not run on both branches, or would recurse for ever."""
        if self.effect(node) is Effect.EFFECT:
            raise Refused
        if self.function is not None and not self.function.is_lambda and self.function.name in uses(node).reads:
            raise Refused


_CALLBACKS = frozenset({"jax.pure_callback", "jax.debug.callback", "jax.experimental.io_callback"})
_CONSTANTS = frozenset({"pi", "e", "inf", "nan", "euler_gamma"})


def _called_in(root: ir.Function | ir.Module) -> set[str]:
    return {n.func.id for n in walk(root) if isinstance(n, ir.Call) and isinstance(n.func, ir.Name)}


def _called_back(source: FixSource) -> frozenset[str]:
    """The names of functions and methods that the file hands to ``pure_callback`` and the like."""
    return source.remember("called back", source.module, lambda: _find_called_back(source))


def _find_called_back(source: FixSource) -> frozenset[str]:
    found: set[str] = set()
    for node in walk(source.module):
        if isinstance(node, ir.Call) and node.args:
            host = node.args[0].value
            name = Imports(source, node).resolve(node.func)
            if name in _CALLBACKS and isinstance(host, (ir.Name, ir.Attribute)):
                found.add(host.id if isinstance(host, ir.Name) else host.attr)
    return frozenset(found)


def setting(source: FixSource, at: ir.Node, traced: ir.Node | None = None) -> Setting:
    """Raises Refused in a function that JAX calls back: it gets values, and a computation that waits for the device that waits
    for it may never end."""
    around = source.functions(at)
    if any(function.name in _called_back(source) for function in around):
        raise Refused
    root = around[0] if around else source.module
    numbers = source.remember("array names", root, lambda: array_names(root))
    return Setting(source, Imports(source, at), numbers, around[0] if around else None, traced)


def select(
    use: Setting,
    tests: list[str],
    values: list[ir.Expr],
    texts: list[str] | None = None,
    remarks: Sequence[Remarks] = (),
    indent: str = "",
) -> str:
    """The expression that gives ``values[i]`` for the first true ``tests[i]``, else the last value.

    texts: what to write for the values, where that is not their own text (augmented assignments). remarks: their comments,
    which need lines of their own. indent: of the line on which the expression begins.

    Raises:
        Refused: a value is none that JAX could choose, or they have different shapes.
    """
    for value in values:
        use.movable(value)
    check_shapes(use, values)
    kinds = [use.kind(v) for v in values]
    if Kind.UNFIT in kinds or (texts is not None and Kind.TREE in kinds):
        raise Refused
    words = texts or [use.source.argument(v) for v in values]
    if suits_where(use, values):
        return _where(use, tests, words, remarks, indent)
    columns = _columns(values)
    if columns and all(suits_where(use, column) for column in columns):
        return _where_each(use, tests, columns, remarks, indent)
    cond = use.imports.spell("jax.lax.cond")
    if any(is_surely_real(value, use.imports) for value in values):
        words = [f"{word}.0" if word.isdigit() else word for word in words]
    return _nest(use.source, cond, tests, _remarked([f"lambda: {word}" for word in words], remarks), indent)


def _where_each(
    use: Setting, tests: list[str], columns: list[list[ir.Expr]], remarks: Sequence[Remarks], indent: str
) -> str:
    """A tuple of selections; the first one has the comments."""
    written = [[use.source.argument(e) for e in column] for column in columns]
    parts = [_where(use, tests, column, () if at else remarks, indent) for at, column in enumerate(written)]
    return "(" + ", ".join(parts) + ("," if len(parts) == 1 else "") + ")"


def suits_where(use: Setting, values: list[ir.Expr]) -> bool:
    """Whether values are arrays that may all be computed: one is known to be an array, and each is finite."""
    kinds = [use.kind(value) for value in values]
    if Kind.TREE in kinds or Kind.ARRAY not in kinds:
        return False
    return all(is_finite(value, use.imports) for value in values)


def check_shapes(use: Setting, values: list[ir.Expr]) -> None:
    """Raises Refused where the text shows that values have different shapes: one branch cannot give both."""
    shapes = {shape for value in values if (shape := written_shape(value, use.imports)) is not None}
    if len(shapes) > 1 or len({key for value in values if (key := use.structure(value)) is not None}) > 1:
        raise Refused


def _columns(values: list[ir.Expr]) -> list[list[ir.Expr]]:
    """The values element by element, where all of them are tuples of one length; else nothing."""
    tuples = [v for v in values if isinstance(v, ir.Tuple)]
    if len(tuples) < len(values) or len({len(t.elts) for t in tuples}) != 1:
        return []
    return [list(column) for column in zip(*(t.elts for t in tuples), strict=True)]


def _where(use: Setting, tests: list[str], words: list[str], remarks: Sequence[Remarks], indent: str) -> str:
    return _nest(use.source, use.imports.spell("jax.numpy.where"), tests, _remarked(words, remarks), indent)


def _remarked(words: list[str], remarks: Sequence[Remarks]) -> list[tuple[str, Remarks]]:
    return list(zip(words, remarks or [NONE] * len(words), strict=True))


def _nest(source: FixSource, function: str, tests: list[str], values: list[tuple[str, Remarks]], indent: str) -> str:
    """Calls within each other, one for each test."""
    *firsts, last = values
    for depth, (test, value) in reversed(list(enumerate(zip(tests, firsts, strict=True)))):
        margin = indent + source.indent_unit * depth
        last = (_call(source, function, [(test, NONE), value, last], margin), NONE)
    return last[0]


def _call(source: FixSource, function: str, arguments: list[tuple[str, Remarks]], indent: str) -> str:
    """A call on one line; with comments, one argument a line."""
    if not any(remarks for _, remarks in arguments):
        return f"{function}({', '.join(text for text, _ in arguments)})"
    lines = [line for text, remarks in arguments for line in remarks.lines(f"{text},")]
    inner = source.newline + indent + source.indent_unit
    return f"{function}({inner}{inner.join(lines)}{source.newline}{indent})"


def with_comparison_operands(use: Setting, tests: list[ir.Expr]) -> Setting:
    """What a test orders is an array or a number."""
    named = {
        operand.id
        for test in tests
        for node in walk(test)
        if isinstance(node, ir.Compare) and not any(op in ("is", "is not", "in", "not in") for op in node.ops)
        for operand in (node.left, *node.comparators)
        if isinstance(operand, ir.Name)
    }
    return Setting(use.source, use.imports, use.numbers | named, use.function, use.traced)


def assignment(name: str, value: str) -> str:
    """``name = value``; the value in parentheses where it goes on on another line."""
    return f"{name} = ({value})" if "\n" in value or "\r" in value else f"{name} = {value}"
