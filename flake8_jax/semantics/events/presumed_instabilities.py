"""Formulas that fail for some values, if their variables mean what the names say, or if a caller differentiates them.

Vocabulary
----------
probability  what a variable such as ``y_pred`` or ``probs`` holds in a loss; or ``p`` beside ``log(p)`` and ``log(1 - p)``.
open         a value of which jaxlint knows nothing at all, such as the argument of a function that no known code calls.

``instabilities`` has the formulas that fail whatever their variables mean. Limitations: names in other languages, losses that
are no function of their own and no sum of products.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.values import SHAPED, Opaque, Recipe, Unknown, Value
from flake8_jax.semantics.events.bounds import stays_low
from flake8_jax.semantics.events.events import Computation
from flake8_jax.semantics.events.floors import floored
from flake8_jax.semantics.events.formulas import (
    DEEPEST,
    arithmetic_of,
    constant,
    elements_as_written,
    number,
    same,
    written_as,
)
from flake8_jax.semantics.events.instabilities import (
    LOGSUMEXP,
    MEAN_OF_EXP,
    SIGMOID,
    SOFTMAX,
    Finding,
    of_probability,
)

OF_LOGITS = "jax.nn.log_softmax(logits)"
OF_LOGIT = "jax.nn.log_sigmoid(logits)"
OF_REST = "jax.nn.log_sigmoid(-logits)"
SWISH = "x * jax.nn.sigmoid(beta * x)"
LOG_DENSITY = "x + jnp.log(c)"
EXPONENTIAL = "jax.random.exponential"
GUMBEL = "jax.random.gumbel"

_PROBABILITY = re.compile(
    r"(?i)(?:^|_)(?:y_?hats?|y?_?pred\w*|p_?hats?|\w*probs?|probabilit\w+|d_?(?:real|fake)\w*|(?:real|fake)_(?:pred|prob)\w*"
    r"|\w*_softmax|softmax_\w+)$"
)
_NO_PROBABILITY = re.compile(r"(?i)log|scale|std|sigma|var|rate|price|mu$|mean|label|true|target|unnorm")
_LOSS = re.compile(r"(?i)loss|nll|entropy|likelihood|bce|(?:^|_)ce(?:_|$)|objective|cost|criterion|reinforce")
_GIVING = re.compile(r"(?i)^(?:\w*_)?v?(?:softmax|sigmoid|pred(?:ict)?(?:_proba)?|forward)$")
_LABEL = re.compile(
    r"(?i)^(?:y|t|labels?|targets?|y_?true|(?:\w*_)?(?:one_?)?hots?(?:_\w+)?|y_?batch|batch_?y)$|_labels?$"
)
_PICKING = re.compile(
    r"(?i)^(?:y|labels?|targets?|actions?|acts?|y_?true|classes|cls)$|_(?:labels?|targets?|actions?|y)$|^word"
)
_LETTERS = frozenset("ytYT")
_INPUT = re.compile(
    r"(?i)^(?:[b-n]|[r-x]|xs?_?\w*|inputs?|n_\w+|\w*(?:dims?|size|num|count|temp|temperature|alpha|beta|gamma))$"
)
_EPSILON = re.compile(r"(?i)(?:^|_)(?:eps|epsilon|tiny|delta)\w*$|^FLT_MIN$")
_LARGEST_EPSILON = 1e-3
_FLOORS = frozenset({"clip", "maximum", "minimum", "+", "where", "select", "exp", "max", "nan_to_num", "log_softmax",
                     "cumprod"})  # fmt: skip
_SHIFTS = frozenset({"max", "maximum", "minimum", "clip", "stop_gradient", "log_softmax", "log_sigmoid", "tanh", "sigmoid",
                     "softmax", "cos", "sin", "logsumexp", "min", "relu"})  # fmt: skip
_SHIFT_NAMES = re.compile(r"(?i)max|shift|^[mc]$|lse|log_?z|norm|offset|^b$|peak|ref|top|base|stab|cent")


def presumed_instability(event: Computation) -> Finding | None:
    """What goes wrong in a computation if its names mean what they say; None if nothing is known to."""
    if event.name == "log" and event.operands:
        operand = elements_as_written(event.operands[0])
        return (
            _of_uniform(event, operand)
            or _of_density(event, operand)
            or _of_mean(event, operand)
            or _of_open_logits(event, operand)
            or _of_probability(event, operand)
        )
    if event.name == "/" and len(event.operands) == 2:
        return _of_quotient(event, *event.operands)
    return None


# --- logarithms of probabilities ----------------------------------------------------------------------------


def _of_open_logits(event: Computation, operand: Value) -> Finding | None:
    """``log(softmax(x) + eps)`` in a function that no known code calls."""
    found = None if event.differentiated else floored(event, operand)
    return of_probability(found) if found is not None and is_open(found.logits) else None


def _of_probability(event: Computation, operand: Value) -> Finding | None:
    """``y * log(p) + (1 - y) * log(1 - p)`` and ``y * log(y_pred)``."""
    node = event.at
    if not isinstance(node, ir.Call) or len(node.args) != 1 or node.args[0].star:
        return None
    argument, text = node.args[0].value, event.context.scope.text
    bare, has_floor = _without_floor(argument)
    taken = _taken_from_one(bare)
    named = taken if taken is not None else bare
    if not isinstance(named, (ir.Name, ir.Attribute, ir.Subscript, ir.Call)) or _is_bounded(operand, has_floor):
        return None
    spelling = text[named.start : named.end]
    paired = _may_be_output(event, named) and _has_pair(event, spelling, other=taken is None)
    known = paired or (_is_called_probability(named) and (taken is not None or _is_in_loss(event, node, spelling)))
    known = known or (taken is None and not has_floor and _is_label_picked(event, node, named))
    if not known:
        return None
    better = OF_REST if taken is not None else OF_LOGIT if paired else OF_LOGITS
    if has_floor:
        return Finding("has a vanishing gradient if the probability is far below the epsilon", better, gradient=True)
    return Finding(f"is -inf, with NaN gradients, if the probability rounds to {int(taken is not None)}", better)


def _without_floor(node: ir.Expr) -> tuple[ir.Expr, bool]:
    """``p`` of ``p + 1e-8``, and whether such an epsilon is added."""
    if isinstance(node, ir.BinOp) and node.op in "+-":
        if _is_epsilon(node.right):
            return node.left, True
        if node.op == "+" and _is_epsilon(node.left):
            return node.right, True
    return node, False


def _is_epsilon(node: ir.Expr) -> bool:
    if isinstance(node, ir.Constant) and isinstance(node.value, (int, float)):
        return 0.0 < node.value <= _LARGEST_EPSILON
    return isinstance(node, (ir.Name, ir.Attribute)) and _EPSILON.search(last_name(node)) is not None


def _taken_from_one(node: ir.Expr) -> ir.Expr | None:
    """``p`` of ``1 - p``."""
    if isinstance(node, ir.BinOp) and node.op == "-" and isinstance(node.left, ir.Constant) and node.left.value == 1:
        return node.right
    return None


def _is_bounded(operand: Value, has_floor: bool) -> bool:
    """The code keeps the value from zero and one before, or computes it in another way than a network does."""
    for _ in range(DEEPEST):
        recipe = written_as(operand)
        if recipe is None or not recipe.operands:
            return False
        if recipe.name == "+" and has_floor:
            has_floor, operand = False, recipe.operands[0]
        elif recipe.name == "-" and number(recipe.operands[0]) == 1.0 and len(recipe.operands) == 2:
            operand = recipe.operands[1]
        elif recipe.name == SHAPED:
            operand = recipe.operands[0]
        else:
            return recipe.name in _FLOORS
    return False


def _has_pair(event: Computation, spelling: str, *, other: bool) -> bool:
    """The function also takes the logarithm of the rest: ``log(1 - p)`` beside ``log(p)``, or the other way round."""
    text, body = event.context.scope.text, _body(event)
    for node in (n for statement in body for n in walk(statement)):
        if isinstance(node, ir.Call) and len(node.args) == 1 and last_name(node.func) == "log":
            bare, _ = _without_floor(node.args[0].value)
            taken = _taken_from_one(bare)
            found = taken if other else bare
            if found is not None and (taken is not None) is other and text[found.start : found.end] == spelling:
                return True
    return False


def _may_be_output(event: Computation, node: ir.Expr) -> bool:
    """A variable that the function assigns, or that the caller of a loss passes. An attribute such as ``self.p`` is a constant
    of a distribution as a rule."""
    if not isinstance(node, ir.Name) or event.context.inner is None:
        return False
    assigned = (n for statement in _body(event) for n in walk(statement) if isinstance(n, ir.Assign))
    return _LOSS.search(event.context.function) is not None or any(
        isinstance(target, ir.Name) and target.id == node.id for n in assigned for target in n.targets
    )


def _body(event: Computation) -> list[ir.Stmt]:
    return event.context.inner.body if event.context.inner is not None else []


def _is_called_probability(node: ir.Expr) -> bool:
    """``y_pred``, ``probs[a]`` or ``self.probs``; and what ``softmax(x)`` of the project returns."""
    while isinstance(node, ir.Subscript):
        node = node.value
    if isinstance(node, ir.Call):
        return _GIVING.search(last_name(node.func)) is not None
    name = last_name(node) if isinstance(node, (ir.Name, ir.Attribute)) else ""
    return _PROBABILITY.search(name) is not None and _NO_PROBABILITY.search(name) is None


def _is_label_picked(event: Computation, node: ir.Call, named: ir.Expr) -> bool:
    """In a loss, labels pick elements of the logarithm, or of what it is taken of: ``log(out[y])``, ``y * log(out)``."""
    picked = _picked(named)
    base = picked if picked is not None else named
    while isinstance(base, ir.Subscript):
        base = base.value
    name = last_name(base) if isinstance(base, (ir.Name, ir.Attribute)) else ""
    if (
        not name
        or _NO_PROBABILITY.search(name)
        or _INPUT.search(name)
        or event.context.inner is None
        or _is_subtracted(event, name)
    ):
        return False
    if picked is not None:
        return _is_negated(event, node)
    beside = [] if isinstance(named, ir.Call) else [one for one in _factors_beside(event, node) if _is_label(one)]
    return any(last_name(one) not in _LETTERS for one in beside) or (bool(beside) and _is_negated(event, node))


def _picked(node: ir.Expr) -> ir.Expr | None:
    """``out`` of ``out[y]``, ``jnp.take_along_axis(out, …)`` and ``jnp.sum(out * one_hot)``."""
    if isinstance(node, ir.Subscript):
        return node.value if _picks(node.index) else None
    if not isinstance(node, ir.Call) or not node.args:
        return None
    first = node.args[0].value
    if last_name(node.func) == "take_along_axis":
        return first
    if last_name(node.func) == "sum" and isinstance(first, ir.BinOp) and first.op == "*":
        return first.left if _is_label(first.right) else first.right if _is_label(first.left) else None
    return None


def _is_label(node: ir.Expr) -> bool:
    if isinstance(node, ir.Call):
        return last_name(node.func) == "one_hot"
    if isinstance(node, ir.Subscript):
        node = node.value
    return isinstance(node, (ir.Name, ir.Attribute)) and _LABEL.search(last_name(node)) is not None


def _picks(index: ir.Expr) -> bool:
    """The index names a label or an action, or holds a row of indices: ``[y]``, ``[jnp.arange(n), labels]``."""
    parts = index.elts if isinstance(index, ir.Tuple) else [index]
    last = parts[-1]
    if isinstance(last, ir.Call):
        return last_name(last.func) == "argmax"
    return isinstance(last, (ir.Name, ir.Attribute)) and _PICKING.search(last_name(last)) is not None


def _is_negated(event: Computation, node: ir.Call) -> bool:
    """A minus sign, a sum of a loss or the name of the function says that the logarithm is to grow."""
    if _LOSS.search(event.context.function):
        return True
    return any(
        isinstance(one, ir.UnaryOp) and one.op == "-" and one.start <= node.start and node.end <= one.end
        for statement in _body(event)
        for one in walk(statement)
    )


def _is_subtracted(event: Computation, name: str) -> bool:
    """``y * log(rate) - rate`` of a Poisson distribution: the function adds or subtracts what it takes the logarithm of."""
    return any(
        isinstance(one, ir.BinOp)
        and one.op in "+-"
        and any(isinstance(side, ir.Name) and side.id == name for side in (one.left, one.right))
        for statement in _body(event)
        for one in walk(statement)
    )


def _factors_beside(event: Computation, node: ir.Call) -> Iterator[ir.Expr]:
    """The other factors of the products that the logarithm itself is a factor of."""
    for one in (n for statement in _body(event) for n in walk(statement)):
        if isinstance(one, ir.BinOp) and one.op == "*":
            if one.left is node:
                yield one.right
            elif one.right is node:
                yield one.left


def _is_in_loss(event: Computation, node: ir.Call, spelling: str) -> bool:
    """The logarithm is a factor beside labels, or the function is called a loss. It is no part of an entropy."""
    text, factor = event.context.scope.text, False
    for one in (n for statement in _body(event) for n in walk(statement)):
        if isinstance(one, ir.BinOp) and one.op == "-" and one.right.start <= node.start and node.end <= one.right.end:
            if text[one.left.start : one.left.end] == spelling:
                return False  # ``rate - count * log(rate)`` of a Poisson distribution
        if isinstance(one, ir.BinOp) and one.op == "*" and one.start <= node.start and node.end <= one.end:
            left_has = one.left.start <= node.start and node.end <= one.left.end
            beside = one.right if left_has else one.left
            if spelling in text[beside.start : beside.end]:
                return False
            factor = True
    return factor or _LOSS.search(event.context.function) is not None


# --- logarithms of exponentials -----------------------------------------------------------------------------


def _of_density(event: Computation, operand: Value) -> Finding | None:
    """``log(c * exp(x))``, and ``log(sum(w * exp(x)))``."""
    recipe = arithmetic_of(event, operand)
    if recipe is None or not recipe.operands:
        return None
    if recipe.name in ("sum", "mean"):
        exponential = _exponential_in(event, recipe.operands[0])
        if exponential is None or not _is_free(exponential):
            return None
        return Finding("computes the log of a sum of exponentials, which is -inf if all underflow", LOGSUMEXP)
    exponential = _exponential_in(event, operand)
    if exponential is None or constant(event, exponential.operands[0]) is not None or not _is_here(event, exponential):
        return None
    return Finding("computes log(c * exp(x)), which is -inf if exp(x) underflows", LOG_DENSITY)


def _exponential_in(event: Computation, value: Value, depth: int = 4) -> Recipe | None:
    """The exponential that a product or the upper part of a quotient holds; None of a mere exponential."""
    recipe = arithmetic_of(event, elements_as_written(value))
    if recipe is None or depth == 0 or len(recipe.operands) != 2 or recipe.name not in ("*", "/"):
        return None
    for operand in recipe.operands if recipe.name == "*" else recipe.operands[:1]:
        inner = arithmetic_of(event, operand)
        if inner is not None and inner.name == "exp":
            return inner
        found = _exponential_in(event, operand, depth - 1)
        if found is not None:
            return found
    return None


def _is_here(event: Computation, recipe: Recipe) -> bool:
    return recipe.function is event.context.inner


def _of_mean(event: Computation, operand: Value) -> Finding | None:
    """``log(mean(exp(-beta * e)))``: nothing keeps the largest exponent near zero."""
    total = arithmetic_of(event, operand)
    if total is None or total.name not in ("sum", "mean") or not total.operands:
        return None
    terms = arithmetic_of(event, total.operands[0])
    if terms is None or terms.name != "exp" or not _is_free(terms):
        return None
    what = "mean" if total.name == "mean" else "sum"
    better = MEAN_OF_EXP if total.name == "mean" else LOGSUMEXP
    return Finding(f"computes log({what}(exp(x))), which is infinite if the exponents are all far from zero", better)


def _is_free(exponential: Recipe) -> bool:
    """Nothing that is subtracted from the exponents is called a maximum or computed as one."""
    node = exponential.node
    names = {last_name(n) for n in walk(node) if isinstance(n, (ir.Name, ir.Attribute))} if node is not None else set()
    if any(_SHIFT_NAMES.search(name) for name in names - {"jnp", "jax", "exp", "np"}):
        return False
    return not any(name in _SHIFTS for name in _operations(exponential.operands[0]))


def _operations(value: Value, depth: int = DEEPEST) -> Iterator[str]:
    recipe = written_as(value)
    if recipe is not None and depth:
        yield recipe.name
        for operand in recipe.operands:
            yield from _operations(operand, depth - 1)


def _of_uniform(event: Computation, operand: Value) -> Finding | None:
    """``-log(uniform(key))``: the smallest number that ``uniform`` draws is zero."""
    inner = written_as(operand)
    if inner is not None and inner.name == "negative" and inner.operands:
        log = written_as(inner.operands[0])
        if log is not None and log.name == "log" and _is_uniform(log.operands[0]):
            return Finding("computes Gumbel noise from a uniform number, which can be exactly 0", GUMBEL)
    if not _is_uniform(operand) or _is_inside_logarithm(event):
        return None
    return Finding("takes the log of a uniform number, which is -inf because `uniform` can draw 0", EXPONENTIAL)


def _is_uniform(value: Value) -> bool:
    recipe = written_as(elements_as_written(value))
    return recipe is not None and recipe.name == "uniform" and all(number(v) == 0.0 for v in recipe.operands)


def _is_inside_logarithm(event: Computation) -> bool:
    return event.context.scope.text[: event.at.start].rstrip(" (-").endswith("log")


# --- quotients ----------------------------------------------------------------------------------------------


def _of_quotient(event: Computation, a: Value, b: Value) -> Finding | None:
    total = arithmetic_of(event, elements_as_written(b))
    if total is None or total.name != "+" or len(total.operands) != 2:
        return None
    for known, other in (total.operands, total.operands[::-1]):
        added = number(known)
        if added == 1.0:
            return _of_logistic(event, a, other)
        if added is not None and 0.0 < added <= _LARGEST_EPSILON:
            return _of_softmax(event, a, other)
    return None


def _of_softmax(event: Computation, a: Value, b: Value) -> Finding | None:
    """``exp(x) / (sum(exp(x)) + 1e-9)``."""
    total, exponential = arithmetic_of(event, elements_as_written(b)), arithmetic_of(event, a)
    if total is None or total.name != "sum" or exponential is None or exponential.name != "exp":
        return None
    if not same(event, a, total.operands[0]) or not _is_free(exponential) or stays_low(exponential.operands[0]):
        return None
    return Finding("computes exp(x) / sum(exp(x)), which is NaN for large x", SOFTMAX)


def _of_logistic(event: Computation, a: Value, added: Value) -> Finding | None:
    """``1 / (1 + exp(-x))`` in a function, which a caller may differentiate, and ``x / (1 + exp(-x))``."""
    exponential = arithmetic_of(event, added)
    if exponential is None or exponential.name != "exp" or stays_low(exponential.operands[0]):
        return None
    may_be_trained = event.differentiated or event.context.staged or is_open(exponential.operands[0])
    if event.context.inner is None or not may_be_trained or same(event, a, added):
        return None
    negated = written_as(exponential.operands[0])
    if negated is not None and _is_negation_of(event, negated, a):
        better = "jax.nn.silu" if negated.name == "negative" else SWISH
        return Finding("computes x / (1 + exp(-x)), whose gradient is NaN for very negative x", better)
    known = number(a)
    if known is None or known == 0.0:
        return None
    return Finding(f"computes {known:g} / (1 + exp(-x)), whose gradient is NaN for very negative x", SIGMOID)


def _is_negation_of(event: Computation, recipe: Recipe, value: Value) -> bool:
    """``-x``, or ``-beta * x``."""
    if recipe.name == "negative" and recipe.operands:
        return same(event, recipe.operands[0], value)
    return recipe.name == "*" and any(same(event, operand, value) for operand in recipe.operands)


def is_open(value: Value, depth: int = DEEPEST) -> bool:
    """The value was computed from something of which nothing is known."""
    recipe = written_as(value)
    if recipe is None or depth == 0:
        return isinstance(value, (Unknown, Opaque))
    return any(is_open(operand, depth - 1) for operand in recipe.operands)
