"""JAX703: the stable formula in place of the other. Limitations: formulas spread over several statements or functions.

Vocabulary
----------
drawn       a call of the formula, with the operation that the analysis knows it for: an alias counts, a helper does not.
options     what a reduction is given behind its operand, by name: ``axis``, ``keepdims``, ``where`` and ``dtype``. The stable
            function takes them in another order, so each is written with its name; one that it does not take is refused.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import STABLE, unsafe
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._parentheses import alone
from flake8_jax.fixers._source import FixSource, Refused, fixer
from flake8_jax.semantics.domain.values import Array, Recipe, Unknown, Value
from flake8_jax.semantics.events import instabilities
from flake8_jax.semantics.events.events import Computation

DEEPEST = 6
_INSIDE = "-1.0 + 1e-6, 1.0 - 1e-6"
_PARAMETERS = ("axis", "dtype", "out", "keepdims", "initial", "where")
"""Of a reduction, behind its operand: of ``jax.numpy``'s functions and of an array's methods."""
_OPTIONS = ("axis", "keepdims", "where")


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula being fixed. whole: its expression; drawn: the operations of its calls, by identity of the node."""

    whole: ir.Node
    drawn: dict[int, str]
    source: FixSource
    imports: Imports

    def call(self, node: ir.Node | None, *operations: str) -> ir.Call:
        """The node, which has to be a call of one of the operations, without stars and generators.

        Raises:
            Refused: it is none.
        """
        if not isinstance(node, ir.Call) or self.drawn.get(id(node)) not in operations:
            raise Refused
        if any(a.star or isinstance(a.value, ir.Generator) for a in node.args):
            raise Refused
        return node

    def only(self, node: ir.Node | None, *operations: str) -> ir.Expr:
        """The only argument of such a call."""
        call = self.call(node, *operations)
        if len(call.args) != 1 or call.args[0].keyword is not None:
            raise Refused
        if self._is_method(call):
            raise Refused  # an attribute such as ``self.backend`` holds the module, and may hold another one
        return call.args[0].value

    def reduced(self, node: ir.Node | None, operation: str, *more: str) -> tuple[ir.Expr, list[str]]:
        """What ``sum(x, axis=0)`` or ``x.sum(axis=0)`` reduces, and the options as they are written: ``axis=0``. more: options
        that the stable function takes, too.

        Raises:
            Refused: it does not take one of the options.
        """
        call = self.call(node, operation)
        operand, options = None, call.args
        if options and options[0].keyword is None and not self._is_method(call):
            operand, options = options[0].value, options[1:]
        elif isinstance(call.func, ir.Attribute) and self._is_method(call):
            operand = call.func.value
            if any(isinstance(o.value, (ir.Name, ir.Attribute)) for o in options if o.keyword is None):
                raise Refused  # maybe a module that is bound in some other way
        if operand is None or len(options) > len(_PARAMETERS):
            raise Refused
        named = [(o.keyword or _PARAMETERS[place], o.value) for place, o in enumerate(options)]
        given = [(name, value) for name, value in named if not _is_none(value)]
        if any(name not in (*_OPTIONS, *more) for name, _ in given):
            raise Refused
        return operand, [f"{name}={self.source.argument(value)}" for name, value in given]

    def _is_method(self, call: ir.Call) -> bool:
        """What stands before the dot is the array, and no module."""
        return isinstance(call.func, ir.Attribute) and self.imports.resolve(call.func.value) is None

    def called(self, function: str, *arguments: str) -> str:
        full = function.replace("jnp.", "jax.numpy.", 1) if function.startswith("jnp.") else function
        return f"{self.imports.spell(full)}({', '.join(arguments)})"

    def texts(self, arguments: Sequence[ir.Argument]) -> list[str]:
        return [self.source.slice(argument) for argument in arguments]

    def is_same(self, a: ir.Node, b: ir.Node) -> bool:
        return self.source.slice(a) == self.source.slice(b)


def _is_none(node: ir.Expr) -> bool:
    return isinstance(node, ir.Constant) and node.kind == "none"


_NESTED = 2
"""Formulas that begin with so many calls alike are of one series."""
_MINUS_ONE = re.compile(r"exp\((?:[^()]|\([^()]*\))*\)\s*-\s*1(?:\.0*)?(?![\d.])")


@fixer("unstable-expression")
def fix(event: Computation, source: FixSource) -> Fix | None:
    found = instabilities.instability(event)
    rewrite = _REWRITTEN.get(found.better) if found is not None else None
    if found is None or rewrite is None:
        return None
    whole, imports = event.at, Imports(source, event.at)
    formula = Formula(whole, _drawn(event), source, imports)
    text = rewrite(formula)
    if any(comment.text not in text for comment in source.comments(whole.start, whole.end)):
        return None
    others = _counterparts(formula) if rewrite is _log1p else []
    places = f" in {len(others) + 1} places" if others else ""
    edit = _instead_of_lambda(formula, text) or Edit(whole.start, whole.end, text)
    edits = (edit, *others, *imports.edits)
    return unsafe(f"Use `{found.better}`{places}", STABLE, edits)


def _instead_of_lambda(f: Formula, text: str) -> Edit | None:
    """``jnp.expm1`` for ``lambda x: jnp.expm1(x)``."""
    returned = f.source.parent(f.whole)
    function = f.source.parent(returned) if isinstance(returned, ir.Return) else returned
    above = f.source.parent(function) if isinstance(function, ir.Function) else None
    if not isinstance(function, ir.Function) or not isinstance(above, ir.Lambda) or len(function.params) != 1:
        return None
    only = function.params[0]
    name, _, rest = text.partition("(")
    is_plain = only.default is None and only.kind in ("positional", "posonly")
    if not is_plain or rest != f"{only.name})" or f.source.comments(above.start, above.end):
        return None
    return Edit(above.start, above.end, name)


def _drawn(event: Computation) -> dict[int, str]:
    """The operations behind the event, by identity of the node."""
    found = {id(event.at): event.name}
    todo: list[tuple[Value, int]] = [(operand, DEEPEST) for operand in event.operands]
    while todo:
        value, depth = todo.pop()
        recipe: Recipe | None = value.recipe if isinstance(value, Array) else None
        recipe = value.formula if isinstance(value, Unknown) else recipe
        if recipe is None or not depth:
            continue
        if recipe.node is not None:
            found[id(recipe.node)] = recipe.name
        todo += [(operand, depth - 1) for operand in recipe.operands]
    return found


def _operand(f: Formula) -> ir.Expr:
    return f.only(f.whole, "log", "log1p", "arccos", "arcsin")


def _binary(node: ir.Node | None, *operators: str) -> ir.BinOp:
    if not isinstance(node, ir.BinOp) or node.op not in operators:
        raise Refused
    return node


def _beside_one(node: ir.Node | None) -> ir.Expr:
    """``x`` of ``1 + x`` and ``x + 1``."""
    added = _binary(node, "+")
    if not isinstance(added.left, ir.Constant) and not isinstance(added.right, ir.Constant):
        raise Refused
    return added.right if isinstance(added.left, ir.Constant) else added.left


# --- one for each equivalent ------------------------------------------------------------------------------------


def _log_softmax(f: Formula) -> str:
    operand = _operand(f)
    inner = operand
    while isinstance(inner, ir.Subscript):
        inner = inner.value
    call = f.call(inner, "softmax")
    return f.called(instabilities.LOG_SOFTMAX, *f.texts(call.args)) + f.source.text[inner.end : operand.end]


def _log_sigmoid(f: Formula) -> str:
    return f.called(instabilities.LOG_SIGMOID, f.source.argument(f.only(_operand(f), "sigmoid")))


def _log_minus_sigmoid(f: Formula) -> str:
    operand = _operand(f)
    taken = operand.operand if isinstance(operand, ir.UnaryOp) else _binary(operand, "-").right
    return f.called(instabilities.LOG_SIGMOID, _negated(f, f.only(taken, "sigmoid")))


def _negated(f: Formula, node: ir.Expr) -> str:
    if isinstance(node, ir.UnaryOp) and node.op == "-":
        return f.source.argument(node.operand)
    return f"-{f.source.atom(node)}"


def _logsumexp(f: Formula) -> str:
    terms, options = f.reduced(_operand(f), "sum")
    return f.called(instabilities.LOGSUMEXP, f.source.argument(f.only(terms, "exp")), *options)


def _sum_of_logs(f: Formula) -> str:
    factors, options = f.reduced(_operand(f), "prod", "dtype")
    assert isinstance(f.whole, ir.Call)
    logs = f"{f.source.slice(f.whole.func)}({f.source.argument(factors)})"
    return f.called("jnp.sum", logs, *options)


def _log_sech2(f: Formula) -> str:
    operand = _operand(f)
    squared: ir.Expr = operand.operand if isinstance(operand, ir.UnaryOp) else _binary(operand, "-").right
    if isinstance(squared, ir.Call):
        squared = f.only(squared, "square")
    else:
        squared = _binary(squared, "**").left
    x = f.only(squared, "tanh")
    if not isinstance(x, (ir.Name, ir.Attribute, ir.Subscript)):
        raise Refused
    text = f.source.slice(x)
    softplus = f.called(instabilities.SOFTPLUS, f"-2.0 * {text}")
    return alone(f.source, f.whole, f"2.0 * ({f.called('jnp.log', '2.0')} - {text} - {softplus})")


def _softplus(f: Formula) -> str:
    return f.called(instabilities.SOFTPLUS, f.source.argument(f.only(_beside_one(_operand(f)), "exp")))


def _log1p(f: Formula) -> str:
    x = _beside_one(_operand(f))
    if isinstance(x, ir.BinOp) and x.op in ("+", "-") and not f.source.is_own_parenthesised(x):
        raise Refused  # one of several terms, none of which is said to be small
    if isinstance(x, ir.BinOp) and x.op == "/" and "max" in f.source.slice(x.left) and "min" in f.source.slice(x.right):
        raise Refused  # more than 1 by its name
    return _in_place(f, instabilities.LOG1P, x)


def _in_place(f: Formula, function: str, operand: ir.Expr) -> str:
    """The whole call with another function and operand; a line break behind its parenthesis stays."""
    assert isinstance(f.whole, ir.Call)
    argument = f.whole.args[0]
    before, after = f.source.text[f.whole.func.end : argument.start], f.source.text[argument.end : f.whole.end]
    text = f.called(function, f.source.argument(operand))
    if "\n" not in before or f.source.is_own_parenthesised(argument.value):
        return text
    return text.partition("(")[0] + before + f.source.argument(operand) + after


def _counterparts(f: Formula) -> list[Edit]:
    """The other logarithms of ``1 + y`` in the function, and ``log(1 - x)`` beside ``log(1 + x)`` in one statement: all of them
    become ``log1p``, so that values that are compared or interpolated are rounded alike.

    Raises:
        Refused: one of them cannot, or other code of the function has the same sum (``(1 + x) ** n``).
    """
    x = _beside_one(_operand(f))
    statement, around = f.source.statement(f.whole), f.source.functions(f.whole)
    inside = list(walk(around[0] if around else statement))
    found, logarithms = [], {id(_operand(f))}
    for node in inside:
        if (
            not isinstance(node, ir.Call)
            or len(node.args) != 1
            or not f.is_same(node.func, _func(f))
            or node is f.whole
        ):
            continue
        taken = node.args[0].value
        if isinstance(taken, ir.BinOp) and taken.op == "+" and _is_beside_one(taken):
            logarithms.add(id(taken))
            found.append(
                Edit(node.start, node.end, _log1p(dataclasses.replace(f, whole=node, drawn={id(node): "log"})))
            )
        elif isinstance(taken, ir.BinOp) and taken.op == "-" and statement.start <= node.start < statement.end:
            if _is_one(taken.left) and f.is_same(taken.right, x):
                found.append(Edit(node.start, node.end, f.called(instabilities.LOG1P, _negated(f, taken.right))))
    found = [e for e in found if "noqa" not in f.source.text[f.source.line_start(e.start) : f.source.line_end(e.end)]]
    if any(f.source.comments(e.start, e.end) or f.source.has_multiline_string(e.start, e.end) for e in found):
        raise Refused
    if any(_is_power_of(f, node) for node in inside if id(node) not in logarithms):
        raise Refused
    return found


def _func(f: Formula) -> ir.Expr:
    assert isinstance(f.whole, ir.Call)
    return f.whole.func


def _is_one(node: ir.Expr) -> bool:
    return isinstance(node, ir.Constant) and node.kind in ("int", "float") and node.value == 1


def _is_beside_one(added: ir.BinOp) -> bool:
    """``1 + x`` or ``x + 1``, where x is no number."""
    sides = (added.left, added.right)
    return sum(_is_one(side) for side in sides) == 1 and not all(isinstance(side, ir.Constant) for side in sides)


def _is_power_of(f: Formula, node: msgspec.Struct) -> bool:
    """A power of the sum whose logarithm the formula takes: the two belong together."""
    base: ir.Expr | None = None
    if isinstance(node, ir.BinOp) and node.op == "**":
        base = node.left
    elif isinstance(node, ir.Call) and len(node.args) == 2 and f.imports.resolve(node.func) == "jax.numpy.power":
        base = node.args[0].value
    return base is not None and f.is_same(base, _operand(f))


def _is_one_of_series(f: Formula) -> bool:
    """The lines around assign coefficients of one published scheme, written alike, whose exponentials stay as they are."""
    statement = f.source.statement(f.whole)
    if not isinstance(statement, ir.Assign):
        return False
    place, own = f.source.place(statement), f.source.slice(statement.value)
    for beside in place.block[max(place.index - 1, 0) : place.index + 2]:
        other = f.source.slice(beside.value) if isinstance(beside, ir.Assign) and beside is not statement else ""
        pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(own, other))
        opened = sum(character == "(" for character, _ in pairs)
        if opened >= _NESTED and "exp(" in other and not _MINUS_ONE.search(other):
            return True
    return False


def _expm1(f: Formula) -> str:
    if _is_one_of_series(f):
        raise Refused
    left = f.whole.left if isinstance(f.whole, ir.BinOp) else None
    return f.called(instabilities.EXPM1, f.source.argument(f.only(left, "exp")))


def _xlogy(f: Formula) -> str:
    product = _binary(f.whole, "*")
    for factor, other in ((product.left, product.right), (product.right, product.left)):
        if f.drawn.get(id(other)) == "log" and not isinstance(factor, (ir.BinOp, ir.Call)):
            return f.called(instabilities.XLOGY, f.source.argument(factor), f.source.argument(f.only(other, "log")))
    raise Refused


def _rel_entr(f: Formula) -> str:
    product = _binary(f.whole, "*")
    for factor, other in ((product.left, product.right), (product.right, product.left)):
        if isinstance(other, ir.BinOp) and other.op == "-":
            x, y = f.only(other.left, "log"), f.only(other.right, "log")
        elif f.drawn.get(id(other)) == "log":
            ratio = _binary(f.only(other, "log"), "/")
            x, y = ratio.left, ratio.right
        else:
            continue
        if f.is_same(factor, x):
            return f.called(instabilities.REL_ENTR, f.source.argument(x), f.source.argument(y))
    raise Refused


def _softmax(f: Formula) -> str:
    """Only where the sum runs over everything, or keeps its axis: else the quotient broadcasts in some other way."""
    quotient = _binary(f.whole, "/")
    x = f.only(quotient.left, "exp")
    terms, options = f.reduced(quotient.right, "sum")
    if not f.is_same(x, f.only(terms, "exp")):
        raise Refused
    if not options:
        return f.called(instabilities.SOFTMAX, f.source.argument(x), "axis=None")
    axes = [option for option in options if option.startswith("axis=")]
    if len(options) != 2 or len(axes) != 1 or "keepdims=True" not in options:
        raise Refused
    return f.called(instabilities.SOFTMAX, f.source.argument(x), *axes)


def _sigmoid(f: Formula) -> str:
    quotient = _binary(f.whole, "/")
    x = f.only(_beside_one(quotient.right), "exp")
    if isinstance(quotient.left, ir.Constant):
        return f.called(instabilities.SIGMOID, _negated(f, x))
    if not f.is_same(f.only(quotient.left, "exp"), x):
        raise Refused
    return f.called(instabilities.SIGMOID, f.source.argument(x))


def _var(f: Formula) -> str:
    difference = _binary(f.whole, "-")
    squares, options = f.reduced(difference.left, "mean", "dtype")
    mean, others = f.reduced(_squared(f, difference.right), "mean", "dtype")
    if not f.is_same(_squared(f, squares), mean) or sorted(options) != sorted(others):
        raise Refused
    return f.called(instabilities.VAR, f.source.argument(mean), *options)


def _squared(f: Formula, node: ir.Expr) -> ir.Expr:
    if isinstance(node, ir.Call):
        return f.only(node, "square")
    if isinstance(node, ir.BinOp) and node.op == "*" and f.is_same(node.left, node.right):
        return node.left
    return _binary(node, "**").left


def _clipped(f: Formula) -> str:
    operand = _operand(f)
    return _around(f, operand, f.called("jnp.clip", f.source.argument(operand), "-1.0, 1.0"))


def _clipped_inside(f: Formula) -> str:
    operand = _operand(f)
    if f.drawn.get(id(operand)) == "clip":
        call = f.call(operand, "clip")
        if len(call.args) != 3 or any(a.keyword is not None for a in call.args):
            raise Refused
        return _around(f, operand, f"{f.source.slice(call.func)}({f.source.slice(call.args[0])}, {_INSIDE})")
    if isinstance(operand, ir.Name):
        raise Refused  # maybe clipped where the name was bound
    return _around(f, operand, f.called("jnp.clip", f.source.argument(operand), _INSIDE))


def _around(f: Formula, operand: ir.Expr, text: str) -> str:
    """The whole call with another operand, and with the spaces that it has inside of its parentheses."""
    before, after = f.source.text[f.whole.start : operand.start], f.source.text[operand.end : f.whole.end]
    return f"{before}{text}{after}"


_REWRITTEN: dict[str, Callable[[Formula], str]] = {
    instabilities.LOG_SOFTMAX: _log_softmax,
    instabilities.LOG_SIGMOID: _log_sigmoid,
    instabilities.LOG_MINUS_SIGMOID: _log_minus_sigmoid,
    instabilities.LOGSUMEXP: _logsumexp,
    instabilities.SUM_OF_LOGS: _sum_of_logs,
    instabilities.LOG_SECH2: _log_sech2,
    instabilities.SOFTPLUS: _softplus,
    instabilities.LOG1P: _log1p,
    instabilities.EXPM1: _expm1,
    instabilities.XLOGY: _xlogy,
    instabilities.REL_ENTR: _rel_entr,
    instabilities.SOFTMAX: _softmax,
    instabilities.SIGMOID: _sigmoid,
    instabilities.VAR: _var,
    instabilities.CLIPPED: _clipped,
    instabilities.CLIPPED_INSIDE: _clipped_inside,
}
