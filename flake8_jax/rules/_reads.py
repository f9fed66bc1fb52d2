"""Who may read a container that staged code changes, once the trace is over: by the names in the file.

Limitations: aliases, other files, the order of reads and writes inside of the function that makes the change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from flake8_jax.core import ir
from flake8_jax.semantics.domain.code import below
from flake8_jax.semantics.events.events import Mutation

Reach = Literal["read", "kept", "passed", "gone"]
"""``read``: code outside of the function that changes it reads the container. ``kept``: it stays where other code may read
it. ``passed``: the function got it as an argument; whether the caller reads it after the trace is not known. ``gone``: it is a
variable of a function in which nothing else reads it."""
_CHANGING = frozenset(
    {"add", "append", "appendleft", "clear", "discard", "extend", "insert", "remove", "reverse", "sort", "update"}
)


def reach(event: Mutation, container: ir.Node) -> Reach:
    """Whether what is put into a container can be met after the trace."""
    container = _outermost(container)
    tree, start = event.context.scope.tree, event.at.start
    around = list(_functions_around(tree.body, start))
    inner = around[-1] if around else None
    if isinstance(container, ir.Attribute):
        read = _is_read(tree.body, container.attr, inner, attribute=True)
        return "read" if read else "kept"
    if not isinstance(container, ir.Name) or inner is None:
        return "kept"
    owner = next((f for f in reversed(around) if container.id in f.local_names), None)
    if owner is inner and any(p.name == container.id for p in inner.params):
        return "passed"
    if owner is inner or _is_read(tree.body if owner is None else owner.body, container.id, inner):
        return "read"
    is_given = owner is not None and any(p.name == container.id for p in owner.params)
    return "kept" if owner is None or is_given else "gone"


_GIVING = frozenset({"get", "setdefault"})


def _outermost(container: ir.Node) -> ir.Node:
    """``d`` of ``d["a"][0]`` and of ``d.setdefault("a", [])``."""
    while True:
        if isinstance(container, ir.Subscript):
            container = container.value
        elif (
            isinstance(container, ir.Call)
            and isinstance(container.func, ir.Attribute)
            and container.func.attr in _GIVING
        ):
            container = container.func.value
        else:
            return container


def _functions_around(node: Any, offset: int) -> Iterator[ir.Function]:
    """The functions whose bodies hold an offset, outermost first."""
    for part in below(node):
        if isinstance(part, ir.Node) and not part.start <= offset < part.end:
            continue
        if isinstance(part, (ir.FunctionDef, ir.Lambda)):
            yield part.function
        yield from _functions_around(part, offset)


def _is_read(body: list[ir.Stmt], name: str, inner: ir.Function | None, *, attribute: bool = False) -> bool:
    """A variable, or an attribute of that name, is read: more than to change what it holds. inner: what stands in that
    function does not count."""
    todo: list[Any] = [*body]
    while todo:
        node = todo.pop()
        kind = type(node)
        if kind is ir.Attribute and attribute and node.attr == name:
            return True
        if kind is ir.Name:
            if node.id == name and not attribute:
                return True
            continue
        if kind is ir.Function and (node is inner or (not attribute and name in node.local_names)):
            todo += [p.default for p in node.params]
            continue
        todo += _read_parts(node)
    return False


def _read_parts(node: Any) -> list[Any]:
    """What stands below a node, without the containers that it only changes and the names that it only binds."""
    if isinstance(node, ir.Assign):
        return [node.value, *[part for target in node.targets for part in _of_target(target)]]
    if isinstance(node, (ir.AugAssign, ir.AnnAssign, ir.NamedExpr)):
        return [node.value, *_of_target(node.target)]
    if isinstance(node, ir.ExprStmt) and isinstance(node.value, ir.Call):
        call = node.value
        if isinstance(call.func, ir.Attribute) and call.func.attr in _CHANGING:
            return [*call.args, *_of_target(call.func.value)]
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id == "len" and len(node.args) == 1:
        counted = node.args[0].value
        if isinstance(counted, (ir.Name, ir.Attribute, ir.Subscript)):
            # How often something was traced, or how many leaves it has: no tracer is used.
            return _of_target(counted)
    return list(below(node))


def _of_target(target: Any) -> list[Any]:
    """What is read where a target is assigned to: indices, and the objects that attributes belong to."""
    if isinstance(target, (ir.Tuple, ir.List)):
        return [part for element in target.elts for part in _of_target(element)]
    if isinstance(target, ir.Starred):
        return _of_target(target.value)
    if isinstance(target, ir.Subscript):
        return [target.index, *_of_target(target.value)]
    return [target.value] if isinstance(target, ir.Attribute) else []
