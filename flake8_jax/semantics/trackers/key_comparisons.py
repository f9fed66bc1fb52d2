"""Two results of one function under one key that a function compares: common random numbers.

``f(x - t * g, key) <= f0`` asks how much better a step is, on one sample. With two keys the answer would be noise.

Vocabulary
----------
origins     which of the two results a value depends on: 1, 2, 3 for a container of both, or 4 for what compares them.
meet        an operation has operands of each.
compares    an operation is a difference, a quotient, a comparison, a minimum or an order; it is meant that both have the same
            numbers.
iteration   of a loop that repeats one call, the results of two iterations.

Only where every operation in which the two meet compares them, equal numbers are meant: the weights of two layers meet in the
product of both. The statements are followed in the order of the text, the bodies of loops twice, and nested functions where
they are defined.

Limitations: attributes are not followed; what a test decides is not followed, such as the candidate of a search.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from flake8_jax.core import ir
from flake8_jax.core.nodes import children, walk
from flake8_jax.semantics.domain.code import all_statements, blocks, called_name, names_read, statement_at
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.stack import Place
from flake8_jax.semantics.trackers.key_meetings import is_reporting
from flake8_jax.semantics.trackers.key_names import names_bound, parts_of_target

FIRST: Final = 1
SECOND: Final = 2
BOTH: Final = FIRST | SECOND
COMPARED: Final = 4
MAX_FOLLOWED: Final = 2000
"""So many statements are followed; the body of a loop counts each time."""

_COMPARING = frozenset({"-", "/"})
_ORDERING = frozenset({"==", "!=", "<", "<=", ">", ">="})
_EQUATING = frozenset({"isclose", "allclose", "array_equal", "assert_allclose", "assert_array_equal", "assert_equal"})
_COMPARED_BY = _EQUATING | {
    "subtract", "divide", "min", "max", "minimum", "maximum", "argmin", "argmax", "nanargmin", "nanargmax", "sort", "sorted",
    "argsort", "diff", "equal", "less", "less_equal", "greater", "greater_equal",
}  # fmt: skip
"""Functions of Python, ``jax.numpy`` and NumPy, and methods of arrays, that compare what they get."""
_PAIRING = frozenset({"polyfit", "lstsq", "solve", "corrcoef", "cov"})
"""Functions that take two arrays whose rows belong together."""
_HOLDING = (
    ir.Tuple, ir.List, ir.Dict, ir.Set, ir.Starred, ir.Subscript, ir.Attribute, ir.JoinedStr, ir.FormattedValue, ir.IfExp,
    ir.BoolOp, ir.Argument, ir.Slice,
)  # fmt: skip
"""Expressions that compute nothing of the values in them."""
_GATHERING = frozenset({
    "stack", "array", "asarray", "concatenate", "hstack", "vstack", "list", "tuple", "dict", "zip", "enumerate", "items",
    "values", "get", "append", "extend", "float",
})  # fmt: skip
"""Functions and methods that only hold what they get."""
_STORING = frozenset({"append", "extend", "add", "insert", "update", "setdefault"})
"""Methods by which a container takes what it is given."""


class _MetError(Exception):
    """The two results meet otherwise than in a comparison, or the code is too long to say."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two results of which a body may compare what it computes. staged: a transform of the function gave just one of them, so
    that one may be what the other is computed of, as a gradient is. pairs: what the function got are two arrays that
    differ, whose rows may belong together. alike: only ask whether both are equal. iterates: both are one call, in two
    iterations of a loop."""

    scope: ModuleScope
    first: Any
    second: Any
    staged: bool = False
    pairs: bool = False
    alike: bool = False
    iterates: bool = False

    def pairs_in(self, body: list[ir.Stmt]) -> list[tuple[Any, ...]]:
        """The operands of each operation that compares the two; none where they meet in another one."""
        flow = _Flow(self)
        try:
            flow.follow(body)
        except _MetError:
            return []
        return flow.compared


def results_are_compared(body: list[ir.Stmt], there: tuple[Place, ...], here: tuple[Place, ...]) -> bool:
    """One function gave both results, of arguments that differ, and the body compares them. there, here: the paths of the two
    uses, from the place where they part in that body."""
    steps = _steps_to_one(there, here)
    if steps is None:
        return False
    first, second = there[steps[0]], here[steps[1]]
    alike = not (_is_written_in(body, there[steps[0]]) and _is_written_in(body, here[steps[1]]))
    if alike:  # only functions that the two calls make have that function in common
        first, second = there[0], here[0]
    scope = second.scope
    if first.scope is not scope or first.node is second.node or _words(first) == _words(second):
        return False
    staged = _is_transformed(there, steps[0]) is not _is_transformed(here, steps[1])
    asked = Comparison(scope, first.node, second.node, staged, pairs=_get_two_arrays(first, second), alike=alike)
    return bool(asked.pairs_in(body))


def iterations_are_compared(body: list[ir.Stmt], here: Place, key: ir.Expr | None) -> bool:
    """A loop calls a function of the project for one candidate after the other, and compares the results. key: the argument."""
    if here.link is None or here.link.fn is None or not isinstance(here.node, ir.Call):
        return False
    loops = [node for one in body for node in walk(one) if isinstance(node, (ir.For, ir.While, ir.Comprehension))]
    around = [loop for loop in loops if loop.start <= here.node.start and here.node.end <= loop.end]
    changed = {name for loop in around for name in changed_by(loop)}
    if changed.isdisjoint(names_read(here.node)):
        return False  # each iteration does the same
    asked = Comparison(here.scope, here.node, here.node, iterates=True)
    return bool(asked.pairs_in(body)) or (key is not None and _is_compared_at_once(body, here, key))


def _is_compared_at_once(body: list[ir.Stmt], here: Place, key: ir.Expr) -> bool:
    """``(f(x + d, key) - f(x - d, key)) / h``: each iteration takes the difference of two calls that have one key."""
    text = here.scope.text
    asked = text[here.node.func.start : here.node.func.end], text[key.start : key.end]
    for node in (node for one in body for node in walk(one)):
        if (
            isinstance(node, ir.BinOp)
            and node.op == "-"
            and node.start <= here.node.start
            and here.node.end <= node.end
        ):
            if all(asked in _calls_with_arguments(side, text) for side in (node.left, node.right)):
                step = statement_at(body, here.node)
                return step is None or not _is_state(body, step)
    return False


def _calls_with_arguments(node: Any, text: str) -> set[tuple[str, str]]:
    """The functions that an expression calls, each with one of its arguments, as written."""
    return {
        (text[call.func.start : call.func.end], text[argument.value.start : argument.value.end])
        for call in walk(node)
        if isinstance(call, ir.Call)
        for argument in call.args
    }


def _is_state(body: list[ir.Stmt], statement: ir.Stmt) -> bool:
    """The statement changes what it reads itself: ``x = x - rate * (f(x + d, key) - f(x - d, key))``."""
    loops = [
        s for s in all_statements(body) if isinstance(s, (ir.For, ir.While)) and s.start <= statement.start < s.end
    ]
    if not loops:
        return False
    reached = _bound_by(statement)
    following = [s for s in all_statements(loops[0].body) if s.start > statement.start]
    for later in following:
        if isinstance(later, (ir.Assign, ir.AugAssign, ir.AnnAssign)) and reached & names_read(later):
            reached |= _bound_by(later)
    if isinstance(statement, ir.AugAssign):
        return True
    return isinstance(statement, ir.Assign) and bool(reached & names_read(statement.value))


def _bound_by(statement: ir.Stmt) -> set[str]:
    targets = statement.targets if isinstance(statement, ir.Assign) else [getattr(statement, "target", None)]
    return {name.id for target in targets if target is not None for name in names_bound(target)}


def changed_by(loop: ir.For | ir.While | ir.Comprehension) -> set[str]:
    """The names that a loop binds."""
    if isinstance(loop, ir.Comprehension):
        return {name.id for generator in loop.generators for name in names_bound(generator.target)}
    found = {name.id for name in names_bound(loop.target)} if isinstance(loop, ir.For) else set()
    for one in all_statements(loop.body):
        if isinstance(one, (ir.Assign, ir.AugAssign, ir.AnnAssign)):
            found |= _bound_by(one)
    return found


def _steps_to_one(there: tuple[Place, ...], here: tuple[Place, ...]) -> tuple[int, int] | None:
    """The first steps of two paths that lead into one function of the project."""
    for i, place in enumerate(here):
        fn = place.link.fn if place.link is not None else None
        for j, other in enumerate(there):
            if fn is not None and other.link is not None and other.link.fn is fn:
                return j, i
    return None


def _is_transformed(path: tuple[Place, ...], step: int) -> bool:
    """``jax.value_and_grad(f)(x, key)``: the call is one of a transform, which calls the function."""
    return step > 0 and path[step - 1].node is path[step].node


def _is_written_in(body: list[ir.Stmt], place: Place) -> bool:
    """A call stands in the body itself, or in functions that are defined there."""
    return any(part is place.node for one in body for part in walk(one))


def _words(place: Place) -> list[str]:
    return place.scope.text[place.node.start : place.node.end].split()


def _get_two_arrays(one: Place, other: Place) -> bool:
    """The arguments in which two calls differ are variables, each."""
    if not (isinstance(one.node, ir.Call) and isinstance(other.node, ir.Call)):
        return False
    ours, theirs = one.node.args, other.node.args
    texts = [[place.scope.text[a.start : a.end] for a in place.node.args] for place in (one, other)]
    if len(ours) != len(theirs):
        return False
    unlike = [(a.value, b.value) for a, b, s, t in zip(ours, theirs, *texts, strict=True) if s != t]
    return len(unlike) == 1 and all(isinstance(value, ir.Name) for value in unlike[0])


def _are_apart(parts: list[int]) -> bool:
    """Some values depend on the first result, others on the second."""
    return any(one & FIRST and other & SECOND for i, one in enumerate(parts) for j, other in enumerate(parts) if i != j)


def _joined(parts: Iterable[int]) -> int:
    together = 0
    for one in parts:
        together |= one
    return together


@dataclass(slots=True, eq=False)
class _Flow:
    """origins: of each name so far. again: the loop around runs for the second time. returned: what the function that is
    followed returns. compared: the operands of each operation that compares the two results."""

    asked: Comparison
    origins: dict[str, int] = field(default_factory=dict)
    again: bool = False
    returned: int = 0
    compared: list[tuple[Any, ...]] = field(default_factory=list)
    followed: int = 0

    def follow(self, body: Iterable[ir.Stmt]) -> None:
        """Go through statements. Raises _MetError."""
        for statement in body:
            self.followed += 1
            if self.followed > MAX_FOLLOWED:
                raise _MetError
            self._run(statement)

    def _run(self, statement: ir.Stmt) -> None:
        if isinstance(statement, ir.Assign):
            self._assign(statement)
        elif isinstance(statement, (ir.AnnAssign, ir.AugAssign)):
            parts = [self._of(statement.value)] if statement.value is not None else []
            if isinstance(statement, ir.AugAssign):
                parts.append(self._of(statement.target))
                if _are_apart(parts):
                    raise _MetError
            self._bind(statement.target, _joined(parts))
        elif isinstance(statement, (ir.ExprStmt, ir.Return)):
            value = self._of(statement.value) if statement.value is not None else 0
            self.returned |= value if isinstance(statement, ir.Return) else 0
        elif isinstance(statement, ir.Assert):
            self._of(statement.test)
        elif isinstance(statement, ir.FunctionDef):
            self.origins[statement.function.name] = self._of_function(statement.function)
        elif isinstance(statement, (ir.For, ir.While)):
            self._loop(statement)
        elif isinstance(statement, ir.If):
            self._of(statement.test)
            before = dict(self.origins)
            self.follow(statement.body)
            taken, self.origins = self.origins, before
            self.follow(statement.orelse)
            self._merge(taken)
        elif isinstance(statement, ir.With):
            for item in statement.items:
                origins = self._of(item.context)
                if item.target is not None:
                    self._bind(item.target, origins)
            self.follow(statement.body)
        elif isinstance(statement, ir.Match) or not (inner := blocks(statement)):
            if any(self._is_asked(part) for part in walk(statement)):
                raise _MetError
        else:
            self.follow(inner)

    def _is_asked(self, node: Any) -> bool:
        return node is self.asked.first or node is self.asked.second

    def _assign(self, statement: ir.Assign) -> None:
        value = statement.value
        for target in statement.targets:
            if isinstance(target, ir.Tuple) and isinstance(value, ir.Tuple) and len(target.elts) == len(value.elts):
                for one, part in [(one, self._of(part)) for one, part in zip(target.elts, value.elts, strict=True)]:
                    self._bind(one, part)
            else:
                self._bind(target, self._of(value))

    def _bind(self, target: ir.Expr, origins: int) -> None:
        for part in parts_of_target(target):
            holder: Any = part.value if isinstance(part, ir.Starred) else part
            held = 0
            while isinstance(holder, ir.Subscript):
                holder = holder.value
                held = self.origins.get(holder.id, 0) if isinstance(holder, ir.Name) else 0
            if isinstance(holder, ir.Name):
                self.origins[holder.id] = origins | held
            elif origins & BOTH:
                raise _MetError

    def _merge(self, others: dict[str, int]) -> None:
        for name, origins in others.items():
            self.origins[name] = self.origins.get(name, 0) | origins

    def _loop(self, loop: ir.For | ir.While) -> None:
        outer = self.again
        for again in (False, True):
            before = dict(self.origins)
            self.again = outer or again
            if isinstance(loop, ir.For):
                self._bind(loop.target, self._of(loop.iter))
            else:
                self._of(loop.test)
            self.follow(loop.body)
            self._merge(before)
        self.again = outer
        self.follow(loop.orelse)

    def _of_function(self, function: ir.Function) -> int:
        """What a nested function gives, as far as it depends on what is around it."""
        outer, returned = dict(self.origins), self.returned
        self.origins |= dict.fromkeys(function.local_names, 0)
        self.returned = 0
        self.follow(function.body)
        given, self.origins, self.returned = self.returned, outer, returned
        return given

    # --- expressions --------------------------------------------------------------------------------------------

    def _of(self, node: Any) -> int:
        """The origins of an expression's value. Raises _MetError where the two results meet otherwise than compared."""
        if isinstance(node, ir.Name):
            return self.origins.get(node.id, 0)
        if isinstance(node, ir.Lambda):
            return self._of_function(node.function)
        if isinstance(node, ir.Comprehension):
            return self._comprehension(node)
        if isinstance(node, ir.NamedExpr):
            self._bind(node.target, value := self._of(node.value))
            return value
        if self._is_asked(node):
            return self._result(node)
        if isinstance(node, ir.Call):
            return self._call(node)
        operands = list(children(node))
        parts = [self._of(child) for child in operands]
        if _are_apart(parts):
            if self._compares(node):
                self.compared.append(tuple(operands))
                return COMPARED
            if not isinstance(node, _HOLDING):
                raise _MetError
        return self._value_of(parts)

    def _value_of(self, parts: list[int]) -> int:
        together = _joined(parts)
        return COMPARED if together & COMPARED else together

    def _compares(self, node: Any) -> bool:
        if isinstance(node, ir.Compare):
            return set(node.ops) <= ({"==", "!="} if self.asked.alike else _ORDERING)
        return isinstance(node, ir.BinOp) and node.op in _COMPARING and not self.asked.alike

    def _result(self, node: Any) -> int:
        """The origins of one of the two results itself."""
        is_second = node is self.asked.second and (self.again or not self.asked.iterates)
        own, other = (SECOND, FIRST) if is_second else (FIRST, SECOND)
        taken = _joined(self._of(child) for child in children(node))
        if taken & other and not self.asked.staged:
            raise _MetError  # the one is computed of the other
        return own

    def _comprehension(self, node: ir.Comprehension) -> int:
        outer = dict(self.origins)
        for generator in node.generators:
            self._bind(generator.target, self._of(generator.iter))
            for test in generator.ifs:
                self._of(test)
        parts = [self._of(part) for part in (node.key, node.element) if part is not None]
        self.origins = outer
        if _are_apart(parts):
            raise _MetError
        together = self._value_of(parts)
        repeats = self.asked.iterates and node.start <= self.asked.second.start < node.end
        return BOTH if repeats and together & BOTH else together

    def _call(self, node: ir.Call) -> int:
        operands = [argument.value for argument in node.args]
        parts = [self._of(value) for value in operands]
        name = called_name(node.func, self.asked.scope)
        receiver = node.func.value if isinstance(node.func, ir.Attribute) else None
        if receiver is not None:
            operands, parts = [receiver, *operands], [self._of(receiver), *parts]
        else:
            parts.append(self._of(node.func))
        if name in _STORING and isinstance(receiver, (ir.Name, ir.Subscript)):
            self._bind(receiver, _joined(parts))
            return 0
        if not _are_apart(parts) and not any(one & BOTH == BOTH for one in parts):
            return self._value_of(parts)
        compares = _EQUATING if self.asked.alike else _COMPARED_BY | (_PAIRING if self.asked.pairs else frozenset())
        if name in compares:
            self.compared.append(tuple(operands))
            return COMPARED
        if is_reporting(name):
            return 0
        picks = name in ("where", "select") and bool(parts) and any(one & COMPARED for one in parts)
        if name not in _GATHERING and not picks:
            raise _MetError
        return _joined(parts)
