"""What is traced in every run: a function, its parameters, and the value of an expression.

Vocabulary
----------
staging     what holds in every run of a function (``_transformed.Staging``).
traced      the value is a tracer, or a container of tracers alone, in every run.
array       the value is a JAX array or a tracer in every run.
unknown     some caller may not be seen: there is no staging. One unknown caller is enough.

A function is traced in every run where a decorator traces it, or where each use of its name either hands it to a transform or
calls it from such a function.

A value is traced in every run if it is computed from a parameter that is. Which parameters are depends on what the callers
pass: the two questions are answered together.

Limitations: methods without such a decorator, functions in containers, ``partial``, and transforms that a library made of
others; values that pass through attributes of objects, containers or methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._callers import binders, scope_of
from flake8_jax.fixers._expressions import ARRAY_METHODS, is_update
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import binder_before, leaves, own_statements, target_names
from flake8_jax.fixers._source import FixSource, Use
from flake8_jax.fixers._transformed import (
    EAGER,
    Staging,
    arguments_by_name,
    decorated,
    is_computed_while_tracing,
    staged_by,
    traced_whole,
)
from flake8_jax.knowledge import load

_RUNS_EAGERLY = r"\b(jax_)?disable_jit\b|\bfake_jit\b|\b__wrapped__\b|\binspect\.unwrap\b|\bimport\b.*\bunwrap\b"
"""Where a project says this, it may run a transformed function on plain values."""
_SETS_RULES = frozenset({"defvjp", "defjvp", "defjvps"})
_ARRAYS = ("array", "float", "int", "bool", "complex", "key", "like(")
JAX_FUNCTIONS = ("jax.numpy.", "jax.nn.", "jax.random.", "jax.scipy.", "jax.lax.")
_PLAIN_RESULTS = frozenset({
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "argwhere", "around", "array", "asarray", "astype",
    "bincount", "ceil", "count_nonzero", "digitize", "empty_like", "equal", "fix", "flatnonzero", "floor",
    "floor_divide", "full_like", "greater", "greater_equal", "heaviside", "isclose", "iscomplex", "isfinite", "isinf",
    "isnan", "isneginf", "isposinf", "isreal", "less", "less_equal", "logical_and", "logical_not", "logical_or",
    "logical_xor", "nonzero", "not_equal", "one_hot", "ones_like", "rint", "round", "searchsorted", "sign", "signbit",
    "stop_gradient", "trunc", "view", "zeros_like",
})  # fmt: skip
"""Functions and methods whose result depends on no derivative, or on a shape alone: ``grad`` and ``vmap`` without ``jit``
may compute it on plain values."""
_PLAIN_OPERATORS = frozenset({"//", "&", "|", "^", "<<", ">>"})
_SAME_OBJECT = frozenset({"is", "is not", "in", "not in"})
"""Comparisons that Python answers without the tracer."""
STATIC_ATTRIBUTES = frozenset({"shape", "ndim", "size", "dtype", "aval", "sharding", "weak_type", "itemsize", "nbytes"})
MOST_STEPS = 200
"""An answer that takes more steps is no."""
MOST_CALLERS = 6
"""A chain of callers that is longer counts as unknown."""
MOST_FUNCTIONS = 200
"""An answer that needs to look at more functions is unknown."""


@dataclass(frozen=True, slots=True)
class Running:
    """Functions whose callers are being looked at, innermost last: a call from one of them adds nothing. ``looked_at``:
    all functions that this answer has needed so far, the same list for the whole answer."""

    functions: tuple[ir.Function, ...] = ()
    looked_at: list[ir.Function] = field(default_factory=list)

    def inside(self, function: ir.Function) -> Running:
        return Running((*self.functions, function), self.looked_at)


# --- what holds in every run of a function ------------------------------------------------------------


def staging_of(source: FixSource, function: ir.Function, running: Running | None = None) -> Staging | None:
    """What holds in every run of a function; None where a caller may not be known."""
    if running is None or not running.functions:
        return source.remember("staging", function, lambda: _reached(_staging_of(source, function, Running())))
    return _staging_of(source, function, running)


def _reached(staging: Staging | None) -> Staging | None:
    return staging if staging is not None and staging.reached else None


def _staging_of(source: FixSource, function: ir.Function, running: Running) -> Staging | None:
    if any(function is other for other in running.functions):
        return traced_whole(function, reached=False)
    running.looked_at.append(function)
    if source.program is not None and source.program.says(_RUNS_EAGERLY):
        return None
    if len(running.functions) >= MOST_CALLERS or len(running.looked_at) > MOST_FUNCTIONS:
        return None
    above = source.parent(function)
    if isinstance(above, ir.Lambda):
        return _use(Use(source, above), function, running.inside(function))
    if not isinstance(above, ir.FunctionDef):
        return None
    made = decorated(source, above)
    if made is not EAGER:
        return made
    uses = source.program.uses(source, above) if source.program is not None else None
    return _common(_use(use, function, running.inside(function)) for use in uses) if uses else None


def runs_only_traced(source: FixSource, node: ir.Node) -> bool:
    """Every caller of the function around a node is known, and traces all of it."""
    around = source.functions(node)
    staging = staging_of(source, around[0]) if around else None
    return staging is not None and staging.ambient and not is_computed_while_tracing(source, node)


def _common(stagings: Iterable[Staging | None]) -> Staging | None:
    """What holds in all of them."""
    found: Staging | None = None
    for staging in stagings:
        if staging is None:
            return None
        if found is None:
            found = staging
        else:
            found = Staging(
                found.traced & staging.traced,
                found.ambient and staging.ambient,
                found.at_boundary and staging.at_boundary,
                found.reached or staging.reached,
            )
    return found


# --- uses of a function --------------------------------------------------------------------------------


def _use(use: Use, function: ir.Function, running: Running) -> Staging | None:
    """What one use of a function tells about the runs that it leads to."""
    source, node = use.source, use.node
    above = source.parent(node)
    if isinstance(above, ir.Attribute) and above.attr in _SETS_RULES:
        return traced_whole(function, reached=False)  # it leads to no run
    if isinstance(above, ir.Call) and above.func is node:
        return _called(source, above, function, running)
    if isinstance(above, ir.Argument) and not above.star:
        call = source.parent(above)
        return _handed_over(source, call, above, function, running) if isinstance(call, ir.Call) else None
    if isinstance(above, (ir.List, ir.Tuple)):
        return _used_as_branch(source, above, function, running)
    return None


def _used_as_branch(
    source: FixSource, branches: ir.List | ir.Tuple, function: ir.Function, running: Running
) -> Staging | None:
    """One of the branches of a ``switch``, which just calls one that is alone."""
    argument = source.parent(branches)
    if not isinstance(argument, ir.Argument) or sum(not isinstance(e, ir.Starred) for e in branches.elts) < 2:
        return None
    call = source.parent(argument)
    if not isinstance(call, ir.Call):
        return None
    fact = load().transform(Imports(source, call).resolve(call.func) or "")
    if fact is None or fact.model != "switch":
        return None
    return _handed_over(source, call, argument, function, running)


def _handed_over(
    source: FixSource, call: ir.Call, argument: ir.Argument, function: ir.Function, running: Running
) -> Staging | None:
    """A function is an operand of a transform."""
    fact = load().transform(Imports(source, call).resolve(call.func) or "")
    if fact is None or fact.tracing == "none" or any(other.star == 2 for other in call.args):
        return None
    given = arguments_by_name(fact, call)
    if not any(other is argument and name in fact.operands for name, other in given.items()):
        return None
    if fact.model == "associative_scan":
        return _called_by_the_transform(source, call, function, running)
    staging = staged_by(fact, {name: other.value for name, other in given.items()}, function)
    above = source.parent(call)
    if staging is None or fact.model != "wrap" or not isinstance(above, ir.Call) or above.func is not call:
        return staging
    # ``jax.grad(f)(x, y)``: what the transform leaves alone is what the caller gives.
    given_here = _called(source, above, function, running)
    if given_here is None:
        return staging
    return Staging(staging.traced | given_here.traced, staging.ambient or given_here.ambient, staging.at_boundary)


def _called_by_the_transform(
    source: FixSource, call: ir.Call, function: ir.Function, running: Running
) -> Staging | None:
    """``associative_scan`` calls the function itself, on the arrays that it is given."""
    around = source.functions(call)
    caller = staging_of(source, around[0], running) if around else None
    if caller is None or not caller.ambient or is_computed_while_tracing(source, call):
        return None
    return traced_whole(function, at_boundary=False, reached=caller.reached)


def _called(source: FixSource, call: ir.Call, function: ir.Function, running: Running) -> Staging | None:
    """A function is called by name: its parameters are what the caller gives it."""
    around = source.functions(call)
    if not around:
        return EAGER
    caller = staging_of(source, around[0], running)
    if caller is None:
        return None
    positional = [p.name for p in function.params if p.kind in ("posonly", "positional")]
    traced: set[str] = set()
    for position, argument in enumerate(call.args):
        if argument.star:
            break
        name = argument.keyword or (positional[position] if position < len(positional) else None)
        if name is not None and is_surely_traced(source, argument.value, running):
            traced.add(name)
    ambient = caller.ambient and not is_computed_while_tracing(source, call)
    return Staging(frozenset(traced), ambient, at_boundary=False, reached=caller.reached)


# --- what a value surely is ------------------------------------------------------------------------


def is_surely_traced(source: FixSource, node: ir.Expr, running: Running | None = None) -> bool:
    """The value of an expression is traced in every run."""
    return _Judge(source, running, only_traced=True).holds(node)


def is_surely_array(source: FixSource, node: ir.Expr) -> bool:
    """The value of an expression is a JAX array in every run."""
    return _Judge(source, None, only_traced=False).holds(node)


def holds_surely_a_tracer(source: FixSource, call: ir.Call) -> bool:
    """In every run some argument of the call, or an element of one that is written out, is traced."""
    stack: list[ir.Expr] = [argument.value for argument in call.args if not argument.star]
    while stack:
        node = stack.pop()
        if isinstance(node, (ir.List, ir.Tuple)):
            stack += [element for element in node.elts if not isinstance(element, ir.Starred)]
        elif is_surely_traced(source, node):
            return True
    return False


@dataclass
class _Judge:
    """Follows a value to where it comes from. only_traced: a tracer is asked for, not just any array.

    ``_open`` holds the variables under way: one that is computed from itself is what its other bindings are.
    """

    source: FixSource
    running: Running | None
    only_traced: bool
    steps: int = 0

    def __post_init__(self) -> None:
        self._open: set[tuple[int, str]] = set()

    def holds(self, node: ir.Expr) -> bool:
        """Whether an expression has such a value in every run."""
        self.steps += 1
        answer = _HOLDS.get(type(node))
        return self.steps <= MOST_STEPS and answer is not None and answer(self, node)

    # --- by the type of the expression: ``_HOLDS`` names these ---

    def _binary(self, node: ir.BinOp) -> bool:
        if node.op in _PLAIN_OPERATORS and not self._stays_traced(node):
            return False
        return self.holds(node.left) or self.holds(node.right)

    def _unary(self, node: ir.UnaryOp) -> bool:
        return node.op != "not" and self.holds(node.operand)

    def _compare(self, node: ir.Compare) -> bool:
        if _SAME_OBJECT & set(node.ops) or len(node.ops) != 1 or not self._stays_traced(node):
            return False
        return self.holds(node.left) or self.holds(node.comparators[0])

    def _item(self, node: ir.Subscript | ir.NamedExpr) -> bool:
        return self.holds(node.value)

    def _attribute(self, node: ir.Attribute) -> bool:
        return node.attr not in STATIC_ATTRIBUTES and node.attr != "at" and self.holds(node.value)

    def _conditional(self, node: ir.IfExp) -> bool:
        return self.holds(node.body) and self.holds(node.orelse)

    def _sequence(self, node: ir.Tuple | ir.List) -> bool:
        return self.only_traced and bool(node.elts) and all(self.holds(e) for e in node.elts)

    def _call(self, node: ir.Call) -> bool:
        if is_update(node):
            assert isinstance(node.func, ir.Attribute) and isinstance(node.func.value, ir.Subscript)
            base = node.func.value.value
            return isinstance(base, ir.Attribute) and self.holds(base.value)
        if isinstance(node.func, ir.Call):
            return self._transformed(node, node.func)
        name = Imports(self.source, node).resolve(node.func)
        last = node.func.attr if isinstance(node.func, ir.Attribute) else (name or "").rpartition(".")[2]
        if last in _PLAIN_RESULTS and not self._stays_traced(node):
            return False
        found = self.source.program.called(self.source, node) if self.source.program is not None else None
        if found is not None:
            return self._returned(*found)
        if name is None:
            func = node.func
            return isinstance(func, ir.Attribute) and func.attr in ARRAY_METHODS and self.holds(func.value)
        return self._host_call(node, name) if name.startswith("numpy.") else self._jax_call(node, name)

    # --- calls ---

    def _jax_call(self, node: ir.Call, name: str) -> bool:
        """JAX gives an array; a tracer if it is given one, or if everything here is traced."""
        if not gives_jax_array(name):
            return False
        if not self.only_traced:
            return True
        if any(self.holds(argument.value) for argument in node.args if not argument.star):
            return True
        # ``jnp.array`` of constants is left out: what it gives depends on the release.
        return name.rpartition(".")[2] not in ("array", "asarray") and self._is_ambient(node)

    def _returned(self, source: FixSource, definition: ir.FunctionDef) -> bool:
        """Everything that a function of the project returns is such a value, whichever code calls it."""
        function = definition.function
        if function.is_generator or function.is_async:
            return False
        key = (id(function), "return")
        if key in self._open:
            return True
        returned = [s.value for s in own_statements(function) if isinstance(s, ir.Return)]
        if not returned or not leaves(function.body):
            return False
        here, self.source = self.source, source
        self._open.add(key)
        try:
            return all(value is not None and self.holds(value) for value in returned)
        finally:
            self._open.discard(key)
            self.source = here

    def _host_call(self, node: ir.Call, name: str) -> bool:
        """NumPy calls the tracer's own method, or raises: then nothing that follows ever ran."""
        fact = load().function(name)
        if fact is None or fact.host not in ("dispatches", "converts") or not self.only_traced or not node.args:
            return False
        return not node.args[0].star and not node.args[0].keyword and self.holds(node.args[0].value)

    def _transformed(self, node: ir.Call, transform: ir.Call) -> bool:
        """``jax.value_and_grad(f)(x)``: all results of a transform are tracers where an argument is one, and so is the rest."""
        fact = load().transform(Imports(self.source, node).resolve(transform.func) or "")
        if fact is None or fact.model != "wrap" or fact.tracing == "none" or fact.filters or not self.only_traced:
            return False
        if any(argument.keyword == fact.has_aux for argument in transform.args if argument.keyword):
            return False
        return self._is_ambient(node) and any(self.holds(a.value) for a in node.args if not a.star)

    def _stays_traced(self, node: ir.Node) -> bool:
        """Whatever is computed from a tracer here is one: no ``grad`` or ``vmap`` alone may see that it is constant."""
        return not self.only_traced or self._is_ambient(node)

    def _is_ambient(self, node: ir.Node) -> bool:
        if is_computed_while_tracing(self.source, node):
            return False
        around = self.source.functions(node)
        staging = staging_of(self.source, around[0], self.running) if around else None
        return staging is not None and staging.ambient

    def _name(self, node: ir.Name) -> bool:
        owner = scope_of(self.source, node)
        if owner is None:
            return False
        bound = binders(self.source, owner, node.id)
        parameter = may_hold_argument(self.source, node, owner)
        if parameter:
            staging = staging_of(self.source, owner, self.running)
            if staging is None or node.id not in staging.traced:
                return False
        key = (id(owner), node.id)
        if key in self._open:
            return True
        if not (parameter or bound) or is_bound_elsewhere(self.source, owner, node.id):
            return False
        self._open.add(key)
        try:
            return all(self._binds(statement, node.id) for statement in bound)
        finally:
            self._open.discard(key)

    def _binds(self, statement: ir.Stmt, name: str) -> bool:
        """The value that a statement binds a name to is such a value."""
        if isinstance(statement, ir.Assign):
            return all(self._target(target, statement.value, name) for target in statement.targets)
        if isinstance(statement, ir.AnnAssign) and statement.value is not None:
            return self._target(statement.target, statement.value, name)
        if isinstance(statement, ir.AugAssign):
            return isinstance(statement.target, ir.Name)  # it was one before, by its other bindings
        if isinstance(statement, ir.For):
            return isinstance(statement.target, ir.Name) and self.holds(statement.iter)
        return False

    def _target(self, target: ir.Expr, value: ir.Expr, name: str) -> bool:
        if name not in target_names(target):
            return True
        if isinstance(target, ir.Name):
            return self.holds(value)
        if isinstance(target, (ir.Tuple, ir.List)) and not any(isinstance(e, ir.Starred) for e in target.elts):
            if isinstance(value, (ir.Tuple, ir.List)) and len(value.elts) == len(target.elts):
                return all(self._target(t, v, name) for t, v in zip(target.elts, value.elts, strict=True))
            return self.only_traced and self.holds(value)
        return False


_HOLDS: dict[type, Callable[[_Judge, Any], bool]] = {
    ir.Name: _Judge._name,
    ir.BinOp: _Judge._binary,
    ir.UnaryOp: _Judge._unary,
    ir.Compare: _Judge._compare,
    ir.Subscript: _Judge._item,
    ir.NamedExpr: _Judge._item,
    ir.Attribute: _Judge._attribute,
    ir.IfExp: _Judge._conditional,
    ir.Tuple: _Judge._sequence,
    ir.List: _Judge._sequence,
    ir.Call: _Judge._call,
}


def may_hold_argument(source: FixSource, node: ir.Name, owner: ir.Function) -> bool:
    """A name may be what the caller of a function gave: it is a parameter, and not surely rebound before it is read."""
    if not any(p.name == node.id for p in owner.params):
        return False
    around = source.functions(node)
    return owner.is_lambda or around[0] is not owner or binder_before(source, source.statement(node), node.id) is None


def is_bound_elsewhere(source: FixSource, owner: ir.Function, name: str) -> bool:
    """Whether a function inside of another binds a variable of that (``nonlocal``)."""
    found = source.remember(
        "nonlocal",
        owner,
        lambda: {n for inner in _functions_in(owner) for n in inner.nonlocal_names},
    )
    return name in found


def _functions_in(owner: ir.Function) -> list[ir.Function]:
    return [node for statement in owner.body for node in walk(statement) if isinstance(node, ir.Function)]


def gives_jax_array(name: str) -> bool:
    """The function with this qualified name gives one JAX array, whatever it is given."""
    if not name.startswith(JAX_FUNCTIONS):
        return False
    knowledge = load()
    fact = knowledge.function(name)
    if fact is None:
        return False
    return fact.returns.startswith(_ARRAYS) and "(" not in fact.returns.removeprefix("like(")
