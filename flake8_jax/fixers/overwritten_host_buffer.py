"""JAX516: JAX gets a copy of the array. Limitations: arrays in containers, calls in another file."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import SNAPSHOT, unsafe
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.semantics.events.events import OverwrittenBuffer


@fixer("overwritten-host-buffer")
def fix(event: OverwrittenBuffer, source: FixSource) -> Fix | None:
    argument = event.argument
    if event.taker.scope is not event.context.scope or not isinstance(argument, (ir.Name, ir.Attribute, ir.Subscript)):
        return None
    return unsafe("Pass a copy", SNAPSHOT, (Edit(argument.end, argument.end, ".copy()"),))
