"""Making a parameter static, or donating it, where its function is jitted.

Vocabulary
----------
site        the decorator or the call in this file that jits the function: ``@jax.jit``, ``@partial(jax.jit, …)``,
            ``jax.jit(f, …)``.

A parameter is only made static if the function uses it as a plain number: one whose attributes or items are read is
an array, and an array cannot be static.

Limitations: sites in other files, static arguments of ``pmap``, ``equinox.filter_jit``, ``static_argnames`` that is not a
literal.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import DELETED, STATIC, unsafe
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import binder_before, uses
from flake8_jax.fixers._source import Declined, FixSource, Refused

_FUNCTION = re.compile(r"(?:^|_)(?:fn|fun|func|function|callable)$")


def parameters_behind(source: FixSource, node: ir.Expr) -> list[str]:
    """The parameters of the innermost function that an expression is computed from, by arithmetic alone.

    Raises:
        Refused: it is computed in another way, or from none.
    """
    function = source.enclosing_function(node)
    names = {p.name for p in function.params if p.kind in ("positional", "kwonly")}
    found: dict[str, None] = {}
    seen: set[int] = set()
    stack: list[ir.Expr] = [node]
    while stack:
        current = stack.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        if not isinstance(current, ir.Name):
            stack += _operands(current)
            continue
        binder = binder_before(source, source.statement(current), current.id)
        if binder is None and current.id in names:
            found[current.id] = None
        elif isinstance(binder, ir.Assign) and isinstance(binder.targets[0], ir.Name):
            stack.append(binder.value)
        elif current.id in function.local_names:
            raise Refused
    if not found or _reads_parts(source.definition(function), found):
        raise Refused
    return list(found)


def _operands(node: ir.Expr) -> list[ir.Expr]:
    """The expressions that arithmetic computes a value from. Raises Refused where it is no arithmetic."""
    if isinstance(node, ir.BinOp):
        return [node.left, node.right]
    if isinstance(node, ir.UnaryOp):
        return [node.operand]
    if isinstance(node, (ir.Tuple, ir.List)):
        return node.elts
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id in ("int", "max", "min"):
        return [a.value for a in node.args]
    if not isinstance(node, (ir.Constant, ir.Attribute, ir.Subscript)):
        raise Refused
    return []


def _reads_parts(definition: msgspec.Struct, names: Collection[str]) -> bool:
    """Whether an attribute or an item of one of these variables is read: it is more than a number then."""
    for item in walk(definition):
        read = item.value if isinstance(item, (ir.Attribute, ir.Subscript)) else None
        if isinstance(read, ir.Name) and read.id in names:
            return True
    return False


def make_static(source: FixSource, function: ir.Function, names: list[str]) -> Fix:
    """Name the parameters in ``static_argnames`` at the site.

    Raises:
        Refused: there is no site in this file, or none that can be extended.
        Declined: the compiled function gets a function as another argument, and raises for this as well.
    """
    called = _called_parameter(source, function, names)
    if called is not None:
        raise Declined(f"no automatic fix, because `{called}` is a function, and has to be static as well")
    message = f"Make {' and '.join(f'`{n}`' for n in names)} static"
    return unsafe(message, STATIC, _name(source, function, names, "static_argnames"))


def _called_parameter(source: FixSource, function: ir.Function, names: list[str]) -> str | None:
    """A parameter that stands for a function by its name or annotation, and that is called, but is not static at the site."""
    definition = source.definition(function)
    called = {
        n.func.id for s in function.body for n in walk(s) if isinstance(n, ir.Call) and isinstance(n.func, ir.Name)
    }
    sites = " ".join(source.slice(d) for d in definition.decorators)
    if "static_argnums" in sites and re.search(r"static_argnums\s*=\s*\(?\s*\d", sites):
        return None
    for parameter in function.params:
        annotation = source.slice(parameter.annotation) if parameter.annotation is not None else ""
        is_function = _FUNCTION.search(parameter.name) is not None or "Callable" in annotation
        if is_function and parameter.name in called - {*names} and parameter.default is None:
            if not definition.decorators or re.search(rf"[\"']{parameter.name}[\"']", sites):
                continue
            return parameter.name
    return None


_FIRST_WITH_NAMES = (0, 4, 14)
"""The first JAX whose ``jit`` takes ``donate_argnames`` (its change log)."""


def donate(source: FixSource, function: ir.Function, site: tuple[int, int], names: list[str]) -> Fix:
    """Name the parameters in ``donate_argnames`` at the site, or for ``pmap`` count them in ``donate_argnums``. site: the
    span where the function is compiled.

    Raises:
        Refused: it is not in this file, or cannot be extended, or does not take names.
        Declined: a supported release has no ``donate_argnames``.
    """
    if {p.name for p in function.params if p.kind in ("positional", "kwonly")}.isdisjoint(names):
        raise Refused
    message = f"Donate {' and '.join(f'`{n}`' for n in names)}"
    call = source.at_span(*site, ir.Call)
    if isinstance(call, ir.Call) and call.args and _applies(Imports(source, call), call, "jax.pmap"):
        return unsafe(message, DELETED, (_numbered(source, call, function, names),))
    lowest = source.program.supports(source)["jax"].lowest if source.program is not None else None
    if lowest is not None and lowest < _FIRST_WITH_NAMES:
        raise Declined("no automatic fix, because the project allows JAX before 0.4.14; write donate_argnums")
    if isinstance(call, ir.Call) and call.args and _jits(Imports(source, call), call):
        return unsafe(message, DELETED, (_extend(source, call, function, names, "donate_argnames"),))
    return unsafe(message, DELETED, _name(source, function, names, "donate_argnames"))


def _name(source: FixSource, function: ir.Function, names: list[str], option: str) -> tuple[Edit, ...]:
    definition = source.definition(function)
    imports = Imports(source, definition)
    for decorator in definition.decorators:
        if imports.resolve(decorator) == "jax.jit":
            edit = _partial(source, imports, decorator, names, option)
            return (edit, *imports.edits)
        if isinstance(decorator, ir.Call) and _jits(imports, decorator):
            return (_extend(source, decorator, function, names, option),)
    return (_extend(source, _call_site(source, definition), function, names, option),)


def _partial(source: FixSource, imports: Imports, decorator: ir.Expr, names: list[str], option: str) -> Edit:
    partial = imports.spell("functools.partial")
    text = f"{partial}({source.slice(decorator)}, {option}={_tuple(source, names)})"
    return Edit(decorator.start, decorator.end, text)


def _tuple(source: FixSource, names: list[str]) -> str:
    return "(" + ", ".join(map(source.quoted, names)) + ("," if len(names) == 1 else "") + ")"


def _numbered(source: FixSource, call: ir.Call, function: ir.Function, names: list[str]) -> Edit:
    """Donate arguments by position, where the call, or the decorator, takes the function itself."""
    operand = call.args[0].value
    itself = isinstance(operand, ir.Lambda) or (isinstance(operand, ir.Name) and operand.id == function.name)
    if not itself and call not in source.definition(function).decorators:
        raise Refused
    positional = [p.name for p in function.params if p.kind in ("posonly", "positional")]
    if any(a.star for a in call.args) or not set(names) <= set(positional):
        raise Refused
    numbers = sorted(positional.index(name) for name in names)
    text = str(numbers[0]) if len(numbers) == 1 else "(" + ", ".join(map(str, numbers)) + ")"
    return Edit(call.args[-1].end, call.args[-1].end, f", donate_argnums={text}")


def _jits(imports: Imports, call: ir.Call) -> bool:
    return _applies(imports, call, "jax.jit")


def _applies(imports: Imports, call: ir.Call, transform: str) -> bool:
    """``jax.jit(…)`` itself, or ``partial(jax.jit, …)``."""
    name = imports.resolve(call.func)
    if name == "functools.partial":
        return bool(call.args) and imports.resolve(call.args[0].value) == transform
    return name == transform


def _call_site(source: FixSource, definition: ir.FunctionDef) -> ir.Call:
    """The one call ``jax.jit(f, …)`` in the file, where ``f`` is the name of a module-level function."""
    place = source.place(definition)
    if not isinstance(place.owner, ir.Module) or definition.decorators:
        raise Refused
    name = definition.function.name
    if sum(name in uses(s).binds for s in source.module.body) != 1:
        raise Refused
    found = [
        node
        for node in walk(source.module)
        if isinstance(node, ir.Call)
        and node.args
        and isinstance(node.args[0].value, ir.Name)
        and node.args[0].value.id == name
        and Imports(source, node).resolve(node.func) == "jax.jit"
    ]
    if len(found) != 1:
        raise Refused
    return found[0]


def _extend(source: FixSource, call: ir.Call, function: ir.Function, names: list[str], option: str) -> Edit:
    """Add names to an option of a call. Raises Refused where the option is wrong as it is: that is another finding."""
    # Where numbers are given too, JAX takes names for keywords alone: a positional argument would stay as it was.
    numbers = option.replace("argnames", "argnums")
    if any(a.star or a.keyword == numbers for a in call.args):
        raise Refused
    given = next((a.value for a in call.args if a.keyword == option), None)
    if given is None:
        last = call.args[-1]
        return Edit(last.end, last.end, f", {option}={_tuple(source, names)}")
    known = _names_in(given)
    if not known <= {p.name for p in function.params}:
        raise Refused
    new = [n for n in names if n not in known]
    if not new:
        raise Refused
    if isinstance(given, ir.Constant):
        return Edit(given.start, given.end, f"({source.slice(given)}, " + ", ".join(map(source.quoted, new)) + ")")
    assert isinstance(given, (ir.Tuple, ir.List))
    start = given.elts[-1].end
    # A tuple of one has a comma that a longer one does not need.
    end = given.end - 1 if source.text[start : given.end - 1].strip() == "," and len(given.elts) == 1 else start
    return Edit(start, end, "".join(f", {source.quoted(n)}" for n in new))


def _names_in(value: ir.Expr) -> set[object]:
    """The names that an option holds so far. Raises Refused where it is neither a string nor a display with elements."""
    if isinstance(value, ir.Constant) and isinstance(value.value, str):
        return {value.value}
    if not isinstance(value, (ir.Tuple, ir.List)) or not value.elts:
        raise Refused
    return {e.value for e in value.elts if isinstance(e, ir.Constant)}
