"""Loops of Python that take one row of an array, or one leaf of a pytree, after the other, as the code spells them.

Vocabulary
----------
source      what the rows come from: ``xs`` of ``for x in xs``, ``for i, x in enumerate(xs)``, ``for x, y in zip(xs, ys)``,
            ``for x in reversed(xs)`` and ``for t in range(xs.shape[0])``.
row         the name of an element, or ``xs[t]``.
plain       the loop uses a row as one uses an array: it calls no method of it and takes no attribute or item by name. The
            layers of a network are not used so; a loop over parameters, by its names, is not plain either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import (
    all_statements,
    below,
    bound_paths,
    is_named_step,
    last_name,
    names_read,
    path_of,
    paths_read,
)

_WRAPPERS = frozenset({"reversed", "tqdm", "list", "tuple"})
_OF_NETWORKS = re.compile(
    r"(?:^|_)(?:params?|parameters?|layers?|blocks?|weights?|biases|kernels?|modules?|models?|nets?|networks?|heads?|stages?"
    r"|convs?|lins?|linears?|dims|sizes|fns?|funs?|functions?|grads?|gradients?|moments?|momentum|velocity|velocities|updates?|leaves|keys?|theta|names|w|b|ws|bs|p|ps|axes|axis|shape|shapes)"
    r"(?:_|\d|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rows:
    """source: see above. row: its name, empty if the loop counts. counter: the variable that counts, empty if it does not."""

    source: ir.Expr
    row: str
    counter: str


def rows_of(node: ir.For | ir.Comprehension) -> tuple[Rows, ...]:
    """The sources of a loop, in order; none if it may go over something else."""
    if isinstance(node, ir.For):
        return _rows(node.target, node.iter)
    if len(node.generators) != 1 or node.generators[0].ifs or node.kind == "dict":
        return ()
    return _rows(node.generators[0].target, node.generators[0].iter)


def _rows(target: ir.Expr, iterable: ir.Expr) -> tuple[Rows, ...]:
    if isinstance(iterable, ir.Call):
        return _rows_of_call(target, iterable)
    if isinstance(iterable, ir.Subscript) and isinstance(iterable.index, ir.Slice):
        return _rows(target, iterable.value)
    is_row = isinstance(target, ir.Name) and isinstance(iterable, ir.Name)
    return (Rows(iterable, target.id, ""),) if is_row and isinstance(target, ir.Name) else ()


def _rows_of_call(target: ir.Expr, call: ir.Call) -> tuple[Rows, ...]:
    name, given = last_name(call.func), [a.value for a in call.args if not (a.star or a.keyword)]
    if len(given) != len(call.args) or not given:
        return ()
    if name in _WRAPPERS:
        return _rows(target, given[0])
    targets = target.elts if isinstance(target, ir.Tuple) else []
    if name == "enumerate" and len(targets) == 2:
        return _rows(targets[1], given[0])
    if name == "zip" and len(targets) == len(given):
        found = [_rows(*pair) for pair in zip(targets, given, strict=True)]
        return tuple(rows for part in found for rows in part) if all(found) else ()
    return ()


def is_plain(node: ir.For | ir.Comprehension, rows: tuple[Rows, ...]) -> bool:
    """All rows are used as arrays are, and nothing is named after the parts of a network."""
    named = {rows.row for rows in rows} | {last_name(rows.source) for rows in rows}
    if any(_OF_NETWORKS.search(name) for name in named):
        return False
    own = {rows.row for rows in rows}
    body = node.body if isinstance(node, ir.For) else [node.element]
    for part in body:
        for inner in walk(part):
            value = inner.func if isinstance(inner, ir.Call) else None
            if isinstance(inner, ir.Attribute) or (isinstance(inner, ir.Subscript) and _is_name(inner.index)):
                value = inner.value
            if isinstance(value, ir.Name) and value.id in own:
                return False
            if isinstance(inner, ir.Assign) and isinstance(inner.value, ir.Name) and inner.value.id in own:
                return False  # ``w, b = row``
    return True


def _is_name(index: ir.Expr) -> bool:
    return isinstance(index, ir.Constant) and isinstance(index.value, str)


def uses_before_binding(node: ir.For | ir.Comprehension) -> bool:
    """An iteration reads what the one before has bound: ``h = cell(x, h)``."""
    if isinstance(node, ir.Comprehension):
        return False
    later = set().union(*[bound_paths(statement) for statement in node.body])
    for statement in node.body:
        if not names_read(_value_of(statement)).isdisjoint(later):
            return True
        if isinstance(statement, (ir.Assign, ir.AnnAssign)):
            later -= bound_paths(statement)
    return False


def _value_of(statement: ir.Stmt) -> ir.Node:
    """Without the target of ``a[i] = …``."""
    return statement.value if isinstance(statement, ir.Assign) else statement


def replaces_each(node: ir.For) -> bool:
    """``for i in range(len(params)): params[i] -= rate * grads[i]``: each turn computes an item from that of another
    container, in place."""
    counters = names_read(node.target)
    for statement in node.body:
        if isinstance(statement, ir.For) and replaces_each(statement):
            return True
        if isinstance(statement, ir.AugAssign):
            target: ir.Expr = statement.target
        elif isinstance(statement, ir.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
        else:
            continue
        if not isinstance(target, ir.Subscript) or counters.isdisjoint(names_read(target.index)):
            continue
        items = [n for n in walk(statement.value) if isinstance(n, ir.Subscript)]
        if any(
            last_name(n.value) != last_name(target.value) and not counters.isdisjoint(names_read(n.index))
            for n in items
        ):
            return True
    return False


_STEPS = re.compile(
    r"(?:^|_)(?:steps?|timesteps?|iters?|iterations?|time|times|horizon|length|len|seq|rows?|cols?|columns|width|height|samples?"
    r"|points|particles|neurons|episodes)(?:_|$)|^T$|^nt$",
    re.IGNORECASE,
)


def is_step_by_step(node: Any) -> bool:
    """A loop that counts, and that sets one element of an array in each iteration (``grid = grid.at[i, j].set(…)``); or that
    goes over steps or a length by its name, and whose iterations need what the one before has computed."""
    if not isinstance(node, ir.For) or not isinstance(node.iter, ir.Call) or last_name(node.iter.func) != "range":
        return False
    counters = names_read(node.target)
    if any(_sets_element(statement, counters) for statement in all_statements(node.body)):
        return True
    count = node.iter.args[-1].value if node.iter.args else node.iter
    named = [
        n.attr if isinstance(n, ir.Attribute) else n.id for n in walk(count) if isinstance(n, (ir.Attribute, ir.Name))
    ]
    if any(map(_OF_NETWORKS.search, named)):
        return False
    names_it = any(map(_STEPS.search, named)) or _is_length(count)
    return names_it and uses_before_binding(node)


def _is_length(count: ir.Expr) -> bool:
    return isinstance(count, ir.Call) and last_name(count.func) == "len"


def _sets_element(statement: ir.Stmt, counters: set[str]) -> bool:
    """``a = a.at[i].set(x)``."""
    value = statement.value if isinstance(statement, ir.Assign) else None
    if not isinstance(value, ir.Call) or not isinstance(value.func, ir.Attribute):
        return False
    item = value.func.value
    is_at = isinstance(item, ir.Subscript) and isinstance(item.value, ir.Attribute) and item.value.attr == "at"
    return is_at and isinstance(item, ir.Subscript) and not counters.isdisjoint(names_read(item.index))


def leaf_update(body: list[ir.Stmt]) -> ir.Node | None:
    """Where code updates parameters leaf by leaf, by their gradients: ``p - rate * g for p, g in zip(params, grads)``, a loop
    that does so, or ``jax.tree.map`` of such a lambda."""
    for statement in body:
        for node in walk(statement):
            found = _update_in(node)
            if found is not None:
                return found
    return None


_TREE_MAPS = frozenset({"map", "tree_map", "tree_multimap"})
_GRADIENT = re.compile(r"(^|_)(d?grads?|gradients?)(_|$)")


def _update_in(node: Any) -> ir.Node | None:
    if isinstance(node, ir.For):
        inner = next((loop for loop in node.body if isinstance(loop, ir.For) and _computed(loop.body)), node)
        names_it = _names_gradients(node.iter) or (replaces_each(node) and _names_gradients(node))
        return _computed(inner.body) if names_it else None
    if isinstance(node, ir.Comprehension):
        goes_over = any(_names_gradients(generator.iter) for generator in node.generators)
        return node if goes_over and _computes(node.element) else None
    if isinstance(node, ir.Call) and last_name(node.func) in _TREE_MAPS and node.args:
        mapped = node.args[0].value
        if isinstance(mapped, ir.Lambda) and any(map(_computes, mapped.function.body)):
            return node if any(_names_gradients(argument.value) for argument in node.args[1:]) else None
    return None


def _names_gradients(node: ir.Node) -> bool:
    return any(_GRADIENT.search(name) for name in names_read(node))


def _computed(body: Iterable[ir.Stmt]) -> ir.Expr | None:
    """What the first statement computes that does."""
    values = (statement.value for statement in body if isinstance(statement, (ir.Assign, ir.AugAssign)))
    return next((value for value in values if _computes(value)), None)


def _computes(node: ir.Node) -> bool:
    return any(isinstance(inner, ir.BinOp) for inner in walk(node))


# --- loops that step ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StepLoop:
    """A loop whose iterations compute something from what the one before has computed. carried: the variables that go from one
    iteration to the next; lists: those of them that are lists of which the last item goes on (``ys[-1]``). weight: so many
    operations and calls an iteration makes. is_plain: it has no way out and shows nothing, so that a loop of JAX can
    replace it. fills: it only sets the elements of what it carries."""

    carried: frozenset[str]
    lists: frozenset[str]
    weight: int
    is_plain: bool
    fills: bool


def step_loop(node: Any) -> StepLoop | None:
    """How a loop steps, as the code spells it; None of a loop that does something else, such as to go over layers."""
    if not isinstance(node, (ir.For, ir.While)) or (isinstance(node, ir.For) and _goes_over_network(node)):
        return None
    body = list(all_statements(node.body))
    if any(isinstance(statement, _ELSEWHERE) for statement in body) or _works_on_host(node) or _trains(node):
        return None
    if (isinstance(node, ir.While) and isinstance(node.test, ir.Constant)) or _changes_shapes(node):
        return None
    lists = _last_items_read(node) & {name for s in body if (name := _appended_to(s))}
    targets = names_read(node.target) if isinstance(node, ir.For) else set()
    carried = _handed_on(node.body) - _counted_up(node.body) - targets | lists
    carried = {name for name in carried if not _KEYS.search(name.rpartition(".")[2])}
    if not carried:
        return None
    is_plain = not any(isinstance(statement, (ir.Break, ir.Return)) for statement in body)
    shows = any(isinstance(n, ir.Call) and last_name(n.func) == "print" for s in node.body for n in walk(s))
    weight = sum(map(_weight_of, body))
    fills = carried <= {path for path in carried if _is_only_filled(body, path)}
    return StepLoop(frozenset(carried), frozenset(lists), weight, is_plain and not shows, fills)


def _is_only_filled(body: list[ir.Stmt], path: str) -> bool:
    """``x = x.at[i].set(y)``, where nothing else reads ``x``."""
    for statement in body:
        if path not in paths_read(_value_of(statement)):
            continue
        value = statement.value if isinstance(statement, ir.Assign) else None
        item = value.func.value if isinstance(value, ir.Call) and isinstance(value.func, ir.Attribute) else None
        array = item.value if isinstance(item, ir.Subscript) else None
        if not isinstance(array, ir.Attribute) or array.attr != "at" or path_of(array.value) != path:
            return False
        assert isinstance(value, ir.Call)
        assert isinstance(item, ir.Subscript)
        if any(path in paths_read(argument.value) for argument in value.args) or path in paths_read(item.index):
            return False
    return True


_ELSEWHERE = (ir.For, ir.While, ir.With, ir.Try, ir.FunctionDef, ir.ClassDef, ir.Raise, ir.Delete)
"""Statements of a loop around other loops, or one that works with files and the like."""
_KEYS = re.compile(r"(?:^|_)(?:keys?|rngs?|seeds?|prng)(?:_|\d|$)", re.IGNORECASE)
_HOST_CALLS = re.compile(
    r"^(?:reset|render|next\w*|train|fit|set_description|item|tolist|write|open|backward|zero_grad|apply_gradients|apply_updates|sample_batch|set_postfix"
    r"|device_get|block_until_ready|get_batch|load|save|savefig|plot|scatter|imshow|log|time|perf_counter|input|read|pop)$"
    r"|animat|visuali|optimi[sz]er"
)
_HOST_ROOTS = frozenset(
    {"np", "numpy", "onp", "plt", "ax", "wandb", "logger", "logging", "env", "torch", "tf", "time", "random"}
)
_FREE = frozenset({"len", "int", "float", "bool", "range", "print", "min", "max", "abs", "str", "round"})
_MOVING = frozenset({"append", "split", "fold_in"})
_DEPTH_NAMES = re.compile(r"(?:^|_)(?:depth|hidden|features|units|channels|levels)(?:_|$)|^[lL]$")
_MODULES = frozenset({"jnp", "jax", "lax", "jnn", "jsp", "jscipy"})


def _goes_over_network(node: ir.For) -> bool:
    """The loop goes over layers or parameters, or takes one of them by its counter, as far as names tell."""
    read = [n for part in (node.iter, node.target) for n in walk(part) if isinstance(n, (ir.Name, ir.Attribute))]
    named = [n.attr if isinstance(n, ir.Attribute) else n.id for n in read]
    named = [name for name in named if name != "shape"]
    if any(_OF_NETWORKS.search(name) or _DEPTH_NAMES.search(name) for name in named):
        return True
    counters = names_read(node.target)
    items = (n for s in node.body for n in walk(s) if isinstance(n, ir.Subscript))
    taken = (item for item in items if not counters.isdisjoint(names_read(item.index)))
    return any(_OF_NETWORKS.search(last_name(item.value)) for item in taken)


def _trains(node: ir.For | ir.While) -> bool:
    """The loop calls a step of a training, or a function that is jitted by its name."""
    calls = [n for s in node.body for n in walk(s) if isinstance(n, ir.Call)]
    if any("jit" in last_name(call.func).lower() for call in calls):
        return True
    for statement in all_statements(node.body):
        call = statement.value if isinstance(statement, ir.Assign) else None
        if not isinstance(call, ir.Call) or not is_named_step(last_name(call.func)):
            continue
        given = set().union(*[names_read(argument.value) for argument in call.args])
        if any(_STATES.search(name) and (name in bound_paths(statement) or "batch" in name) for name in given):
            return True
    return False


_STATES = re.compile(r"(?:^|_)(?:params?|parameters|batch|model|optimizer|opt)(?:_|$)", re.IGNORECASE)


def _counted(node: ir.For) -> set[str]:
    """The counter of a loop, and the numbers that the body computes of it: ``width = 2**j``."""
    found = names_read(node.target)
    for statement in all_statements(node.body):
        if isinstance(statement, ir.Assign) and not any(isinstance(n, ir.Call) for n in walk(statement.value)):
            if not found.isdisjoint(names_read(statement.value)) and isinstance(
                statement.value, (ir.BinOp, ir.UnaryOp)
            ):
                found |= {target.id for target in statement.targets if isinstance(target, ir.Name)}
    return found


def _changes_shapes(node: ir.For | ir.While) -> bool:
    """The shape of what an iteration makes depends on its counter, or the loop joins arrays: no loop of JAX can do that."""
    counters = _counted(node) if isinstance(node, ir.For) else set()
    for statement in node.body:
        for inner in walk(statement):
            if isinstance(inner, ir.Slice) and not counters.isdisjoint(names_read(inner)):
                return True
            is_method = isinstance(inner, ir.Call) and not path_of(inner.func).startswith(("jnp.", "jax."))
            if isinstance(inner, ir.Call) and last_name(inner.func) in _SHAPING and not is_method:
                given = set().union(*[names_read(argument.value) for argument in inner.args])
                if last_name(inner.func) in _JOINING or not counters.isdisjoint(given):
                    return True
    return False


_JOINING = frozenset({"concatenate", "hstack", "vstack", "stack", "append", "concat", "column_stack"})
_SHAPING = frozenset({"eye", "zeros", "ones", "full", "empty", "arange", "linspace", "identity", "reshape"}) | _JOINING


def _works_on_host(node: ir.For | ir.While) -> bool:
    for statement in node.body:
        for inner in walk(statement):
            if not isinstance(inner, ir.Call):
                continue
            root = path_of(inner.func).partition(".")[0]
            name = last_name(inner.func)
            if root in _HOST_ROOTS or (root not in _MODULES and _HOST_CALLS.search(name)):
                return True
    return False


def _last_items_read(node: ir.For | ir.While) -> set[str]:
    """``ys`` of ``ys[-1]``."""
    items = (n for s in node.body for n in walk(s) if isinstance(n, ir.Subscript))
    return {
        path
        for item in items
        if isinstance(item.index, ir.UnaryOp) and item.index.op == "-" and (path := path_of(item.value))
    }


def _appended_to(statement: ir.Stmt) -> str:
    call = statement.value if isinstance(statement, ir.ExprStmt) else None
    if not isinstance(call, ir.Call) or not isinstance(call.func, ir.Attribute) or call.func.attr != "append":
        return ""
    return path_of(call.func.value)


def _handed_on(body: list[ir.Stmt]) -> set[str]:
    """What an iteration reads before it binds it, and binds."""
    bound = set().union(*[bound_paths(statement) for statement in body])
    comprehensions = [n for s in body for n in walk(s) if isinstance(n, ir.Comprehension)]
    own = set().union(*[names_read(generator.target) for c in comprehensions for generator in c.generators])
    assigned = [target for s in all_statements(body) if isinstance(s, ir.Assign) for target in s.targets]
    return _read_first(body, bound - (own - set().union(*map(names_read, assigned))))[0]


def _read_first(body: list[ir.Stmt], bound: set[str]) -> tuple[set[str], set[str]]:
    """Which of these variables a block may read before it binds them, and which of them it surely binds."""
    found: set[str] = set()
    later = set(bound)
    for statement in body:
        if isinstance(statement, ir.If):
            found |= paths_read(statement.test) & later
            (first, one), (second, other) = _read_first(statement.body, later), _read_first(statement.orelse, later)
            found |= first | second
            later -= one & other
            continue
        found |= paths_read(_value_of(statement)) & later
        if isinstance(statement, ir.AugAssign):
            found |= bound_paths(statement)
        if isinstance(statement, ir.Assign):
            found |= {path for t in statement.targets if isinstance(t, ir.Subscript) and (path := _root_of(t))}
            later -= {path_of(t) for t in statement.targets for t in (t.elts if isinstance(t, ir.Tuple) else [t])}
    return found, bound - later


def _root_of(target: ir.Expr) -> str:
    while isinstance(target, ir.Subscript):
        target = target.value
    return path_of(target)


def _counted_up(body: list[ir.Stmt]) -> set[str]:
    """Counters and sums: ``i += 1``, ``t = t + dt``, and ``total += loss`` if nothing else of the body reads ``total``."""
    statements = list(all_statements(body))
    bound = set().union(*[bound_paths(statement) for statement in body])
    found: set[str] = set()
    for path in bound:
        own = [s for s in statements if isinstance(s, (ir.Assign, ir.AugAssign)) and path in bound_paths(s)]
        others = [s for s in statements if s not in own and not isinstance(s, ir.If)]
        simple = all(_is_counting(s, path, bound) for s in own)
        sums = all(isinstance(s, ir.AugAssign) and s.op in ("+", "-") and path not in paths_read(s.value) for s in own)
        is_read = any(path in paths_read(s) for s in others)
        if own and (simple or (sums and not is_read)):
            found.add(path)
    return found


def _is_counting(statement: ir.Assign | ir.AugAssign, path: str, bound: set[str]) -> bool:
    """``i += 1``, ``t = t + dt``: by an amount that the loop does not change."""
    value = statement.value
    if any(isinstance(n, (ir.Call, ir.Subscript)) for n in walk(value)):
        return False
    operations = sum(isinstance(n, ir.BinOp) for n in walk(value))
    few = operations <= (0 if isinstance(statement, ir.AugAssign) else 1)
    return few and (paths_read(value) - {path}).isdisjoint(bound)


def _weight_of(statement: ir.Stmt) -> int:
    """How many operations and calls a statement itself makes, those of its blocks left out."""
    if isinstance(statement, (ir.Assign, ir.AnnAssign, ir.AugAssign, ir.ExprStmt)):
        values = [statement.value]
    else:
        values = [statement.test] if isinstance(statement, ir.If) else []
    count = int(isinstance(statement, ir.AugAssign))
    todo: list[Any] = [value for value in values if value is not None]
    while todo:
        node = todo.pop()
        if isinstance(node, ir.Subscript):
            todo.append(node.value)
            continue
        count += isinstance(node, ir.BinOp) and not (
            isinstance(node.left, ir.Constant) and isinstance(node.right, ir.Constant)
        )
        count += isinstance(node, ir.Call) and not (path_of(node.func) in _FREE or last_name(node.func) in _MOVING)
        todo += below(node)
    return count


def computes_with_jax(body: list[ir.Stmt]) -> bool:
    """Statements call a function of JAX that computes on the device, by the usual names of its modules."""
    for statement in body:
        for node in walk(statement):
            path = path_of(node.func) if isinstance(node, ir.Call) else ""
            if isinstance(node, ir.Call) and _is_update(node):
                return True
            root, _, rest = path.partition(".")
            if (
                root in _MODULES
                and rest
                and not rest.startswith(("random.", "tree", "debug", "device", "jit", "block"))
            ):
                return True
    return False


def _is_update(call: ir.Call) -> bool:
    """``x.at[i].set(y)``; pandas assigns to ``frame.at[i, "price"]``."""
    item = call.func.value if isinstance(call.func, ir.Attribute) else None
    return isinstance(item, ir.Subscript) and isinstance(item.value, ir.Attribute) and item.value.attr == "at"


def multiplies(body: list[ir.Stmt]) -> bool:
    """The code does more than to add, as one does with texts and lists, too."""
    return any(isinstance(n, ir.BinOp) and n.op in ("*", "/", "@", "**") for s in body for n in walk(s))


def array_names(body: list[ir.Stmt]) -> frozenset[str]:
    """The variables that a function of jax.numpy makes arrays of: ``jnp.stack(ys)``, ``jnp.array(ys)``."""
    calls = (n for s in body for n in walk(s) if isinstance(n, ir.Call))
    making = (c for c in calls if path_of(c.func).partition(".")[0] == "jnp" and c.args)
    return frozenset(path for call in making for path in paths_read(call.args[0].value))
