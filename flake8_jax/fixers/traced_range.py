"""JAX103: ``for i in range(n)`` becomes ``jax.lax.fori_loop``, or the bound becomes a static argument.

Limitations: a step other than 1, ``reversed(range(n))`` (only the static argument is tried).
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Fix
from flake8_jax.fixers._jit_site import make_static, parameters_behind
from flake8_jax.fixers._loops import convert_for_range
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.semantics.domain.values import holds_tracer
from flake8_jax.semantics.events.events import LibraryCall


@fixer("traced-range")
def into_fori_loop(event: LibraryCall, source: FixSource) -> Fix | None:
    loop = source.parent(event.at)
    if not isinstance(loop, ir.For) or loop.iter is not event.at:
        return None
    return convert_for_range(source, loop)


@fixer("traced-range")
def into_static_argument(event: LibraryCall, source: FixSource) -> Fix | None:
    bounds = [n for v, n in zip(event.args, event.nodes, strict=True) if n is not None and holds_tracer(v)]
    names = list(dict.fromkeys(name for bound in bounds for name in parameters_behind(source, bound)))
    return make_static(source, source.enclosing_function(event.at), names) if names else None
