"""JAX105: a traced size becomes a static argument; sizes computed with jnp from shapes are computed with ``math``.

Limitations: sites in other files, padding to a fixed size.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Fix
from flake8_jax.fixers._host_arithmetic import on_host
from flake8_jax.fixers._jit_site import make_static, parameters_behind
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.semantics.domain.values import ListValue, TupleValue, Value, holds_tracer
from flake8_jax.semantics.events.events import LibraryCall, MethodCall


@fixer("traced-shape")
def by_math(event: LibraryCall | MethodCall, source: FixSource) -> Fix | None:
    if isinstance(event, LibraryCall) and event.name == "builtins.int":
        return on_host(source, event.at)
    traced = _traced_sizes(event)
    return on_host(source, traced[0]) if len(traced) == 1 else None


@fixer("traced-shape")
def by_static_argument(event: LibraryCall | MethodCall, source: FixSource) -> Fix | None:
    names = list(dict.fromkeys(n for node in _traced_sizes(event) for n in parameters_behind(source, node)))
    return make_static(source, source.enclosing_function(event.at), names) if names else None


def _traced_sizes(event: LibraryCall | MethodCall) -> list[ir.Expr]:
    """The arguments that are sizes or axes and hold a tracer."""
    if event.fact is None:
        return []
    sizes = {*event.fact.shape_params, *event.fact.axis_params}
    if isinstance(event, LibraryCall):
        pairs = [(event.bound.get(name), event.bound_nodes.get(name)) for name in sizes]
    else:
        names = _positional(event.fact.params, len(event.args))
        pairs = [(v, n) for name, v, n in zip(names, event.args, event.nodes, strict=False) if name in sizes]
        pairs += [(event.kwargs[k], n) for k, n in event.keyword_nodes.items() if k in sizes and k in event.kwargs]
    return [node for value, node in pairs if value is not None and node is not None and _holds(value)]


def _positional(params: list[str], count: int) -> list[str]:
    """The parameter that each positional argument goes to."""
    names: list[str] = []
    for name in params:
        if name == "*" or name.startswith("**"):
            break
        if name.startswith("*"):
            return [*names, *[name[1:]] * max(0, count - len(names))]
        names.append(name)
    return names


def _holds(value: Value, depth: int = 8) -> bool:
    if not isinstance(value, (TupleValue, ListValue)):
        return holds_tracer(value)
    parts = value.elts if isinstance(value, TupleValue) else value.known() or ()
    return depth > 0 and any(_holds(v, depth - 1) for v in parts)
