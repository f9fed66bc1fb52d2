"""Reads of results in code that only names show to be a step of a training: for notes of previews.

Vocabulary
----------
step        a function named ``train_step``, ``update`` and the like: a loop runs it, though none is in view.
presumed    the result of such a function, whose code is unknown: most likely the device still computes it.
"""

from __future__ import annotations

import re
from typing import TypeGuard

from flake8_jax.core import ir
from flake8_jax.core.registry import Report
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._host_use import is_new, is_reduced, use_of
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.code import is_named_step, nodes_around
from flake8_jax.semantics.domain.dispatching import dispatched_in
from flake8_jax.semantics.domain.joining import members_of
from flake8_jax.semantics.domain.values import GRAD, Array, Opaque, Tree, Value
from flake8_jax.semantics.events.events import LibraryCall, MethodCall

_CASTS = frozenset({"builtins.float", "builtins.int", "builtins.bool"})
_COPYING = frozenset({"numpy.array", "numpy.asarray"})
_READING = frozenset({"item", "tolist"})
_OUTSIDE = 1


def read_at_once(event: object) -> Value | None:
    """What ``float(x)``, ``x.item()`` or ``np.asarray(x)`` brings to the host."""
    if isinstance(event, MethodCall):
        return event.value if event.method in _READING else None
    if not isinstance(event, LibraryCall) or not event.args or event.name not in _CASTS | _COPYING:
        return None
    return event.args[0]


def is_presumed_wait(event: object) -> TypeGuard[LibraryCall | MethodCall]:
    """The code reads the result of a step that only its name shows."""
    value = read_at_once(event)
    return value is not None and any(dispatched_in(member) < 0 for member in members_of(value))


def is_made_in_loop(event: LibraryCall | MethodCall) -> bool:
    """The running loop made the result: the innermost loop of this function, if it has one."""
    value, context = read_at_once(event), event.context
    if value is None or not any(context.fresh_from_loop(-dispatched_in(member)) for member in members_of(value)):
        return False
    around = nodes_around(context.scope.tree.body, event.at.start, event.at.end)
    return not any(isinstance(node, (ir.For, ir.While)) for node in around) or is_new(context.scope, event.at)


def report_in_step(event: object) -> Report | None:
    """``loss.item()`` in a method ``train_batch`` that calls a jitted step, and that no loop in view calls."""
    value = read_at_once(event)
    if value is None or not isinstance(event, (LibraryCall, MethodCall)):
        return None
    context = event.context
    if context.staged or context.presumed or context.inner is None or is_test(context):
        return None
    name = context.inner.name
    if not is_named_step(name) or not all(map(_is_computed, members_of(value))):
        return None
    if isinstance(event, LibraryCall) and event.name in _COPYING and not _is_number(event, value):
        return None
    if use_of(context.scope, event.at, lenient=True) == "needed":
        return None
    problem = f"{quote(context, event.at)} waits for the device in each call of `{name}`"
    return Report(event.at, f"{problem}; return the array, and read it every N steps", preview=True)


def _is_computed(value: Value) -> bool:
    """The device computes it, or most likely does."""
    if not isinstance(value, (Array, Opaque)) or (isinstance(value, (Array, Tree)) and value.level >= GRAD):
        return False
    return abs(dispatched_in(value)) == _OUTSIDE


def _is_number(event: LibraryCall, value: Value) -> bool:
    scalar = names_number(event) or all(isinstance(member, Array) and member.ndim == 0 for member in members_of(value))
    return scalar or is_reduced(event.context.scope, event.at)


def names_number(event: LibraryCall) -> bool:
    """The argument is named after one number: ``np.asarray(loss)``, ``np.array(metrics["accuracy"])``."""
    node = event.nodes[0] if event.nodes else None
    return node is not None and _NUMBER.search(event.context.scope.text[node.start : node.end]) is not None


_NUMBER = re.compile(r"(?i)(loss|acc|accuracy|norm|reward|score|entropy|mse|rmse|elbo|nll|cost)(_?\w{0,4})?[\"']?\]?$")
