"""Whether every run of a function is traced, and which of its parameters are tracers in all of them.

Vocabulary
----------
staging     what holds in every run of a function: the parameters that are tracers, and whether the whole body is traced
            (``ambient``: ``jnp.zeros(3)`` is a tracer too).
unknown     some caller may not be seen: there is no staging. One unknown caller is enough.

A function is traced in every run where a decorator traces it, or where each use of its name either hands it to a transform or
calls it from such a function.

Limitations: methods without such a decorator, functions in containers, ``partial``, and transforms that a library made of
others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._callers import Use
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource
from flake8_jax.knowledge import load
from flake8_jax.knowledge.model import TransformFact

_ALL_TRACED = frozenset({"scan", "map", "fori_loop", "while_loop", "cond", "switch", "call"})
"""Models of transforms all of whose operands' arguments are tracers."""
_RUNS_EAGERLY = r"\b(jax_)?disable_jit\b|\bfake_jit\b|\b__wrapped__\b|\binspect\.unwrap\b|\bimport\b.*\bunwrap\b"
"""Where a project says this, it may run a transformed function on plain values."""
_SETS_RULES = frozenset({"defvjp", "defjvp", "defjvps"})
MOST_CALLERS = 6
"""A chain of callers that is longer counts as unknown."""
MOST_FUNCTIONS = 200
"""An answer that needs to look at more functions is unknown."""


@dataclass(frozen=True, slots=True)
class Staging:
    """What holds in every run of a function. at_boundary: a transform runs it, on tracers that it makes for that. reached:
    some run starts outside of the functions that call each other in a circle."""

    traced: frozenset[str]
    ambient: bool
    at_boundary: bool = True
    reached: bool = True


EAGER = Staging(frozenset(), False, False)


@dataclass(frozen=True, slots=True)
class Running:
    """Functions whose callers are being looked at, innermost last: a call from one of them adds nothing. ``looked_at``:
    all functions that this answer has needed so far, the same list for the whole answer."""

    functions: tuple[ir.Function, ...] = ()
    looked_at: list[ir.Function] = field(default_factory=list)

    def inside(self, function: ir.Function) -> Running:
        return Running((*self.functions, function), self.looked_at)


def staging_of(source: FixSource, function: ir.Function, running: Running | None = None) -> Staging | None:
    """What holds in every run of a function; None where a caller may not be known."""
    if running is None or not running.functions:
        return source.remember("staging", function, lambda: _reached(_staging_of(source, function, Running())))
    return _staging_of(source, function, running)


def _reached(staging: Staging | None) -> Staging | None:
    return staging if staging is not None and staging.reached else None


def _staging_of(source: FixSource, function: ir.Function, running: Running) -> Staging | None:
    if any(function is other for other in running.functions):
        return Staging(frozenset(p.name for p in function.params), True, reached=False)
    running.looked_at.append(function)
    if source.program is not None and source.program.says(_RUNS_EAGERLY):
        return None
    if len(running.functions) >= MOST_CALLERS or len(running.looked_at) > MOST_FUNCTIONS:
        return None
    above = source.parent(function)
    if isinstance(above, ir.Lambda):
        return _use(Use(source, above), function, running.inside(function))
    if not isinstance(above, ir.FunctionDef):
        return None
    decorated = _decorated(source, above)
    if decorated is None or decorated is not EAGER:
        return decorated
    uses = source.program.uses(source, above) if source.program is not None else None
    return _common(_use(use, function, running.inside(function)) for use in uses) if uses else None


def _common(stagings: Iterable[Staging | None]) -> Staging | None:
    """What holds in all of them."""
    found: Staging | None = None
    for staging in stagings:
        if staging is None:
            return None
        if found is None:
            found = staging
        else:
            found = Staging(
                found.traced & staging.traced,
                found.ambient and staging.ambient,
                found.at_boundary and staging.at_boundary,
                found.reached or staging.reached,
            )
    return found


# --- decorators ------------------------------------------------------------------------------------


def _decorated(source: FixSource, definition: ir.FunctionDef) -> Staging | None:
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
        staging = _staged_by(fact, given, definition.function) if fact.model == "wrap" and given is not None else None
        if staging is None:
            return None
        traces = True
        traced, ambient = traced | staging.traced, ambient or staging.ambient
    return Staging(traced, ambient) if traces else EAGER


def _transform(source: FixSource, node: ir.Expr) -> tuple[str | None, list[ir.Argument]]:
    """The transform that a decorator applies, with its options: ``@jit``, ``@jit(…)`` or ``@partial(jit, …)``."""
    imports = Imports(source, node)
    if not isinstance(node, ir.Call):
        return imports.resolve(node), []
    name = imports.resolve(node.func)
    if name == "functools.partial" and node.args and not node.args[0].star and not node.args[0].keyword:
        return imports.resolve(node.args[0].value), node.args[1:]
    return name, node.args


# --- uses ------------------------------------------------------------------------------------------


def _use(use: Use, function: ir.Function, running: Running) -> Staging | None:
    """What one use of a function says of the runs that it leads to."""
    source, node = use.source, use.node
    above = source.parent(node)
    if isinstance(above, ir.Attribute) and above.attr in _SETS_RULES:
        return Staging(frozenset(p.name for p in function.params), True, reached=False)  # it leads to no run
    if isinstance(above, ir.Call) and above.func is node:
        return _called(source, above, function, running)
    if isinstance(above, ir.Argument) and not above.star:
        call = source.parent(above)
        if isinstance(call, ir.Call):
            return _handed_over(source, call, above, function, running)
    if isinstance(above, (ir.List, ir.Tuple)):  # the branches of a ``switch``, which just calls one that is alone
        argument = source.parent(above)
        if not isinstance(argument, ir.Argument) or sum(not isinstance(e, ir.Starred) for e in above.elts) < 2:
            return None
        call = source.parent(argument)
        if isinstance(call, ir.Call):
            fact = load().transform(Imports(source, call).resolve(call.func) or "")
            return (
                _handed_over(source, call, argument, function, running)
                if fact is not None and fact.model == "switch"
                else None
            )
    return None


def _handed_over(
    source: FixSource, call: ir.Call, argument: ir.Argument, function: ir.Function, running: Running
) -> Staging | None:
    """A function is an operand of a transform."""
    fact = load().transform(Imports(source, call).resolve(call.func) or "")
    if fact is None or fact.tracing == "none":
        return None
    given: dict[str, ir.Expr] = {}
    parameter = None
    for position, other in enumerate(call.args):
        name = other.keyword or (fact.params[position] if position < len(fact.params) else "")
        if other.star or name.startswith("*"):
            break
        given[name] = other.value
        parameter = name if other is argument else parameter
    if parameter not in fact.operands or any(other.star == 2 for other in call.args):
        return None
    if fact.model == "associative_scan":  # it calls the function itself, on what it is given
        around = source.functions(call)
        caller = staging_of(source, around[0], running) if around else None
        if caller is None or not caller.ambient or is_computed_while_tracing(source, call):
            return None
        return Staging(frozenset(p.name for p in function.params), True, False, caller.reached)
    staging = _staged_by(fact, given, function)
    above = source.parent(call)
    if staging is None or fact.model != "wrap" or not isinstance(above, ir.Call) or above.func is not call:
        return staging
    # ``jax.grad(f)(x, y)``: what the transform leaves alone is what the caller gives.
    given_here = _called(source, above, function, running)
    if given_here is None:
        return staging
    return Staging(staging.traced | given_here.traced, staging.ambient or given_here.ambient, staging.at_boundary)


def _staged_by(fact: TransformFact, given: dict[str, ir.Expr], function: ir.Function) -> Staging | None:
    """What a transform makes of the function that it is applied to; None where its options do not tell."""
    positional = [p.name for p in function.params if p.kind in ("posonly", "positional")]
    if fact.model in _ALL_TRACED:
        return Staging(frozenset(p.name for p in function.params), fact.omnistaging)
    if fact.model != "wrap":
        return None
    if fact.filters:
        return Staging(frozenset(), fact.omnistaging)
    # A parameter with a default is no tracer where the default is taken.
    traced = {p.name for p in function.params if p.default is None and p.kind != "kwarg"}
    if fact.differentiates:
        numbers = _numbers(given[fact.differentiates]) if fact.differentiates in given else [0]
        if numbers is None:
            return None
        traced &= {positional[n] for n in numbers if -len(positional) <= n < len(positional)}
    elif fact.maps_axes in given and not fact.omnistaging:
        traced = set()
    for option in fact.statics:
        if option in given:
            names = _static_names(given[option], positional)
            if names is None:
                return None
            traced -= names
    if any(option in given for option in fact.statics):
        traced -= {p.name for p in function.params if p.kind == "vararg"}
    return Staging(frozenset(traced), fact.omnistaging)


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
    if numbers is None:
        return None
    return {positional[n] for n in numbers if -len(positional) <= n < len(positional)}


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


def _called(source: FixSource, call: ir.Call, function: ir.Function, running: Running) -> Staging | None:
    """A function is called by name: its parameters are what the caller gives it."""
    from flake8_jax.fixers._safety import is_surely_traced

    around = source.functions(call)
    if not around:
        return EAGER
    caller = staging_of(source, around[0], running)
    if caller is None:
        return None
    positional = [p.name for p in function.params if p.kind in ("posonly", "positional")]
    traced: set[str] = set()
    for position, argument in enumerate(call.args):
        if argument.star:
            break
        name = argument.keyword or (positional[position] if position < len(positional) else None)
        if name is not None and is_surely_traced(source, argument.value, running):
            traced.add(name)
    ambient = caller.ambient and not is_computed_while_tracing(source, call)
    return Staging(frozenset(traced), ambient, at_boundary=False, reached=caller.reached)
