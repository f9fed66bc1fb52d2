"""JAX111: a builtin or a ``math`` function becomes its jnp equivalent.

Limitations: ``key=`` and ``default=``, dictionaries, iterators.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import BUILTIN, OF_MATH, SORTED, unsafe
from flake8_jax.fixers._conditions import is_called_by_name
from flake8_jax.fixers._consequences import with_consequences
from flake8_jax.fixers._host_calls import MATH
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._parentheses import alone
from flake8_jax.fixers._source import FixSource, Refused, fixer
from flake8_jax.semantics.domain.values import Array, GeneratorValue, ListValue, TupleValue, UnionValue, Value
from flake8_jax.semantics.events.events import LibraryCall

_PAIRWISE = {"builtins.max": "jax.numpy.maximum", "builtins.min": "jax.numpy.minimum"}
_WHOLE = {
    "builtins.max": "jax.numpy.max",
    "builtins.min": "jax.numpy.min",
    "builtins.any": "jax.numpy.any",
    "builtins.all": "jax.numpy.all",
    "builtins.sorted": "jax.numpy.sort",
}
_TO_INTEGER = frozenset(["ceil", "floor", "trunc"])
_VIEWS = frozenset(["values", "keys", "items"])
"""Methods of a dict whose results JAX takes for no sequence."""
_SPECIAL = {"erf": "erf", "erfc": "erfc", "lgamma": "gammaln", "gamma": "gamma"}


@fixer("builtin-on-tracer")
def fixed(event: LibraryCall, source: FixSource) -> Fix | None:
    if not is_called_by_name(event, source):
        return None
    imports = Imports(source, event.at)
    fix = _math(source, imports, event) if event.name.startswith("math.") else _builtin(source, imports, event)
    return None if fix is None else with_consequences(source, event.at, fix)


def _builtin(source: FixSource, imports: Imports, event: LibraryCall) -> Fix | None:
    arguments = event.at.args
    if any(a.star == 2 or (a.keyword and a.keyword != "reverse") for a in arguments):
        return None
    if event.name in _PAIRWISE and len(arguments) > 1:
        if any(a.star or a.keyword for a in arguments):
            return None
        return _pairwise(source, imports, event.at, [a.value for a in arguments], _PAIRWISE[event.name])
    if event.name not in _WHOLE or not arguments or not event.args:
        return None
    return _whole(source, imports, event)


def _pairwise(source: FixSource, imports: Imports, call: ir.Call, values: list[ir.Expr], equivalent: str) -> Fix:
    """``max(a, b, c)`` → ``jnp.maximum(jnp.maximum(a, b), c)``."""
    name = imports.spell(equivalent)
    message = f"Use `{_short(equivalent)}`"
    if len(values) == 2:
        return unsafe(message, BUILTIN, (Edit(call.func.start, call.func.end, name), *imports.edits))
    text = source.argument(values[0])
    for value in values[1:]:
        text = f"{name}({text}, {source.argument(value)})"
    if source.lost_comments(call.start, call.end, [(v.start, v.end) for v in values]):
        raise Refused
    return unsafe(message, BUILTIN, (Edit(call.start, call.end, text), *imports.edits))


def _whole(source: FixSource, imports: Imports, event: LibraryCall) -> Fix:
    """``max(x)``, ``any(x)``, ``sorted(x)``: over an array, or over a sequence of scalars made one."""
    call, equivalent = event.at, _WHOLE[event.name]
    first = call.args[0]
    reverse = _reversed(call)
    if len(call.args) > 1 + (reverse is not None) or first.keyword:
        raise Refused
    operand = _operand(source, imports, first, event.args[0])
    if source.lost_comments(call.start, call.end, [(first.value.start, first.value.end)]):
        raise Refused
    text = f"{imports.spell(equivalent)}({operand})" + ("[::-1]" if reverse else "")
    announced = SORTED if event.name == "builtins.sorted" else BUILTIN
    return unsafe(f"Use `{_short(equivalent)}`", announced, (Edit(call.start, call.end, text), *imports.edits))


def _operand(source: FixSource, imports: Imports, argument: ir.Argument, value: Value) -> str:
    """What the equivalent takes: an array as it is, a sequence as one.

    Raises:
        Refused: it is neither, or a set or a dict.
    """
    node = argument.value
    is_generator = isinstance(node, ir.Comprehension) and node.kind == "generator"
    if isinstance(node, ir.Comprehension) and not is_generator and node.kind != "list":
        raise Refused
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) and node.func.attr in _VIEWS:
        raise Refused
    if argument.star:
        if is_generator:
            raise Refused
    elif _is_array(value):
        if not is_generator:
            return source.argument(node)
    elif not isinstance(value, (TupleValue, ListValue, GeneratorValue)):
        raise Refused
    if is_generator:
        inner = source.slice(node)
        text = f"[{inner[1:-1] if source.is_own_parenthesised(node) else inner}]"
    else:
        text = source.argument(node)
    return f"{imports.spell('jax.numpy.asarray')}({text})"


def _reversed(call: ir.Call) -> bool | None:
    """The literal ``reverse=`` of ``sorted``; None where it is not given."""
    given = next((a.value for a in call.args if a.keyword == "reverse"), None)
    if given is None:
        return None
    if not isinstance(given, ir.Constant) or given.kind != "bool":
        raise Refused
    return bool(given.value)


def _is_array(value: Value) -> bool:
    if isinstance(value, UnionValue):
        return all(_is_array(m) for m in value.members)
    return isinstance(value, Array)


def _math(source: FixSource, imports: Imports, event: LibraryCall) -> Fix | None:
    call, short = event.at, event.name.rpartition(".")[2]
    if any(a.star or a.keyword for a in call.args):
        return None
    if short == "log" and len(call.args) == 2:
        log = imports.spell("jax.numpy.log")
        value, base = (source.argument(a.value) for a in call.args)
        text = alone(source, call, f"{log}({value}) / {log}({base})")
        if source.comments(call.start, call.end):
            return None
        return unsafe("Use `jnp.log`", OF_MATH, (Edit(call.start, call.end, text), *imports.edits))
    if short in _SPECIAL:
        equivalent = f"jax.scipy.special.{_SPECIAL[short]}"
    elif short in _TO_INTEGER:
        equivalent = f"jax.numpy.{short}"
    elif short in MATH:
        equivalent = f"jax.numpy.{MATH[short]}"
    else:
        return None
    edits = [Edit(call.func.start, call.func.end, imports.spell(equivalent))]
    if short in _TO_INTEGER:
        edits.append(Edit(call.end, call.end, ".astype(int)"))
    return unsafe(f"Use `{_short(equivalent)}`", OF_MATH, (*edits, *imports.edits))


def _short(qualified: str) -> str:
    return qualified.replace("jax.numpy.", "jnp.", 1)
