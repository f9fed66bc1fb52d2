"""Where a value goes within its function: through which host calls, and into which tests.

Vocabulary
----------
carries     an expression that is traced because a part of it is: arithmetic, comparisons, items, array methods, calls
            of array libraries.
host call   a call that would raise on the tracer: NumPy, ``math``, ``float``, ``.item()``. *passed*: the value goes
            through it, so it has to be fixed as well.
inspected   the program asks what the value is: by ``isinstance``, ``type`` or ``is True``, or in a text that it goes on
            with (an f-string, ``str(…)``). A tracer gives another answer than a number. A text that is printed, logged or
            raised does not count.
needed      JAX needs the value itself: for the bounds of a slice, for a shape, a size or an axis, or for a mask.
dependent   an ``if``, conditional expression, ``while`` or ``for … in range`` that tests what the value carries.

Limitations: other functions, containers, names that are bound again in between.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._expressions import ARRAY_METHODS, guards
from flake8_jax.fixers._host_calls import is_host_call
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import target_names, uses
from flake8_jax.fixers._source import STATEMENTS, FixSource
from flake8_jax.knowledge import load

_SHOWING = frozenset({
    "print", "pprint", "warn", "log", "debug", "info", "warning", "error", "exception", "critical", "write", "callback",
})  # fmt: skip
"""Functions and methods, by name, whose texts people read."""
_INSPECTING = frozenset({"str", "repr", "format", "isinstance", "type"})
Dependent = ir.If | ir.IfExp | ir.While | ir.For
_STATIC = frozenset(["shape", "ndim", "dtype", "size", "aval", "sharding"])
_CARRYING = (ir.BinOp, ir.Compare, ir.BoolOp, ir.UnaryOp, ir.List, ir.Tuple)
_ARRAY_LIBRARIES = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.", "numpy.")


def _is_string(node: msgspec.Struct) -> bool:
    return isinstance(node, ir.JoinedStr) or (isinstance(node, ir.Constant) and node.kind == "str")


def _is_boolean(node: msgspec.Struct) -> bool:
    return isinstance(node, ir.Constant) and node.kind == "bool"


@dataclass
class Flow:
    """What was found; filled while following. passed: calls, with the variables that led there. inspected: the program asks
    what the value is. counted: the value takes part in arithmetic. needed: Python needs it as a number."""

    passed: list[tuple[ir.Call, frozenset[str]]] = field(default_factory=list)
    dependents: list[Dependent] = field(default_factory=list)
    inspected: bool = False
    counted: bool = False
    needed: bool = False


def follow(source: FixSource, start: ir.Expr) -> Flow:
    """Where the value of ``start`` goes."""
    follower = _Follower(source, start)
    follower.climb(start)
    while follower.names:
        follower.readers(*follower.names.pop())
    found = follower.flow
    found.dependents.sort(key=lambda n: (n.start, -n.end))
    return found


def is_inspected(source: FixSource, start: ir.If | ir.IfExp | ir.While | ir.For) -> bool:
    """Whether what a branch chooses, or a loop computes, is inspected after it in the same function."""
    follower = _Follower(source, start)
    if isinstance(start, ir.IfExp):
        follower.climb(start)
    else:
        follower.names += [(name, start.end) for name in sorted(uses(start).binds)]
    while follower.names:
        follower.readers(*follower.names.pop())
    return follower.flow.inspected


def _is_message(source: FixSource, node: msgspec.Struct) -> bool:
    """A text is raised, printed, logged or written: its reader sees that it shows a tracer."""
    for above in source.ancestors(node):
        if isinstance(above, STATEMENTS):
            return isinstance(above, (ir.Raise, ir.Assert))
        if isinstance(above, ir.Call):
            func = above.func
            name = func.attr if isinstance(func, ir.Attribute) else func.id if isinstance(func, ir.Name) else ""
            if name in _SHOWING:
                return True
    return False


class _Follower:
    def __init__(self, source: FixSource, start: ir.Expr | ir.If | ir.While | ir.For) -> None:
        self.source = source
        self.start = start
        around = source.functions(start)
        self.function = around[0] if around else None
        self.flow = Flow()
        self.names: list[tuple[str, int]] = []
        self._known: set[str] = set()
        self._seen: set[int] = set()

    def climb(self, node: msgspec.Struct) -> None:
        """Go up from an expression for as long as the value is carried."""
        while id(node) not in self._seen:
            self._seen.add(id(node))
            above = self.source.parent(node)
            if isinstance(above, (ir.If, ir.While)) and above.test is node:
                self._test(above)
                return
            if isinstance(above, ir.IfExp) and above.test is node:
                self._test(above)
            elif isinstance(above, (ir.Assign, ir.AnnAssign, ir.AugAssign)):
                self._assigned(above)
                return
            elif self._asks_of(node, above):
                self.flow.inspected = self.flow.inspected or not _is_message(self.source, above)
                return
            elif isinstance(above, ir.Slice) or self._is_size(node, above) or self._is_mask(node, above):
                self.flow.needed = True
                return
            elif not self._carries(node, above):
                return
            node = above

    def _is_mask(self, node: msgspec.Struct, above: msgspec.Struct) -> bool:
        """``x[node]``, where the value started as a test of each element: the shape of the result depends on it."""
        if not isinstance(above, ir.Subscript) or above.index is not node or not isinstance(self.start, ir.Call):
            return False
        name = Imports(self.source, self.start).resolve(self.start.func) or ""
        return name.rpartition(".")[2].startswith(("is", "logical_"))

    def _is_size(self, node: msgspec.Struct, above: msgspec.Struct) -> bool:
        """``jnp.zeros(node)``, ``x.reshape(node)``, ``list(range(node))``."""
        call = self.source.parent(above) if isinstance(above, ir.Argument) and above.value is node else None
        if not isinstance(call, ir.Call) or not isinstance(above, ir.Argument):
            return False
        if isinstance(call.func, ir.Name) and call.func.id == "range":
            return not isinstance(self.source.parent(call), ir.For)
        name = Imports(self.source, call).resolve(call.func)
        fact = load().function(name) if name is not None else None
        if fact is None:
            return name is None and isinstance(call.func, ir.Attribute) and call.func.attr == "reshape"
        at = next(place for place, argument in enumerate(call.args) if argument is above)
        plain = fact.params[: fact.params.index("*")] if "*" in fact.params else fact.params
        parameter = above.keyword or (plain[at] if at < len(plain) else "")
        return parameter in (*fact.shape_params, *fact.axis_params, fact.size_param)

    def _carries(self, node: msgspec.Struct, above: msgspec.Struct) -> bool:
        if isinstance(above, _CARRYING):
            return not (isinstance(above, ir.Compare) and guards(above))
        if isinstance(above, ir.Subscript):
            return above.value is node
        if isinstance(above, ir.IfExp):
            return True
        if isinstance(above, ir.Attribute):
            return above.attr not in _STATIC
        if isinstance(above, ir.Argument):
            return not above.star and above.keyword not in ("axis", "shape", "dtype")
        return isinstance(above, ir.Call) and self._through(node, above)

    def _asks_of(self, node: msgspec.Struct, above: msgspec.Struct) -> bool:
        """``f"{node}"``, ``str(node)``, ``"…".format(node)``, ``"…" % node``, ``isinstance(node, …)``, ``node is True``."""
        if isinstance(above, ir.FormattedValue):
            return True
        if isinstance(above, ir.Compare):
            sides = [above.left, *above.comparators]
            return bool({"is", "is not"} & set(above.ops)) and any(_is_boolean(side) for side in sides)
        if isinstance(above, (ir.BinOp, ir.UnaryOp)):
            self.flow.counted = self.flow.counted or above.op not in ("&", "|", "^", "not")
            return isinstance(above, ir.BinOp) and above.op == "%" and above.right is node and _is_string(above.left)
        call = self.source.parent(above) if isinstance(above, ir.Argument) else None
        if not isinstance(call, ir.Call):
            return False
        if isinstance(call.func, ir.Attribute):
            return call.func.attr == "format" and _is_string(call.func.value)
        return isinstance(call.func, ir.Name) and call.func.id in _INSPECTING

    def _through(self, node: msgspec.Struct, call: ir.Call) -> bool:
        imports = Imports(self.source, call)
        if is_host_call(call, imports):
            self.flow.passed.append((call, frozenset(self._known)))
            return True
        name = imports.resolve(call.func)
        if name is not None:
            return name.startswith(_ARRAY_LIBRARIES)
        if isinstance(call.func, ir.Attribute):
            return call.func is node and call.func.attr in ARRAY_METHODS
        if isinstance(call.func, ir.Name) and call.func.id == "range":
            above = self.source.parent(call)
            if isinstance(above, ir.For) and above.iter is call:
                self._test(above)
            return False
        return isinstance(call.func, ir.Name) and call.func.id in ("abs", "sum", "round", "pow")

    def _test(self, node: Dependent) -> None:
        if not any(node is d for d in self.flow.dependents):
            self.flow.dependents.append(node)

    def _assigned(self, statement: ir.Assign | ir.AnnAssign | ir.AugAssign) -> None:
        targets = statement.targets if isinstance(statement, ir.Assign) else [statement.target]
        for target in targets:
            for name in target_names(target):
                if name not in self._known:
                    self._known.add(name)
                    self.names.append((name, statement.end))

    def readers(self, name: str, since: int) -> None:
        """Go up from every place behind an assignment where its name is read in the same function."""
        if self.function is None or self.function.is_lambda:
            return
        for node in self.source.remember("own names", self.function, self._own_names).get(name, ()):
            if node.start >= since:
                self.climb(node)

    def _own_names(self) -> dict[str, list[ir.Name]]:
        """The places of the function where each name stands, functions in it left out."""
        found: dict[str, list[ir.Name]] = {}
        for node in (n for s in self.function.body for n in walk(s)) if self.function is not None else ():
            if isinstance(node, ir.Name):
                around = self.source.functions(node)
                if around and around[0] is self.function:
                    found.setdefault(node.id, []).append(node)
        return found
