"""JAX202: ``.item()`` is dropped: a scalar array is as good. Limitations: ``.tolist()``, ``.item(i)``."""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import NO_ITEM, unsafe
from flake8_jax.fixers._consequences import with_consequences
from flake8_jax.fixers._logged import LOGGED, is_logged
from flake8_jax.fixers._source import Declined, FixSource, Refused, fixer
from flake8_jax.semantics.events.events import MethodCall

_CONTINUED = re.compile(r"[ \t]*\\\r?\n[ \t]*\Z")


@fixer("host-item")
def fix(event: MethodCall, source: FixSource) -> Fix | None:
    if event.method != "item" or event.at.args or not event.used:
        return None
    if is_logged(source, event.at):
        raise Declined(LOGGED)
    edit = drop_method(source, event.at)
    return with_consequences(source, event.at, unsafe("Remove `.item()` and keep the array", NO_ITEM, (edit,)))


def drop_method(source: FixSource, call: ir.Call) -> Edit:
    """Remove ``.method()`` behind a value.

    Raises:
        Refused: it is not called as an attribute, or more than that stands there.
    """
    func = call.func
    if not isinstance(func, ir.Attribute):
        raise Refused
    dot = func.attr_start - 1
    if source.text[dot] != "." or source.comments(dot, call.end):
        raise Refused
    before = source.text[func.value.end : dot]
    joined = _CONTINUED.search(before)
    return Edit(dot - len(joined[0]) if joined else dot, call.end, "")
