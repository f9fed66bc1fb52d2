"""What a transform makes of the function that it is applied to.

Vocabulary
----------
staging     what holds in every run of a function: the parameters that are tracers, and whether the whole body is traced
            (``ambient``: ``jnp.zeros(3)`` is a tracer too).
options     the arguments of a transform besides its operand, such as ``static_argnums``.
"""

from __future__ import annotations

from dataclasses import dataclass

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource
from flake8_jax.knowledge import load
from flake8_jax.knowledge.model import TransformFact

_ALL_TRACED = frozenset({"scan", "map", "fori_loop", "while_loop", "cond", "switch", "call"})
"""Models of transforms all of whose operands' arguments are tracers."""


@dataclass(frozen=True, slots=True)
class Staging:
    """What holds in every run of a function. at_boundary: a transform runs it, on tracers that it makes for that. reached:
    some run starts outside of the functions that call each other in a circle."""

    traced: frozenset[str]
    ambient: bool
    at_boundary: bool = True
    reached: bool = True


EAGER = Staging(frozenset(), False, False)


def decorated(source: FixSource, definition: ir.FunctionDef) -> Staging | None:
    """What decorators make of every run: EAGER where none of them traces, None for one that is not known."""
    traced: frozenset[str] = frozenset()
    ambient = traces = False
    for decorator in definition.decorators:
        name, options = _transform(source, decorator)
        fact = load().transform(name) if name is not None else None
        if fact is None:
            return None
        if fact.tracing == "none":
            continue
        given = None if any(o.star or not o.keyword for o in options) else {o.keyword or "": o.value for o in options}
        staging = staged_by(fact, given, definition.function) if fact.model == "wrap" and given is not None else None
        if staging is None:
            return None
        traces = True
        traced, ambient = traced | staging.traced, ambient or staging.ambient
    return Staging(traced, ambient) if traces else EAGER


def static_parameters(source: FixSource, definition: ir.FunctionDef) -> frozenset[str]:
    """The parameters that a decorator, the only one, makes static; none where its options do not tell."""
    if len(definition.decorators) != 1:
        return frozenset()
    name, options = _transform(source, definition.decorators[0])
    fact = load().transform(name) if name is not None else None
    if fact is None or fact.model != "wrap" or any(o.star or not o.keyword for o in options):
        return frozenset()
    given = {o.keyword or "": o.value for o in options}
    named = _static_parameters(fact, given, definition.function) if any(o in given for o in fact.statics) else None
    return frozenset(named or ()) - {p.name for p in definition.function.params if p.kind in ("vararg", "kwarg")}


def _transform(source: FixSource, node: ir.Expr) -> tuple[str | None, list[ir.Argument]]:
    """The transform that a decorator applies, with its options: ``@jit``, ``@jit(…)`` or ``@partial(jit, …)``."""
    imports = Imports(source, node)
    if not isinstance(node, ir.Call):
        return imports.resolve(node), []
    name = imports.resolve(node.func)
    if name == "functools.partial" and node.args and not node.args[0].star and not node.args[0].keyword:
        return imports.resolve(node.args[0].value), node.args[1:]
    return name, node.args


def traced_whole(
    function: ir.Function, *, ambient: bool = True, at_boundary: bool = True, reached: bool = True
) -> Staging:
    """All parameters of a function are tracers."""
    return Staging(frozenset(p.name for p in function.params), ambient, at_boundary, reached)


def staged_by(fact: TransformFact, given: dict[str, ir.Expr], function: ir.Function) -> Staging | None:
    """What a transform makes of the function that it is applied to; None where its options do not tell."""
    if fact.model in _ALL_TRACED:
        return traced_whole(function, ambient=fact.omnistaging)
    if fact.model != "wrap":
        return None
    if fact.filters:
        return Staging(frozenset(), fact.omnistaging)
    traced = _traced_arguments(fact, given, function)
    statics = _static_parameters(fact, given, function)
    if traced is None or statics is None:
        return None
    return Staging(frozenset(traced - statics), fact.omnistaging)


def _positional(function: ir.Function) -> list[str]:
    return [p.name for p in function.params if p.kind in ("posonly", "positional")]


def _traced_arguments(fact: TransformFact, given: dict[str, ir.Expr], function: ir.Function) -> set[str] | None:
    """The parameters that a transform passes tracers to, statics included; None where its ``argnums`` is not known."""
    # A parameter with a default is no tracer where the default is taken.
    traced = {p.name for p in function.params if p.default is None and p.kind != "kwarg"}
    if fact.differentiates:
        positional = _positional(function)
        numbers = _numbers(given[fact.differentiates]) if fact.differentiates in given else [0]
        return None if numbers is None else traced & _at(positional, numbers)
    return set() if fact.maps_axes in given and not fact.omnistaging else traced


def _static_parameters(fact: TransformFact, given: dict[str, ir.Expr], function: ir.Function) -> set[str] | None:
    """The parameters that are, or may be, static; None where an option is no literal."""
    options = [given[option] for option in fact.statics if option in given]
    found = {p.name for p in function.params if p.kind == "vararg"} if options else set()
    for option in options:
        names = _static_names(option, _positional(function))
        if names is None:
            return None
        found |= names
    return found


def _at(positional: list[str], numbers: list[int]) -> set[str]:
    """The parameters with these numbers; negative ones count from the end."""
    return {positional[n] for n in numbers if -len(positional) <= n < len(positional)}


def _numbers(node: ir.Expr) -> list[int] | None:
    """The integers of a literal."""
    elements = node.elts if isinstance(node, (ir.Tuple, ir.List)) else [node]
    found: list[int] = []
    for element in elements:
        value = element.operand if isinstance(element, ir.UnaryOp) and element.op == "-" else element
        if not isinstance(value, ir.Constant) or value.kind != "int" or not isinstance(value.value, int):
            return None
        found.append(-value.value if value is not element else value.value)
    return found


def _static_names(node: ir.Expr, positional: list[str]) -> set[str] | None:
    """The parameters that a literal of ``static_argnums`` or ``static_argnames`` means."""
    if isinstance(node, ir.Constant) and node.kind == "none":
        return set()
    elements = node.elts if isinstance(node, (ir.Tuple, ir.List)) else [node]
    if all(isinstance(e, ir.Constant) and isinstance(e.value, str) for e in elements):
        return {e.value for e in elements if isinstance(e, ir.Constant) and isinstance(e.value, str)}
    numbers = _numbers(node)
    return None if numbers is None else _at(positional, numbers)


def arguments_by_name(fact: TransformFact, call: ir.Call) -> dict[str, ir.Argument]:
    """The arguments of a call of a transform by parameter, as far as they are written out."""
    given: dict[str, ir.Argument] = {}
    for position, argument in enumerate(call.args):
        name = argument.keyword or (fact.params[position] if position < len(fact.params) else "")
        if argument.star or name.startswith("*"):
            break
        given[name] = argument
    return given


def is_computed_while_tracing(source: FixSource, node: ir.Node) -> bool:
    """Whether ``jax.ensure_compile_time_eval()`` around a node, in its function, computes what depends on no tracer."""
    for above in source.ancestors(node):
        if isinstance(above, ir.Function):
            return False
        if isinstance(above, ir.With):
            for item in above.items:
                for inner in walk(item):
                    if isinstance(inner, ir.Attribute) and inner.attr == "ensure_compile_time_eval":
                        return True
                    if isinstance(inner, ir.Name) and inner.id == "ensure_compile_time_eval":
                        return True
    return False
