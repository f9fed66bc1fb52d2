"""Whether a derivative can flow from the parameters of a function to its result, decided from the code.

Vocabulary
----------
live        a variable or expression to which a derivative may flow from these parameters. Everything is live unless it is
            known to stop the derivative.
dead end    an operation whose derivative is zero: ``argmax``, a comparison, ``stop_gradient``, ``astype(int)``.
escape      a live value is stored where this analysis cannot follow it: in an object of a caller, or in a global variable.

The analysis also reads the functions of the project that are called. The result of an unknown function is live if one of
its arguments is, and an unknown method may keep its arguments in its object. Limitations: unknown functions that change an
object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.classes import find_in_class, is_stub
from flake8_jax.semantics.domain.code import below, names_read, path_of
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import (
    BoundMethod,
    BuiltinValue,
    ClassValue,
    External,
    FunctionValue,
    Instance,
    ModuleValue,
    StaticMethodValue,
    TransformedValue,
    Value,
)

MAX_NODES = 20_000
"""So many nodes are walked for one question; what is longer is live."""
MAX_DEPTH = 12

_INTEGRAL = (
    "argmax", "argmin", "nanargmax", "nanargmin", "argsort", "argpartition", "argwhere", "searchsorted", "digitize", "nonzero",
    "flatnonzero", "count_nonzero", "bincount", "sign", "round", "rint", "floor", "ceil", "trunc", "fix", "around", "isnan",
    "isfinite", "isinf", "isposinf", "isneginf", "isclose", "allclose", "array_equal", "equal", "not_equal", "less",
    "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_not", "logical_xor", "any", "all",
    "zeros_like", "ones_like", "empty_like", "shape", "ndim", "size", "result_type", "signbit", "heaviside",
)  # fmt: skip
_DEAD_CALLS = frozenset({
    *(f"jax.numpy.{name}" for name in _INTEGRAL),
    *(f"jax.numpy.{name}" for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool_")),
    *(f"jax.lax.{name}" for name in ("stop_gradient", "argmax", "argmin", "round", "floor", "ceil", "sign", "eq", "ne", "lt",
                                     "le", "gt", "ge", "is_finite", "population_count", "clz")),
    "jax.nn.one_hot", "jax.random.categorical", "jax.random.bernoulli", "jax.random.randint", "jax.random.split",
    "jax.random.fold_in", "jax.random.permutation", "jax.random.poisson", "jax.random.binomial", "jax.eval_shape",
    "jax.debug.print", "jax.debug.callback", "jax.debug.breakpoint", "jax.tree.structure", "jax.tree_util.tree_structure",
    "builtins.len", "builtins.isinstance", "builtins.type", "builtins.print", "builtins.id", "builtins.hash", "builtins.int",
    "builtins.bool", "builtins.range", "builtins.hasattr", "builtins.str", "builtins.repr", "builtins.format",
})  # fmt: skip
"""Library functions that pass no derivative on, whichever argument it comes with."""

_CHOOSING = {
    **dict.fromkeys(("jax.numpy.where", "jax.lax.select", "jax.lax.cond", "jax.lax.switch", "jax.numpy.select"), 0),
    **dict.fromkeys(("jax.numpy.take", "jax.numpy.take_along_axis"), 1),
    "jax.numpy.full_like": 0,
}
"""The position of the argument by which a library function only chooses."""
_DEAD_KEYWORDS = frozenset({"condition", "indices", "where", "condlist", "pred"})
_DEAD_METHODS = frozenset({"argmax", "argmin", "argsort", "round", "any", "all", "nonzero", "searchsorted"})
_FUNCTIONAL = frozenset({"apply", "apply_fn", "forward", "predict", "log_prob", "loss"})
"""Methods of unknown objects that keep nothing of their arguments, by convention."""
_DEAD_ATTRIBUTES = frozenset({"shape", "ndim", "dtype", "size", "sharding", "aval"})
_WHOLE = frozenset({"int", "bool", "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"})
_PURE = (
    "jax.",
    "numpy.",
    "math.",
    "builtins.",
    "optax.",
    "functools.",
    "operator.",
    "einops.",
    "flax.",
    "haiku.",
    "equinox.",
)
_THROUGH = frozenset({"jax.jit", "jax.checkpoint", "jax.remat", "jax.vmap", "equinox.filter_jit", "jax.named_call",
                      "jax.experimental.pjit.pjit", "flax.nnx.jit"})  # fmt: skip
"""Transforms whose result depends on the arguments as that of the function does."""


class Flow(msgspec.Struct):
    """What a walk has found. dead_ends: the operations at which a live value ended."""

    live: bool = False
    escapes: bool = False
    dead_ends: dict[str, None] = msgspec.field(default_factory=dict)
    returns: int = 0
    constant: bool = True


class Function(NamedTuple):
    """A function of the project with the positions that are taken in front of its arguments."""

    value: FunctionValue
    taken: int


def unfold(value: Value) -> Function | None:
    """The function that a callable runs, if its arguments arrive there as they are."""
    taken = 0
    while True:
        if isinstance(value, BoundMethod):
            taken += 1
            if _is_overridden(value):
                return None
            value = value.func
        elif isinstance(value, TransformedValue) and value.name in _THROUGH and not value.rules:
            value = value.operand
        else:
            break
    if not isinstance(value, FunctionValue) or value.altered or value.replaced or value.wrapped is not None:
        return None
    return Function(value, taken)


def _is_overridden(method: BoundMethod) -> bool:
    """A subclass may run another method in its place."""
    instance, func = method.self_value, method.func
    if not isinstance(instance, Instance) or instance.exact or not isinstance(func, FunctionValue):
        return False
    todo, seen = list(instance.cls.subclasses), set[int]()
    while todo:
        cls = todo.pop()
        if func.fn.name in cls.namespace:
            return True
        if id(cls) not in seen:
            seen.add(id(cls))
            todo += cls.subclasses
    return False


def flow_from(function: Function, positions: Iterable[int], *, has_aux: bool) -> Flow | None:
    """What becomes of the arguments at these positions. None where that is not known.

    has_aux: only the first element of a returned pair counts.
    """
    names = [p for p in function.value.fn.params if p.kind in ("positional", "posonly")]
    wanted = [position + function.taken for position in positions]
    if any(position >= len(names) for position in wanted):
        return None
    live = frozenset(names[position].name for position in wanted)
    walker = _Walker(has_aux=has_aux)
    flow = walker.run(function.value, live, top=True)
    return None if walker.room <= 0 or flow.escapes else flow


class _Walker:
    """One question. room: so many more nodes may be visited. known: by function and live parameters, what was found."""

    def __init__(self, *, has_aux: bool) -> None:
        self.has_aux = has_aux
        self.room = MAX_NODES
        self.known: dict[tuple[int, frozenset[str]], Flow] = {}
        self.dead_ends: dict[str, None] = {}
        self.depth = 0

    def run(self, function: FunctionValue, live: frozenset[str], *, top: bool = False) -> Flow:
        """Walk a function whose parameters of these names are live."""
        key = id(function.fn), live
        known = self.known.get(key)
        if known is not None:
            return known
        fn = function.fn
        self.known[key] = flow = Flow(live=True)  # of a recursion
        if self.depth >= MAX_DEPTH or fn.is_generator or fn.is_async or is_stub(fn):
            flow.escapes = True
            return flow
        self.depth += 1
        body = _Body(self, function, top=top)
        body.run(fn.body, set(live))
        self.depth -= 1
        if not body.flow.returns:
            body.flow.escapes = True  # it is called for something else
        body.flow.dead_ends = self.dead_ends
        self.known[key] = body.flow
        return body.flow


class _Body:
    """The walk through one function."""

    def __init__(self, walker: _Walker, function: FunctionValue, *, top: bool) -> None:
        self.walker = walker
        self.function = function
        self.own = frozenset(function.fn.local_names)
        self.outer = frozenset([*function.fn.global_names, *function.fn.nonlocal_names])
        self.parameters = frozenset(p.name for p in function.fn.params)
        self.flow = Flow()
        self.top = top

    # --- statements

    def run(self, body: list[ir.Stmt], live: set[str]) -> None:
        for statement in body:
            self._statement(statement, live)

    def _statement(self, node: ir.Stmt, live: set[str]) -> None:
        self.walker.room -= 1
        if self.walker.room <= 0:
            self.flow.live = True
            return
        handler = _STATEMENTS.get(type(node))
        if handler is not None:
            handler(self, node, live)
        elif not isinstance(node, _INERT):
            self.flow.escapes = self.flow.escapes or bool(names_read(node) & live)

    def _return(self, node: ir.Return, live: set[str]) -> None:
        self.flow.returns += 1
        value: Any = node.value
        if self.top and self.walker.has_aux and isinstance(value, ir.Tuple) and len(value.elts) == 2:
            for part in value.elts[1:]:
                self.is_live(part, set(live))
            value = value.elts[0]
        if value is not None:
            self.flow.constant = self.flow.constant and not _computes(value)
            if self.is_live(value, live):
                self.flow.live = True

    def _assign(self, node: ir.Assign, live: set[str]) -> None:
        value = self.is_live(node.value, live)
        for target in node.targets:
            if isinstance(target, ir.Tuple) and isinstance(node.value, ir.Tuple) and _match(target, node.value):
                each = [self.is_live(part, live) for part in node.value.elts]
                for element, one in zip(target.elts, each):
                    self._bind(element, one, live)
            else:
                self._bind(target, value, live)

    def _ann_assign(self, node: ir.AnnAssign, live: set[str]) -> None:
        if node.value is not None:
            self._bind(node.target, self.is_live(node.value, live), live)

    def _aug_assign(self, node: ir.AugAssign, live: set[str]) -> None:
        if self.is_live(node.value, live):
            self._bind(node.target, True, live)

    def _bind(self, target: ir.Expr, value: bool, live: set[str]) -> None:
        if isinstance(target, (ir.Tuple, ir.List)):
            for element in target.elts:
                self._bind(element, value, live)
        elif isinstance(target, ir.Starred):
            self._bind(target.value, value, live)
        elif isinstance(target, ir.Name):
            if target.id in self.outer:
                self.flow.escapes = self.flow.escapes or value
            elif value:
                live.add(target.id)
            else:
                live.discard(target.id)
        elif value:
            self._store(target, live)

    def _store(self, target: ir.Expr, live: set[str]) -> None:
        """A live value is put into an object."""
        root: Any = target
        while isinstance(root, (ir.Attribute, ir.Subscript)):
            root = root.value
        if isinstance(root, ir.Name) and root.id in self.own:
            live.add(root.id)
            if root.id in self.parameters and not self.top:
                self.flow.escapes = True
        else:
            self.flow.escapes = True

    def _expr(self, node: ir.ExprStmt, live: set[str]) -> None:
        value: Any = node.value
        if not isinstance(value, ir.Call) or not self.is_live(value, live):
            if isinstance(value, ir.Call) and self._gives_live(value, live) and not self._is_pure(value):
                self.flow.escapes = True
            return
        roots = [_root(value.func), *(_root(a.value) for a in value.args)]
        if self._is_pure(value):
            return
        if isinstance(value.func, ir.Attribute) and roots[0] in self.own and roots[0] not in self.parameters:
            live.add(roots[0])  # a list that grows
        else:
            self.flow.escapes = True

    def _gives_live(self, call: ir.Call, live: set[str]) -> bool:
        return any(self.is_live(a.value, live) for a in call.args)

    def _is_pure(self, call: ir.Call) -> bool:
        callee = self._resolve(call.func)
        return _library_name(callee).startswith(_PURE)

    def _if(self, node: ir.If, live: set[str]) -> None:
        self.is_live(node.test, live)
        other = set(live)
        self.run(node.body, live)
        self.run(node.orelse, other)
        live |= other

    def _loop(self, node: Any, live: set[str]) -> None:
        for _ in range(MAX_ROUNDS):
            before = set(live)
            if isinstance(node, ir.For):
                self._bind(node.target, self.is_live(node.iter, live), live)
            else:
                self.is_live(node.test, live)
            self.run(node.body, live)
            live |= before
            if live == before:
                break
        else:
            self.flow.escapes = True
        other = set(live)
        self.run(node.orelse, other)
        live |= other

    def _with(self, node: ir.With, live: set[str]) -> None:
        for item in node.items:
            value = self.is_live(item.context, live)
            if item.target is not None:
                self._bind(item.target, value, live)
        self.run(node.body, live)

    def _try(self, node: ir.Try, live: set[str]) -> None:
        before = set(live)
        self.run(node.body, live)
        before |= live
        for handler in node.handlers:
            other = set(before)
            self.run(handler.body, other)
            live |= other
        self.run(node.orelse, live)
        self.run(node.finalbody, live)

    def _match(self, node: ir.Match, live: set[str]) -> None:
        if self.is_live(node.subject, live):
            self.flow.escapes = True
            return
        result = set(live)
        for case in node.cases:
            other = set(live)
            self.run(case.body, other)
            result |= other
        live |= result

    def _def(self, node: ir.FunctionDef, live: set[str]) -> None:
        """A function that reads a live variable is live itself, whatever it does with it."""
        if _reads(node.function, live):
            live.add(node.function.name)
        else:
            live.discard(node.function.name)

    def _class(self, node: ir.ClassDef, live: set[str]) -> None:
        if names_read(node) & live:
            self.flow.escapes = True

    # --- expressions

    def is_live(self, node: Any, live: set[str]) -> bool:
        """A derivative may flow into the value of an expression."""
        self.walker.room -= 1
        if self.walker.room <= 0:
            return True
        if not live:
            return False
        kind = type(node)
        if kind is ir.Name:
            return node.id in live
        if kind is ir.Attribute:
            if node.attr in _DEAD_ATTRIBUTES:
                self._end(node.attr, self.is_live(node.value, live))
                return False
            return self.is_live(node.value, live)
        if kind is ir.Subscript:
            self._end("an index", self.is_live(node.index, live))
            return self.is_live(node.value, live)
        if kind is ir.Compare or (kind is ir.UnaryOp and node.op == "not"):
            parts = [node.left, *node.comparators] if kind is ir.Compare else [node.operand]
            self._end("a comparison" if kind is ir.Compare else "`not`", any(self.is_live(p, live) for p in parts))
            return False
        if kind is ir.Call:
            return self._call(node, live)
        if kind is ir.Lambda:
            return _reads(node.function, live)
        if kind is ir.IfExp:
            self._end("a condition", self.is_live(node.test, live))
            return any([self.is_live(node.body, live), self.is_live(node.orelse, live)])
        if kind is ir.Comprehension:
            return self._comprehension(node, live)
        if kind is ir.NamedExpr:
            value = self.is_live(node.value, live)
            self._bind(node.target, value, live)
            return value
        if kind is ir.Constant:
            return False
        return any(self.is_live(part, live) for part in below(node) if isinstance(part, (msgspec.Struct, list, tuple)))

    def _end(self, what: str, is_live: bool) -> None:
        if is_live:
            self.walker.dead_ends[what] = None

    def _comprehension(self, node: ir.Comprehension, live: set[str]) -> bool:
        inner = set(live)
        for generator in node.generators:
            self._bind_names(generator.target, self.is_live(generator.iter, inner), inner)
        parts = [node.element] if node.key is None else [node.key, node.element]
        return any(self.is_live(part, inner) for part in parts)

    def _bind_names(self, target: ir.Expr, value: bool, live: set[str]) -> None:
        for name in walk(target):
            if isinstance(name, ir.Name):
                live.add(name.id) if value else live.discard(name.id)

    def _call(self, node: ir.Call, live: set[str]) -> bool:
        given = [self.is_live(a.value, live) for a in node.args]
        method = node.func.attr if isinstance(node.func, ir.Attribute) else ""
        callee = self._resolve(node.func)
        name = _library_name(callee)
        if name:
            return self._of_library(name, node, given)
        if method == "astype" and node.args and _is_whole(node.args[0].value):
            self._end("astype", self.is_live(node.func, live))
            return False
        receiver = self.is_live(node.func.value if isinstance(node.func, ir.Attribute) else node.func, live)
        if method in _DEAD_METHODS and callee is None:
            self._end(method, receiver or any(given))
            return False
        if not receiver and not any(given):
            return False
        function = unfold(callee) if callee is not None else None
        if function is None or receiver:
            if function is None and method and method not in _FUNCTIONAL and any(given) and not receiver:
                self.flow.escapes = True  # the object may keep the value, and give it back later
            return True
        return self._of_project(function, node, given)

    def _of_library(self, name: str, node: ir.Call, given: list[bool]) -> bool:
        if not any(given):
            return False
        short = name.rpartition(".")[2]
        if name in _DEAD_CALLS or (name.startswith("numpy.") and f"jax.{name}" in _DEAD_CALLS):
            self._end(short, True)
            return False
        dead = _CHOOSING.get(name)
        kept = []
        for i, (argument, one) in enumerate(zip(node.args, given)):
            chooses = dead is not None and (
                i == dead if argument.keyword is None else argument.keyword in _DEAD_KEYWORDS
            )
            if one and chooses:
                self._end(short, True)
            else:
                kept.append(one)
        if short == "where" and len(node.args) == 1:
            self._end(short, True)
            return False
        if short == "astype" and len(node.args) > 1 and _is_whole(node.args[1].value):
            self._end(short, True)
            return False
        return any(kept)

    def _of_project(self, function: Function, node: ir.Call, given: list[bool]) -> bool:
        """A call of a function of the project, some of whose arguments are live."""
        params = function.value.fn.params
        positional = [p.name for p in params if p.kind in ("positional", "posonly")][function.taken :]
        rest = [p.name for p in params if p.kind in ("vararg", "kwarg")]
        live: set[str] = set()
        place = 0
        for argument, one in zip(node.args, given):
            if argument.star:
                if one:
                    live |= {p.name for p in params}
                continue
            if argument.keyword is not None:
                names = [argument.keyword] if any(p.name == argument.keyword for p in params) else rest
            else:
                names = [positional[place]] if place < len(positional) else rest
                place += 1
            if one:
                if not names:
                    return True
                live |= set(names)
        if any(a.star for a in node.args) and any(given):
            live |= {p.name for p in params}
        flow = self.walker.run(function.value, frozenset(live))
        self.flow.escapes = self.flow.escapes or flow.escapes
        return flow.live

    def _resolve(self, node: ir.Expr) -> Value | None:
        """What a callee is, as far as names of modules and closures and methods of known objects tell."""
        if isinstance(node, ir.Name):
            return self._named(node.id)
        if not isinstance(node, ir.Attribute):
            return None
        base = self._resolve(node.value)
        if isinstance(base, External):
            return External(f"{base.name}.{node.attr}")
        if isinstance(base, ModuleValue):
            return base.scope.slots.get(node.attr)
        if isinstance(base, Instance):
            found = find_in_class(base.cls, node.attr)
            if found is None or node.attr in base.slots:
                return None
            if isinstance(found[1], StaticMethodValue):
                return None if found[1].to_class else found[1].func
            return BoundMethod(found[1], base) if isinstance(found[1], FunctionValue) else None
        found = find_in_class(base, node.attr) if isinstance(base, ClassValue) else None
        method = found[1] if found is not None else None
        return method.func if isinstance(method, StaticMethodValue) and not method.to_class else None

    def _named(self, name: str) -> Value | None:
        if name in self.own and name not in self.outer:
            first = self.function.fn.params[0].name if self.function.fn.params else ""
            if name == first and self.function.owner is not None and not _is_bound(self.function.fn.body, name):
                return Instance(self.function.owner, exact=not self.function.owner.subclasses)
            return None
        frame: Frame | None = self.function.closure
        while frame is not None:
            if name in frame.slots:
                is_given = frame.fn is not None and any(p.name == name for p in frame.fn.params)
                return None if is_given else _value(frame.slots[name])  # another caller may pass another function
            frame = frame.parent
        if name in self.function.scope.slots:
            return _value(self.function.scope.slots[name])
        return BuiltinValue(name) if name in _BUILTINS else None


MAX_ROUNDS = 10
_BUILTINS = frozenset({
    "len", "isinstance", "type", "print", "id", "hash", "int", "bool", "range", "hasattr", "str", "repr", "format", "sum",
    "zip", "enumerate", "list", "tuple", "dict", "min", "max", "abs", "float", "sorted", "reversed", "map", "filter",
})  # fmt: skip
_INERT = (
    ir.Pass,
    ir.Break,
    ir.Continue,
    ir.Global,
    ir.Nonlocal,
    ir.Import,
    ir.ImportFrom,
    ir.Assert,
    ir.Raise,
    ir.Delete,
)
_STATEMENTS: dict[type, Callable[[_Body, Any, set[str]], None]] = {
    ir.Return: _Body._return,
    ir.Assign: _Body._assign,
    ir.AnnAssign: _Body._ann_assign,
    ir.AugAssign: _Body._aug_assign,
    ir.ExprStmt: _Body._expr,
    ir.If: _Body._if,
    ir.For: _Body._loop,
    ir.While: _Body._loop,
    ir.With: _Body._with,
    ir.Try: _Body._try,
    ir.Match: _Body._match,
    ir.FunctionDef: _Body._def,
    ir.ClassDef: _Body._class,
}


def _value(value: Any) -> Value | None:
    return value if isinstance(value, Value) else None


def _library_name(callee: Value | None) -> str:
    if isinstance(callee, External):
        return callee.name
    return f"builtins.{callee.name}" if isinstance(callee, BuiltinValue) else ""


def _reads(function: ir.Function, live: set[str]) -> bool:
    """A nested function reads a live variable of the one around it."""
    free = {name for statement in function.body for name in names_read(statement)}
    free |= {name for p in function.params if p.default is not None for name in names_read(p.default)}
    return bool((free - {p.name for p in function.params}) & live)


def _root(node: Any) -> str:
    while isinstance(node, (ir.Attribute, ir.Subscript, ir.Call)):
        node = node.func if isinstance(node, ir.Call) else node.value
    return node.id if isinstance(node, ir.Name) else ""


def _is_bound(body: list[ir.Stmt], name: str) -> bool:
    return any(
        isinstance(node, ir.Assign) and any(isinstance(t, ir.Name) and t.id == name for t in node.targets)
        for statement in body
        for node in walk(statement)
    )


def _match(target: ir.Tuple, value: ir.Tuple) -> bool:
    starred = any(isinstance(e, ir.Starred) for e in (*target.elts, *value.elts))
    return len(target.elts) == len(value.elts) and not starred


def _is_whole(node: ir.Expr) -> bool:
    """An integer or boolean dtype, as written."""
    if isinstance(node, ir.Constant):
        return isinstance(node.value, str) and node.value in _WHOLE
    return path_of(node).rpartition(".")[2] in _WHOLE


def _computes(node: ir.Expr) -> bool:
    """An expression is more than a number."""
    return not isinstance(node, ir.Constant)
