"""Lists, tuples and comprehensions of unknown length whose elements eager code takes to the device, or back, one by one.

Vocabulary
----------
rows        NumPy arrays of the host: each becomes an operand of its own, so each is copied by itself.
column      what ``zip(*batch)`` makes of one field of all samples: ``images, labels = zip(*batch)``.
scalars     results of the device, one number each: losses of all steps.
copies      elements of a list that are all one array: ``[x] * n``.

Limitations: lists that other functions fill with something unknown.
"""

from __future__ import annotations

import re
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report
from flake8_jax.rules._tracers import contains_tracer, quote
from flake8_jax.rules._wording import callee, spelled
from flake8_jax.semantics.domain.code import (
    all_statements,
    bound_paths,
    called_name,
    last_name,
    names_read,
    nodes_around,
    path_of,
)
from flake8_jax.semantics.domain.dispatching import dispatched_in
from flake8_jax.semantics.domain.values import Array, HostArray, ListValue, Opaque, Tree, UnionValue, Value
from flake8_jax.semantics.events.events import Context, LibraryCall

_JOINING = {
    "jax.numpy.stack": "np.stack",
    "jax.numpy.concatenate": "np.concatenate",
    "jax.numpy.vstack": "np.vstack",
    "jax.numpy.hstack": "np.hstack",
    "jax.numpy.dstack": "np.dstack",
}
_STACKING = "jax.numpy.stack"
_CONVERTING = frozenset({"jax.numpy.array", "jax.numpy.asarray"})
_MAKING = frozenset({"array", "asarray"})
_READING = frozenset(
    f"numpy.{name}" for name in ("mean", "average", "median", "std", "var", "sum", "max", "min", "stack", "concatenate")
) | {"statistics.mean", "statistics.fmean", "statistics.stdev"}
_PLOTTING = "matplotlib."
_FEW_COPIES = 8
"""So many copies are not worth a change."""
_GATHERING = re.compile(r"(?i)collat|sampl|buffer|memory|replay|transition")
"""In the names of functions and variables that have to do with many samples."""


def holds_scalars(value: Value) -> bool:
    """The arrays of such a list are scalars for sure."""
    if not holds_arrays(value) or not isinstance(value, ListValue):
        return False
    element = value.slots.get("*")
    members = element.members if isinstance(element, UnionValue) else (element,)
    return all(isinstance(member, Array) and member.ndim == 0 for member in members)


def holds_arrays(value: Value) -> bool:
    """A list whose length is not known, and whose elements are arrays for sure."""
    return _is_open(value) and _is_array(_element(value))


def report_rows(event: LibraryCall) -> Report | None:
    """``jnp.stack([np.load(p) for p in paths])``, ``jnp.stack(images)`` after ``images, labels = zip(*batch)``."""
    context, node, value = event.context, event.nodes[0], event.args[0]
    if event.name not in _JOINING or node is None:
        return None
    function, subject, instead = (
        spelled(context, event.at, event.name),
        quote(context, node, "a list"),
        _JOINING[event.name],
    )
    if event.name == _STACKING and isinstance(node, ir.Call) and called_name(node.func, context.scope) == "split":
        problem = (
            f"`{function}` joins the parts that {quote(context, node)} has just cut, with one operation for each part"
        )
        return Report(event.at, f"{problem}; use reshape", preview=True)
    if _is_open(value) and _is_row(_element(value)):
        problem = f"`{function}` copies the NumPy arrays in {subject} to the device one by one"
    elif _makes_arrays(context, node):
        problem = f"`{function}` gets the arrays of {subject}, which are copied to the device one by one"
    elif _is_column(context, node) or _is_gathered(event, node):
        problem = f"`{function}` takes each element of {subject} to the device by itself, unless it is there"
    else:
        return None
    return Report(event.at, f"{problem}, as one operand each; use jnp.asarray({instead}(…))", preview=True)


def report_copies(event: LibraryCall) -> Report | None:
    """``jnp.array([x] * n)``, ``jnp.stack([x for _ in range(n)])``. Traced code gets an operand for each copy, too."""
    context, node, value = event.context, event.nodes[0], event.args[0]
    if event.name not in _JOINING.keys() | _CONVERTING or not isinstance(value, ListValue) or node is None:
        return None
    known = value.known()
    repeated = _repeated(node)
    element = known[0] if known else value.slots.get("*")
    is_array = _is_array(element) or (isinstance(element, Tree) and contains_tracer(element))
    count = len(known) if known is not None else _written_count(node)
    if repeated is None or not is_array or (count is not None and count <= _FEW_COPIES):
        return None
    is_scalar = isinstance(element, Array) and element.ndim == 0
    instead = "jnp.full" if is_scalar else "jnp.broadcast_to" if event.name in _CONVERTING | {_STACKING} else "jnp.tile"
    function, subject = spelled(context, event.at, event.name), quote(context, repeated, "one array")
    problem = f"`{function}` joins copies of {subject} with one operand for each, which takes long to compile if there are many"
    return Report(event.at, f"{problem}; use {instead}", preview=True)


def _repeated(node: ir.Expr) -> ir.Expr | None:
    """``x`` of ``[x] * n`` and of ``[x for _ in range(n)]``."""
    if isinstance(node, ir.BinOp) and node.op == "*":
        lists = [
            side for side in (node.left, node.right) if isinstance(side, (ir.List, ir.Tuple)) and len(side.elts) == 1
        ]
        return lists[0].elts[0] if lists and not isinstance(lists[0].elts[0], ir.Starred) else None
    if isinstance(node, ir.Comprehension) and isinstance(node.element, (ir.Name, ir.Attribute)):
        targets = set().union(*[names_read(generator.target) for generator in node.generators])
        return node.element if targets.isdisjoint(names_read(node.element)) else None
    return None


def _written_count(node: ir.Expr) -> int | None:
    """3 of ``[x for _ in range(3)]``."""
    only = node.generators[0].iter if isinstance(node, ir.Comprehension) and len(node.generators) == 1 else None
    if not isinstance(only, ir.Call) or last_name(only.func) != "range" or len(only.args) != 1:
        return None
    end = only.args[0].value
    return end.value if isinstance(end, ir.Constant) and type(end.value) is int else None


def report_scalars(event: LibraryCall) -> Report | None:
    """``plt.plot(losses)``, ``np.mean(losses)`` of results that the loop around goes on to collect. One conversion of the whole
    list costs little: of nine such places in public repositories none was worth a change."""
    context = event.context
    if event.name not in _READING and not (event.name.startswith(_PLOTTING) and context.loop_ids):
        return None
    pairs = list(zip(event.args, event.nodes, strict=False))
    node = next((node for value, node in pairs if node is not None and _holds_results(value)), None)
    if node is None or not _is_growing(context, node):
        return None
    subject = quote(context, node, "a list")
    problem = f"{callee(context, event.at)} copies the JAX scalars in {subject} from the device one by one"
    problem += ", each time the whole list, which grows"
    return Report(event.at, f"{problem}; append jax.device_get of the new ones to a list of numbers", preview=True)


def _holds_results(value: Value) -> bool:
    """A list of scalars, or of results of unknown jitted code, of which a number is made."""
    element = _element(value) if _is_open(value) else None
    return holds_scalars(value) or (isinstance(element, Opaque) and dispatched_in(element) > 0)


def _is_open(value: Value) -> bool:
    """A list of unknown length."""
    return isinstance(value, ListValue) and value.known() is None and not value.slots.get("declared")


def _element(value: Value) -> Value | None:
    return value.slots.get("*") if isinstance(value, ListValue) else None


def _is_array(value: Value | None) -> bool:
    if isinstance(value, UnionValue):
        return all(_is_array(member) for member in value.members)
    return isinstance(value, Array) and not value.declared and value.dtype != "key"


def _is_row(value: Value | None) -> bool:
    """An array of NumPy for sure."""
    if isinstance(value, UnionValue):
        return all(_is_row(member) for member in value.members)
    return isinstance(value, HostArray) and not value.declared


def _makes_arrays(context: Context, node: ir.Expr) -> bool:
    """``[jnp.asarray(image) for image in images]``."""
    made = node.element if isinstance(node, ir.Comprehension) else None
    if not isinstance(made, ir.Call) or not made.args or isinstance(made.args[0].value, (ir.List, ir.Tuple)):
        return False
    return called_name(made.func, context.scope) in _MAKING and _is_of_jax(context, made.func)


def _is_of_jax(context: Context, func: ir.Expr) -> bool:
    """``jnp.array``, not ``np.array``."""
    return "jnp" in context.scope.text[func.start : func.end]


def _is_column(context: Context, node: ir.Expr) -> bool:
    """``images`` after ``images, labels = zip(*batch)``; ``columns[0]`` after ``columns = list(zip(*batch))``."""
    name = path_of(node.value if isinstance(node, ir.Subscript) else node)
    body = context.inner.body if context.inner is not None else context.scope.tree.body
    made = [
        s for s in all_statements(body) if isinstance(s, ir.Assign) and s.end <= node.start and name in bound_paths(s)
    ]
    if not name or not made or not _is_transposed(made[-1].value):
        return False
    return isinstance(made[-1].targets[0], (ir.Tuple, ir.List)) != isinstance(node, ir.Subscript)


def _is_transposed(value: Any) -> bool:
    """``zip(*batch)``, also in ``list``, ``tuple`` or ``map``."""
    if not isinstance(value, ir.Call) or not isinstance(value.func, ir.Name):
        return False
    if value.func.id == "zip":
        return len(value.args) == 1 and value.args[0].star == 1
    inner = value.args[-1].value if value.args else None
    return value.func.id in ("list", "tuple") and _is_transposed(inner)


def _is_gathered(event: LibraryCall, node: ir.Expr) -> bool:
    """``jax.tree.map(lambda *xs: jnp.stack(xs), *samples)``."""
    context = event.context
    inner = context.inner
    if inner is None or not isinstance(node, ir.Name) or not _is_open(event.args[0]):
        return False
    if not any(parameter.name == node.id and parameter.kind == "vararg" for parameter in inner.params):
        return False
    around = [n for n in nodes_around(context.scope.tree.body, event.at.start, event.at.end) if isinstance(n, ir.Call)]
    given = [context.scope.text[a.start : a.end] for call in around for a in call.args if a.star]
    return any(map(_GATHERING.search, [*given, context.function]))


def _is_growing(context: Context, node: ir.Expr) -> bool:
    """A loop around appends to the list, and does not begin a new one: each iteration converts all of it again."""
    text = context.scope.text
    name, array = text[node.start : node.end], path_of(node.value if isinstance(node, ir.Subscript) else node)
    around = list(nodes_around(context.scope.tree.body, node.start, node.end))
    for loop in (n for n in around if isinstance(n, (ir.For, ir.While))):
        bound = set().union(*[bound_paths(statement) for statement in loop.body])
        called = [n.func for s in loop.body for n in walk(s) if isinstance(n, ir.Call)]
        filled = [f.value for f in called if isinstance(f, ir.Attribute) and f.attr == "append"]
        if array and array not in bound and any(text[owner.start : owner.end] == name for owner in filled):
            return True
    return False
