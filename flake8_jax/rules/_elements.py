"""Elements of an array of the device that an eager loop brings to the host one by one, by the syntax of the loop.

Vocabulary
----------
element   ``x[i]`` in a loop that binds ``i``, or the variable of a loop over ``x``.
read      the code makes a number of an element, or an ``if`` tests it: ``int(x[i])``, ``if x[i] == 3``.

Limitations: elements that a function of the program reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Union

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import bound_paths, last_name, names_read, nodes_around, path_of
from flake8_jax.semantics.domain.scopes import ModuleScope

Loop = Union[ir.For, ir.While, ir.Comprehension]
_CASTS = frozenset({"float", "int", "bool"})
_READING = frozenset({"item", "tolist"})
_TESTING = (ir.If, ir.While, ir.IfExp, ir.Assert)


def first_read(scope: ModuleScope, at: ir.Subscript, loop: Loop) -> ir.Node | None:
    """What reads the element ``at``, if the loop reads no element of this array before."""
    array = path_of(at.value)
    for node in _parts(loop):
        if isinstance(node, ir.Subscript) and path_of(node.value) == array:
            read = _read_at(scope, node, loop)
            if read is not None:
                return read if node is at else None
    return None


def is_brief(loop: Loop, few: int) -> bool:
    """``for i in range(3)``."""
    headers = loop.generators if isinstance(loop, ir.Comprehension) else [loop] if isinstance(loop, ir.For) else []
    counts = [
        [given.value.value for given in header.iter.args if isinstance(given.value, ir.Constant)]
        for header in headers
        if isinstance(header.iter, ir.Call) and last_name(header.iter.func) == "range"
    ]
    return any(len(numbers) == 1 and isinstance(numbers[0], int) and numbers[0] <= few for numbers in counts)


def read_of_row(scope: ModuleScope, array: ir.Node) -> ir.Node | None:
    """What reads the element of each iteration of the loop over ``array``."""
    around = list(nodes_around(scope.tree.body, array.start, array.end))
    loop = next((node for node in reversed(around) if isinstance(node, (ir.For, ir.Comprehension))), None)
    if loop is None:
        return None
    headers = [loop] if isinstance(loop, ir.For) else loop.generators
    name = next((name for header in headers if (name := _row(header.target, header.iter, array))), "")
    return _read_of_name(scope, name, loop) if name else None


def tests_element(scope: ModuleScope, test: ir.Node) -> bool:
    """The test compares an element of what the loop around goes through, or of an array from outside of it."""
    around = list(nodes_around(scope.tree.body, test.start, test.end))
    loop = next((node for node in reversed(around) if isinstance(node, (ir.For, ir.While))), None)
    if loop is None or not isinstance(test, ir.Compare):
        return False
    bound = bound_paths(loop)
    rows = {node.id for node in walk(loop.target) if isinstance(node, ir.Name)} if isinstance(loop, ir.For) else set()
    if any(isinstance(node, ir.Name) and node.id in rows for node in (test.left, *test.comparators)):
        return True
    roots = {path.partition(".")[0] for path in bound}
    compared = [node for node in (test.left, *test.comparators) if isinstance(node, ir.Subscript)]
    return any(
        path_of(one.value).partition(".")[0] not in {*roots, ""} and bound & names_read(one.index) for one in compared
    )


def _row(target: ir.Expr, iterable: ir.Expr, array: ir.Node) -> str:
    """The variable that gets an element of ``array`` in each iteration; empty if there is none."""
    if (iterable.start, iterable.end) == (array.start, array.end):
        return target.id if isinstance(target, ir.Name) else ""
    if not isinstance(iterable, ir.Call) or not iterable.args:
        return ""
    name, targets = last_name(iterable.func), target.elts if isinstance(target, ir.Tuple) else []
    if name == "enumerate" and len(targets) > 1:
        return _row(targets[1], iterable.args[0].value, array)
    if name != "zip" or len(targets) != len(iterable.args):
        return ""
    pairs = zip(targets, iterable.args, strict=True)
    return next((found for one, given in pairs if (found := _row(one, given.value, array))), "")


def _parts(loop: Loop) -> Iterator[ir.Node]:
    """The nodes that run in each iteration, in the order of the text."""
    parts: list[ir.Expr | ir.Stmt] = []
    if isinstance(loop, ir.Comprehension):
        tests = [test for generator in loop.generators for test in generator.ifs]
        parts += [part for part in (loop.key, loop.element, *tests) if part is not None]
    else:
        parts += [loop.test, *loop.body] if isinstance(loop, ir.While) else loop.body
    found = [node for part in parts for node in walk(part) if isinstance(node, ir.Node)]
    return iter(sorted(found, key=lambda node: node.start))


def _read_of_name(scope: ModuleScope, name: str, loop: Loop) -> ir.Node | None:
    """The first place of an iteration that reads a variable."""
    names = (node for node in _parts(loop) if isinstance(node, ir.Name) and node.id == name)
    return next((read for node in names if (read := _read_of_node(scope, node)) is not None), None)


def _read_at(scope: ModuleScope, at: ir.Subscript, loop: Loop) -> ir.Node | None:
    """What reads an element, at once or by the variable that it is assigned to."""
    read = _read_of_node(scope, at)
    if read is not None:
        return read
    statements = (node for node in _parts(loop) if isinstance(node, ir.Assign) and node.value is at)
    targets = [target for statement in statements for target in statement.targets]
    return _read_of_name(scope, targets[0].id, loop) if len(targets) == 1 and isinstance(targets[0], ir.Name) else None


def _read_of_node(scope: ModuleScope, node: ir.Expr) -> ir.Node | None:
    """``int(node)``, ``node.item()`` or a comparison of ``node`` that an ``if`` tests."""
    around = list(nodes_around(scope.tree.body, node.start, node.end))
    place = next((i for i, one in enumerate(around) if one is node), 0)
    outer = [*reversed(around[:place])]
    if len(outer) < 2:
        return None
    parent, call = outer[0], outer[1]
    if isinstance(parent, ir.Call):
        is_cast = isinstance(parent.func, ir.Name) and parent.func.id in _CASTS and len(parent.args) == 1
        return parent if is_cast else None
    if isinstance(parent, ir.Attribute):
        return call if parent.attr in _READING and isinstance(call, ir.Call) and not call.args else None
    if not isinstance(parent, ir.Compare) or set(parent.ops) & {"is", "is not", "in", "not in"}:
        return None
    inner: ir.Node = parent
    for one in outer[1:]:
        if isinstance(one, ir.BoolOp) or (isinstance(one, ir.UnaryOp) and one.op == "not"):
            inner = one
        elif isinstance(one, _TESTING):
            return parent if one.test is inner else None
        else:
            return None
    return None
