"""What becomes of a value that eager code reads on the host: by the syntax of the function that reads it.

Vocabulary
----------
kept      it is added up, or put into a list, a dict or a field, and nothing in the loop looks at it.
shown     it is printed or logged, and that is all. refreshed: on a line that the next one overwrites.
needed    anything else: a test looks at it, another call gets it, the function returns it.
lenient   a value counts as kept or shown, too, if a comprehension makes one of each result, if ``is None`` asks for it, or if
          the function returns it (``returned``).

Limitations: what later iterations do with what is kept; functions that a name or an attribute was given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import all_statements, below, bound_paths, nodes_around, paths_read
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import BuiltinValue, External, ModuleValue

Use = Literal["kept", "shown", "refreshed", "returned", "needed"]
_COLLECTING = frozenset({"append", "extend", "add", "appendleft", "update"})
_LOGGING = frozenset(
    {
        "print",
        "info",
        "debug",
        "warning",
        "error",
        "log",
        "write",
        "add_scalar",
        "add_scalars",
        "scalar",
        "log_metrics",
        "set_description",
        "set_description_str",
        "set_postfix",
        "set_postfix_str",
    }
)
_CONVERTING = frozenset(
    {"float", "int", "bool", "complex", "str", "repr", "round", "abs", "format", "dict", "list", "tuple"}
)
_READING = frozenset({"item", "tolist", "mean", "sum", "format", "astype", "copy", "items"})
_ITEMS = frozenset({"item", "tolist"})
_CASTS = frozenset({"float", "int", "bool"})
_LIBRARIES = frozenset({"numpy", "jax", "math"})
_DEPTH = 4
_NEEDING = (ir.Compare, ir.BoolOp, ir.Comprehension, ir.Await, ir.Yield, ir.YieldFrom, ir.NamedExpr)


class _Look(NamedTuple):
    """depth: through how many more variables to follow a value."""

    depth: int
    lenient: bool = False

    def deeper(self) -> _Look:
        return self._replace(depth=self.depth - 1)


def use_of(scope: ModuleScope, at: Any, *, lenient: bool = False) -> Use:
    """What the code does with the expression ``at``, which reads a value on the host."""
    around = list(nodes_around(scope.tree.body, at.start, at.end))
    functions = [i for i, node in enumerate(around) if isinstance(node, (ir.FunctionDef, ir.Lambda))]
    own = around[functions[-1] :] if functions else around
    if not own or isinstance(own[0], ir.Lambda):
        return "needed"  # a function for each leaf of a result
    body = own[0].function.body if isinstance(own[0], ir.FunctionDef) else scope.tree.body
    loops = [node for node in own if isinstance(node, (ir.For, ir.While))]
    block = loops[-1].body if loops else body
    use = _use(scope, own, at, block, _Look(_DEPTH, lenient))
    return use if use == "needed" or not _is_needed_again(scope, at, block) else "needed"


def conversions_beside(scope: ModuleScope, at: Any) -> int:
    """How many results the statement around makes host values of, this one included: ``loss.item()``, ``float(accuracy)``."""
    around = list(nodes_around(scope.tree.body, at.start, at.end))
    statement = next((node for node in reversed(around) if isinstance(node, _STATEMENTS)), at)
    read = [node for node in walk(statement) if isinstance(node, ir.Call) and _converts(node)]
    return len({scope.text[call.start : call.end] for call in read})


def is_converted(scope: ModuleScope, at: ir.Node) -> bool:
    """The expression is what ``float(…)``, ``np.asarray(…)`` or ``….item()`` makes a host value of, at once."""
    around = list(nodes_around(scope.tree.body, at.start, at.end))
    place = next((i for i, node in enumerate(around) if node is at), 0)
    outer = around[place - 1] if place else None
    if isinstance(outer, ir.Attribute):
        return outer.attr in _ITEMS
    if not isinstance(outer, ir.Call) or outer.func is at:
        return False
    func = outer.func
    if isinstance(func, ir.Name):
        value = scope.slots.get(func.id)
        return value.name in _COPYING if isinstance(value, External) else value is None and func.id in _CASTS
    if not isinstance(func, ir.Attribute) or not isinstance(func.value, ir.Name):
        return False
    owner = scope.slots.get(func.value.id)
    return isinstance(owner, External) and f"{owner.name}.{func.attr}" in _COPYING


def is_reduced(scope: ModuleScope, at: ir.Node) -> bool:
    """The code takes one number of the host value at once: ``….mean()``, ``….item()``."""
    around = list(nodes_around(scope.tree.body, at.start, at.end))
    place = next((i for i, node in enumerate(around) if node is at), 0)
    outer, call = (around[place - 1], around[place - 2]) if place > 1 else (None, None)
    if not isinstance(outer, ir.Attribute) or not isinstance(call, ir.Call):
        return False
    return outer.attr in _REDUCING and not call.args


_REDUCING = frozenset({"mean", "sum", "item", "max", "min"})
_COPYING = frozenset({"numpy.asarray", "numpy.array", "numpy.ascontiguousarray"})


def is_tested(scope: ModuleScope, read: Any) -> bool:
    """A test of the innermost loop around, its own or one in its body, looks at the variable ``read``: it waits as well."""
    if not isinstance(read, ir.Name):
        return False
    around = list(nodes_around(scope.tree.body, read.start, read.end))
    loop = next((node for node in reversed(around) if isinstance(node, (ir.For, ir.While))), None)
    if loop is None:
        return False
    tests = [node.test for statement in loop.body for node in walk(statement) if isinstance(node, (ir.If, ir.While))]
    tests += [loop.test] if isinstance(loop, ir.While) else []
    return any(isinstance(n, ir.Name) and n.id == read.id for test in tests for n in _compared(test))


def goes_over_data(scope: ModuleScope, at: Any) -> bool:
    """The innermost loop around goes over something else than numbers: ``for batch in loader``, not trials or repetitions."""
    around = list(nodes_around(scope.tree.body, at.start, at.end))
    loop = next((node for node in reversed(around) if isinstance(node, (ir.For, ir.While, ir.Comprehension))), None)
    if not isinstance(loop, (ir.For, ir.Comprehension)):
        return False
    data = loop.iter if isinstance(loop, ir.For) else loop.generators[0].iter
    named = {node.id for node in walk(data) if isinstance(node, ir.Name)}
    return named.isdisjoint({"range", "trange"})


def ends_loop(scope: ModuleScope, at: Any) -> bool:
    """What the code reads here decides whether the innermost loop around goes on: ``if error < 1e-3: break``, of the
    variable that it is assigned to as well. The loop computes it: it is not of the time before."""
    around = list(nodes_around(scope.tree.body, at.start, at.end))
    functions = [i for i, node in enumerate(around) if isinstance(node, (ir.FunctionDef, ir.Lambda, ir.Comprehension))]
    own = around[functions[-1] :] if functions else around
    loop = next((node for node in reversed(own) if isinstance(node, (ir.For, ir.While))), None)
    if loop is None or paths_read(at).isdisjoint(bound_paths(loop)):
        return False
    tests = [statement.test for statement in loop.body if isinstance(statement, ir.If) and _leaves(statement)]
    tests += [loop.test] if isinstance(loop, ir.While) else []
    if any(test.start <= at.start and at.end <= test.end for test in tests):
        return True
    statement = next((node for node in loop.body if node.start <= at.start and at.end <= node.end), None)
    targets = statement.targets if isinstance(statement, ir.Assign) else []
    names = {target.id for target in targets if isinstance(target, ir.Name)}
    return any(not names.isdisjoint(paths_read(test)) for test in tests)


def _leaves(statement: ir.If) -> bool:
    inner = all_statements([*statement.body, *statement.orelse])
    return any(isinstance(node, (ir.Break, ir.Return)) for node in inner)


def waits_anyway(scope: ModuleScope, at: Any) -> bool:
    """The innermost loop around reads results that it needs, whatever becomes of this one: a test looks at some, or an
    environment of the host gets an action: ``obs, reward, done, info = env.step(action)``."""
    around = list(nodes_around(scope.tree.body, at.start, at.end))
    loop = next((node for node in reversed(around) if isinstance(node, (ir.For, ir.While))), None)
    inner = [node for statement in loop.body for node in walk(statement)] if loop is not None else []
    tests = [node.test for node in inner if isinstance(node, (ir.If, ir.While, ir.IfExp))]
    tests += [loop.test] if isinstance(loop, ir.While) else []
    return any(_acts(node) for node in inner) or any(_converts(n) for test in tests for n in walk(test))


def acts_on_host(scope: ModuleScope, at: Any) -> bool:
    """In the innermost loop around, an environment of the host gets an action."""
    loop = _loop_around(scope, at)
    return loop is not None and any(_acts(node) for statement in loop.body for node in walk(statement))


def is_new(scope: ModuleScope, at: Any) -> bool:
    """The innermost loop around computes it: the expression, or a variable in it."""
    loop = _loop_around(scope, at)
    around = nodes_around(scope.tree.body, at.start, at.end)
    through = [g.iter for node in around if isinstance(node, ir.Comprehension) for g in node.generators]
    read = paths_read(at).union(*map(paths_read, through))
    return loop is not None and not read.isdisjoint(bound_paths(loop))


def has_inner_loop(scope: ModuleScope, at: Any) -> bool:
    """The innermost loop around has another one in its body, below no ``if`` without ``else``."""
    loop = _loop_around(scope, at)
    return loop is not None and any(isinstance(s, (ir.For, ir.While)) for s in _unconditional(loop.body))


def _unconditional(body: list[ir.Stmt]) -> Iterator[ir.Stmt]:
    for statement in body:
        yield statement
        if isinstance(statement, (ir.With, ir.Try)):
            yield from _unconditional(statement.body)
        elif isinstance(statement, ir.If) and statement.orelse:
            yield from _unconditional([*statement.body, *statement.orelse])


def _loop_around(scope: ModuleScope, at: Any) -> Any:
    around = list(nodes_around(scope.tree.body, at.start, at.end))
    return next((node for node in reversed(around) if isinstance(node, (ir.For, ir.While))), None)


def _acts(node: Any) -> bool:
    if not isinstance(node, ir.Assign) or not isinstance(node.value, ir.Call) or len(node.value.args) != 1:
        return False
    func, target = node.value.func, node.targets[0]
    parts = len(target.elts) if isinstance(target, ir.Tuple) else 0
    return isinstance(func, ir.Attribute) and func.attr == "step" and parts in _ENVIRONMENT


_ENVIRONMENT = (4, 5)
"""So many values the ``step`` of an environment of the host returns."""


def _converts(node: Any) -> bool:
    """``loss.item()``, ``float(loss)``: not of a number that is written there."""
    if not isinstance(node, ir.Call):
        return False
    if isinstance(node.func, ir.Attribute):
        return node.func.attr in _ITEMS
    casts = isinstance(node.func, ir.Name) and node.func.id in _CASTS
    return casts and any(not isinstance(a.value, ir.Constant) for a in node.args)


_ASKING = frozenset({"is", "is not", "in", "not in"})
"""Comparisons that do not read the value."""


def _compared(test: ir.Expr) -> Iterator[Any]:
    """What a test compares, or takes for true, as it is."""
    if isinstance(test, ir.BoolOp):
        for value in test.values:
            yield from _compared(value)
    elif isinstance(test, ir.Compare) and _ASKING.isdisjoint(test.ops):
        yield from (test.left, *test.comparators)
    elif isinstance(test, ir.UnaryOp):
        yield from _compared(test.operand)
    else:
        yield test


def _is_needed_again(scope: ModuleScope, at: Any, block: list[ir.Stmt]) -> bool:
    """``history.append(loss.item())``, and then ``bar.set_postfix(loss=loss.item())``: another read needs the value."""
    names = {node.id for node in walk(at) if isinstance(node, ir.Name)}
    for name in names:
        for path in _reads(block, name):
            reading = next((node for node in path if isinstance(node, ir.Call) and _reads_value(node, path[-1])), None)
            if reading is not None and reading is not at:
                outer = path[: path.index(reading) + 1]
                if _use(scope, outer, reading, block, _Look(1)) == "needed":
                    return True
    return False


def _reads_value(call: ir.Call, name: ir.Name) -> bool:
    """``float(x)``, ``x.item()``."""
    if isinstance(call.func, ir.Attribute):
        return call.func.attr in _ITEMS and call.func.value is name
    return isinstance(call.func, ir.Name) and call.func.id in _CASTS and any(a.value is name for a in call.args)


def _use(scope: ModuleScope, path: list[Any], at: Any, block: list[ir.Stmt], look: _Look) -> Use:
    """``path``: the nodes around ``at``, outermost first. block: where to look for what becomes of a variable."""
    found: Use | None = None
    inner = path[-1]
    for node in reversed(path):
        if isinstance(node, ir.Call) and node is not inner:
            called = _called(scope, node)
            if called == "needed":
                return "needed"
            if called in ("shown", "refreshed", "kept"):
                found = found or called
        elif look.lenient and _is_harmless(node, at):
            return found or "kept"
        elif (
            isinstance(node, (ir.IfExp, ir.If, ir.While)) and node.test.start <= at.start < node.test.end
        ) or isinstance(node, _NEEDING):
            return "needed"
        elif isinstance(node, ir.Subscript) and node.index.start <= at.start < node.index.end and node is not at:
            return "needed" if found is None else found
        elif isinstance(node, ir.ExprStmt):
            if node.value is at:
                return found or "kept"
            whole = _called(scope, node.value) if isinstance(node.value, ir.Call) else "needed"
            return found or ("needed" if whole == "converted" else whole)
        elif isinstance(node, (ir.Assign, ir.AugAssign, ir.AnnAssign)):
            return found or _assigned(scope, node, block, look)
        elif isinstance(node, ir.Return) and look.lenient:
            return found or "returned"
        elif isinstance(node, (ir.For, ir.With, ir.Return, ir.Assert, ir.Raise, ir.Delete, ir.Match)):
            return found or "needed"
    return "needed"


def _is_harmless(node: Any, at: Any) -> bool:
    """``{k: float(v) for k, v in metrics.items()}`` makes a number of each result, and ``ema is None`` reads nothing."""
    return _is_element(node, at) or (isinstance(node, ir.Compare) and not _ASKING.isdisjoint(node.ops))


def _is_element(node: Any, at: Any) -> bool:
    """A comprehension makes an element of the value."""
    return isinstance(node, ir.Comprehension) and bool(node.element.start <= at.start < node.element.end)


def _called(scope: ModuleScope, call: ir.Call) -> Literal["kept", "shown", "refreshed", "converted", "needed"]:
    """What a call does with its arguments, or with the value that it is a method of."""
    func = call.func
    if isinstance(func, ir.Name):
        if func.id == "print":
            return "refreshed" if any(argument.keyword == "end" for argument in call.args) else "shown"
        value = scope.slots.get(func.id)
        if isinstance(value, External):
            return "converted" if value.name.partition(".")[0] in _LIBRARIES else "needed"
        return (
            "converted" if func.id in _CONVERTING and (value is None or isinstance(value, BuiltinValue)) else "needed"
        )
    if not isinstance(func, ir.Attribute):
        return "needed"
    root = func.value
    while isinstance(root, ir.Attribute):
        root = root.value
    value = scope.slots.get(root.id) if isinstance(root, ir.Name) else None
    name = value.name if isinstance(value, External) else value.scope.name if isinstance(value, ModuleValue) else ""
    if name.partition(".")[0] in _LIBRARIES:
        return "converted"
    if func.attr in _COLLECTING:
        return "kept"
    if func.attr in _LOGGING:
        return "shown"
    return "converted" if func.attr in _READING else "needed"


def _assigned(
    scope: ModuleScope, node: ir.Assign | ir.AugAssign | ir.AnnAssign, block: list[ir.Stmt], look: _Look
) -> Use:
    """What becomes of what the statement assigns."""
    if isinstance(node, ir.AugAssign) and not isinstance(node.target, ir.Name):
        return "kept"
    targets = node.targets if isinstance(node, ir.Assign) else [node.target]
    uses: list[Use] = []
    for target in targets:
        for single in target.elts if isinstance(target, (ir.Tuple, ir.List)) else [target]:
            if not isinstance(single, ir.Name):
                uses.append("kept")
            elif look.depth:
                uses += _uses_of_name(scope, single.id, node, block, look.deeper())
    return "needed" if "needed" in uses else next((use for use in uses if use != "kept"), "kept")


def _uses_of_name(scope: ModuleScope, name: str, made: Any, block: list[ir.Stmt], look: _Look) -> Iterator[Use]:
    """What the block does with a variable, the statement aside that sets it."""
    for path in _reads(block, name):
        if made in path:
            continue
        statement = next(node for node in reversed(path) if isinstance(node, _STATEMENTS))
        if isinstance(statement, (ir.Assign, ir.AugAssign)) and _sets(statement, name):
            continue
        yield _use(scope, path[:-1], path[-1], block, look) if len(path) > 1 else "needed"


_STATEMENTS = (
    ir.Assign, ir.AugAssign, ir.AnnAssign, ir.ExprStmt, ir.Return, ir.If, ir.While, ir.For, ir.With, ir.Assert, ir.Raise,
    ir.Delete, ir.Match, ir.Try, ir.FunctionDef, ir.ClassDef,
)  # fmt: skip


def _sets(statement: ir.Assign | ir.AugAssign, name: str) -> bool:
    targets = statement.targets if isinstance(statement, ir.Assign) else [statement.target]
    return any(isinstance(target, ir.Name) and target.id == name for target in targets)


def _reads(block: list[ir.Stmt], name: str) -> Iterator[list[Any]]:
    """The path to every place of a block that reads a variable."""
    todo: list[tuple[Any, tuple[Any, ...]]] = [(statement, ()) for statement in block]
    while todo:
        node, path = todo.pop()
        if isinstance(node, ir.Name):
            if node.id == name and not _is_target(path, node):
                yield [*path, node]
            continue
        path = (*path, node) if isinstance(node, ir.Node) else path
        todo += [(part, path) for part in below(node)]


def _is_target(path: tuple[Any, ...], node: ir.Name) -> bool:
    statement = next((outer for outer in reversed(path) if isinstance(outer, _STATEMENTS)), None)
    if isinstance(statement, ir.Assign):
        return any(target.start <= node.start < target.end for target in statement.targets)
    if isinstance(statement, (ir.AugAssign, ir.AnnAssign)):
        return statement.target is node
    return isinstance(statement, ir.For) and statement.target.start <= node.start < statement.target.end
