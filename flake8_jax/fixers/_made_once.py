"""Maps that a program makes again and again from one function.

``jax.pmap(f)`` finds its compiled program by ``f``. ``jax.vmap(f)`` is a new function each time, so that what a fix makes of it
would be compiled each time.

Vocabulary
----------
kept        the mapped function is the same object each time, such as a function of the file or a method. A lambda, a partial
            call and a function that the code around the map defines are new each time: ``jax.pmap`` compiles these each time
            as well.

Limitations: parameters count as new; maps that a function returns or keeps in an attribute count as made once.
"""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.fixers._callers import names, scope_of
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import uses
from flake8_jax.fixers._source import Declined, FixSource

_DEPTH = 3
_ONCE = re.compile(r"_*main\Z|test|setUp|__init__\Z")
"""Functions that a program calls once."""


def check_made_once(source: FixSource, replaced: ir.Expr, operand: ir.Expr) -> None:
    """Decline where a map of one function is made more than once.

    Raises:
        Declined: a loop makes it, or a function that may be called more than once makes it and calls it at once.
    """
    root = _root(operand)
    if root is None:
        return
    loop = _loop_around(source, replaced)
    if loop is not None:
        if root.id not in uses(loop).binds:
            raise Declined(
                "no automatic fix, because each iteration would compile the new function again; "
                "first call pmap before the loop"
            )
        return
    function = next(iter(source.functions(replaced)), None)
    if function is None or _is_new(operand, root, function) or not _is_called_at_once(source, replaced, function):
        return
    if not _runs_once(source, function, _DEPTH):
        where = "the lambda" if function.is_lambda else f"`{function.name}`"
        raise Declined(
            f"no automatic fix, because each call of {where} would compile the new function again; "
            "first call pmap once, outside of it"
        )


def _root(operand: ir.Expr) -> ir.Name | None:
    """The variable that an expression reads a kept function from."""
    while isinstance(operand, ir.Attribute):
        operand = operand.value
    return operand if isinstance(operand, ir.Name) else None


def _is_new(operand: ir.Expr, root: ir.Name, function: ir.Function) -> bool:
    """The mapped function is a variable of the code around the map, or its attribute; a parameter may be new, and a method of
    one is not."""
    is_parameter = any(p.name == root.id for p in function.params)
    return root.id in function.local_names and (operand is root or not is_parameter)


def _loop_around(source: FixSource, node: ir.Node) -> ir.For | ir.While | None:
    """The innermost loop of the same function whose every iteration runs a node."""
    below: object = node
    for above in source.ancestors(node):
        if isinstance(above, ir.Function):
            return None
        if isinstance(above, ir.While) or (isinstance(above, ir.For) and below is not above.iter):
            return above
        below = above
    return None


def _is_called_at_once(source: FixSource, replaced: ir.Expr, function: ir.Function) -> bool:
    """The map is called where it is made, or by a name of the function that is called and not used otherwise."""
    above = source.parent(replaced)
    if isinstance(above, ir.Call) and above.func is replaced:
        return True
    target = above.targets[0] if isinstance(above, ir.Assign) and len(above.targets) == 1 else None
    if not isinstance(target, ir.Name) or scope_of(source, target) is not function:
        return False
    reads = [node for node in names(source, target.id) if node is not target and scope_of(source, node) is function]
    return bool(reads) and all(_is_called_in(source, node, function) for node in reads)


def _is_called_in(source: FixSource, node: ir.Name, function: ir.Function) -> bool:
    """A name is called in the function itself, outside of its loops."""
    call = source.parent(node)
    is_called = isinstance(call, ir.Call) and call.func is node
    return is_called and source.functions(node)[0] is function and _loop_around(source, node) is None


def _runs_once(source: FixSource, function: ir.Function, depth: int) -> bool:
    """A program runs a function once, or JAX traces it once."""
    if _ONCE.match(function.name):
        return True
    definition = source.parent(function)
    if depth == 0 or source.program is None or not isinstance(definition, ir.FunctionDef):
        return False
    if any(_is_jit(source, decorator) for decorator in definition.decorators):
        return True
    found = source.program.uses(source, definition)
    if found is None or len(found) != 1:
        return False
    there, node = found[0].source, found[0].node
    call = there.parent(node)
    if not isinstance(call, ir.Call) or call.func is not node or _loop_around(there, node) is not None:
        return False
    around = there.functions(node)
    return not around or _runs_once(there, around[0], depth - 1)


def _is_jit(source: FixSource, decorator: ir.Expr) -> bool:
    names_of_jit = [decorator]
    if isinstance(decorator, ir.Call):
        names_of_jit = [decorator.func, *(argument.value for argument in decorator.args[:1])]
    return any(Imports(source, decorator).resolve(node) == "jax.jit" for node in names_of_jit)
