"""JAX401: ``jit`` and the function it gets move in front of the loops around, where nothing in them depends on the loops.

Vocabulary
----------
moved       the assignment, the decorated function, or the call of ``jit`` alone, which then gets a name.
disturbed   a variable that the loops bind, an attribute that they set, or an object of which they call other methods.

Code in the loops that may change what the function reads in some other way: see ``_unchanged``.
"""

from __future__ import annotations

import functools

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import ONCE, unsafe
from flake8_jax.fixers._comments import comments_above
from flake8_jax.fixers._conditions import is_said_to_be_bad, stays_the_same
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import fresh, uses
from flake8_jax.fixers._source import FixSource, Refused, fixer
from flake8_jax.semantics.domain.code import bound_paths, path_of, paths_read
from flake8_jax.semantics.events.events import Repetition

_HARMLESS = ("jax.", "functools.", "equinox.", "flax.")
_LOOPS = (ir.For, ir.While, ir.Comprehension)


@fixer("jit-in-loop")
def fix(event: Repetition, source: FixSource) -> Fix | None:
    at = event.at
    loops = _loops_around(source, at)
    statement = source.statement(at)
    outermost = next((loop for loop in reversed(loops) if isinstance(loop, (ir.For, ir.While))), statement)
    if not loops or is_said_to_be_bad(source, at):
        return None
    if isinstance(statement, ir.FunctionDef) and any(d is at for d in statement.decorators):
        _check(source, statement, statement, loops)
        _check_name(source, statement, statement.function.name, loops)
        edits = _move_definition(source, statement, outermost)
    elif isinstance(statement, ir.Assign) and statement.value is at and isinstance(outermost, (ir.For, ir.While)):
        targets = statement.targets
        if len(targets) != 1 or not isinstance(targets[0], ir.Name):
            raise Refused
        _check(source, statement.value, at, loops)
        _check_name(source, statement, targets[0].id, loops)
        edits = _move_assignment(source, statement, outermost)
    else:
        _check(source, at, at, loops)
        name = fresh(source, at, "compiled")[0]
        line = f"{name} = {source.argument(at)}"
        edits = [source.insert_before(outermost, [line]), Edit(at.start, at.end, name)]
    return unsafe("Apply `jit` before the loop", ONCE, edits)


def _loops_around(source: FixSource, at: ir.Node) -> list[ir.For | ir.While | ir.Comprehension]:
    """The loops in whose every iteration ``at`` runs, innermost first, up to the function around."""
    found: list[ir.For | ir.While | ir.Comprehension] = []
    below = at
    for above in source.ancestors(at):
        if isinstance(above, (ir.Function, ir.ClassDef)):
            break
        if isinstance(above, ir.For):
            if below is not above.iter:
                found.append(above)
        elif isinstance(above, (ir.While, ir.Comprehension)):
            found.append(above)
        elif isinstance(above, ir.Generator):
            raise Refused
        if isinstance(above, ir.Node):
            below = above
    return found


def _check(source: FixSource, moved: ir.Node, at: ir.Node, loops: list[ir.For | ir.While | ir.Comprehension]) -> None:
    """Nothing that ``moved`` reads may be disturbed, and making it may do nothing else."""
    imports = Imports(source, at)
    read = paths_read(moved) - ({moved.function.name} if isinstance(moved, ir.FunctionDef) else set())
    free = uses(moved).reads
    disturbed: set[str] = set()
    for loop in loops:
        disturbed |= source.remember("bound paths", loop, functools.partial(bound_paths, loop))
        disturbed |= _receivers(source, loop, moved, imports)
    for path in read:
        root = path.partition(".")[0]
        if root in free and (path in disturbed or any(d.startswith(path + ".") for d in disturbed)):
            raise Refused
    if not stays_the_same(source, moved, loops):
        raise Refused
    for expression in moved.decorators if isinstance(moved, ir.FunctionDef) else [moved]:
        _check_calls(expression, imports)


def _receivers(source: FixSource, loop: ir.Node, moved: ir.Node, imports: Imports) -> set[str]:
    """The objects of which the loop calls methods outside of ``moved``: they may be others afterwards."""
    found: set[str] = set()
    calls = source.remember("method calls", loop, functools.partial(_method_calls, source, loop))
    for alike in calls.values():
        outside = any(not (moved.start <= call.start and call.end <= moved.end) for call in alike)
        callee = alike[0].func
        if outside and isinstance(callee, ir.Attribute) and imports.resolve(callee) is None:
            found.add(path_of(callee.value))
    return found


def _method_calls(source: FixSource, loop: ir.Node) -> dict[str, list[ir.Call]]:
    """The calls of methods and of functions of modules in a loop, by the text of what is called."""
    found: dict[str, list[ir.Call]] = {}
    for node in walk(loop):
        if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
            found.setdefault(source.slice(node.func), []).append(node)
    return found


def _check_calls(expression: ir.Node, imports: Imports) -> None:
    """Evaluating the expression calls transforms and nothing else."""
    todo: list[ir.Node] = [expression]
    while todo:
        node = todo.pop()
        if isinstance(node, ir.Lambda):
            if any(p.default is not None and not isinstance(p.default, ir.Constant) for p in node.function.params):
                raise Refused
        elif isinstance(node, ir.Call):
            name = imports.resolve(node.func)
            if name is None or not name.startswith(_HARMLESS) or any(a.star for a in node.args):
                raise Refused
            todo += [a.value for a in node.args]
        elif not isinstance(node, (ir.Name, ir.Attribute, ir.Constant, ir.Tuple)):
            raise Refused


def _check_name(
    source: FixSource, statement: ir.Stmt, name: str, loops: list[ir.For | ir.While | ir.Comprehension]
) -> None:
    """Nothing else may bind the name that the moved statement binds, and it must run in every iteration."""
    around = source.functions(statement)
    body = around[0].body if around else source.module.body
    if around and (name in around[0].global_names or any(p.name == name for p in around[0].params)):
        raise Refused
    place = source.place(statement)
    if place.owner is not loops[0] or len(place.block) == 1:
        raise Refused
    binders = [
        node
        for top in body
        for node in walk(top)
        if node is not statement and isinstance(node, (ir.Assign, ir.AnnAssign, ir.AugAssign, ir.For, ir.FunctionDef))
        if (node.function.name == name if isinstance(node, ir.FunctionDef) else _binds(node, name))
    ]
    if binders:
        raise Refused


def _binds(node: ir.Assign | ir.AnnAssign | ir.AugAssign | ir.For, name: str) -> bool:
    targets = node.targets if isinstance(node, ir.Assign) else [node.target]
    return any(isinstance(n, ir.Name) and n.id == name for target in targets for n in walk(target))


def _move_assignment(source: FixSource, statement: ir.Assign, outermost: ir.Stmt) -> list[Edit]:
    """Move a statement in front of the loop, with the comments above and after it."""
    place = source.line_start(outermost.start)
    if not source.starts_line(statement) or not source.ends_line(statement):
        text = source.block_text([statement], source.indentation(outermost), (statement.start, statement.end))
        return [Edit(place, place, text + source.newline), source.delete_statement(statement)]
    span = comments_above(source, statement.start, next_to=True), source.line_end(statement.end)
    text = source.block_text([statement], source.indentation(outermost), span)
    removed = Edit(source.line_start(span[0]), source.next_line(statement.end), "")
    return [Edit(place, place, text + source.newline), removed]


def _move_definition(source: FixSource, definition: ir.FunctionDef, outermost: ir.Stmt) -> list[Edit]:
    first = definition.decorators[0].start - 1
    start, end = source.line_start(first), source.next_line(definition.end)
    if source.text[first] != "@" or source.text[start:first].strip() or not source.ends_line(definition):
        raise Refused
    indentation = source.text[start:first]
    start = source.line_start(comments_above(source, first, next_to=True))
    if source.has_multiline_string(start, end):
        raise Refused
    old, new = indentation, source.indentation(outermost)
    lines = [
        new + line[len(old) :] if line.startswith(old) and line.strip() else line
        for line in source.text[start:end].splitlines(keepends=True)
    ]
    if not lines[-1].endswith(("\n", "\r")):
        raise Refused
    while not source.text[end : source.next_line(end)].strip() and end < len(source.text):
        end = source.next_line(end)  # the empty lines after it
    if source.place(definition).index == 0:
        while not source.text[source.line_start(start - 1) : start].strip():
            start = source.line_start(start - 1)  # the empty lines in front of it
    place = source.line_start(outermost.start)
    return [Edit(place, place, "".join(lines) + source.newline), Edit(start, end, "")]
