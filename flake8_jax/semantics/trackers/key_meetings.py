"""Two draws from one key that never meet: the code reports each by itself, and nothing is computed of both.

``print(loss(plain, key))`` beside ``print(loss(averaged, key))`` shows two numbers. Both depend on the same
draws, and neither is wrong for that.

Vocabulary
----------
origins     which of the two draws a value depends on: 1, 2, 3 for both, or 0.
meet        a computation reads values of both draws. A container that holds both computes nothing.
report      to print, log, plot or save a value, or to check it: nothing comes back. A plot of both at once looks at both.
escape      a value goes where it is not followed: it is returned, or stored in an attribute or a global variable, or a
            function reads it that was defined before.

The statements are followed in the order of the text, the bodies of loops twice. What runs under a test depends on the test.

Limitations: methods of objects, which may keep what they get, taint the object; what a function does with the other objects
it gets is taken for a change if its result is thrown away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from flake8_jax.core import ir
from flake8_jax.core.nodes import children, walk
from flake8_jax.semantics.domain.code import blocks, free_names, last_name
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.stack import Place
from flake8_jax.semantics.domain.values import External, ModuleValue
from flake8_jax.semantics.trackers.key_names import parts_of_target, words_of

FIRST: Final = 1
SECOND: Final = 2
BOTH: Final = FIRST | SECOND
MAX_FOLLOWED: Final = 5000
"""So many statements are followed; the body of a loop counts each time."""

_TEXTS = frozenset({
    "print", "display", "log", "info", "debug", "warning", "write", "writerow", "dump", "save", "savez",
})  # fmt: skip
"""Functions and methods that write what they get, each value by itself."""
_REPORTING = frozenset({
    "plot", "plots", "scatter", "hist", "imshow", "bar", "contour", "draw", "show", "scalar", "scalars", "image", "video",
    "visualize", "render", "report", "display", "print", "log", "save", "savefig", "write", "dump", "title",
})  # fmt: skip
"""Words in the name of a function or method that shows or writes what it gets."""
_GATHERING = frozenset({"append", "extend", "add", "insert", "update", "setdefault", "appendleft"})
"""Methods of containers that store what they get."""
_COLLECTING = frozenset({"dict", "list", "tuple", "zip", "enumerate"})
"""Functions of Python that only hold what they get."""
_LISTING = frozenset({"items", "values", "keys", "get"})
"""Methods that give what a container holds."""
_HOLDING = (ir.Name, ir.Tuple, ir.List, ir.Dict, ir.Set, ir.Starred, ir.Subscript, ir.Attribute, ir.JoinedStr)
"""Expressions that compute nothing of the values in them."""
_HOLDING_PARTS = (ir.Slice, ir.FormattedValue, ir.Compare)


def is_reporting(name: str) -> bool:
    """A function or method of this name shows or writes what it gets."""
    return not _REPORTING.isdisjoint(words_of(name))


class _NotApartError(Exception):
    """Both draws meet, a value of one of them escapes, or the code is too long to say."""


def are_reported_apart(body: list[ir.Stmt], first: Place, second: Place) -> bool:
    """The code reports something of each of the two draws, and nothing that it computes depends on both."""
    if first.scope is not second.scope or first.function is not second.function or first.node is second.node:
        return False
    function = first.function
    shared = {*function.global_names, *function.nonlocal_names} if function is not None else set()
    flow = _Flow(first.scope, first.node, second.node, frozenset(shared))
    try:
        flow.follow(body)
    except _NotApartError:
        return False
    return flow.reported == BOTH


@dataclass(slots=True, eq=False)
class _Flow:
    """shared: names that code outside of the body reads too. origins: of each name so far. captured: names that functions
    read which are defined so far. reported: the draws of which something was reported."""

    scope: ModuleScope
    first: Any
    second: Any
    shared: frozenset[str]
    origins: dict[str, int] = field(default_factory=dict)
    captured: set[str] = field(default_factory=set)
    reported: int = 0
    followed: int = 0

    def follow(self, body: Iterable[ir.Stmt], condition: int = 0) -> None:
        """Go through statements. condition: the draws that decide whether they run. Raises _NotApartError."""
        for statement in body:
            self.followed += 1
            if self.followed > MAX_FOLLOWED:
                raise _NotApartError
            self._run(statement, condition)

    def _run(self, statement: ir.Stmt, condition: int) -> None:
        if isinstance(statement, (ir.Assign, ir.AnnAssign, ir.AugAssign)):
            self._assign(statement, condition)
        elif isinstance(statement, ir.ExprStmt):
            self._effect(statement.value)
        elif isinstance(statement, ir.Return):
            if condition or (statement.value is not None and self._of(statement.value)):
                raise _NotApartError
        elif isinstance(statement, ir.Assert):
            self.reported |= self._of(statement.test)
        elif isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
            self._define(statement)
        elif isinstance(statement, ir.If):
            self._branch(statement, condition | self._of(statement.test))
        elif isinstance(statement, (ir.For, ir.While)):
            self._loop(statement, condition)
        elif isinstance(statement, ir.With):
            for item in statement.items:
                self._bind(item.target, self._of(item.context) | condition)
            self.follow(statement.body, condition)
        elif isinstance(statement, ir.Try):
            self.follow(blocks(statement), condition)
        else:
            self._leave(statement, condition)

    def _leave(self, statement: ir.Stmt, condition: int) -> None:
        """A statement after which the next one may not run, or that is not followed."""
        if condition and isinstance(statement, (ir.Raise, ir.Break, ir.Continue)):
            raise _NotApartError
        if isinstance(statement, ir.Match) and self._reads(statement):
            raise _NotApartError

    # --- statements ---------------------------------------------------------------------------------------------

    def _assign(self, statement: ir.Assign | ir.AnnAssign | ir.AugAssign, condition: int) -> None:
        if statement.value is None:
            return
        origins = _one(self._of(statement.value), condition)
        if isinstance(statement, ir.AugAssign):
            origins = _one(origins, self._of(statement.target))
        for target in statement.targets if isinstance(statement, ir.Assign) else [statement.target]:
            self._bind(target, origins)

    def _bind(self, target: ir.Expr | None, origins: int) -> None:
        for part in parts_of_target(target) if target is not None else ():
            holder: Any = part.value if isinstance(part, ir.Starred) else part
            held = 0
            while isinstance(holder, ir.Subscript):
                holder = holder.value
                held = self.origins.get(holder.id, 0) if isinstance(holder, ir.Name) else 0
            if isinstance(holder, ir.Name) and not (origins and holder.id in self.shared | self.captured):
                self.origins[holder.id] = origins | held
            elif origins:
                raise _NotApartError

    def _define(self, statement: ir.FunctionDef | ir.ClassDef) -> None:
        name = statement.function.name if isinstance(statement, ir.FunctionDef) else statement.name
        functions = [node for node in walk(statement) if isinstance(node, ir.Function)]
        self.captured |= {name for function in functions for name in free_names(function)}
        if any(self.origins.get(captured, 0) for captured in self.captured):
            raise _NotApartError
        self.origins[name] = 0

    def _branch(self, statement: ir.If, condition: int) -> None:
        before = dict(self.origins)
        self.follow(statement.body, condition)
        taken, self.origins = self.origins, before
        self.follow(statement.orelse, condition)
        self._join(taken)

    def _loop(self, statement: ir.For | ir.While, condition: int) -> None:
        for _ in range(2):  # what one iteration leaves reaches the next one
            before = dict(self.origins)
            if isinstance(statement, ir.For):
                decides = condition
                self._bind(statement.target, self._of(statement.iter) | condition)
            else:
                decides = condition | self._of(statement.test)
            self.follow(statement.body, decides)
            self._join(before)
        self.follow(statement.orelse, condition)

    def _join(self, others: dict[str, int]) -> None:
        for name, origins in others.items():
            self.origins[name] = self.origins.get(name, 0) | origins

    def _effect(self, value: ir.Expr) -> None:
        """An expression whose result is thrown away."""
        if not isinstance(value, ir.Call):
            self.reported |= self._of(value)  # a notebook shows it
            return
        given = [self._of(argument.value) for argument in value.args]
        name = last_name(value.func)
        receiver = self._receiver(value.func)
        together = 0
        for origins in given:
            together |= origins
        if name in _TEXTS:
            self.reported |= together
            return
        if receiver is not None and name in _GATHERING:
            self._bind(receiver, together | self.origins.get(receiver.id, 0))
            return
        together = _one(*given)
        if is_reporting(name) or self._is_of_library(value.func):
            self.reported |= together | self._of(value.func)
            return
        changed = [a.value for a in value.args if isinstance(a.value, ir.Name)] if together else []
        for target in [receiver, *changed] if receiver is not None else changed:
            self._bind(target, _one(together, self.origins.get(target.id, 0)))
        self.reported |= together if receiver is None else 0

    def _receiver(self, func: ir.Expr) -> ir.Name | None:
        """The variable whose method is called."""
        root = func
        while isinstance(root, (ir.Attribute, ir.Subscript)):
            root = root.value
        is_object = isinstance(root, ir.Name) and root is not func
        return root if is_object and not isinstance(self.scope.slots.get(root.id), (External, ModuleValue)) else None  # type: ignore[return-value,union-attr]

    def _is_of_library(self, func: ir.Expr) -> bool:
        root = func
        while isinstance(root, ir.Attribute):
            root = root.value
        return isinstance(root, ir.Name) and isinstance(self.scope.slots.get(root.id), External)

    # --- expressions --------------------------------------------------------------------------------------------

    def _of(self, node: Any) -> int:
        """The origins of an expression's value. Raises _NotApartError where it is computed of both draws."""
        if isinstance(node, ir.Name):
            return self.origins.get(node.id, 0)
        if isinstance(node, (ir.Yield, ir.YieldFrom, ir.NamedExpr, ir.Await)) and self._reads(node):
            raise _NotApartError
        parts = [self._of(child) for child in _parts_of(node)]
        if isinstance(node, (*_HOLDING, *_HOLDING_PARTS, ir.Argument)) or _only_holds(node):
            together = 0
            for origins in parts:
                together |= origins
        else:
            together = _one(*parts)
        if node is self.first or node is self.second:
            return _one(together, FIRST if node is self.first else SECOND)
        return together

    def _reads(self, node: Any) -> bool:
        return any(
            part is self.first or part is self.second or (isinstance(part, ir.Name) and self.origins.get(part.id, 0))
            for part in walk(node)
        )


def _parts_of(node: Any) -> Iterator[Any]:
    """What an expression is made of; of a lambda, the statements of its body by their values."""
    for child in children(node):
        if isinstance(child, ir.Function):
            yield from (s.value for s in child.body if isinstance(s, (ir.Return, ir.ExprStmt)) and s.value is not None)
        else:
            yield child


def _only_holds(node: Any) -> bool:
    """``dict(a=a, b=b)``, ``"%.2f and %.2f" % (a, b)``, ``"{} {}".format(a, b)``."""
    if isinstance(node, ir.BinOp):
        return node.op == "%" and isinstance(node.left, ir.Constant) and isinstance(node.left.value, str)
    func = node.func if isinstance(node, ir.Call) else None
    if isinstance(func, ir.Name) and func.id in _COLLECTING:
        return True
    if not isinstance(func, ir.Attribute):
        return False
    return func.attr in _LISTING or (func.attr == "format" and isinstance(func.value, ir.Constant))


def _one(*origins: int) -> int:
    """The origins of what is computed of several values. Raises _NotApartError where that is both draws."""
    together = 0
    for one in origins:
        together |= one
    if together == BOTH:
        raise _NotApartError
    return together
