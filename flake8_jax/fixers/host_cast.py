"""JAX201: ``float(x)`` becomes ``x.astype(float)``. Limitations: casts that are later used as Python numbers."""

from __future__ import annotations

from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import CAST, unsafe
from flake8_jax.fixers._conditions import is_called_by_name
from flake8_jax.fixers._consequences import with_consequences
from flake8_jax.fixers._flow import follow
from flake8_jax.fixers._host_arithmetic import on_host, reads_only_shapes
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._logged import LOGGED, is_logged
from flake8_jax.fixers._source import Declined, FixSource, fixer
from flake8_jax.semantics.domain.values import Array, Tree, UnionValue, Value
from flake8_jax.semantics.events.events import LibraryCall

_CASTS = {"builtins.float": "float", "builtins.int": "int", "builtins.bool": "bool", "builtins.complex": "complex"}


@fixer("host-cast")
def on_the_host(event: LibraryCall, source: FixSource) -> Fix | None:
    """``int(jnp.prod(jnp.array(x.shape)))`` is a size: it has to stay a Python number."""
    call = event.at
    if event.name != "builtins.int" or not is_called_by_name(event, source) or len(call.args) != 1:
        return None
    if not reads_only_shapes(Imports(source, call), call.args[0].value):
        return None
    return on_host(source, call)


@fixer("host-cast")
def by_astype(event: LibraryCall, source: FixSource) -> Fix | None:
    call = event.at
    kind = _CASTS.get(event.name)
    if (
        kind is None
        or not is_called_by_name(event, source)
        or len(call.args) != 1
        or call.args[0].star
        or call.args[0].keyword
    ):
        return None
    if not event.args or not _has_astype(event.args[0]):
        return None
    if is_logged(source, call):
        raise Declined(LOGGED)
    value = call.args[0].value
    if source.lost_comments(call.start, call.end, [(value.start, value.end)]):
        return None
    if kind == "bool" and follow(source, call).counted:
        return None  # the sum of two booleans is a boolean in JAX
    text = f"{source.atom(value)}.astype({kind})"
    edit = Edit(call.start, call.end, text)
    return with_consequences(source, call, unsafe(f"Cast with `.astype({kind})`", CAST, (edit,)))


def _has_astype(value: Value) -> bool:
    if isinstance(value, UnionValue):
        return all(_has_astype(m) for m in value.members)
    return isinstance(value, (Array, Tree))
